//! The folders of tasks and of their runs after a merge of git, as the commits of both sides have
//! them. Git puts the files of two tasks with one id, and those of two versions of a task, into one
//! folder, and leaves marks in them. The contents come from git, so that this is done at once and
//! not through the log: to do it again gives the same.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use accord_contract::{Code, Failure};
use accord_tasks_core::merge::folders::{united, united_run};
use accord_tasks_core::merge::{Origin, Sides};
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Kind, atomic};

use super::git::{Folder, Merging};
use super::{Case, Merged, is_beside};
use crate::Result;
use crate::layout::{COMPANIONS, OWN, RunLayout, companion};
use crate::tree::failure;
use crate::work::Work;

/// What belongs to the run of an agent of this copy; git ignores it.
const LOCAL: [&str; 2] = ["run.json", "run_heartbeat.json"];
/// The digits of an object that name a result.
const DIGITS: usize = 8;

/// Arranges the folders of a case. False if they need nothing, or git does not have them.
pub(super) fn arrange(work: &mut Work<'_>, merging: &Merging, case: &Case) -> Result<bool> {
    let plans: Option<Vec<Plan>> = case.tasks.iter().map(|task| Plan::of(merging, task)).collect();
    let Some(plans) = plans.filter(|plans| is_needed(merging, case, plans)) else {
        return Ok(false);
    };
    let objects = plans.iter().flat_map(|plan| plan.folder.values().chain(plan.run.values()));
    let objects: BTreeSet<String> = objects.map(|(object, _)| object.clone()).collect();
    let lost = || {
        let message = format!("git does not have the files beside {}", case.id);
        Failure::new(Code::AofTaskFileInvalid, message)
    };
    let contents = merging.contents(&objects).ok_or_else(lost)?;
    let staging = format!("{OWN}/merging");
    let disk = work.disk();
    clear(disk, &staging)?;
    for (place, (plan, task)) in plans.iter().zip(&case.tasks).enumerate() {
        for name in COMPANIONS {
            let path = format!("{staging}/{place}/folder/{name}");
            atomic::make_folders(disk, &path).map_err(|error| failure(&error))?;
        }
        for (name, files) in [("folder", &plan.folder), ("run", &plan.run)] {
            for (path, (object, is_program)) in files {
                let content = contents.get(object).ok_or_else(lost)?.clone();
                let content = match (name, String::from_utf8(content)) {
                    // The results say whose they are.
                    ("run", Ok(text)) => plan.follow(text, task.id).into_bytes(),
                    (_, Ok(text)) => text.into_bytes(),
                    (_, Err(error)) => error.into_bytes(),
                };
                let path = format!("{staging}/{place}/{name}/{path}");
                make(disk, &path, &content, *is_program)?;
            }
        }
    }
    // What git does not carry belongs to the task that this copy has.
    let owner = owner(work, case);
    let known: BTreeSet<&String> = plans.iter().flat_map(|plan| &plan.known).collect();
    let (event, disk) = (work.last_event() + 1, work.disk());
    for &status in Status::ALL {
        let from = companion(status, case.id);
        if !is_folder(disk, &from)? {
            continue;
        }
        for path in files_below(disk, &from)? {
            let to = format!("{staging}/{owner}/folder/{path}");
            if !known.contains(&format!("{from}/{path}")) {
                move_free(disk, &format!("{from}/{path}"), &to)?;
            }
        }
        let away = format!("{OWN}/refused/{}.{status}.{event}", case.id);
        move_free(disk, &from, &away)?;
    }
    let run = RunLayout::Guide.folder(case.id);
    if is_folder(disk, &run)? {
        for name in LOCAL {
            move_free(disk, &format!("{run}/{name}"), &format!("{staging}/{owner}/run/{name}"))?;
        }
        move_free(disk, &run, &format!("{OWN}/refused/{}.run.{event}", case.id))?;
    }
    for (place, task) in case.tasks.iter().enumerate() {
        let to = companion(task.all.file.task().status, task.id);
        move_free(disk, &format!("{staging}/{place}/folder"), &to)?;
        let run = RunLayout::Guide.folder(task.id);
        move_free(disk, &format!("{staging}/{place}/run"), &run)?;
    }
    clear(disk, &staging)?;
    Ok(true)
}

/// What the folders of a task have.
struct Plan {
    folder: Folder,
    run: Folder,
    /// The paths of a commit in the tree.
    known: BTreeSet<String>,
    /// The ids that the task had on the sides.
    ids: BTreeSet<TaskId>,
    /// Whether both sides have files of their own.
    is_mixed: bool,
}

impl Plan {
    fn of(merging: &Merging, task: &Merged) -> Option<Self> {
        let sides = task.sides.as_ref()?;
        let mut known = BTreeSet::new();
        let mut read = |side: usize, path: String| {
            let files = merging.folder(side, &path);
            known.extend(files.keys().map(|name| format!("{path}/{name}")));
            files
        };
        let places = sides.places;
        let [base, ours, theirs] = [0, 1, 2].map(|side: usize| match places[side] {
            Some((status, id)) => {
                (read(side, companion(status, id)), read(side, RunLayout::Guide.folder(id)))
            }
            None => (Folder::new(), Folder::new()),
        });
        let is_mixed = ours != theirs && ours != base && theirs != base;
        let (kept, other) = if is_theirs(sides, task) { (theirs, ours) } else { (ours, theirs) };
        // A side without the task says nothing about its files.
        let other =
            if sides.ours.is_some() && sides.theirs.is_some() { other } else { kept.clone() };
        let is_decided = task.all.file.task().status.is_final();
        let name = |(object, _): &(String, bool)| {
            format!("other-{}", object.get(..DIGITS).unwrap_or(object))
        };
        let ids = places.iter().flatten().map(|(_, id)| *id).collect();
        let folder = united(&base.0, &kept.0, &other.0, is_decided);
        let run = united_run(&base.1, &kept.1, &other.1, name);
        Some(Self { folder, run, known, ids, is_mixed })
    }

    /// A text that names the task by its id.
    fn follow(&self, text: String, to: TaskId) -> String {
        let old = self.ids.iter().filter(|id| **id != to);
        old.fold(text, |text, id| text.replace(&id.to_string(), &to.to_string()))
    }
}

/// Whether the version that counts is that of the other copy.
fn is_theirs(sides: &Sides, task: &Merged) -> bool {
    sides.ours.as_ref() != Some(&task.all.kept) && sides.theirs.is_some()
}

/// Whether git mixed the folders of a case.
fn is_needed(merging: &Merging, case: &Case, plans: &[Plan]) -> bool {
    let is_unmerged = || merging.unmerged.iter().any(|path| is_beside(path, case.id));
    let is_followed = || plans.iter().any(|plan| plan.ids.iter().any(|id| *id != case.id));
    case.tasks.len() > 1
        || case.found.len() > 1
        || is_followed()
        || plans.iter().any(|plan| plan.is_mixed)
        || is_unmerged()
}

/// The place of the task that this copy has under the id of a case.
fn owner(work: &Work<'_>, case: &Case) -> usize {
    let held = work.held(case.id).and_then(|held| held.file());
    let origin = held.as_ref().map(Origin::of);
    let is_it = |task: &Merged| Some(Origin::of(&task.all.file)) == origin;
    case.tasks.iter().position(is_it).unwrap_or(0)
}

fn make(disk: &dyn Disk, path: &str, content: &[u8], is_program: bool) -> Result<()> {
    let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
    atomic::make_folders(disk, folder).map_err(|error| failure(&error))?;
    disk.create(path, content).map_err(|error| failure(&error))?;
    if is_program {
        // Git says that it is one. A file system without such modes has none.
        let mode = std::fs::Permissions::from_mode(0o755);
        drop(std::fs::set_permissions(disk.root_path().join(path), mode));
    }
    Ok(())
}

fn is_folder(disk: &dyn Disk, path: &str) -> Result<bool> {
    let stat = disk.stat(path).map_err(|error| failure(&error))?;
    Ok(stat.is_some_and(|stat| stat.kind == Kind::Folder))
}

/// Moves something, unless it is not there or its new path is taken.
fn move_free(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    if is_there(disk, from)? {
        let (folder, _) = to.rsplit_once('/').unwrap_or(("", to));
        atomic::make_folders(disk, folder).map_err(|error| failure(&error))?;
        disk.move_if_free(from, to).map_err(|error| failure(&error))?;
    }
    Ok(())
}

/// The paths of the files below a folder.
fn files_below(disk: &dyn Disk, folder: &str) -> Result<Vec<String>> {
    let (mut found, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(inner) = open.pop() {
        let path = format!("{folder}/{inner}");
        let entries = disk.list(path.trim_end_matches('/')).map_err(|error| failure(&error))?;
        for entry in entries.unwrap_or_default() {
            match entry.kind {
                Kind::Folder => open.push(format!("{inner}{}/", entry.name)),
                _ => found.push(format!("{inner}{}", entry.name)),
            }
        }
    }
    Ok(found)
}

fn is_there(disk: &dyn Disk, path: &str) -> Result<bool> {
    Ok(disk.stat(path).map_err(|error| failure(&error))?.is_some())
}

fn clear(disk: &dyn Disk, path: &str) -> Result<()> {
    if is_there(disk, path)? {
        disk.remove_tree(path).map_err(|error| failure(&error))?;
    }
    Ok(())
}
