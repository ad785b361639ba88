//! Imports a project from lines in any order.
//!
//! All lines are spooled before the first is parsed, so an interrupted upload changes nothing. They
//! are then written in batches, each in one transaction. When the store fails or the client
//! disconnects, the written batches are kept. Sending the same lines again continues from there.
//!
//! Invariants:
//! - a line is imported unchanged, or refused and reported, or quarantined; none is dropped
//!   silently;
//! - ids, hashes, times and logs are those of the lines; only a project that no line describes is
//!   generated;
//! - the order of lines does not matter: conflicting facts are retried after all other lines,
//!   because a later line may end one of them;
//! - a project that was archived at its source is archived after the last line.

mod apply;
mod quarantine;
mod read;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use accord_base::{Author, Caller, Decision, Need, ProjectId};
use accord_contract::{Code, Failure};
use accord_memory_core::export::{ExportLine, may_hold_project, read_line};
use accord_memory_core::limits::MAX_LINE_BYTES;
use accord_memory_core::operations::ImportSummary;
use accord_memory_core::project::not_found;
use accord_memory_core::{Project, ProjectPolicy, event};
use accord_store::{StoreError, StoreErrorKind, StoreExt as _};
use bytes::{Bytes, BytesMut};
use tempfile::SpooledTempFile;

use self::apply::{Applied, Batch, Creation, refuse_removed};
use self::quarantine::QuarantineFile;
use self::read::{Item, LinePosition, Lines, is_of_a_later_version};
use super::cancel::{CancelOnDrop, CancelToken};
use super::record::record;
use super::spool::{Spool, failed, io_error};
use super::unit::blocking;
use super::{Memory, UnitError, UnitResult, load};

/// How many lines are written in one transaction.
const BATCH_LINES: usize = 500;
/// How many bytes of lines are written in one transaction; one line may have more.
const BATCH_BYTES: usize = 2 * 1024 * 1024;
/// How many batches wait for the store while the next is read.
const IN_FLIGHT: usize = 3;
/// How often an import retries when the store is busy, and the pause before each retry.
const PATIENCE: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);
/// How many bytes are buffered before they are written to the spool.
const GATHERED: usize = 1024 * 1024;

/// An import that receives its lines.
#[derive(Debug)]
pub struct Intake {
    memory: Memory,
    project: ProjectId,
    spool: Spool,
    gathered: BytesMut,
    /// The bytes received of the current line.
    line: usize,
}

impl Memory {
    /// Starts an import into a project. The caller must administer it, and no worker may do it,
    /// because lines name their authors and reviewers.
    pub fn begin_import(&self, caller: &Caller, project: &ProjectId) -> Result<Intake, Failure> {
        caller.authorize(Need::Decide(Decision::Grant), project, Author::unnamed())?;
        Ok(Intake {
            memory: self.clone(),
            project: project.clone(),
            spool: self.spool(),
            gathered: BytesMut::new(),
            line: 0,
        })
    }
}

impl Intake {
    /// Adds the next bytes, which need not end at a line. Fails with `payload_too_large` when a
    /// line is too long, and when the spool cannot be written.
    pub async fn put(&mut self, piece: Bytes) -> Result<(), Failure> {
        // Measured while bytes arrive, because a line is later read into memory as a whole.
        self.measure(&piece)?;
        self.gathered.extend_from_slice(&piece);
        if self.gathered.len() < GATHERED {
            return Ok(());
        }
        self.settle().await
    }

    /// Imports the lines. `tell` gets the number of bytes whose lines are durable, and of all
    /// bytes. If the store fails, written batches are kept, and `lines_written` counts their lines.
    /// Fails with `project_not_found` when the project is removed meanwhile, or when projects are
    /// only created explicitly and no line describes this one.
    pub async fn finish(
        mut self,
        tell: impl FnMut(u64, u64) + Send + 'static,
    ) -> Result<ImportSummary, Failure> {
        self.settle().await?;
        let Self { memory, project, spool, .. } = self;
        let (guard, cancelled) = CancelOnDrop::new();
        let done = blocking(move || {
            let total = spool.length();
            let lines = Lines::new(spool.into_reader().map_err(failed)?);
            let import = Import {
                summary: ImportSummary::new(project.clone()),
                quarantine: QuarantineFile::new(memory.options().folder.as_deref(), &project),
                memory,
                project,
                lines,
                creation: None,
                removal: None,
                deferred: Vec::new(),
                cancelled,
                total,
                tell: Box::new(tell),
                in_flight: 0,
                patience: PATIENCE,
                written: sync_channel(IN_FLIGHT),
            };
            import.run()
        });
        // The guard lives until the job ends. If this future is dropped before, the job is
        // cancelled.
        let done = done.await;
        drop(guard);
        done
    }

    async fn settle(&mut self) -> Result<(), Failure> {
        let gathered = self.gathered.split();
        let mut spool = std::mem::replace(&mut self.spool, self.memory.spool());
        let put = blocking(move || spool.put(&gathered).map(|()| spool)).await;
        self.spool = put.map_err(failed)?;
        Ok(())
    }

    fn measure(&mut self, piece: &[u8]) -> Result<(), Failure> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line += part.len();
            if self.line > MAX_LINE_BYTES {
                let message = format!("a line is longer than the limit of {MAX_LINE_BYTES} bytes");
                return Err(Failure::new(Code::AgenticPayloadTooLarge, message));
            }
            if part.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(())
    }
}

/// A running import, on a separate thread.
struct Import {
    memory: Memory,
    project: ProjectId,
    lines: Lines<SpooledTempFile>,
    creation: Option<Creation>,
    /// The event of the project's last removal before the import.
    removal: Option<u64>,
    summary: ImportSummary,
    quarantine: QuarantineFile,
    /// Facts that conflicted with others, to be retried.
    deferred: Vec<LinePosition>,
    cancelled: CancelToken,
    total: u64,
    tell: Box<dyn FnMut(u64, u64) + Send>,
    in_flight: usize,
    /// How often a batch is queued again when the store is busy.
    patience: usize,
    written: (SyncSender<Written>, Receiver<Written>),
}

type Written = (Arc<Batch>, UnitResult<Vec<Applied>>);

impl Import {
    fn run(mut self) -> Result<ImportSummary, Failure> {
        let Err(error) = self.import() else { return Ok(self.summary.sorted()) };
        let (failure, written) = (error.into_failure(), self.summary.written());
        if written == 0 {
            return Err(failure);
        }
        let failure = failure.with("lines_written", written);
        Err(failure.suggesting("send the same lines again: the import continues"))
    }

    fn import(&mut self) -> UnitResult<()> {
        // Batches in flight may create the project, so its line must be known before them.
        self.creation = self.find_creation()?;
        self.first_pass()?;
        self.second_pass()?;
        // An archived project refuses writes, so this is the last step.
        self.archive()?;
        self.summary.quarantine_file = self.quarantine.finish()?;
        Ok(())
    }

    /// Finds the line that describes the project, if the project does not exist.
    fn find_creation(&mut self) -> UnitResult<Option<Creation>> {
        let id = self.project.clone();
        let store = self.memory.store();
        let (known, removal) =
            store.read(|unit| Ok::<_, UnitError>((unit.project(&id)?, unit.removal(&id)?)))?;
        self.removal = removal.map(|removal| removal.event);
        if known.is_some() {
            return Ok(None);
        }
        let mut found = None;
        while let Some((place, line)) = self.lines.next().map_err(io_error)? {
            if may_hold_project(line)
                && let Ok(ExportLine::Project(project)) = read_line(line)
                && project.project_id == self.project
            {
                found = Some((place.number, *project));
                break;
            }
        }
        self.lines.rewind().map_err(io_error)?;
        let (line, mut project) = match (found, self.memory.policy()) {
            (Some((line, project)), _) => (Some(line), project),
            (None, ProjectPolicy::Strict) => return Err(not_found(&id).into()),
            (None, ProjectPolicy::Create) => (None, Project::bare(id, self.memory.now())),
        };
        let archived_at = project.archived_at.take();
        Ok(Some(Creation { project, line, archived_at }))
    }

    fn first_pass(&mut self) -> UnitResult<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some((place, line)) = self.lines.next().map_err(io_error)? {
            self.summary.lines += 1;
            match Item::read(line, &self.project) {
                Ok(item) => {
                    batch.push((place, item));
                    bytes += place.length;
                }
                Err(_) if self.quarantine.is_there() && is_of_a_later_version(line) => {
                    self.quarantine.put(line)?;
                    self.summary.quarantined_count += 1;
                }
                Err(failure) => self.summary.refuse(place.number, &failure),
            }
            if batch.len() >= BATCH_LINES || bytes >= BATCH_BYTES {
                self.submit(std::mem::take(&mut batch), true)?;
                bytes = 0;
            }
        }
        self.submit(batch, true)?;
        // All batches must be written before the retry, which depends on them.
        self.settle(true)
    }

    /// Retries the facts that conflicted with others.
    fn second_pass(&mut self) -> UnitResult<()> {
        let deferred = std::mem::take(&mut self.deferred);
        for places in deferred.chunks(BATCH_LINES) {
            let mut batch = Vec::with_capacity(places.len());
            for place in places {
                let line = self.lines.again(*place).map_err(io_error)?;
                // The line was read without an error in the first pass.
                batch.push((*place, Item::read(line, &self.project)?));
            }
            self.submit(batch, false)?;
        }
        self.settle(false)
    }

    /// Queues a batch. Waits for an earlier one if too many are queued.
    fn submit(&mut self, lines: Vec<(LinePosition, Item)>, may_defer: bool) -> UnitResult<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.cancelled.is_cancelled() {
            let detail = "the import was cancelled";
            return Err(StoreError::new(StoreErrorKind::Unavailable, detail).into());
        }
        while self.in_flight == IN_FLIGHT {
            self.take_outcome(may_defer)?;
        }
        self.enqueue(Arc::new(Batch {
            project: self.project.clone(),
            creation: self.creation.clone(),
            removal: self.removal,
            lines,
        }));
        Ok(())
    }

    fn enqueue(&mut self, batch: Arc<Batch>) {
        let (memory, written) = (self.memory.clone(), self.written.0.clone());
        let job = {
            let batch = Arc::clone(&batch);
            move |unit: &mut dyn accord_store::WriteUnit| batch.apply(&memory, unit)
        };
        self.memory.store().enqueue(job, move |outcome| {
            // The channel has room for every batch in flight. A cancelled import does not receive.
            drop(written.try_send((batch, outcome)));
        });
        self.in_flight += 1;
    }

    fn settle(&mut self, may_defer: bool) -> UnitResult<()> {
        while self.in_flight > 0 {
            self.take_outcome(may_defer)?;
        }
        Ok(())
    }

    fn take_outcome(&mut self, may_defer: bool) -> UnitResult<()> {
        let written = self.written.1.recv();
        let (batch, outcomes) =
            written.map_err(|_| StoreError::from(StoreErrorKind::Unavailable))?;
        self.in_flight -= 1;
        // The store refuses jobs when its queue is full. Other clients go first then.
        if let Err(UnitError::Store(error)) = &outcomes
            && error.kind() == StoreErrorKind::Busy
            && self.patience > 0
        {
            self.patience -= 1;
            std::thread::sleep(PAUSE);
            self.enqueue(batch);
            return Ok(());
        }
        for ((place, item), outcome) in batch.lines.iter().zip(outcomes?) {
            match outcome {
                Applied::Refused(failure)
                    if may_defer && failure.code == Code::AgenticFactOverlap =>
                {
                    self.deferred.push(*place);
                }
                outcome => count(&mut self.summary, place.number, item, outcome),
            }
        }
        if let Some((last, _)) = batch.lines.last() {
            (self.tell)(last.end(), self.total);
        }
        Ok(())
    }

    /// Archives a project that was archived at its source.
    fn archive(&mut self) -> UnitResult<()> {
        let archived_at = self.creation.as_ref().and_then(|new| new.archived_at.clone());
        let Some(archived_at) = archived_at else { return Ok(()) };
        let (memory, id, removal) = (self.memory.clone(), self.project.clone(), self.removal);
        self.memory.store().write(move |unit| {
            refuse_removed(unit, &id, removal)?;
            let Some(mut project) = load::known_project(unit, &id)? else { return Ok(()) };
            project.archived_at = Some(archived_at.clone());
            unit.update_project(&load::row_of_project(&project))?;
            let now = memory.now_in(unit, &id)?;
            record(unit, &event::about_project(event::PROJECT_ARCHIVED, &project, now))?;
            Ok::<(), UnitError>(())
        })
    }
}

/// Counts the result of a line. A line to be retried is counted after the retry.
fn count(summary: &mut ImportSummary, line: u64, item: &Item, outcome: Applied) {
    // What was imported before was warned about then.
    if matches!(outcome, Applied::Added | Applied::Advanced) {
        summary.warn(line, &item.credentials());
    }
    let counts = match outcome {
        Applied::Added => &mut summary.added,
        Applied::Advanced => &mut summary.advanced,
        Applied::Unchanged => &mut summary.unchanged,
        Applied::Refused(failure) => return summary.refuse(line, &failure),
    };
    *match item {
        Item::Project(_) => &mut counts.projects,
        Item::Session(_) => &mut counts.sessions,
        Item::Package(_) => &mut counts.packages,
        Item::Fact(_) => &mut counts.facts,
    } += 1;
}
