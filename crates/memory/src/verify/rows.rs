//! Checks a package: its hash, its log, and that its row agrees with both.

use accord_contract::Failure;
use accord_memory_core::Package;
use accord_memory_core::bundle::Outline;
use accord_memory_core::lifecycle::check_revisions;
use accord_store::{PackageRow, RevisionRow};

use crate::load::{self, integrity};

/// The package of a row, if it is undamaged.
pub(super) fn package(row: &PackageRow, log: &[RevisionRow]) -> Result<Package, Failure> {
    let package = Package::from_stored(row.state.text.clone(), &row.state.content_hash)?;
    let log = log.iter().map(|entry| load::revision_of(&row.package_id, entry));
    let log = log.collect::<Result<Vec<_>, _>>()?;
    check_revisions(&package, &log)
        .map_err(|failure| integrity(format!("its log: {}", failure.message)))?;
    let first = log.first().map(|first| first.content_hash);
    let fields = package.fields();
    let same = fields.project_id == row.project_id
        && fields.package_id == row.package_id
        && fields.created_at == row.created_at
        && fields.created_by.key() == row.actor
        && fields.created_by.session() == row.session_id.as_ref()
        && fields.package_type == row.package_type
        && fields.significance() == row.significance
        && Outline::of(fields) == row.outline
        && log.last().is_some_and(|last| last.note.is_some()) == row.state.has_note
        && fields.status == row.state.status
        && fields.review_type == row.state.review_type
        && first == Some(row.deposited_hash)
        && log.len() as u64 == row.state.revision;
    let id = row.package_id.as_str();
    let contradicted = || integrity(format!("the row of package {id:?} contradicts its document"));
    same.then_some(package).ok_or_else(contradicted)
}
