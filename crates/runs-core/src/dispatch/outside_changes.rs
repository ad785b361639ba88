//! What changed while no worker had a turn: between two attempts, or before the first.
//!
//! When a worker ends without being accepted, what differs from the turn's baseline then is noted
//! with the turn. Whatever differs from that note when the turn is dispatched again was changed
//! by another person: someone who corrected the configuration, or who committed. A turn that was
//! never handed out has left nothing, and needs no note.
//!
//! Invariants:
//! - what a worker left, committed or not, stays the turn's own until a person commits it or
//!   changes it once more;
//! - a file that a person changed is not the worker's; a worker that changes it again is
//!   responsible for it;
//! - where nothing was noted of a worker, nothing is forgiven;
//! - settings of version control that changed meanwhile belong to a person, like files: a worker
//!   that changes some leaves no note.

use std::collections::BTreeMap;

use accord_contract::wire::{Object, Value};

use crate::RepoPath;
use crate::accept::Observation;
use crate::doc;
use crate::members::{build, object, text};
use crate::state::{Baseline, Turn};

/// The member of a turn that holds the note.
pub const LEFT_BEHIND: &str = doc::Turn::LEFT_BEHIND.name();

/// The most files that are noted; past it everything stays the turn's own.
const MOST: usize = 2_000;

/// Changes by others while no worker had a turn.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct OutsideChanges {
    /// The baseline of the next attempt.
    pub baseline: Baseline,
    /// The files that others changed or committed.
    pub files: Vec<String>,
}

/// The changes of a worker when it ended; null where they are unknown or too many to record.
pub fn left_behind(seen: &Observation) -> Value {
    if !seen.is_git() || seen.changed.len() > MOST {
        return Value::Null;
    }
    let of = |uncommitted: bool| -> Object {
        let files = seen.changed.iter();
        files
            .filter(|(path, _)| seen.uncommitted.contains(*path) == uncommitted)
            .map(|(path, mark)| (path.clone(), mark.as_str().into()))
            .collect()
    };
    build([
        doc::LeftBehind::COMMITTED.to(of(false)),
        doc::LeftBehind::UNCOMMITTED.to(of(true)),
    ])
    .into()
}

/// Whether no worker ever had this turn.
pub fn was_never_dispatched(turn: &Turn) -> bool {
    turn.value(doc::Turn::DISPATCHED_AT)
        .is_none_or(Value::is_null)
}

/// Changes by others since the turn's last worker ended, or since its assignment where it
/// had none, as far as that is known and anything was. `view` is what decides now which changes
/// version control shows.
pub fn outside_changes(
    turn: &Turn,
    seen: &Observation,
    view: BTreeMap<String, String>,
) -> Option<OutsideChanges> {
    let nothing = Object::new();
    let left = match turn.left_behind() {
        Some(left) => left,
        None if was_never_dispatched(turn) => &nothing,
        None => return None,
    };
    let mut baseline = turn.baseline()?;
    let other_view = baseline.view != view;
    baseline.view = view;
    let of = |name: &str, path: &str, mark: &str| {
        let files = object(left, name);
        files.and_then(|files| text(files, path)) == Some(mark)
    };
    let is_left = |path: &str, mark: &str| {
        // What is committed now and was not then was committed by a person.
        let may_be_uncommitted = seen.uncommitted.contains(path);
        of("committed", path, mark) || (may_be_uncommitted && of("uncommitted", path, mark))
    };
    let is_operational = |path: &str| RepoPath::parse(path).is_ok_and(|path| path.is_operational());
    let mut files = Vec::new();
    for (path, mark) in &seen.changed {
        if is_left(path, mark) || is_operational(path) {
            continue;
        }
        baseline.dirty.retain(|(known, _)| known != path);
        baseline.dirty.push((path.clone(), mark.clone()));
        files.push(path.clone());
    }
    (other_view || !files.is_empty()).then_some(OutsideChanges { baseline, files })
}
