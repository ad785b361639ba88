//! Where a turn's result lies: in its own place, or in the one that turns of other runners share.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::Value;
use accord_runs_core::accept::Write;
use accord_runs_core::state::Turn;
use accord_runs_core::{TurnId, dispatch, result};

use crate::Runs;
use crate::acceptance_driver::is_unusable;
use crate::operation::{Operation, own_path};
use crate::repository::Repository;

impl Runs {
    /// Whether a turn's result is staged, readable or not.
    pub(crate) fn is_staged(&self, turn: &TurnId) -> Result<bool, Failure> {
        let own = own_path(&dispatch::staging_path(turn))?;
        let repository = self.repository();
        Ok(repository.stat(&own)?.is_some() || in_shared_staging(repository, turn).is_some())
    }
}

/// What is staged for a turn, and where. In the shared place that is only what says of itself
/// that it is this turn's.
pub(super) fn staged(
    repository: &Repository,
    turn: &TurnId,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let own = repository.staged(&[dispatch::staging_path(turn)])?;
    Ok(own.or_else(|| in_shared_staging(repository, turn)))
}

/// Puts a turn's result aside, where it can be read: gives where it lies then, and what is left
/// to remove with the change that this belongs to.
pub(super) fn archive_result(
    operation: &Operation<'_>,
    turn: &Turn,
    now: Time,
) -> Result<(Option<String>, Vec<Write>), Failure> {
    match staged(&operation.locked, turn.id()) {
        Ok(None) => Ok((None, Vec::new())),
        Ok(Some((path, bytes))) => {
            let kept = operation
                .locked
                .keep_rejected(turn.id(), turn.attempt(), now, &bytes)?;
            Ok((Some(kept.to_string()), vec![Write::Remove { path }]))
        }
        // What cannot be read cannot be kept either.
        Err(failure) if is_unusable(&failure) => {
            let path = dispatch::staging_folder(turn.id());
            Ok((None, vec![Write::Remove { path }]))
        }
        Err(failure) => Err(failure),
    }
}

/// What cannot be read there says of no turn that it is its.
fn in_shared_staging(repository: &Repository, turn: &TurnId) -> Option<(String, Vec<u8>)> {
    let shared = repository.staged(&[dispatch::FLAT_STAGING_PATH.to_owned()]);
    let shared = shared.ok().flatten();
    shared.filter(|(_, bytes)| names(bytes, turn))
}

fn names(bytes: &[u8], turn: &TurnId) -> bool {
    let document = result::read_staged(bytes).ok();
    let claimed = document
        .as_ref()
        .and_then(|document| document.get("turn_id"));
    claimed.and_then(Value::as_str) == Some(turn.as_str())
}
