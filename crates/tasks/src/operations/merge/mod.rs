//! What a merge of git left: two versions of a task, marked in one file or in two folders; and two
//! tasks with one id, which two copies of the tree created.
//!
//! [`accord_tasks_core::merge`] says which version counts. The version that lost is in the event,
//! and what its copy recorded stays in the log of that copy. Of two tasks, the one that was created
//! later gets the next free id, and what its copy said about the old one is rewritten.

mod folders;
mod git;
mod marks;
mod notes;
mod work_tree;

use std::collections::{BTreeMap, HashMap, HashSet};

use accord_base::By;
use accord_contract::Value;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::merge::{Combined, Origin, Sides, combine, former, with_id};
use accord_tasks_core::operations::{MergeAnswer, MergeRequest, MergedTask, UnmergedFile};
use accord_tasks_core::referee::is_guarded;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::ANYTHING;

use super::apply::invalid;
use super::create::{KEY, keys};
use crate::committed::LeaseOrigin;
use crate::explained::{Source, Writer};
use crate::layout::{status_folder, task_file};
use crate::referee::copies::{Copy, Found, find_all};
use crate::referee::verdict::is_marked;
use crate::tree::failure;
use crate::work::Work;
use crate::{Environment, Result, Tree};
use folders::{forget_run, merge_folders, merge_result};
use marks::sides;
use notes::{note, settled, unsettled};

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
    /// What names this merge of git.
    key: Option<String>,
}

struct Merged {
    id: TaskId,
    all: Combined,
    reason: &'static str,
    /// What to say beside the reason.
    said: Vec<String>,
    creator: Writer,
    /// The copy that decided about it, if that is not confirmed here.
    unverified: Option<String>,
    /// What git has of it.
    sides: Option<Sides>,
}

fn merge(
    work: &mut Work<'_>,
    by: &By,
    is_trial: bool,
    environment: &Environment,
) -> Result<MergeAnswer> {
    let mut answer = MergeAnswer { merged: Vec::new(), unmerged: Vec::new() };
    // While git merges, the commits say what both sides have; afterwards the files alone.
    let is_in_git = work.explained()?.is_some();
    let merging = Some(work.disk().root_path()).filter(|_| is_in_git).and_then(git::merging);
    let mut cases = cases(work, merging.as_ref(), &mut answer.unmerged)?;
    let handled: HashSet<TaskId> = cases.iter().map(|case| case.id).collect();
    cases.retain(|case| {
        let Some(writer) = case.tasks.iter().find_map(|task| task.unverified.clone()) else {
            return true;
        };
        answer.unmerged.push(UnmergedFile {
            path: task_file(case.tasks[0].all.file.task().status, case.id),
            problem: format!(
                "another copy ({writer}) decided about it, which is not confirmed here: accord \
                 task adopt --writer {writer}, then accord task merge"
            ),
        });
        false
    });
    let mut renumbered = known_ids(work, merging.as_ref())?;
    // The new ids first: what waits for them is in other files.
    let taken =
        |id: &TaskId| merging.as_ref().is_some_and(|merging| merging.tasks.contains_key(id));
    let mut new_ids = HashMap::new();
    for case in &mut cases {
        for task in case.tasks.iter_mut().skip(1) {
            while task.id == case.id || taken(&task.id) {
                task.id = work.next_id(environment.random())?;
            }
            task.reason = "renumbered";
            new_ids.insert((case.id, task.creator.clone()), task.id);
        }
    }
    renumbered.extend(new_ids.clone());
    if !is_trial {
        for case in &cases {
            let merging = merging.as_ref().filter(|merging| merging.has_commits());
            let is_arranged = match merging.filter(|_| case.key.is_some()) {
                Some(merging) => work_tree::arrange(work, merging, case)?,
                None => false,
            };
            for task in case.tasks.iter().skip(1).filter(|_| !is_arranged) {
                let keeper = &case.tasks[0].all.file;
                folders::follow(work, case.id, keeper, (task.id, &task.all.file))?;
            }
        }
    }
    let mut places: BTreeMap<TaskId, usize> = BTreeMap::new();
    for case in cases {
        let (id, found, key) = (case.id, case.found, case.key);
        for (place, mut task) in case.tasks.into_iter().enumerate() {
            rewrite(work, &mut task.all.file, &renumbered)?;
            let from = (task.id != id).then_some(id);
            if let Some(from) = from {
                renumber(&mut task.all.file, task.id, from)?;
                places.insert(task.id, answer.merged.len());
            }
            if from.is_some() {
                task.said.extend(same_key(work, &task));
            }
            let dropped: Vec<String> = task.all.dropped.iter().map(ToString::to_string).collect();
            let said: Vec<String> = task.said.iter().cloned().chain(dropped).collect();
            answer.merged.push(MergedTask {
                task_id: task.id,
                title: task.all.file.task().title.clone(),
                status: task.all.file.task().status,
                reason: task.reason.to_owned(),
                from,
                lost: task.all.dropped.iter().map(|dropped| dropped.member.clone()).collect(),
                said: (!said.is_empty()).then_some(said),
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
            note(work, &task, from, (key.as_deref(), by));
        }
    }
    if !is_trial {
        for (id, to) in rewrite_others(work, &renumbered, by)? {
            if let Some(place) = places.get(&to) {
                answer.merged[*place].rewritten.push(id);
            }
        }
    }
    if let Some(merging) = &merging {
        unsettled(work, merging, &handled, &mut answer.unmerged)?;
    }
    Ok(answer)
}

/// What is to decide.
fn cases(
    work: &Work<'_>,
    merging: Option<&git::Merging>,
    unmerged: &mut Vec<UnmergedFile>,
) -> Result<Vec<Case>> {
    let mut ids = candidates(work)?;
    for id in merging.iter().flat_map(|merging| merging.tasks.keys()) {
        ids.entry(*id).or_insert(0);
    }
    let done = match merging {
        Some(_) => settled(work)?,
        None => HashSet::new(),
    };
    let mut cases = Vec::new();
    for (id, count) in ids {
        let sides = merging.and_then(|merging| Some((merging, merging.tasks.get(&id)?)));
        let of_git = match sides {
            Some((merging, sides)) => case_of_git(work, id, (merging, sides), count, &done)?,
            None => Settling::ByFiles,
        };
        cases.extend(match of_git {
            Settling::Of(case) => Some(*case),
            Settling::Nothing => None,
            Settling::ByFiles => case(work, id, count, unmerged)?,
        });
    }
    Ok(cases)
}

/// How a task is settled about which the sides of a merge differ.
enum Settling {
    Of(Box<Case>),
    Nothing,
    /// Git says nothing about it.
    ByFiles,
}

/// What to say about a task that gets another id, if a task of the same plan is there already.
fn same_key(work: &Work<'_>, task: &Merged) -> Option<String> {
    let key = task.all.file.task().metadata(KEY)?.as_str()?;
    let other = keys(work).get(key).copied().filter(|other| *other != task.id)?;
    Some(format!(
        "{other} has the same key ({key}): accord task cancel {} if it is the same task",
        task.id
    ))
}

/// The ids that tasks have now which had other ones, as the versions that git has say.
fn known_ids(
    work: &Work<'_>,
    merging: Option<&git::Merging>,
) -> Result<HashMap<(TaskId, Writer), TaskId>> {
    let mut known = HashMap::new();
    let Some(explained) = work.explained()? else { return Ok(known) };
    let all = merging.iter().flat_map(|merging| &merging.tasks);
    for (id, (_, sides)) in all.flat_map(|(id, sides)| sides.iter().map(move |it| (id, it))) {
        let old = sides.places.iter().flatten().map(|(_, old)| *old).filter(|old| old != id);
        for old in old {
            let file = [&sides.ours, &sides.theirs, &sides.base].into_iter().flatten().next();
            let file = file.and_then(|file| with_id(file, old, None).ok());
            let creator = file.and_then(|file| explained.creator(&file).cloned());
            if let Some(creator) = creator {
                known.insert((old, creator), *id);
            }
        }
    }
    Ok(known)
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

/// What is to decide about a task as the sides of a merge have it.
fn case_of_git(
    work: &Work<'_>,
    id: TaskId,
    (merging, all): (&git::Merging, &[(Origin, Sides)]),
    count: usize,
    done: &HashSet<String>,
) -> Result<Settling> {
    let found = find_all(work.disk(), id).map_err(|error| failure(&error))?;
    let is_whole = |found: &[Found]| matches!(found, [one] if one.task().is_some());
    let is_of = |origin: &Origin| {
        found.iter().filter_map(Found::task).all(|file| Origin::of(file) == *origin)
    };
    let key = merging.key(all);
    if done.contains(&key) && is_whole(&found) {
        return Ok(Settling::Nothing);
    }
    let changed = |sides: &Sides| sides.theirs.is_some() && sides.is_changed_there();
    if !all.iter().any(|(_, sides)| changed(sides) || sides.kept().is_some()) {
        // What this copy did not commit stays, unless git mixed it with another task.
        let is_its_own = all.iter().any(|(origin, _)| is_of(origin));
        let name = format!("/{id}.md");
        let is_unmerged = merging.unmerged.iter().any(|path| path.ends_with(&name));
        if count == 0 || (is_its_own && is_whole(&found) && !is_unmerged) {
            return Ok(Settling::Nothing);
        }
    }
    let mut tasks = Vec::new();
    let mut is_said = merging.unmerged.iter().any(|path| is_beside(path, id));
    for (_, sides) in all {
        let Some(mut task) = choose(work, id, sides.choices(), sides.base.as_ref())? else {
            continue;
        };
        if sides.kept().is_some() {
            let text = if sides.ours.is_some() {
                "it was removed in the other copy and changed here; it stays"
            } else {
                "it was removed here and changed in the other copy; it stays"
            };
            (task.reason, is_said) = ("kept", true);
            task.said.push(text.to_owned());
        }
        is_said |= !task.all.lost.is_empty();
        task.sides = Some(sides.clone());
        tasks.push(task);
    }
    Ok(match settle(work, id, found, tasks, is_said)? {
        Some(case) => Settling::Of(Box::new(Case { key: Some(key), ..case })),
        None => Settling::Nothing,
    })
}

/// Whether a path is in the folder of a task or of its run.
fn is_beside(path: &str, id: TaskId) -> bool {
    let name = id.to_string();
    path.split('/').rev().skip(1).any(|part| part == name)
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
    grouped(work, id, found, versions)
}

/// The versions by the task that they are of: two copies of a tree can give out one id.
fn grouped(
    work: &Work<'_>,
    id: TaskId,
    found: Vec<Found>,
    versions: Vec<TaskFile>,
) -> Result<Option<Case>> {
    let mut groups: BTreeMap<Origin, Vec<TaskFile>> = BTreeMap::new();
    for version in versions {
        groups.entry(Origin::of(&version)).or_default().push(version);
    }
    let mut tasks = Vec::new();
    for versions in groups.into_values() {
        tasks.extend(choose(work, id, versions, None)?);
    }
    settle(work, id, found, tasks, false)
}

/// What is to decide; nothing if the files have it already, and nothing is to be said.
fn settle(
    work: &Work<'_>,
    id: TaskId,
    found: Vec<Found>,
    mut tasks: Vec<Merged>,
    is_said: bool,
) -> Result<Option<Case>> {
    // A merge that was done before is not done again.
    for place in (1..tasks.len()).rev() {
        if is_renumbered(work, id, &tasks[place].all.file)? {
            tasks.remove(place);
        }
    }
    if let ([task], [one]) = (&tasks[..], &found[..])
        && one.task() == Some(&task.all.file)
        && one.folder == task.all.file.task().status
        && !is_said
    {
        return Ok(None);
    }
    Ok((!tasks.is_empty()).then_some(Case { id, found, tasks, key: None }))
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
        if former(&found).contains(&from) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The version that counts. None without a version.
fn choose(
    work: &Work<'_>,
    id: TaskId,
    versions: Vec<TaskFile>,
    base: Option<&TaskFile>,
) -> Result<Option<Merged>> {
    let all = combine(versions, base).map_err(|error| invalid(&error.to_string()))?;
    let Some(all) = all else { return Ok(None) };
    let unverified = unverified(work, id, &all.kept)?;
    let creator = match work.explained()? {
        Some(explained) => explained.creator(&all.file).cloned().flatten(),
        None => None,
    };
    let (reason, said) = (all.reason, all.decided.iter().cloned().collect());
    Ok(Some(Merged { id, all, reason, said, creator, unverified, sides: None }))
}

/// The copy that decided about a version, if what it says would wait for a person here.
fn unverified(work: &Work<'_>, id: TaskId, file: &TaskFile) -> Result<Option<String>> {
    let (Some(held), to) = (work.held(id), file.task().status) else { return Ok(None) };
    // What this copy has under the id can be another task.
    let origin = held.file().map(|held| Origin::of(&held));
    if origin.is_some_and(|origin| origin != Origin::of(file)) {
        return Ok(None);
    }
    let ends_review = held.status == Status::Review && to != Status::Review;
    if !ends_review && (to == Status::InProgress || !is_guarded(held.status, to)) {
        return Ok(None);
    }
    let Some(logs) = work.explained()? else { return Ok(None) };
    let explanation = logs.explains(file, to, work.state);
    let unknown = explanation.filter(|it| it.source == Source::Unknown);
    Ok(unknown.and_then(|it| it.writer.as_deref().map(str::to_owned)))
}

fn renumber(file: &mut TaskFile, id: TaskId, from: TaskId) -> Result<()> {
    let mut ids = former(file);
    ids.push(from);
    let ids: Vec<Value> = ids.into_iter().map(|id| id.to_string().into()).collect();
    let renumbered = with_id(file, id, Some(Value::Array(ids)));
    *file = renumbered.map_err(|error| invalid(&error.to_string()))?;
    Ok(())
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
    let (id, to) = (task.id, task.all.file.task().status);
    for other in found.iter().filter(|one| one.folder != to) {
        work.move_away(id, other.folder);
    }
    let taken = found.iter().find(|one| one.folder == to);
    let was = taken.map(|one| one.digest.clone().unwrap_or_else(|| ANYTHING.to_owned()));
    merge_folders(work, id, to)?;
    work.stage(task_file(to, id), task.all.file.text(), was);
    for &status in Status::ALL {
        work.forget_broken(&task_file(status, id));
    }
    let held = work.held(id).and_then(|held| held.file());
    let lease = task.all.file.task().lease.value().filter(|_| to.is_leased());
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
    work.hold(&task.all.file, origin)
}
