//! Exports a project as lines.
//!
//! All lines come from one snapshot and are spooled before the first is sent. So a slow reader
//! holds no snapshot, and a failure is reported before any line is sent. Events are not exported;
//! an import writes new events.
//!
//! Invariants:
//! - every exported line can be imported: a damaged row is left out, counted and logged;
//! - a caller that may not see a draft gets neither the draft nor its id.

use accord_base::{Caller, ProjectId, Verb};
use accord_contract::Failure;
use accord_memory_core::Session;
use accord_memory_core::export::{Rejected, document_line, package_line};
use accord_memory_core::lifecycle::Revision;
use accord_store::{
    Drafts, FactQuery, Order, PackageQuery, PackageRow, Quarantined, ReadUnit, SessionQuery,
    SessionRow,
};
use bytes::Bytes;
use futures_util::stream::Stream;

use super::served::sound_row;
use super::spool::Spool;
use super::{Memory, UnitResult, load};

/// How many rows are read at once.
const PAGE: usize = 500;

#[derive(Debug)]
pub struct Export {
    spool: Spool,
    left_out: u64,
}

impl Memory {
    /// Exports a project: everything if the caller administers it, else what the caller sees. Fails
    /// with `unauthorized` or `project_not_found`, and when the spool cannot be written.
    /// Clauses: AGENTIC-R-118, AGENTIC-R-120.
    pub async fn export(&self, caller: &Caller, project: &ProjectId) -> Result<Export, Failure> {
        let access = caller.access().clone();
        let (memory, project) = (self.clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let all = access.may(Verb::Admin, &project).is_ok();
            let mut writer = Writer {
                unit,
                project: &project,
                drafts: if all { Drafts::All } else { load::drafts(&access) },
                spool: memory.spool(),
                left_out: 0,
            };
            if let Some(row) = load::if_sound(unit.project(&project))? {
                let project = load::project_of(&row);
                writer.line_or_gap(project.map(|project| document_line("project", &project)))?;
            }
            writer.sessions()?;
            writer.packages()?;
            writer.facts()?;
            // Unreadable rows are not returned as rows; they are counted here.
            let damaged = unit.damage().into_iter().filter(|row| row.table.is_exported()).count();
            Ok(Export { spool: writer.spool, left_out: writer.left_out + damaged as u64 })
        })
        .await
    }
}

impl Export {
    /// The size of its lines, in bytes.
    pub fn length(&self) -> u64 {
        self.spool.length()
    }

    /// How many damaged rows were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    pub fn into_pieces(
        self,
    ) -> Result<impl Stream<Item = Result<Bytes, Failure>> + Send + 'static, Failure> {
        self.spool.into_pieces()
    }
}

struct Writer<'a> {
    unit: &'a dyn ReadUnit,
    project: &'a ProjectId,
    drafts: Drafts<'a>,
    spool: Spool,
    left_out: u64,
}

impl Writer<'_> {
    /// Writes a line, or leaves a damaged row out.
    fn line_or_gap(&mut self, line: Result<String, Failure>) -> UnitResult<()> {
        match line {
            Ok(line) => {
                self.spool.put(line.as_bytes())?;
                Ok(self.spool.put(b"\n")?)
            }
            Err(failure) => {
                let project = self.project.as_str();
                tracing::warn!(project, "left out of an export: {}", failure.message);
                self.left_out += 1;
                Ok(())
            }
        }
    }

    fn sessions(&mut self) -> UnitResult<()> {
        let mut query =
            SessionQuery { order: Order::OldestFirst, limit: PAGE, ..SessionQuery::default() };
        loop {
            let rows = self.unit.sessions(self.project, &query)?;
            let Some(last) = rows.last() else { return Ok(()) };
            query.after = Some(last.position());
            for row in &rows {
                let session = match load::session_of(row) {
                    Ok(session) => Ok(self.with_packages(row, session)?),
                    Err(failure) => Err(failure),
                };
                self.line_or_gap(session.map(|session| document_line("session", &session)))?;
            }
        }
    }

    /// The session with its visible packages.
    fn with_packages(&self, row: &SessionRow, session: Session) -> UnitResult<Session> {
        let named = (self.unit).packages_of_session(self.project, &row.session_id)?;
        let mut session = session.with_packages(named);
        if self.drafts != Drafts::All {
            let mut seen = Vec::with_capacity(session.packages_deposited.len());
            for package in session.packages_deposited {
                if load::may_be_named(self.unit.package(self.project, &package), self.drafts)? {
                    seen.push(package);
                }
            }
            session.packages_deposited = seen;
        }
        Ok(session)
    }

    fn packages(&mut self) -> UnitResult<()> {
        let mut query = PackageQuery {
            drafts: self.drafts,
            quarantined: Quarantined::Also,
            order: Order::OldestFirst,
            limit: PAGE,
            ..PackageQuery::default()
        };
        loop {
            let rows = self.unit.packages(self.project, &query)?;
            let Some(last) = rows.last() else { return Ok(()) };
            query.after = Some(last.position());
            for row in &rows {
                let log = match self.unit.revisions(self.project, &row.package_id) {
                    // It is counted with the other rows that cannot be read.
                    Err(error) if error.damaged().is_some() => continue,
                    log => log?,
                };
                let log = log.iter().map(|entry| load::revision_of(&row.package_id, entry));
                let log: Result<Vec<_>, _> = log.collect();
                self.line_or_gap(log.and_then(|log| package(row, &log)))?;
            }
        }
    }

    fn facts(&mut self) -> UnitResult<()> {
        let mut after = None;
        loop {
            let rows = self.unit.facts(self.project, &FactQuery::every(after.as_ref(), PAGE))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.position());
            for row in &rows {
                self.line_or_gap(load::fact_of(row).map(|fact| document_line("fact", &fact)))?;
            }
        }
    }
}

/// The line of a package, if its text and log are undamaged.
fn package(row: &PackageRow, log: &[Revision]) -> Result<String, Failure> {
    let (text, hash) = (&row.state.text, &row.state.content_hash);
    sound_row(row)?;
    if log.last().is_none_or(|last| last.content_hash != *hash) {
        let id = row.package_id.as_str();
        return Err(load::integrity(format!("the log of package {id:?} is damaged")));
    }
    let rejected = row.quarantine.as_ref().and_then(|quarantine| {
        let work = quarantine.rejected_work()?.to_owned();
        Some(Rejected { at: quarantine.at.clone(), work })
    });
    Ok(package_line(text, hash, log, rejected.as_ref()))
}
