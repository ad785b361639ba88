//! Merges imported documents with stored ones.

use accord_contract::{Code, Failure, Timestamp};

use crate::lifecycle::Revision;
use crate::{Package, Session};

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MergedPackage {
    /// It is stored, in this state or a later one.
    Unchanged,
    /// Add it with its whole log.
    Added,
    /// It is stored in an earlier state: move it to this one and append these entries to its log.
    Advanced(Vec<Revision>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MergedSession {
    Unchanged,
    Added,
    /// It is stored without its end, and gets this end.
    Ended(Timestamp),
}

/// Decides the import of a package with its log. `known` is the log of the stored package of the
/// same id. Fails with `duplicate_package_id` when neither log continues the other.
/// Clauses: AGENTIC-R-038, AGENTIC-R-119.
pub fn merge_package(
    package: &Package,
    log: &[Revision],
    known: Option<&[Revision]>,
) -> Result<MergedPackage, Failure> {
    let Some(known) = known else { return Ok(MergedPackage::Added) };
    let hash = *package.content_hash();
    if known.iter().any(|entry| entry.content_hash == hash) {
        return Ok(MergedPackage::Unchanged);
    }
    let hashes = |log: &[Revision]| -> Vec<_> { log.iter().map(|one| one.content_hash).collect() };
    if hashes(log).starts_with(&hashes(known)) {
        return Ok(MergedPackage::Advanced(log[known.len()..].to_vec()));
    }
    let message = format!("the project has another package {:?}", package.package_id().as_str());
    Err(Failure::new(Code::AgenticDuplicatePackageId, message).at("/package_id"))
}

/// Decides the import of a session. `known` is the stored session of the same id. Fails with
/// `duplicate_session_id` when that is another session.
pub fn merge_session(session: &Session, known: Option<&Session>) -> Result<MergedSession, Failure> {
    let Some(known) = known else { return Ok(MergedSession::Added) };
    let same = known.project_id == session.project_id
        && known.actor_id == session.actor_id
        && known.actor_type == session.actor_type
        && known.started_at.time() == session.started_at.time();
    if !same {
        let message = format!("another session has the id {:?}", session.session_id.as_str());
        return Err(Failure::new(Code::AgenticDuplicateSessionId, message).at("/session_id"));
    }
    match (&known.ended_at, &session.ended_at) {
        (None, Some(end)) => Ok(MergedSession::Ended(end.clone())),
        _ => Ok(MergedSession::Unchanged),
    }
}
