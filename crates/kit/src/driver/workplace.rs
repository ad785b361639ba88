//! A fresh folder for an adapter to work in, gone when the work is done.

use accord_process::Invocation;
use tempfile::TempDir;

use super::NoAnswer;

/// Makes a temporary folder and tells the adapter where it is, in `TMPDIR` and `ACCORD_CASE_DIR`.
///
/// The working folder stays the caller's, since commands are often written relative to it.
pub(super) fn prepare(invocation: &Invocation) -> Result<(TempDir, Invocation), NoAnswer> {
    let folder = tempfile::Builder::new()
        .prefix("accord-case-")
        .tempdir()
        .map_err(|error| NoAnswer::Harness {
            reason: format!("no temporary folder could be made: {error}"),
        })?;
    let invocation = invocation
        .clone()
        .env("TMPDIR", folder.path())
        .env("ACCORD_CASE_DIR", folder.path());
    Ok((folder, invocation))
}
