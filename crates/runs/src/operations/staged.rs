//! The staged result of a turn: in its own folder, or in the file that turns of other runners
//! share.

use accord_contract::{Time, Value};
use accord_runs_core::accept::StagedFile;
use accord_runs_core::{Result, Turn, TurnId, Write, dispatch, result};

use crate::acceptance_driver::is_unusable;
use crate::{Operation, Repository, Runs, own_path};

impl Runs {
    /// Whether a turn's result is staged, readable or not.
    pub(crate) fn is_staged(&self, turn: &TurnId) -> Result<bool> {
        let own = own_path(&dispatch::staging_path(turn))?;
        let repository = self.repository();
        Ok(repository.stat(&own)?.is_some() || in_shared_staging(repository, turn).is_some())
    }
}

/// The staged result of a turn and its path. The shared file counts only if it names this turn.
pub(crate) fn staged(repository: &Repository, turn: &TurnId) -> Result<Option<StagedFile>> {
    let own = repository.staged(&[dispatch::staging_path(turn)])?;
    Ok(own.or_else(|| in_shared_staging(repository, turn)))
}

/// Copies the result of a turn, if it is readable. Returns the path of the copy, and what must be
/// removed in the commit of the caller.
pub(super) fn archive_result(
    operation: &Operation<'_>,
    turn: &Turn,
    now: Time,
) -> Result<(Option<String>, Vec<Write>)> {
    match staged(&operation.locked, turn.id()) {
        Ok(None) => Ok((None, Vec::new())),
        Ok(Some((path, bytes))) => {
            // Before the commit that removes the original: a crash in between leaves both.
            let kept = operation.locked.keep_rejected(turn.id(), turn.attempt(), now, &bytes)?;
            Ok((Some(kept.to_string()), vec![Write::Remove { path }]))
        }
        // A result that cannot be read cannot be copied.
        Err(failure) if is_unusable(&failure) => {
            let path = dispatch::staging_folder(turn.id());
            Ok((None, vec![Write::Remove { path }]))
        }
        Err(failure) => Err(failure),
    }
}

/// An unreadable shared file belongs to no turn.
fn in_shared_staging(repository: &Repository, turn: &TurnId) -> Option<StagedFile> {
    let shared = repository.staged(&[dispatch::FLAT_STAGING_PATH.to_owned()]).ok().flatten()?;
    let document = result::read_staged(&shared.1).ok()?;
    (document.get("turn_id").and_then(Value::as_str) == Some(turn.as_str())).then_some(shared)
}
