//! What the two sides of a merge or rebase in progress say about tasks, read from git. The work
//! tree cannot say it: task files are alike, so that git takes one for a renamed other one, and
//! mixes their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use accord_process::{Ending, Invocation, Overflow, Spec, find_outside, run};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How much of what git prints is read.
const OUTPUT: usize = 256 * 1024 * 1024;
/// What names the commit that is merged, rebased or picked.
const OTHERS: [&str; 3] = ["MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD"];

/// The task files of a commit: their objects, by task and folder.
type Files = BTreeMap<TaskId, BTreeSet<(Status, String)>>;

/// What the sides committed of a task.
pub(super) struct Sides {
    pub(super) versions: Vec<(Status, TaskFile)>,
    /// The version that both come from.
    pub(super) base: Option<TaskFile>,
    /// Whether only this copy has the task.
    pub(super) is_ours_alone: bool,
}

/// The tasks that the other side changed, with the versions that are to decide between. `None` if
/// nothing is merged, or git cannot say it.
pub(super) fn changed(root: &Path) -> Option<BTreeMap<TaskId, Sides>> {
    let git = Git { root, program: find_outside("git", &[root])? };
    let commit = |name: &str| git.line(&["rev-parse", "--verify", "--quiet", name]);
    // Git leaves the name of the last commit behind when a rebase is finished.
    let is_rebased = ["rebase-merge", "rebase-apply"].iter().any(|name| {
        let path = git.line(&["rev-parse", "--git-path", name]);
        path.is_some_and(|path| root.join(path).exists())
    });
    let others = OTHERS.iter().filter(|name| **name != "REBASE_HEAD" || is_rebased);
    let (name, theirs) = others.into_iter().find_map(|name| Some((*name, commit(name)?)))?;
    let ours = commit("HEAD")?;
    let base = match name {
        "MERGE_HEAD" => git.line(&["merge-base", &ours, &theirs]),
        // One commit is applied: what it changed counts.
        _ => commit(&format!("{theirs}^")),
    };
    let base = base.map(|base| git.files(&base)).unwrap_or_default();
    let (ours, theirs) = (git.files(&ours), git.files(&theirs));
    let none = BTreeSet::new();
    let mut wanted: Vec<(TaskId, Vec<(Status, String)>)> = Vec::new();
    for (id, their) in &theirs {
        let (own, before) = (ours.get(id).unwrap_or(&none), base.get(id).unwrap_or(&none));
        if their == before {
            continue;
        }
        // One that only the other side changed counts as it is.
        let both = if own == before { their.clone() } else { own.union(their).cloned().collect() };
        wanted.push((*id, both.into_iter().collect()));
    }
    // What git took for a renamed other file is as this copy committed it.
    for (id, own) in ours.iter().filter(|(id, _)| !theirs.contains_key(id)) {
        wanted.push((*id, own.iter().cloned().collect()));
    }
    let bases = wanted.iter().filter_map(|(id, _)| base.get(id)).flatten();
    let objects = wanted.iter().flat_map(|(_, files)| files);
    let objects = objects.chain(bases).map(|(_, object)| object.clone());
    let texts = git.texts(&objects.collect())?;
    let read = |(status, object): &(Status, String)| {
        Some((*status, TaskFile::read(texts.get(object)?).ok()?))
    };
    let sides = wanted.into_iter().map(|(id, files)| {
        let is_it = |(_, file): &(Status, TaskFile)| file.task().id == id;
        let versions = files.iter().filter_map(read).filter(is_it).collect();
        let base = base.get(&id).into_iter().flatten().filter_map(read).find(is_it);
        let is_ours_alone = !theirs.contains_key(&id);
        (id, Sides { versions, base: base.map(|(_, file)| file), is_ours_alone })
    });
    Some(sides.collect())
}

struct Git<'g> {
    root: &'g Path,
    program: std::path::PathBuf,
}

impl Git<'_> {
    fn run(&self, args: &[&str], input: String) -> Option<Vec<u8>> {
        let git = Invocation::new(&self.program, args.iter().copied())
            .cwd(self.root)
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0");
        let spec = Spec::new(git).stdin(input).time_limit(LIMIT);
        let ran = run(&spec.stdout_limit(OUTPUT, Overflow::Kill)).ok()?;
        matches!(ran.ending, Ending::Exited(0)).then_some(ran.stdout)
    }

    fn line(&self, args: &[&str]) -> Option<String> {
        let printed = String::from_utf8(self.run(args, String::new())?).ok()?;
        printed.lines().next().map(str::to_owned)
    }

    fn files(&self, commit: &str) -> Files {
        let mut files = Files::new();
        let printed = self.run(&["ls-tree", "-r", "-z", commit, "--", "tasks/"], String::new());
        for entry in printed.unwrap_or_default().split(|byte| *byte == 0) {
            let entry = String::from_utf8_lossy(entry);
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let mut about = about.split(' ').skip(1);
            let (Some("blob"), Some(object)) = (about.next(), about.next()) else { continue };
            let names: Vec<&str> = path.split('/').collect();
            let ["tasks", status, name] = names[..] else { continue };
            let id = name.strip_suffix(".md").and_then(|name| TaskId::parse(name).ok());
            if let (Some(status), Some(id)) = (Status::parse(status), id) {
                files.entry(id).or_default().insert((status, object.to_owned()));
            }
        }
        files
    }

    /// The texts of objects.
    fn texts(&self, objects: &BTreeSet<String>) -> Option<BTreeMap<String, String>> {
        let input: String = objects.iter().map(|object| format!("{object}\n")).collect();
        if input.is_empty() {
            return Some(BTreeMap::new());
        }
        let printed = self.run(&["cat-file", "--batch"], input)?;
        let (mut texts, mut rest) = (BTreeMap::new(), &printed[..]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = head.split(' ');
            let (Some(object), Some("blob"), Some(length)) =
                (words.next(), words.next(), words.next().and_then(|it| it.parse::<usize>().ok()))
            else {
                return None;
            };
            let text = rest.get(end + 1..end + 1 + length)?;
            texts.insert(object.to_owned(), String::from_utf8_lossy(text).into_owned());
            rest = rest.get(end + length + 2..).unwrap_or_default();
        }
        Some(texts)
    }
}
