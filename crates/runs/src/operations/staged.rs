//! Where a turn's result lies: in its own place, or in the one that turns of other runners share.

use accord_contract::codes::Failure;
use accord_contract::wire::Value;
use accord_governance::{TurnId, dispatch, result};
use accord_trees::governed::Repository;

use crate::Runs;
use crate::work::own_path;

impl Runs {
    /// Whether a turn's result is staged, readable or not.
    pub(crate) fn is_staged(&self, turn: &TurnId) -> Result<bool, Failure> {
        let own = own_path(&dispatch::staging_path(turn))?;
        let repository = self.repository();
        Ok(repository.stat(&own)?.is_some() || in_shared_place(repository, turn).is_some())
    }
}

/// What is staged for a turn, and where. In the shared place that is only what says of itself
/// that it is this turn's.
pub(super) fn staged(
    repository: &Repository,
    turn: &TurnId,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let own = repository.staged(&[dispatch::staging_path(turn)])?;
    Ok(own.or_else(|| in_shared_place(repository, turn)))
}

/// What cannot be read there says of no turn that it is its.
fn in_shared_place(repository: &Repository, turn: &TurnId) -> Option<(String, Vec<u8>)> {
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
