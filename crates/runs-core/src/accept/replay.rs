//! Recovery from a journal that was left behind.
//!
//! A journal on disk means that its commit happened and may not be on disk completely. Lines are
//! looked up before they are written; files are replaced only while no later change was made to
//! them.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};

use super::commit::{append, fingerprint, state_path, state_write};
use super::{CommitKind, Record, Write};
use crate::dispatch;
use crate::doc::{self, Member, Text};
use crate::state::State;
use crate::{RunId, TurnId};

/// What to do about a journal, in order; then it is deleted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recovery {
    /// The writes; each append and section only where it is not there yet.
    pub writes: Vec<Write>,
    /// Whether the state already says what the journal says.
    pub applied: bool,
    /// Whether another runner, which does not know the journal, continued from the state before it,
    /// so that the commit never happened.
    pub superseded: bool,
}

/// Reads a journal of this or another runner, given the state on disk.
///
/// # Errors
/// With `record_invalid` when it is no journal; it is then left alone.
pub fn recover(journal: &Object, state: &State) -> Result<Recovery, Failure> {
    check_prepared(journal)?;
    let kind = CommitKind::of_journal(journal);
    let own = doc::Journal::ACCORD
        .get(journal)
        .map(|own| doc::OwnJournal::WRITES.get(own));
    let (applied, superseded) = match kind {
        Some(CommitKind::Accept) => (is_applied(journal, state), false),
        Some(CommitKind::Change) => {
            let now = fingerprint(state);
            let is = |member: Member<Text>| member.get(journal) == Some(now.as_str());
            let after = is(doc::Journal::STATE_AFTER);
            (after, !after && !is(doc::Journal::STATE_BEFORE))
        }
        Some(CommitKind::Coordinate) => return Err(damaged("it belongs to a coordinator")),
        None => return Err(damaged("its kind is not known")),
    };
    if superseded {
        return Ok(Recovery {
            writes: Vec::new(),
            applied,
            superseded,
        });
    }
    let mut writes = match own {
        Some(writes) => own_writes(writes)?,
        None => foreign(journal).ok_or_else(|| damaged("it lacks what a journal has"))?,
    };
    let moved_on = kind == Some(CommitKind::Accept) && applied && went_on(journal, state);
    writes.retain(|write| match write {
        Write::Replace { path, .. } if *path == state_path() => !applied,
        Write::Replace { .. } => !moved_on,
        _ => true,
    });
    Ok(Recovery {
        writes,
        applied,
        superseded,
    })
}

/// Reads a coordinator's journal, given the digest of its state on disk, `None` where it has
/// none.
pub(crate) fn recover_coordinator(
    journal: &Object,
    state: Option<&str>,
    state_path: &str,
) -> Result<Recovery, Failure> {
    check_prepared(journal)?;
    if CommitKind::of_journal(journal) != Some(CommitKind::Coordinate) {
        return Err(damaged("it belongs to no coordinator"));
    }
    let applied = state.is_some() && doc::Journal::STATE_AFTER.get(journal) == state;
    let superseded = !applied && doc::Journal::STATE_BEFORE.get(journal) != state;
    let mut writes = Vec::new();
    if !superseded {
        let own = doc::Journal::ACCORD
            .get(journal)
            .map_or(&[][..], |own| doc::OwnJournal::WRITES.get(own));
        writes = own_writes(own)?;
        writes.retain(
            |write| !matches!(write, Write::Replace { path, .. } if applied && path == state_path),
        );
    }
    Ok(Recovery {
        writes,
        applied,
        superseded,
    })
}

fn damaged(what: &str) -> Failure {
    let message = format!("a journal was left behind, and {what}");
    Failure::new(Code::XchainRecordInvalid, message)
}

fn check_prepared(journal: &Object) -> Result<(), Failure> {
    match doc::Journal::STATUS.get(journal) {
        Some("prepared") => Ok(()),
        _ => Err(damaged("its status is not known")),
    }
}

/// The writes of a journal of ours.
fn own_writes(writes: &[Value]) -> Result<Vec<Write>, Failure> {
    let read = writes.iter().map(|write| Write::read(write.as_object()?));
    let read: Option<Vec<Write>> = read.collect();
    read.ok_or_else(|| damaged("one of its writes is not known"))
}

/// Whether the state knows that the turn was accepted.
fn is_applied(journal: &Object, state: &State) -> bool {
    let same_run = doc::Journal::RUN_ID
        .get(journal)
        .is_none_or(|run| state.run_id().map(RunId::as_str) == Some(run));
    let turn = doc::Journal::TURN_ID.get(journal).and_then(TurnId::parse);
    let active = turn.as_ref().is_some_and(|turn| state.turn(turn).is_some());
    let sequence = doc::Journal::ACCEPTED_SEQUENCE.get(journal).unwrap_or(0);
    !same_run || (!active && state.turn_sequence() >= sequence)
}

/// Whether more has happened since.
fn went_on(journal: &Object, state: &State) -> bool {
    let sequence = doc::Journal::ACCEPTED_SEQUENCE.get(journal).unwrap_or(0);
    let same_run = doc::Journal::RUN_ID
        .get(journal)
        .is_none_or(|run| state.run_id().map(RunId::as_str) == Some(run));
    !same_run || state.turn_sequence() > sequence
}

/// The writes of a journal that another runner left.
fn foreign(journal: &Object) -> Option<Vec<Write>> {
    let history = doc::Journal::HISTORY_ENTRY.get(journal)?;
    let next = State::read(doc::Journal::NEXT_STATE.raw(journal)?.clone()).ok()?;
    let turn = TurnId::parse(doc::History::TURN_ID.get(history)?)?;
    let mut writes = vec![append(Record::History, history)];
    for line in doc::Journal::LEDGER_ENTRIES.objects(journal) {
        writes.push(append(Record::Ledger, line));
    }
    writes.push(state_write(&next));
    writes.extend(leftovers(&turn));
    Some(writes)
}

/// What of an accepted turn is no longer needed.
pub(super) fn leftovers(turn: &TurnId) -> [Write; 2] {
    [
        Write::Remove {
            path: dispatch::bundle_folder(turn),
        },
        Write::Remove {
            path: dispatch::staging_folder(turn),
        },
    ]
}
