//! Repairs of the model. It computes derived data except vectors for each query, so only rows are
//! rewritten.

use accord_base::ProjectId;

use super::{PackageEntry, State};
use crate::{PackageSource, Repair, Result};

impl Repair for State {
    fn package_source(&self, project: &ProjectId, number: i64) -> Result<Option<PackageSource>> {
        let project = self.at(project).into_iter();
        let mut entries = project.flat_map(|project| project.packages.values());
        let entry = entries.find(|entry| is_numbered(entry, number));
        Ok(entry.map(|entry| PackageSource {
            text: Some(entry.row.state.text.clone()),
            log: entry.log.clone(),
            deposited_at: Some(entry.row.deposited_at.clone()),
        }))
    }

    fn forget_derived(&mut self) -> Result<()> {
        let projects = self.projects.values_mut();
        for entry in projects.flat_map(|project| project.packages.values_mut()) {
            entry.embedding = None;
        }
        Ok(())
    }

    fn recount(&mut self, _: &ProjectId) -> Result<()> {
        Ok(())
    }
}

pub(super) fn is_numbered(entry: &PackageEntry, number: i64) -> bool {
    i64::try_from(entry.row.seq) == Ok(number)
}
