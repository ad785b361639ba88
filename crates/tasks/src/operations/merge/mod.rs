//! What a merge of git left: two versions of a task, marked in one file or in two folders; and two
//! tasks with one id, which two copies of the tree created.
//!
//! A person's decision wins, then the later version. The version that lost is in the event, and
//! what its copy recorded stays in the log of that copy. Of two tasks, the one that was created
//! later gets the next free id, and what its copy said about the old one is rewritten.

mod folders;
mod git;
mod unite;

use std::collections::{BTreeMap, HashMap};

use accord_base::By;
use accord_contract::Value;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{MergeAnswer, MergeRequest, MergedTask, UnmergedFile};
use accord_tasks_core::referee::{differences, is_guarded};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::last_decision;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::ANYTHING;

use super::apply::invalid;
use crate::committed::LeaseOrigin;
use crate::explained::{Source, Writer};
use crate::layout::{status_folder, task_file};
use crate::referee::copies::{Copy, Found, find_all};
use crate::referee::verdict::is_marked;
use crate::tree::failure;
use crate::work::Work;
use crate::{Environment, Result, Tree};
use folders::{forget_run, merge_folders, merge_result};
use unite::{differing, unite};

/// The member of the metadata with the ids that a task had before.
pub(crate) const FORMER: &str = "formerIds";
/// A longer text is not repeated in an event.
const MAX_TEXT: usize = 64 * 1024;

impl Tree {
    /// Decides which versions of tasks count. A person asks for it.
    pub fn merge(&self, request: &MergeRequest, by: &By) -> Result<MergeAnswer> {
        by.check_person("merge tasks")?;
        let (is_trial, by) = (request.dry_run == Some(true), by.clone());
        let environment = self.environment().clone();
        let merge = move |work: &mut Work<'_>| merge(work, &by, is_trial, &environment);
        if is_trial { self.read(merge) } else { self.change(merge) }
    }
}

/// The versions of one id.
struct Case {
    id: TaskId,
    found: Vec<Found>,
    /// The task that keeps the id, and those that get another one.
    tasks: Vec<Merged>,
}

struct Merged {
    id: TaskId,
    file: TaskFile,
    lost: Vec<TaskFile>,
    reason: &'static str,
    creator: Writer,
    /// The copy that decided about it, if that is not confirmed here.
    unverified: Option<String>,
}

fn merge(
    work: &mut Work<'_>,
    by: &By,
    is_trial: bool,
    environment: &Environment,
) -> Result<MergeAnswer> {
    let mut answer = MergeAnswer { merged: Vec::new(), unmerged: Vec::new() };
    let mut cases = Vec::new();
    // While git merges, the commits say what both sides have; afterwards the files alone.
    let is_in_git = work.explained()?.is_some();
    let mut committed = Some(work.disk().root_path()).filter(|_| is_in_git).and_then(git::changed);
    let mut ids = candidates(work)?;
    for id in committed.iter().flat_map(BTreeMap::keys) {
        ids.entry(*id).or_insert(0);
    }
    for (id, count) in ids {
        let sides = committed.as_mut().and_then(|all| all.remove(&id));
        let counts = |sides: &git::Sides| {
            // What this copy did not commit stays, unless git mixed it with another task.
            let is_mixed = !sides.is_ours_alone || work.is_broken(id);
            is_mixed && !sides.versions.is_empty()
        };
        cases.extend(match sides.filter(counts) {
            Some(sides) => case_of_git(work, id, &sides)?,
            None => case(work, id, count, &mut answer.unmerged)?,
        });
    }
    cases.retain(|case| {
        let Some(writer) = case.tasks.first().and_then(|task| task.unverified.clone()) else {
            return true;
        };
        answer.unmerged.push(UnmergedFile {
            path: task_file(case.tasks[0].file.task().status, case.id),
            problem: format!(
                "another copy ({writer}) decided about it, which is not confirmed here: accord \
                 task adopt --writer {writer}, then accord task merge"
            ),
        });
        false
    });
    // The new ids first: what waits for them is in other files.
    let mut renumbered: HashMap<(TaskId, Writer), TaskId> = HashMap::new();
    for case in &mut cases {
        for task in case.tasks.iter_mut().skip(1) {
            task.id = work.next_id(environment.random())?;
            task.reason = "renumbered";
            renumbered.insert((case.id, task.creator.clone()), task.id);
        }
    }
    if !is_trial {
        for case in &cases {
            for task in case.tasks.iter().skip(1) {
                folders::follow(work, case.id, &case.tasks[0].file, (task.id, &task.file))?;
            }
        }
    }
    let mut places: BTreeMap<TaskId, usize> = BTreeMap::new();
    for case in cases {
        let (id, found) = (case.id, case.found);
        for (place, mut task) in case.tasks.into_iter().enumerate() {
            rewrite(work, &mut task.file, &renumbered)?;
            let from = (task.id != id).then_some(id);
            if let Some(from) = from {
                renumber(&mut task.file, task.id, from)?;
                places.insert(task.id, answer.merged.len());
            }
            let lost: Vec<String> =
                task.lost.iter().flat_map(|lost| names(&task.file, lost)).collect();
            answer.merged.push(MergedTask {
                task_id: task.id,
                title: task.file.task().title.clone(),
                status: task.file.task().status,
                reason: task.reason.to_owned(),
                from,
                lost,
                rewritten: Vec::new(),
            });
            if is_trial {
                continue;
            }
            let taken: &[Found] = if place == 0 { &found } else { &[] };
            write(work, &task, taken)?;
            if place == 0 {
                merge_result(work, id)?;
            }
            note(work, &task, from, by);
        }
    }
    if !is_trial {
        for (id, to) in rewrite_others(work, &renumbered, by)? {
            if let Some(place) = places.get(&to) {
                answer.merged[*place].rewritten.push(id);
            }
        }
    }
    Ok(answer)
}

/// Every id with a file, and how many there are.
fn candidates(work: &Work<'_>) -> Result<BTreeMap<TaskId, usize>> {
    let mut counts = BTreeMap::new();
    for status in Status::ALL {
        let entries = work.disk().list(&status_folder(*status)).map_err(|it| failure(&it))?;
        for entry in entries.unwrap_or_default() {
            let id = entry.name.strip_suffix(".md").and_then(|name| TaskId::parse(name).ok());
            if let Some(id) = id {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// What is to decide about a task that the other side of a merge changed; nothing if the files
/// have it already.
fn case_of_git(work: &Work<'_>, id: TaskId, sides: &git::Sides) -> Result<Option<Case>> {
    let found = find_all(work.disk(), id).map_err(|error| failure(&error))?;
    if let ([(status, file)], [one]) = (&sides.versions[..], &found[..])
        && one.folder == *status
        && one.task() == Some(file)
    {
        return Ok(None);
    }
    let mut versions: Vec<TaskFile> = sides.versions.iter().map(|(_, file)| file.clone()).collect();
    versions.sort_by_key(TaskFile::text);
    versions.dedup_by_key(|file| file.text());
    grouped(work, id, found, versions, sides.base.as_ref())
}

/// What is to decide about an id; nothing if it has one version.
fn case(
    work: &Work<'_>,
    id: TaskId,
    count: usize,
    unmerged: &mut Vec<UnmergedFile>,
) -> Result<Option<Case>> {
    // Only the files of open tasks were read before: a file of a finished one may be marked, too.
    if count < 2 && work.board().entry(id).is_some() && !work.is_broken(id) {
        return Ok(None);
    }
    let found = find_all(work.disk(), id).map_err(|error| failure(&error))?;
    let mut versions: Vec<TaskFile> = Vec::new();
    let mut is_split = false;
    for one in &found {
        match &one.copy {
            Copy::Task(file) => versions.push((**file).clone()),
            Copy::Broken { text, .. } if is_marked(text) => {
                is_split = true;
                for side in sides(text) {
                    match TaskFile::read(&side) {
                        Ok(file) if file.task().id == id => versions.push(file),
                        Ok(_) => {}
                        Err(why) => unmerged.push(UnmergedFile {
                            path: task_file(one.folder, id),
                            problem: format!("a version cannot be read: {why}"),
                        }),
                    }
                }
            }
            Copy::Broken { .. } => {}
        }
    }
    versions.sort_by_key(TaskFile::text);
    versions.dedup_by_key(|file| file.text());
    if unmerged.iter().any(|file| file.path.contains(&id.to_string())) {
        return Ok(None);
    }
    if versions.is_empty() || (versions.len() < 2 && !is_split && found.len() < 2) {
        return Ok(None);
    }
    grouped(work, id, found, versions, None)
}

/// The versions by the task that they are of: two copies of a tree can give out one id.
fn grouped(
    work: &Work<'_>,
    id: TaskId,
    found: Vec<Found>,
    versions: Vec<TaskFile>,
    base: Option<&TaskFile>,
) -> Result<Option<Case>> {
    let mut groups: BTreeMap<(String, String), Vec<TaskFile>> = BTreeMap::new();
    for version in versions {
        let task = version.task();
        let born = (task.created_at.to_string(), task.created_by.clone());
        groups.entry(born).or_default().push(version);
    }
    // Two tasks that copies gave one id have nothing in common.
    let base = base.filter(|_| groups.len() == 1);
    let is_one = groups.len() == 1;
    let tasks = groups.into_values().map(|versions| choose(work, id, versions, base));
    let mut tasks = tasks.collect::<Result<Vec<Merged>>>()?;
    if !is_one {
        // What is held of the id is that of one of them.
        tasks.iter_mut().for_each(|task| task.unverified = None);
    }
    // A merge that was done before is not done again.
    for place in (1..tasks.len()).rev() {
        if is_renumbered(work, id, &tasks[place].file)? {
            tasks.remove(place);
        }
    }
    if let ([task], [one]) = (&tasks[..], &found[..])
        && one.task() == Some(&task.file)
        && one.folder == task.file.task().status
    {
        return Ok(None);
    }
    Ok(Some(Case { id, found, tasks }))
}

/// Whether a task got another id before.
fn is_renumbered(work: &Work<'_>, from: TaskId, file: &TaskFile) -> Result<bool> {
    let born = file.task().created_at.time();
    let open = work.board().open().filter(|entry| entry.created_at == born);
    let closed = work.board().closed().filter(|(id, _)| id.day() == from.day());
    let ids: Vec<TaskId> = open
        .map(|entry| entry.id)
        .chain(closed.map(|(id, _)| id))
        .filter(|id| *id != from)
        .collect();
    for id in ids {
        let found = work.peek(id).ok().flatten();
        let Some(found) = found.filter(|found| found.task().created_at.time() == born) else {
            continue;
        };
        let former = found.task().metadata(FORMER).and_then(Value::as_array);
        if former.is_some_and(|ids| ids.contains(&Value::from(from.to_string()))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The version that counts: a person's decision wins, then the later one.
fn choose(
    work: &Work<'_>,
    id: TaskId,
    mut versions: Vec<TaskFile>,
    base: Option<&TaskFile>,
) -> Result<Merged> {
    let decided = |file: &TaskFile| decision(file);
    let first = decided(&versions[0]);
    let is_shared = versions.iter().all(|file| decided(file) == first);
    let rank = |file: &TaskFile| {
        let decision = decided(file).filter(|_| !is_shared);
        (decision, file.task().updated_at.time(), file.text())
    };
    versions.sort_by_key(rank);
    let reason = match (versions.len(), is_shared) {
        (1, _) => "committed",
        (_, true) => "later",
        (_, false) => "decision",
    };
    let mut file = versions.pop().unwrap_or_else(|| unreachable!("a group has a version"));
    let unverified = unverified(work, id, &file)?;
    for lost in &versions {
        unite(&mut file, lost, base)?;
    }
    let creator = match work.explained()? {
        Some(explained) => explained.creator(&file).cloned().flatten(),
        None => None,
    };
    Ok(Merged { id, file, lost: versions, reason, creator, unverified })
}

/// The copy that decided about a version, if what it says would wait for a person here.
fn unverified(work: &Work<'_>, id: TaskId, file: &TaskFile) -> Result<Option<String>> {
    let (Some(held), to) = (work.held(id), file.task().status) else { return Ok(None) };
    let ends_review = held.status == Status::Review && to != Status::Review;
    if !ends_review && (to == Status::InProgress || !is_guarded(held.status, to)) {
        return Ok(None);
    }
    let Some(logs) = work.explained()? else { return Ok(None) };
    let explanation = logs.explains(file, to, work.state);
    let unknown = explanation.filter(|it| it.source == Source::Unknown);
    Ok(unknown.and_then(|it| it.writer.as_deref().map(str::to_owned)))
}

/// When a person decided about a version last, and what.
fn decision(file: &TaskFile) -> Option<(String, String)> {
    let task = file.task();
    let decided =
        last_decision(task).map(|last| (last.at, format!("{} {}", last.outcome, last.by)));
    let blocked = task.metadata("blockedBy").and_then(Value::as_str);
    let blocked = blocked.filter(|_| task.status == Status::Blocked);
    let blocked = blocked.map(|by| (task.last_transition_at.to_string(), format!("blocked {by}")));
    decided.max(blocked)
}

/// The two versions of a file in which git left marks.
fn sides(text: &str) -> [String; 2] {
    #[derive(Clone, Copy, Eq, PartialEq)]
    enum Part {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let (mut ours, mut theirs, mut part) = (String::new(), String::new(), Part::Both);
    for line in text.split_inclusive('\n') {
        part = match part {
            Part::Both if line.starts_with("<<<<<<< ") => Part::Ours,
            Part::Ours if line.starts_with("|||||||") => Part::Base,
            Part::Ours | Part::Base if line.trim_end() == "=======" => Part::Theirs,
            Part::Theirs if line.starts_with(">>>>>>> ") => Part::Both,
            _ => {
                if matches!(part, Part::Both | Part::Ours) {
                    ours.push_str(line);
                }
                if matches!(part, Part::Both | Part::Theirs) {
                    theirs.push_str(line);
                }
                continue;
            }
        };
    }
    [ours, theirs]
}

fn names(kept: &TaskFile, lost: &TaskFile) -> Vec<String> {
    let found = differences(kept.members(), lost.members(), lost.task().status);
    let mut names: Vec<String> = found.iter().map(|one| one.member()).collect();
    if kept.task().title != lost.task().title {
        names.push("title".to_owned());
    }
    names.extend(differing(kept, lost));
    names
}

fn renumber(file: &mut TaskFile, id: TaskId, from: TaskId) -> Result<()> {
    let mut former: Vec<Value> = match file.task().metadata(FORMER).and_then(Value::as_array) {
        Some(former) => former.clone(),
        None => Vec::new(),
    };
    former.push(from.to_string().into());
    let changes = [
        Change::set(&["id"], id.to_string()),
        Change::set(&["metadata", FORMER], Value::Array(former)),
    ];
    file.edit(&changes).map_err(|error| invalid(&error.to_string()))
}

/// Rewrites what a file says about tasks that have another id now, if the copy that said it meant
/// those. Answers the first of them.
fn rewrite(
    work: &Work<'_>,
    file: &mut TaskFile,
    renumbered: &HashMap<(TaskId, Writer), TaskId>,
) -> Result<Option<TaskId>> {
    let Some(explained) = work.explained()? else { return Ok(None) };
    let now = |id: TaskId| {
        let writer = explained.who_waits(file, id)?;
        renumbered.get(&(id, writer.clone())).copied()
    };
    let mut changes = Vec::new();
    let mut first = None;
    let needed = file.task().dependencies();
    if needed.iter().any(|id| now(*id).is_some()) {
        first = needed.iter().find_map(|id| now(*id));
        let needed: Vec<String> =
            needed.iter().map(|id| now(*id).unwrap_or(*id).to_string()).collect();
        changes.push(Change::set(&["dependsOn"], needed));
    }
    if let Some(parent) = file.task().parent_id.and_then(now) {
        first = first.or(Some(parent));
        changes.push(Change::set(&["parentId"], parent.to_string()));
    }
    drop(explained);
    if !changes.is_empty() {
        file.edit(&changes).map_err(|error| invalid(&error.to_string()))?;
    }
    Ok(first)
}

/// Rewrites the references in the other tasks. Answers which, and to what.
fn rewrite_others(
    work: &mut Work<'_>,
    renumbered: &HashMap<(TaskId, Writer), TaskId>,
    by: &By,
) -> Result<Vec<(TaskId, TaskId)>> {
    let mut rewritten = Vec::new();
    if renumbered.is_empty() {
        return Ok(rewritten);
    }
    let is_old = |id: TaskId| renumbered.keys().any(|(old, _)| *old == id);
    let open = work.board().open();
    let named = open.filter(|entry| {
        entry.depends_on.iter().copied().any(is_old) || entry.parent.is_some_and(is_old)
    });
    let mut ids: Vec<TaskId> = named.map(|entry| entry.id).collect();
    ids.sort_unstable();
    for id in ids {
        let Some(before) = work.peek(id)? else { continue };
        let mut after = before.clone();
        if let Some(to) = rewrite(work, &mut after, renumbered)? {
            work.update(&before, &after)?;
            let event = TaskEvent::new(kind::UPDATED, by.name(), Some(id), work.now());
            work.event(event.with("reason", "renumbered").with("to", to.to_string()));
            rewritten.push((id, to));
        }
    }
    Ok(rewritten)
}

/// Writes the version that counts, and moves the others out of the way.
fn write(work: &mut Work<'_>, task: &Merged, found: &[Found]) -> Result<()> {
    let (id, to) = (task.id, task.file.task().status);
    for other in found.iter().filter(|one| one.folder != to) {
        work.move_away(id, other.folder);
    }
    let taken = found.iter().find(|one| one.folder == to);
    let was = taken.map(|one| one.digest.clone().unwrap_or_else(|| ANYTHING.to_owned()));
    merge_folders(work, id, to)?;
    work.stage(task_file(to, id), task.file.text(), was);
    for &status in Status::ALL {
        work.forget_broken(&task_file(status, id));
    }
    let held = work.held(id).and_then(|held| held.file());
    let lease = task.file.task().lease.value().filter(|_| to.is_leased());
    let is_own = held.as_ref().is_some_and(|held| {
        let held = held.task().lease.value();
        held.zip(lease).is_some_and(|(one, other)| {
            (&one.agent, &one.acquired_at) == (&other.agent, &other.acquired_at)
        })
    });
    let origin = work.held(id).map_or(LeaseOrigin::None, |held| held.lease);
    let was_here = origin == LeaseOrigin::Accord;
    let origin = match lease {
        None => LeaseOrigin::None,
        Some(_) if is_own => origin,
        Some(_) => LeaseOrigin::Elsewhere,
    };
    if was_here && !is_own {
        forget_run(work, id)?;
    }
    work.hold(&task.file, origin)
}

fn note(work: &mut Work<'_>, task: &Merged, from: Option<TaskId>, by: &By) {
    let kind = if from.is_some() { kind::RENUMBERED } else { kind::MERGED };
    let mut event = TaskEvent::new(kind, by.name(), Some(task.id), work.now())
        .with("reason", task.reason)
        .with("door", by.door.as_str());
    if let Some(from) = from {
        event = event.with("from", from.to_string());
    }
    let lost = task.lost.iter().map(TaskFile::text).filter(|text| text.len() <= MAX_TEXT);
    let lost: Vec<String> = lost.collect();
    if !lost.is_empty() {
        event = event.with("lost", lost);
    }
    work.event(event);
}

#[cfg(test)]
mod tests {
    use super::sides;

    #[test]
    fn the_versions_of_a_marked_file() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> other\nd\n";
        assert_eq!(sides(text), ["a\nb\nd\n", "a\nc\nd\n"]);
    }
}
