//! Deletes unreferenced blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use accord_base::{Caller, ProjectId, Verb};
use accord_canon::Digest;
use accord_contract::codes::{Code, Failure};
use accord_contract::message;
use accord_contract::time::Time;
use accord_contract::wire::Object;
use accord_store::{
    FactQuery, Order, PackageQuery, Quarantined, ReadUnit, StoreError, StoreErrorKind,
    StoreExt as _, When,
};
use tokio::task::spawn_blocking;

use crate::blobs::Files;
use crate::cancel::{CancelOnDrop, CancelToken};
use crate::load::all_projects;
use crate::spool::io_error;
use crate::{Memory, UnitError, UnitResult};

/// How many rows are read at once.
const PAGE: usize = 200;

/// Which blobs to delete.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Those that were last stored before this.
    pub before: Time,
    /// Deletes nothing, and reports what would be deleted.
    pub dry_run: bool,
}

message! {
    /// The deleted blobs.
    pub struct SweepReport("SweepReport", open) {
        /// Whether this was a dry run that deleted nothing.
        required dry_run: bool = "dry_run", "permission";
        /// The number of unreferenced blobs, counted per project.
        required links: u64 = "links", "count";
        /// The number of files that no project has any more.
        required files: u64 = "files", "count";
        /// The size of those files, in bytes.
        required bytes: u64 = "bytes", "bytes";
    }
}

/// The candidates of each project.
type Candidates = BTreeMap<ProjectId, BTreeSet<Digest>>;

impl Memory {
    /// Deletes unreferenced blobs. The caller must administer every project.
    ///
    /// # Errors
    /// With `unauthorized` or `not_implemented`.
    pub async fn sweep_blobs(
        &self,
        caller: &Caller,
        asked: &Sweep,
    ) -> Result<SweepReport, Failure> {
        let files = self.blob_files()?;
        let access = caller.access();
        access.may_anywhere(Verb::Admin)?;
        if access.projects().is_some() {
            let message = "blobs are shared: only a key for all projects may remove them";
            return Err(Failure::new(Code::AgenticUnauthorized, message));
        }
        let (memory, asked) = (self.clone(), *asked);
        let (guard, cancelled) = CancelOnDrop::new();
        let broom = Broom { memory, files, asked, cancelled };
        let swept = spawn_blocking(move || broom.sweep()).await;
        drop(guard);
        let swept = swept.unwrap_or_else(|error| {
            Err(StoreError::new(StoreErrorKind::Broken, error.to_string()).into())
        });
        swept.map_err(UnitError::into_failure)
    }
}

struct Broom {
    memory: Memory,
    files: Files,
    asked: Sweep,
    cancelled: CancelToken,
}

impl Broom {
    fn sweep(&self) -> UnitResult<SweepReport> {
        // Candidates before references, so that a package that is deposited in between is among
        // those that are read, and spares its blobs.
        let (mut candidates, mut loose) = (self.candidates()?, self.old_files()?);
        for project in self.read(all_projects)? {
            let mut own = candidates.remove(&project).unwrap_or_default();
            self.spare_named(&project, &mut own, &mut loose)?;
            candidates.insert(project, own);
        }
        let mut report = SweepReport {
            dry_run: self.asked.dry_run,
            links: 0,
            files: 0,
            bytes: 0,
            extra: Object::new(),
        };
        // A backup of the store that still has the rows must include the files.
        let _alone = self.memory.sweep_alone();
        for (project, digests) in &candidates {
            for digest in digests {
                report.links += u64::from(self.unlink(project, digest)?);
            }
        }
        for digest in &loose {
            if let Some(bytes) = self.remove(digest, &candidates)? {
                report.files += 1;
                report.bytes += bytes;
            }
        }
        Ok(report)
    }

    fn read<T>(&self, mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T>) -> UnitResult<T> {
        if self.cancelled.is_cancelled() {
            let detail = "the sweep was cancelled";
            return Err(StoreError::new(StoreErrorKind::Unavailable, detail).into());
        }
        self.memory.store().read(|unit| {
            let outcome = job(unit)?;
            // An unreadable row may name a blob, so the sweep fails.
            match unit.damage().into_iter().next() {
                Some(row) => Err(StoreError::damaged_row(row).into()),
                None => Ok(outcome),
            }
        })
    }

    /// The blobs of projects that are old enough.
    fn candidates(&self) -> UnitResult<Candidates> {
        let mut found = Candidates::new();
        for project in self.read(all_projects)? {
            let mut after: Option<Digest> = None;
            let own = found.entry(project.clone()).or_default();
            loop {
                let page = self.read(|unit| Ok(unit.blobs(&project, after.as_ref(), PAGE)?))?;
                let Some(last) = page.last() else {
                    break;
                };
                after = Some(last.digest);
                let old = page.iter().filter(|row| row.stored_at.time() < self.asked.before);
                own.extend(old.map(|row| row.digest));
            }
        }
        Ok(found)
    }

    /// The files that are old enough.
    fn old_files(&self) -> UnitResult<BTreeSet<Digest>> {
        let mut found = BTreeSet::new();
        for byte in 0..=u8::MAX {
            for file in self.files.beginning_with(byte).map_err(io_error)? {
                if file.stored < self.before() {
                    found.insert(file.digest);
                }
            }
        }
        Ok(found)
    }

    fn before(&self) -> SystemTime {
        let seconds = u64::try_from(self.asked.before.unix_seconds()).unwrap_or_default();
        SystemTime::UNIX_EPOCH + Duration::new(seconds, self.asked.before.subsec_nanos())
    }

    /// Removes the blobs that packages and facts of a project name from the candidates.
    fn spare_named(
        &self,
        project: &ProjectId,
        own: &mut BTreeSet<Digest>,
        loose: &mut BTreeSet<Digest>,
    ) -> UnitResult<()> {
        let mut spare = |text: &str| {
            for digest in named_in(text) {
                own.remove(&digest);
                loose.remove(&digest);
            }
        };
        let mut query = PackageQuery {
            // Quarantined packages may be released, and then need their blobs.
            quarantined: Quarantined::Also,
            order: Order::OldestFirst,
            limit: PAGE,
            ..PackageQuery::default()
        };
        loop {
            let page = self.read(|unit| Ok(unit.packages(project, &query)?))?;
            let Some(last) = page.last() else {
                break;
            };
            query.after = Some(last.position());
            page.iter().for_each(|row| spare(&row.state.text));
        }
        let mut after = None;
        loop {
            let page = self.read(|unit| {
                Ok(unit.facts(
                    project,
                    &FactQuery {
                        when: When::Ever,
                        after: after.as_ref(),
                        limit: PAGE,
                        ..FactQuery::default()
                    },
                )?)
            })?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.position());
            page.iter().for_each(|row| spare(&row.text));
        }
    }

    /// Removes a blob from a project, unless it was stored again meanwhile. Returns whether it was
    /// removed.
    fn unlink(&self, project: &ProjectId, digest: &Digest) -> UnitResult<bool> {
        if self.asked.dry_run {
            return Ok(true);
        }
        let (project, digest, before) = (project.clone(), *digest, self.asked.before);
        self.memory.store().write(move |unit| {
            // In the transaction, because the blob may have been stored again since it became a
            // candidate.
            let row = unit.blob(&project, &digest)?;
            let old = row.is_some_and(|row| row.stored_at.time() < before);
            Ok::<_, UnitError>(old && unit.remove_blob(&project, &digest)?)
        })
    }

    /// Deletes a file that no project has any more. Returns its size.
    fn remove(&self, digest: &Digest, gone: &Candidates) -> UnitResult<Option<u64>> {
        // No blob is stored between the check and the removal.
        let gate = self.memory.blob_gate();
        let _closed = gate.blocking_write();
        let mut rows = self.read(|unit| Ok(unit.blobs_named(digest)?))?;
        if self.asked.dry_run {
            rows.retain(|row| !gone.get(&row.project_id).is_some_and(|gone| gone.contains(digest)));
        }
        let file = match std::fs::metadata(self.files.path(digest)) {
            Ok(file) if rows.is_empty() => file,
            _ => return Ok(None),
        };
        if file.modified().map_err(io_error)? >= self.before() {
            return Ok(None);
        }
        if !self.asked.dry_run {
            self.files.remove(digest).map_err(io_error)?;
        }
        Ok(Some(file.len()))
    }
}

/// All digests in a text.
fn named_in(text: &str) -> impl Iterator<Item = Digest> {
    // Any text that looks like a digest counts, in any member. Deleting too little is harmless.
    text.match_indices("sha256:").filter_map(|(at, prefix)| {
        let digits = text.get(at + prefix.len()..at + prefix.len() + 64)?;
        digits.to_ascii_lowercase().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_found_wherever_they_stand() {
        let digest = accord_canon::sha256(b"hello");
        let digits = digest.hex();
        let upper = digits.to_uppercase();
        let text = format!(
            "{{\"hash\":\"sha256:{digits}\",\"x\":[\"see sha256:{upper} and sha256:\"],\
             \"y\":\"sha256:é\"}}"
        );
        assert_eq!(named_in(&text).collect::<Vec<_>>(), [digest, digest]);
    }
}
