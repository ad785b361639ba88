//! Checkpoints: commits of the files of accepted turns.

use accord_contract::Time;

use super::Change;
use crate::{EventType, Ids, Result, State, Status, array, build, doc};

/// Records that the files of an accepted turn were committed. `clean` means that nothing else is
/// uncommitted, so that the commit becomes the base of the run. A completed run gets no event,
/// because `run_completed` is its last one; the commit names the turn. Fails with `invalid_event`
/// when no run has begun.
pub fn checkpoint(
    state: &State,
    turn: (&str, &str),
    commit: &str,
    files: &[String],
    clean: bool,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let mut next = state.clone();
    if clean {
        next.set(doc::State::ACCEPTED_INTEGRATION_REF, format!("git:{commit}"));
    }
    let payload = build([("checkpoint_sha", commit.into()), ("files_changed", array(files))]);
    let event = (EventType::TurnCheckpointed, Some(turn), payload);
    let is_over = next.status() == Status::Completed;
    // Without an event, this still checks that a run has begun.
    Change::emitting(next, Some(event).filter(|_| !is_over), ids, now)
}
