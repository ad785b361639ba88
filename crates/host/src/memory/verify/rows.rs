//! What makes a row sound: its document can be read, and says what the row says.

use accord_context::lifecycle::check_revisions;
use accord_context::{Package, Timestamp};
use accord_contract::codes::Failure;
use accord_store::{FactRow, PackageRow, ProjectRow, RevisionRow, SessionRow};

use super::report::wrong;
use crate::memory::load;

pub(super) fn project(row: &ProjectRow) -> Result<(), Failure> {
    let project = load::project_of(row)?;
    let same = project.project_id == row.project_id
        && project.created_at == row.created_at
        && project.archived_at == row.archived_at;
    agrees(same, "project", row.project_id.as_str())
}

pub(super) fn session(row: &SessionRow) -> Result<(), Failure> {
    let session = load::session_of(row)?;
    let expected = load::row_of_session(&session);
    let same = expected.project_id == row.project_id
        && expected.session_id == row.session_id
        && expected.actor == row.actor
        && expected.callsign == row.callsign
        && expected.started_at == row.started_at
        && expected.ended_at == row.ended_at;
    agrees(same, "session", row.session_id.as_str())
}

pub(super) fn fact(row: &FactRow) -> Result<(), Failure> {
    let fact = load::fact_of(row)?;
    let same = fact.project_id == row.project_id
        && fact.fact_id == row.fact_id
        && fact.subject == row.subject
        && fact.predicate == row.predicate
        && fact.value == row.value
        && at_once(Some(&fact.valid_from), Some(&row.valid_from))
        && at_once(fact.valid_to.as_ref(), row.valid_to.as_ref())
        && fact.created_at == row.created_at;
    agrees(same, "fact", row.fact_id.as_str())
}

/// A package has its hash, its log leads to it, and the row repeats what both say.
pub(super) fn package(row: &PackageRow, log: &[RevisionRow]) -> Result<(), Failure> {
    let package = Package::from_stored(row.state.text.clone(), &row.state.content_hash)?;
    let log = log
        .iter()
        .map(|entry| load::revision_of(&row.package_id, entry));
    let log = log.collect::<Result<Vec<_>, _>>()?;
    check_revisions(&package, &log)
        .map_err(|failure| wrong(format!("its log: {}", failure.message)))?;
    let first = log.first().map(|first| first.content_hash);
    let fields = package.fields();
    let same = fields.project_id == row.project_id
        && fields.package_id == row.package_id
        && fields.created_at == row.created_at
        && fields.created_by.key() == row.actor
        && fields.created_by.session() == row.session_id.as_ref()
        && fields.package_type == row.package_type
        && fields.significance() == row.significance
        && fields.status == row.state.status
        && fields.review_type == row.state.review_type
        && first == Some(row.deposited_hash)
        && log.len() as u64 == row.state.revision;
    agrees(same, "package", row.package_id.as_str())
}

fn at_once(one: Option<&Timestamp>, other: Option<&Timestamp>) -> bool {
    one.map(Timestamp::instant) == other.map(Timestamp::instant)
}

fn agrees(same: bool, what: &str, id: &str) -> Result<(), Failure> {
    match same {
        true => Ok(()),
        false => Err(wrong(format!(
            "the row of {what} {id:?} contradicts its document"
        ))),
    }
}
