//! Deletes unreferenced blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use accord_base::{Caller, ProjectId, Verb};
use accord_canon::Digest;
use accord_contract::{Code, Failure, Time};
use accord_memory_core::PackageId;
use accord_store::{FactQuery, Order, PackageQuery, Quarantined};
use accord_store::{ReadUnit, StoreError, StoreErrorKind, StoreExt as _};

use crate::blobs::Files;
use crate::cancel::{CancelOnDrop, CancelToken};
use crate::load::all_projects;
use crate::record::recorded;
use crate::spool::io_error;
use crate::unit::blocking;
use crate::{Memory, UnitError, UnitResult};

/// How many rows are read at once.
const PAGE: usize = 200;

#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Those that were last stored before this.
    pub before: Time,
    /// Deletes nothing, and reports what would be deleted.
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct SweepReport {
    /// The number of unreferenced blobs, counted per project.
    pub links: u64,
    /// The number of files that no project has any more.
    pub files: u64,
    /// The size of those files, in bytes.
    pub bytes: u64,
}

/// The candidates of each project.
type Candidates = BTreeMap<ProjectId, BTreeSet<Digest>>;

/// What to delete.
struct Plan {
    projects: BTreeMap<ProjectId, Unnamed>,
    /// Files that are old enough and that nothing names.
    loose: BTreeSet<Digest>,
}

/// The blobs of a project that nothing in it names.
struct Unnamed {
    /// The number of the newest event when the references began to be read.
    mark: u64,
    blobs: BTreeSet<Digest>,
}

impl Memory {
    /// Deletes unreferenced blobs. The caller must administer every project. Fails with
    /// `unauthorized` or `not_implemented`.
    pub async fn sweep_blobs(&self, caller: &Caller, asked: Sweep) -> Result<SweepReport, Failure> {
        let files = self.blob_files()?;
        let access = caller.access();
        access.may_anywhere(Verb::Admin)?;
        if access.projects().is_some() {
            let message = "blobs are shared: only a key for all projects may remove them";
            return Err(Failure::new(Code::AccessDenied, message));
        }
        let (guard, cancelled) = CancelOnDrop::new();
        let broom = BlobSweeper { memory: self.clone(), files, asked, cancelled };
        let swept = blocking(move || broom.delete(&broom.plan()?)).await;
        drop(guard);
        swept.map_err(UnitError::into_failure)
    }
}

struct BlobSweeper {
    memory: Memory,
    files: Files,
    asked: Sweep,
    cancelled: CancelToken,
}

impl BlobSweeper {
    /// Finds out what nothing names.
    fn plan(&self) -> UnitResult<Plan> {
        // Candidates before references, so that a package that is deposited in between is among
        // those that are read, and spares its blobs.
        let (mut candidates, mut loose) = (self.candidates()?, self.old_files()?);
        let mut projects = BTreeMap::new();
        for project in self.read(all_projects)? {
            let mark = self.read(|unit| Ok(unit.event_range(&project)?.newest))?;
            let mut unnamed = candidates.remove(&project).unwrap_or_default();
            self.spare_named(&project, &mut unnamed, &mut loose)?;
            projects.insert(project, Unnamed { mark, blobs: unnamed });
        }
        Ok(Plan { projects, loose })
    }

    fn delete(&self, plan: &Plan) -> UnitResult<SweepReport> {
        let mut report = SweepReport { links: 0, files: 0, bytes: 0 };
        // A backup of the store that still has the rows must include the files.
        let _alone = self.memory.inner.blob_copies.write();
        for (project, unnamed) in &plan.projects {
            let blobs: Vec<Digest> = unnamed.blobs.iter().copied().collect();
            for some in blobs.chunks(PAGE) {
                report.links += self.unlink(project, some, unnamed.mark)?;
            }
        }
        let named = self.named_since(plan)?;
        for digest in plan.loose.difference(&named) {
            if let Some(bytes) = self.remove(digest, plan)? {
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
            unit.damage()
                .into_iter()
                .next()
                .map_or(Ok(outcome), |row| Err(StoreError::damaged_row(row).into()))
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
                let Some(last) = page.last() else { break };
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
            let Some(last) = page.last() else { break };
            query.after = Some(last.position());
            page.iter().for_each(|row| spare(&row.state.text));
        }
        let mut after = None;
        loop {
            let page = self
                .read(|unit| Ok(unit.facts(project, &FactQuery::every(after.as_ref(), PAGE))?))?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.position());
            page.iter().for_each(|row| spare(&row.text));
        }
    }

    /// Removes blobs from a project, except those that were stored again or named meanwhile.
    /// Returns how many were removed.
    fn unlink(&self, project: &ProjectId, digests: &[Digest], mark: u64) -> UnitResult<u64> {
        if self.asked.dry_run {
            return Ok(digests.len() as u64);
        }
        let (project, digests) = (project.clone(), digests.to_vec());
        let before = self.asked.before;
        self.memory.store().write(move |unit| {
            // In the transaction, because a blob may have been stored again since it became a
            // candidate, or named by a package since the references were read.
            let named = named_after(unit, &project, mark)?;
            let mut removed = 0;
            for digest in digests.iter().filter(|digest| !named.contains(digest)) {
                let row = unit.blob(&project, digest)?;
                let old = row.is_some_and(|row| row.stored_at.time() < before);
                removed += u64::from(old && unit.remove_blob(&project, digest)?);
            }
            Ok::<_, UnitError>(removed)
        })
    }

    /// The blobs that packages and facts name since the plan was made.
    fn named_since(&self, plan: &Plan) -> UnitResult<BTreeSet<Digest>> {
        let mut named = BTreeSet::new();
        for project in self.read(all_projects)? {
            let mark = plan.projects.get(&project).map_or(0, |unnamed| unnamed.mark);
            named.extend(self.read(|unit| named_after(unit, &project, mark))?);
        }
        Ok(named)
    }

    /// Deletes a file that no project has any more. Returns its size.
    fn remove(&self, digest: &Digest, plan: &Plan) -> UnitResult<Option<u64>> {
        // No blob is stored between the check and the removal.
        let _closed = self.memory.inner.blob_gate.blocking_write();
        let mut rows = self.read(|unit| Ok(unit.blobs_named(digest)?))?;
        if self.asked.dry_run {
            rows.retain(|row| {
                let unnamed = plan.projects.get(&row.project_id);
                !unnamed.is_some_and(|unnamed| unnamed.blobs.contains(digest))
            });
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

/// The blobs that packages and facts of a project name whose events come after a number. Fails when
/// some of these events are already trimmed: then nothing says what they named.
fn named_after(unit: &dyn ReadUnit, id: &ProjectId, mut seen: u64) -> UnitResult<BTreeSet<Digest>> {
    let mut named = BTreeSet::new();
    if !unit.event_range(id)?.reaches(seen) {
        let detail = "events were trimmed during the sweep; run it again";
        return Err(StoreError::new(StoreErrorKind::Unavailable, detail).into());
    }
    loop {
        let events = unit.events(id, seen, PAGE)?;
        let Some(last) = events.last() else { return Ok(named) };
        seen = last.seq;
        for row in events {
            // The event of a fact contains the fact. The event of a package has its id.
            named.extend(named_in(&row.entry.text));
            let event = recorded(id, row)?;
            let package = event.data.get("package_id").and_then(|id| id.as_str());
            if let Some(Ok(package)) = package.map(PackageId::new) {
                let package = unit.package(id, &package)?;
                named.extend(package.iter().flat_map(|row| named_in(&row.state.text)));
            }
        }
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
    use std::sync::Arc;

    use accord_contract::Timestamp;
    use accord_memory_core::fact::AssertOptions;
    use accord_store::ModelStore;
    use serde_json::json;

    use super::*;
    use crate::{DepositOptions, MemoryOptions};

    /// A package that is deposited after the references were read spares its blob.
    #[tokio::test]
    async fn a_blob_that_is_named_during_the_sweep_stays() {
        let folder = tempfile::tempdir().unwrap();
        let options = MemoryOptions { blobs: Some(folder.path().into()), ..Default::default() };
        let memory = Memory::new(Arc::new(ModelStore::new()), options);
        let (owner, project) = (Caller::owner(), ProjectId::new("atlas").unwrap());
        let contents: [&[u8]; 3] = [b"named in between", b"named by a fact", b"unnamed"];
        for content in contents {
            let digest = accord_canon::sha256(content);
            let intake = memory.begin_blob(&owner, Some(project.clone()), digest, None);
            let mut intake = intake.await.unwrap();
            intake.put(content.into()).await.unwrap();
            intake.finish().await.unwrap();
        }
        let before = Timestamp::parse("2100-01-01T00:00:00Z").unwrap().time();
        let asked = Sweep { before, dry_run: false };
        let (_guard, cancelled) = CancelOnDrop::new();
        let files = memory.blob_files().unwrap();
        let broom = BlobSweeper { memory: memory.clone(), files, asked, cancelled };
        let plan = broom.plan().unwrap();
        assert_eq!((plan.projects[&project].blobs.len(), plan.loose.len()), (3, 3));

        let [package, fact, _] = contents.map(|content| accord_canon::sha256(content).hex());
        let package = json!({
            "package_id": "pkg_1", "project_id": "atlas", "relay_version": "0.1",
            "title": "Indexes rebuilt", "status": "complete", "package_type": "milestone",
            "review_type": "none", "created_at": "2026-04-18T20:00:00Z",
            "created_by": {"id": "ada", "type": "agent"},
            "deliverables": [{"path": "a", "type": "md", "hash": format!("sha256:{package}")}],
        });
        let sent = package.to_string().into();
        memory.deposit(&owner, &project, sent, DepositOptions::default()).await.unwrap();
        let fact = json!({
            "subject": "build", "predicate": "artefact", "value": format!("sha256:{fact}"),
        });
        let fact = fact.to_string();
        let options = AssertOptions::default();
        memory.assert_fact(&owner, &project, fact.as_bytes(), options).await.unwrap();

        let report = blocking(move || broom.delete(&plan)).await.unwrap();
        assert_eq!((report.links, report.files, report.bytes), (1, 1, 7));
    }

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
