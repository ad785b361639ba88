//! Recovery from a journal that a crash left on disk.
//!
//! A journal on disk means that its commit counts as done, but may be incomplete on disk. Lines are
//! written only when they are missing. Files are replaced only when they have not changed since.

use accord_contract::{Code, Failure, Object, Value};

use super::commit::{append, fingerprint, state_path, state_write};
use super::{CommitKind, Record, Write};
use crate::doc::{self, Member, Text};
use crate::{Result, RunId, State, TurnId, dispatch};

/// The recovery from a journal. After the writes, the journal is deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovery {
    /// The missing writes, in order. An append or section that exists is skipped.
    pub writes: Vec<Write>,
    /// Whether the state already includes the commit.
    pub applied: bool,
    /// Whether another runner continued from the state before the commit, which is then discarded.
    pub superseded: bool,
}

/// Reads a journal of any runner, given the state on disk. Fails with `record_invalid` when it is
/// not a journal. It must then not be deleted.
pub fn recover(journal: &Object, state: &State) -> Result<Recovery> {
    check_prepared(journal)?;
    let kind = CommitKind::of_journal(journal);
    let own = doc::Journal::ACCORD.get(journal).map(|own| doc::OwnJournal::WRITES.get(own));
    let (applied, superseded) = match kind {
        Some(CommitKind::Accept) => (is_applied(journal, state), false),
        // If the state is neither the one before nor the one after the commit, another runner
        // continued without it. Replaying would undo that runner's work.
        Some(CommitKind::Change) => {
            let now = fingerprint(state);
            let is = |member: Member<Text>| member.get(journal) == Some(now.as_str());
            let after = is(doc::Journal::STATE_AFTER);
            (after, !after && !is(doc::Journal::STATE_BEFORE))
        }
        Some(CommitKind::Coordinate) => return Err(damaged("it belongs to a coordinator")),
        // A later version may know this kind. The journal must stay on disk for it.
        None => return Err(damaged("its kind is not known")),
    };
    if superseded {
        return Ok(Recovery { writes: Vec::new(), applied, superseded });
    }
    let mut writes = match own {
        Some(writes) => own_writes(writes)?,
        None => foreign(journal).ok_or_else(|| damaged("it lacks what a journal has"))?,
    };
    // Other files, such as the repository decisions, may have newer content than this journal.
    // Lines are still added, because a missing line stays missing otherwise.
    let moved_on = kind == Some(CommitKind::Accept) && applied && has_continued(journal, state);
    writes.retain(|write| match write {
        Write::Replace { path, .. } if *path == state_path() => !applied,
        Write::Replace { .. } => !moved_on,
        _ => true,
    });
    Ok(Recovery { writes, applied, superseded })
}

/// Reads a coordinator's journal. `state` is the digest of its state on disk, if there is one.
pub(crate) fn recover_coordinator(
    journal: &Object,
    state: Option<&str>,
    state_path: &str,
) -> Result<Recovery> {
    check_prepared(journal)?;
    if CommitKind::of_journal(journal) != Some(CommitKind::Coordinate) {
        return Err(damaged("it belongs to no coordinator"));
    }
    let applied = state.is_some() && doc::Journal::STATE_AFTER.get(journal) == state;
    let superseded = !applied && doc::Journal::STATE_BEFORE.get(journal) != state;
    let mut writes = Vec::new();
    if !superseded {
        let own = doc::Journal::ACCORD.get(journal);
        writes = own_writes(own.map_or(&[][..], |own| doc::OwnJournal::WRITES.get(own)))?;
        let is_state = |it: &Write| matches!(it, Write::Replace { path, .. } if path == state_path);
        writes.retain(|write| !(applied && is_state(write)));
    }
    Ok(Recovery { writes, applied, superseded })
}

fn damaged(what: &str) -> Failure {
    let message = format!("a journal was left behind, and {what}");
    Failure::new(Code::XchainRecordInvalid, message)
}

fn check_prepared(journal: &Object) -> Result<()> {
    match doc::Journal::STATUS.get(journal) {
        Some("prepared") => Ok(()),
        _ => Err(damaged("its status is not known")),
    }
}

fn own_writes(writes: &[Value]) -> Result<Vec<Write>> {
    writes
        .iter()
        .map(|write| Write::read(write.as_object()?))
        .collect::<Option<_>>()
        .ok_or_else(|| damaged("one of its writes is unknown"))
}

fn is_of_run(journal: &Object, state: &State) -> bool {
    let run = doc::Journal::RUN_ID.get(journal);
    run.is_none() || run == state.run_id().map(RunId::as_str)
}

/// Whether the state says that the turn was accepted.
fn is_applied(journal: &Object, state: &State) -> bool {
    let turn = doc::Journal::TURN_ID.get(journal).and_then(TurnId::parse);
    let active = turn.as_ref().is_some_and(|turn| state.turn(turn).is_some());
    let sequence = doc::Journal::ACCEPTED_SEQUENCE.get(journal).unwrap_or(0);
    // With another run in the state, this commit is history. Replaying its state would bring the
    // old run back.
    !is_of_run(journal, state) || (!active && state.turn_sequence() >= sequence)
}

fn has_continued(journal: &Object, state: &State) -> bool {
    let sequence = doc::Journal::ACCEPTED_SEQUENCE.get(journal).unwrap_or(0);
    !is_of_run(journal, state) || state.turn_sequence() > sequence
}

/// The writes of a journal that another runner left.
fn foreign(journal: &Object) -> Option<Vec<Write>> {
    let history = doc::Journal::HISTORY_ENTRY.get(journal)?;
    let next = State::read(doc::Journal::NEXT_STATE.raw(journal)?.clone()).ok()?;
    let turn = TurnId::parse(doc::History::TURN_ID.get(history)?)?;
    let mut writes = vec![append(Record::History, history)];
    let entries = doc::Journal::LEDGER_ENTRIES.objects(journal);
    writes.extend(entries.map(|line| append(Record::Ledger, line)));
    writes.push(state_write(&next));
    writes.extend(cleanup_writes(&turn));
    Some(writes)
}

pub(super) fn cleanup_writes(turn: &TurnId) -> [Write; 2] {
    [
        Write::Remove { path: dispatch::bundle_folder(turn) },
        Write::Remove { path: dispatch::staging_folder(turn) },
    ]
}
