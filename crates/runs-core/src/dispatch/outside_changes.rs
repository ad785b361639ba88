//! Changes while no worker had the turn: between two attempts, or before the first.
//!
//! When a worker ends without an accepted result, the differences from the turn's baseline are
//! recorded with the turn. Differences from that record at the next dispatch were made by someone
//! else, such as a person who corrected the configuration or committed. A turn that was never
//! dispatched needs no record.
//!
//! Invariants:
//! - changes of a worker stay attributed to the turn until a person commits or changes them;
//! - a file that a person changed is not attributed to the worker, unless the worker changes it
//!   again;
//! - without a record of a worker, all changes are attributed to the turn;
//! - changed settings of version control count as changes of a person. A worker that changes them
//!   gets no record.

use std::collections::BTreeMap;

use accord_contract::{Object, Value};

use crate::members::{build, object, text};
use crate::{Baseline, Observation, RepoPath, Turn, doc};

pub const LEFT_BEHIND: &str = doc::Turn::LEFT_BEHIND.name();

/// The maximum number of recorded files. With more, everything stays attributed to the turn.
const MOST: usize = 2_000;

/// Changes by others while no worker had the turn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutsideChanges {
    pub baseline: Baseline,
    pub files: Vec<String>,
}

/// The record of a worker's changes; null when they are unknown or too many.
pub fn left_behind(seen: &Observation) -> Value {
    // A record of part of the files would attribute the rest to a person.
    if !seen.is_git() || seen.changed.len() > MOST {
        return Value::Null;
    }
    let of = |uncommitted: bool| -> Object {
        let is_of = |path: &String| seen.uncommitted.contains(path) == uncommitted;
        let files = seen.changed.iter().filter(|(path, _)| is_of(path));
        files.map(|(path, mark)| (path.clone(), mark.as_str().into())).collect()
    };
    let (committed, uncommitted) = (of(false), of(true));
    let uncommitted = doc::LeftBehind::UNCOMMITTED.to(uncommitted);
    build([doc::LeftBehind::COMMITTED.to(committed), uncommitted]).into()
}

pub fn was_never_dispatched(turn: &Turn) -> bool {
    turn.value(doc::Turn::DISPATCHED_AT).is_none_or(Value::is_null)
}

/// The changes by others since the turn's last worker ended, or since its assignment. `None` when
/// there are none or they are unknown. `view` are the current settings that decide which changes
/// version control shows.
pub fn outside_changes(
    turn: &Turn,
    seen: &Observation,
    view: BTreeMap<String, String>,
) -> Option<OutsideChanges> {
    let nothing = Object::new();
    let left = match turn.left_behind() {
        Some(left) => left,
        // No worker has had the turn, so every change is by someone else.
        None if was_never_dispatched(turn) => &nothing,
        None => return None,
    };
    let mut baseline = turn.baseline()?;
    let other_view = baseline.view != view;
    baseline.view = view;
    // Commits of an earlier attempt stay the turn's; without any, those until now are of others.
    if object(left, doc::LeftBehind::COMMITTED.name()).is_none_or(Object::is_empty) {
        baseline.way_ref.clone_from(&seen.head_ref);
    }
    let of = |name: &str, path: &str, mark: &str| {
        let files = object(left, name);
        files.and_then(|files| text(files, path)) == Some(mark)
    };
    let is_left = |path: &str, mark: &str| {
        // A file that was uncommitted then and is committed now was committed by a person.
        let may_be_uncommitted = seen.uncommitted.contains(path);
        of("committed", path, mark) || (may_be_uncommitted && of("uncommitted", path, mark))
    };
    let is_operational = |path: &str| RepoPath::parse(path).is_ok_and(|path| path.is_operational());
    let known: BTreeMap<String, String> = baseline.dirty.iter().cloned().collect();
    let mut files = Vec::new();
    for (path, mark) in &seen.changed {
        // Files of the run change all the time and are never attributed. A file that is as it was
        // at the assignment has not changed.
        if is_left(path, mark) || is_operational(path) || known.get(path) == Some(mark) {
            continue;
        }
        // The newer mark replaces the known one: only another change of the worker counts again.
        baseline.dirty.retain(|(known, _)| known != path);
        baseline.dirty.push((path.clone(), mark.clone()));
        files.push(path.clone());
    }
    (other_view || !files.is_empty()).then_some(OutsideChanges { baseline, files })
}
