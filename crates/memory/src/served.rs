//! Packages as they are served, and the quarantine of damaged ones.
//!
//! A reader checks the hash of each package, and that its row agrees with it. A package that fails
//! is not served: it is logged, and a separate write checks it again and quarantines it.

use accord_base::{ProjectId, SessionId};
use accord_contract::{Failure, Timestamp};
use accord_memory_core::package::PackageHead;
use accord_memory_core::{ContentHash, Package, PackageId, Warning, package};
use accord_store::{PackageRow, Quarantine, StoreExt as _, WriteUnit};

use super::load::integrity;
use super::{Memory, UnitError, UnitResult};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Served {
    pub package_id: PackageId,
    pub content_hash: ContentHash,
    /// The number of its latest revision.
    pub revision: u64,
    /// Its text in transport: with the hash in it.
    pub text: String,
    /// The warnings about a change, if they cannot be in the text: the package has a member of
    /// their name.
    pub apart: Option<Vec<Warning>>,
}

/// A package whose text no longer has its hash, or whose row contradicts it.
#[derive(Clone, Debug)]
pub(crate) struct Damaged {
    pub(crate) project_id: ProjectId,
    pub(crate) package_id: PackageId,
    /// What is wrong with it; `None` when it is in quarantine already.
    pub(crate) found: Option<String>,
}

impl Served {
    pub(crate) fn of(row: PackageRow) -> Result<Self, Damaged> {
        let hash = row.state.content_hash;
        let row = check(row)?;
        Ok(Self {
            package_id: row.package_id,
            content_hash: hash,
            revision: row.state.revision,
            text: package::transport_text(&row.state.text, &hash),
            apart: None,
        })
    }
}

/// The package in a row. A damaged one is added to the list instead.
pub(crate) fn sound_package(
    row: PackageRow,
    damaged: &mut Vec<Damaged>,
) -> UnitResult<Option<Package>> {
    match check(row) {
        Ok(row) => Ok(Some(Package::from_stored(row.state.text, &row.state.content_hash)?)),
        Err(found) => {
            damaged.push(found);
            Ok(None)
        }
    }
}

/// The row, if its package is undamaged.
pub(crate) fn check(row: PackageRow) -> Result<PackageRow, Damaged> {
    let found = match &row.quarantine {
        Some(quarantine) if !quarantine.is_rejected() => None,
        _ => match sound_row(&row) {
            Ok(()) => return Ok(row),
            Err(failure) => Some(failure.message),
        },
    };
    Err(Damaged { project_id: row.project_id, package_id: row.package_id, found })
}

/// Refuses a row whose text no longer has its hash, or that contradicts its text.
pub(crate) fn sound_row(row: &PackageRow) -> Result<(), Failure> {
    package::verify(&row.state.text, &row.state.content_hash)?;
    // The hash covers the text only. A changed column could still show a draft to others or list
    // the package under another status.
    let head = PackageHead::read(&row.state.text)?;
    let (author, actor) = (&head.created_by, &row.actor);
    let by = (&*author.id, &*author.kind) == (actor.id.as_str(), actor.kind.as_str());
    let session = author.session_id.as_deref().unwrap_or_default();
    let wrong = [
        ("project_id", head.project_id == row.project_id.as_str()),
        ("package_id", head.package_id == row.package_id.as_str()),
        ("status", head.status == row.state.status.as_str()),
        ("review_type", head.review_type == row.state.review_type.as_str()),
        ("package_type", head.package_type == row.package_type.as_str()),
        ("created_at", head.created_at == row.created_at.as_str()),
        ("created_by", by),
        ("session_id", session == row.session_id.as_ref().map_or("", SessionId::as_str)),
    ];
    match wrong.iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((member, _)) => Err(integrity(format!("its row has another {member}"))),
    }
}

impl Damaged {
    pub(crate) fn failure(&self) -> Failure {
        integrity(format!("the stored package {:?} is damaged", self.package_id.as_str()))
            .with("package_id", self.package_id.as_str())
            .with("project_id", self.project_id.as_str())
    }
}

impl Memory {
    /// The result of a job about one package; a failure if the package is damaged.
    pub(crate) fn sound<T>(&self, outcome: Result<T, Damaged>) -> Result<T, Failure> {
        outcome.map_err(|damaged| {
            self.set_aside(std::slice::from_ref(&damaged));
            damaged.failure()
        })
    }

    /// Quarantines damaged packages later, in a separate write.
    pub(crate) fn set_aside(&self, damaged: &[Damaged]) {
        for Damaged { project_id, package_id, found } in damaged {
            let Some(found) = found else { continue };
            tracing::error!(
                project = project_id.as_str(),
                package = package_id.as_str(),
                "a package is damaged: {found}"
            );
            let (memory, project, package) = (self.clone(), project_id.clone(), package_id.clone());
            let job = move |unit: &mut dyn WriteUnit| memory.quarantine(unit, &project, &package);
            // Separate, because the caller is a reader. It is not awaited: the answer is the same.
            self.store().enqueue(job, |outcome: UnitResult<()>| {
                if let Err(failure) = outcome.map_err(UnitError::into_failure) {
                    tracing::error!("cannot quarantine a damaged package: {failure}");
                }
            });
        }
    }

    /// Quarantines a package if it is still damaged.
    fn quarantine(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        id: &PackageId,
    ) -> Result<(), UnitError> {
        // Read again in the transaction, because it may have changed since.
        let Some(row) = unit.package(project, id)? else { return Ok(()) };
        if let Err(Damaged { found: Some(reason), .. }) = check(row) {
            let at = Timestamp::emit(self.now());
            unit.quarantine_package(project, id, Some(&Quarantine { at, reason }))?;
        }
        Ok(())
    }
}
