//! What becomes of a task whose files are not what Accord committed.

use accord_contract::{Time, Value};
use accord_tasks_core::referee::{Difference, Known, differences, refused};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;

use super::copies::{Copy, Found};
use super::waiting::Waiting;
use crate::committed::{Held, LeaseOrigin};
use crate::layout::task_file;

#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The task as it counts; its status is also the folder that it belongs in.
    pub(crate) file: Option<TaskFile>,
    /// Where the file is that counts, and the digest of its content; see [`Found`].
    pub(crate) at: Option<(Status, Option<String>)>,
    /// Other files with its name, which go.
    pub(crate) others: Vec<Found>,
    pub(crate) refused: Vec<Difference>,
    /// The text that does not count in full.
    pub(crate) refused_text: Option<String>,
    pub(crate) noticed: Noticed,
    pub(crate) lease: LeaseOrigin,
    /// Whether the file is what some copy of the tree committed.
    pub(crate) is_explained: bool,
    /// What the file says and does not count here until a person adopts it. Nothing is written.
    pub(crate) waiting: Option<Waiting>,
}

/// A change of others that counts.
#[derive(Debug, Default)]
pub(crate) enum Noticed {
    #[default]
    Nothing,
    /// A new file.
    Created,
    /// Another status. The one before is named.
    Moved(Status),
    /// Another front matter.
    Updated,
    /// The file is gone. The last status is named.
    Deleted(Status),
    /// The file cannot be read.
    Broken { folder: Status, why: String, digest: String },
}

/// What is known about a task before its files are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Before<'b> {
    pub(crate) id: TaskId,
    /// What Accord committed, if the task can still move.
    pub(crate) held: Option<&'b Held>,
    /// The status of a finished task.
    pub(crate) closed: Option<Status>,
    /// The content that a commit of Accord would have given the file, had others not changed it.
    pub(crate) intended: Option<&'b TaskFile>,
    /// Who gave out a lease that is not committed.
    pub(crate) new_lease: LeaseOrigin,
    /// Whether git carries the tree.
    pub(crate) is_in_git: bool,
    /// The status to which another program moved the task last, as it logged.
    pub(crate) moved_by_others: Option<Status>,
    /// The decisions of people that this copy recorded.
    pub(crate) decisions: &'b dyn Fn(&TaskFile) -> bool,
    pub(crate) now: Time,
}

/// Decides about the files of a task.
pub(crate) fn decide(before: Before<'_>, found: Vec<Found>) -> Verdict {
    let kept = before.intended.cloned().or_else(|| before.held.and_then(Held::file));
    let case = Case { before, kept: kept.as_ref() };
    if let Some(folder) = case.conflict(&found) {
        return case.unmerged(folder);
    }
    match case.choose(found) {
        (None, _) => case.missing(),
        (Some(Found { folder, digest, copy: Copy::Broken { why, text }, .. }), others) => {
            case.broken(folder, digest, why, text, others)
        }
        (Some(Found { folder, digest, copy: Copy::Task(file), explained }), others) => {
            match case.waits(folder, &file, explained.as_ref()) {
                Some(cause) => case.waiting(cause, folder, digest, *file, others),
                None if explained.is_some() && (!case.is_here() || case.is_decided(&file)) => {
                    case.arrived(folder, digest, *file, others)
                }
                None => case.task(folder, digest, *file, others),
            }
        }
    }
}

/// Why a task with two versions cannot be read.
pub(crate) const UNMERGED: &str = "git merged two versions of the task: accord task merge";

/// Whether a text has the marks that git leaves around two versions.
pub(crate) fn is_marked(text: &str) -> bool {
    let has = |mark: &str| text.lines().any(|line| line.starts_with(mark));
    has("<<<<<<< ") && has(">>>>>>> ")
}

pub(super) struct Case<'c> {
    pub(super) before: Before<'c>,
    pub(super) kept: Option<&'c TaskFile>,
}

impl Case<'_> {
    pub(super) fn status(&self) -> Option<Status> {
        let intended = self.before.intended.map(|file| file.task().status);
        intended.or(self.before.held.map(|held| held.status)).or(self.before.closed)
    }

    /// Whether Accord's lease, or a commit at the same time, holds every member that decides.
    fn is_held(&self) -> bool {
        self.before.intended.is_some() || self.before.held.is_some_and(|held| held.lease.is_held())
    }

    /// Whether nothing that came with git counts: an agent works on the task here.
    pub(super) fn is_here(&self) -> bool {
        self.before.intended.is_some() || self.before.held.is_some_and(|held| held.lease.is_here())
    }

    /// The folder of a file that a merge of git left with two versions of the task: marked in one
    /// file, or in two folders. A person merges them.
    fn conflict(&self, found: &[Found]) -> Option<Status> {
        let is_marked = |one: &&Found| match &one.copy {
            Copy::Broken { text, .. } => self.before.is_in_git && is_marked(text),
            Copy::Task(_) => false,
        };
        if let Some(marked) = found.iter().find(is_marked) {
            return Some(marked.folder);
        }
        let mut explained = found.iter().filter(|one| one.explained.is_some());
        explained.next()?;
        explained.next().map(|second| second.folder)
    }

    fn unmerged(&self, folder: Status) -> Verdict {
        let why = UNMERGED.to_owned();
        let digest = digest(why.as_bytes());
        let lease = self.before.held.map_or(LeaseOrigin::None, |held| held.lease);
        let noticed = Noticed::Broken { folder, why, digest };
        Verdict { noticed, lease, ..Verdict::default() }
    }

    /// A file that some copy of the tree committed counts as it is.
    fn arrived(
        &self,
        folder: Status,
        content: Option<String>,
        file: TaskFile,
        others: Vec<Found>,
    ) -> Verdict {
        let has_lease = file.task().lease.value().is_some() && file.task().status.is_leased();
        let lease = if has_lease { LeaseOrigin::Elsewhere } else { LeaseOrigin::None };
        Verdict {
            lease,
            file: Some(file),
            at: Some((folder, content)),
            others,
            is_explained: true,
            ..Verdict::default()
        }
    }

    fn known(&self) -> Known<'_> {
        match (self.before.intended, self.before.held) {
            (Some(file), _) => Known::Leased(file.members()),
            (None, Some(held)) => held.known(self.kept),
            (None, None) => match self.before.closed {
                Some(status) => Known::Open {
                    status,
                    review_required: None,
                    review_by: None,
                    observed: None,
                    decisions: None,
                    reviewed: None,
                },
                None => Known::New,
            },
        }
    }

    /// The status that a file asks for. If only one of front matter and folder changed, that one;
    /// else the front matter, which another tool writes first.
    pub(super) fn wanted(&self, folder: Status, file: &TaskFile) -> Status {
        let said = file.task().status;
        if Some(said) == self.status() { folder } else { said }
    }

    pub(super) fn refused(&self, folder: Status, file: &TaskFile) -> Vec<Difference> {
        refused(self.known(), file.members(), self.wanted(folder, file))
    }

    /// The file that counts, and the others. A copy in another folder is a move that another tool
    /// did not finish, or a person's: it counts unless it is refused.
    fn choose(&self, mut found: Vec<Found>) -> (Option<Found>, Vec<Found>) {
        if found.len() < 2 {
            return (found.pop(), found);
        }
        let own = found.iter().position(|one| Some(one.folder) == self.status());
        if let Some(place) = found.iter().position(|one| one.explained.is_some())
            && !self.is_here()
        {
            let chosen = found.remove(place);
            return (Some(chosen), found);
        }
        let counts =
            |one: &Found| one.task().is_some_and(|file| self.refused(one.folder, file).is_empty());
        let moved_at = |one: &Found| one.task().map(|file| file.task().last_transition_at.time());
        let others =
            found.iter().enumerate().filter(|(place, one)| Some(*place) != own && counts(one));
        let newest = others.max_by_key(|(_, one)| moved_at(one));
        let chosen = if self.is_held() { own } else { newest.map(|(place, _)| place).or(own) };
        let chosen = found.remove(chosen.unwrap_or(0));
        (Some(chosen), found)
    }

    /// The kept file, and the text that does not count.
    fn restored(&self, kept: &TaskFile, text: &str, why: Difference) -> Verdict {
        let mut file = kept.clone();
        if let Some(body) = TaskFile::body_of(text) {
            file.set_body(body);
        }
        let lease = self.before.held.map_or(LeaseOrigin::None, |held| held.lease);
        let refused_text = Some(text.to_owned()).filter(|text| !text.is_empty());
        Verdict { file: Some(file), refused: vec![why], refused_text, lease, ..Verdict::default() }
    }

    fn missing(&self) -> Verdict {
        match (self.kept, self.status()) {
            (Some(kept), Some(status)) => {
                let path = Value::from(task_file(status, self.before.id));
                self.restored(kept, "", Difference::new(&["file"], Some(&path), None))
            }
            (None, Some(status)) => {
                Verdict { noticed: Noticed::Deleted(status), ..Verdict::default() }
            }
            (_, None) => Verdict::default(),
        }
    }

    pub(super) fn broken(
        &self,
        folder: Status,
        digest: Option<String>,
        why: String,
        text: String,
        others: Vec<Found>,
    ) -> Verdict {
        let Some(kept) = self.kept else {
            let digest = digest.unwrap_or_default();
            let noticed = Noticed::Broken { folder, why, digest };
            let lease = self.before.held.map_or(LeaseOrigin::None, |held| held.lease);
            return Verdict { noticed, lease, ..Verdict::default() };
        };
        let why = Difference::new(&["file"], Some(&"a task".into()), Some(&why.into()));
        Verdict { at: Some((folder, digest)), others, ..self.restored(kept, &text, why) }
    }

    fn task(
        &self,
        folder: Status,
        content: Option<String>,
        file: TaskFile,
        others: Vec<Found>,
    ) -> Verdict {
        let wanted = self.wanted(folder, &file);
        let mut refused = self.refused(folder, &file);
        let mut changes: Vec<Change> = refused.iter().map(Difference::undo).collect();
        let is_refused = refused.iter().any(|difference| difference.member() == "status");
        let status = if is_refused { self.status().unwrap_or(wanted) } else { wanted };
        if status != file.task().status && !is_refused {
            // Only the folder changed: the front matter follows.
            let now = self.before.now.to_string();
            changes.push(Change::set(&["status"], status.as_str()));
            changes.push(Change::set(&["updatedAt"], now.as_str()));
            changes.push(Change::set(&["lastTransitionAt"], now.as_str()));
            if !status.is_leased() {
                changes.push(Change::remove(&["lease"]));
            }
        }
        let mut after = file.clone();
        if let Err(error) = after.edit(&changes) {
            return self.broken(folder, content, error.to_string(), file.text(), others);
        }
        let mut refused_text = (!refused.is_empty()).then(|| file.text());
        for other in &others {
            // A copy of a task that is held does not count at all.
            let differs = other.task().map(|copy| match self.known() {
                Known::Leased(held) => differences(held, copy.members(), other.folder),
                _ => self.refused(other.folder, copy),
            });
            if refused.is_empty()
                && let Some(differs) = differs.filter(|differs| !differs.is_empty())
            {
                refused = differs;
                refused_text = Some(other.text());
            }
        }
        Verdict {
            noticed: self.noticed(&after, refused.is_empty()),
            lease: self.lease(&after),
            file: Some(after),
            at: Some((folder, content)),
            others,
            refused,
            refused_text,
            is_explained: false,
            waiting: None,
        }
    }

    fn noticed(&self, after: &TaskFile, is_whole: bool) -> Noticed {
        match self.status() {
            None => Noticed::Created,
            Some(before) if before != after.task().status => Noticed::Moved(before),
            Some(_) => {
                let front = self.before.held.map(|held| held.front.as_str());
                let is_same = front.is_none_or(|front| front == digest(after.front().as_bytes()));
                let is_own = self.before.intended.is_some();
                if is_same || is_own || !is_whole { Noticed::Nothing } else { Noticed::Updated }
            }
        }
    }

    /// A lease that appears in a file while the task is in progress is that of another tool, unless
    /// nothing is committed about the tree. In any other status a lease means nothing, so that
    /// writing one does not free a task.
    pub(super) fn lease(&self, after: &TaskFile) -> LeaseOrigin {
        let task = after.task();
        let before = self.before.held.map_or(LeaseOrigin::None, |held| held.lease);
        match before {
            _ if task.lease.value().is_none() => LeaseOrigin::None,
            LeaseOrigin::None if !task.status.is_leased() => LeaseOrigin::None,
            LeaseOrigin::None => self.before.new_lease,
            before => before,
        }
    }
}
