//! `accord context import`.
//!
//! Invariant: an import that ends early says how much of it is written. Running it again continues,
//! because lines that are stored are left as they are.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use accord_api::body::Lines;
use accord_api::{Call, NoParams};
use accord_base::ActorType;
use accord_contract::wire::Names;
use accord_contract::{Code, Failure, Wire as _};
use accord_memory_core::operations::{ImportCounts, ImportProject, ImportSummary, ProgressLine};
use accord_memory_core::sources::SourceFormat;
use axum::body::{Body, Bytes};
use clap::builder::PossibleValuesParser;
use parking_lot::Mutex;

use super::super::progress::Progress;
use super::archives::{self, StoredArchives};
use super::other_tools;
use super::relay_backup::Archives;
use super::source::{LinePosition, LineRange, Source};
use crate::host::{
    Actor, ActorArg, Connection, HostArgs, HostRequest, ProjectArg, Update, follow, id_of,
    in_project, project_id,
};
use crate::interrupt::on_signal;
use crate::render::{Page, Style, clean, counted, counts_of};
use crate::{CliError, Exit, Result, print_line, print_note, print_page};

/// The size of a piece of the request body.
const PIECE: usize = 128 * 1024;

/// Import an export of any host, or notes of other tools; existing entries stay unchanged
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ImportArgs {
    /// Lines of JSON, `-` for standard input, or a folder that `relay backup` wrote; with --from,
    /// the file or folder of the other tool
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Import only this project; with --from, import into it [default with --from: ACCORD_PROJECT,
    /// or `project` in accord.toml, or the only project]
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Import notes or records of another tool: a file, or a folder of them
    #[arg(long, value_name = "FORMAT",
          value_parser = PossibleValuesParser::new(SourceFormat::ALL.iter().map(|it| it.as_str())))]
    from: Option<String>,

    /// Only print what would be imported
    #[arg(long, requires = "from")]
    dry_run: bool,

    /// The author of the packages of another tool [default: ACCORD_ACTOR, or script:import]
    #[arg(long, value_name = "TYPE:ID", requires = "from", value_parser = Actor::parse)]
    actor: Option<Actor>,

    #[command(flatten)]
    host: HostArgs,
}

impl ImportArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        match self.from.as_deref().and_then(<SourceFormat as Names>::find) {
            Some(format) => self.run_from(format),
            None => {
                let source = Source::read(&self.file)?;
                let host = self.host.connect_or_create()?;
                self.import(&host, &source, 0)
            }
        }
    }

    /// Imports what another tool wrote.
    fn run_from(mut self, format: SourceFormat) -> Result<Exit> {
        let named = ProjectArg { project: self.project.take() };
        let host = match self.dry_run {
            false => Some(self.host.connect_or_create()?),
            true => match self.host.connect() {
                Ok(host) => Some(host),
                // To look first, no data folder is needed.
                Err(error) if error.code() == Some(Code::StoreMissing) => None,
                Err(error) => return Err(error),
            },
        };
        let project = match &host {
            Some(host) => named.required(&self.host.target, host)?,
            None => named.get(&self.host.target)?.unwrap_or_else(|| "new project".to_owned()),
        };
        let author = ActorArg { actor: self.actor.clone() }.named()?;
        let author = match &author {
            Some(actor) => accord_base::Actor::new(actor.key().id.clone(), actor.key().kind),
            None => accord_base::Actor::new(id_of("actor", "import")?, ActorType::Script),
        };
        let plan = other_tools::plan(host.as_ref(), format, &self.file, &project, &author)?;
        other_tools::print_notes(&plan);
        let Some(host) = host.filter(|_| !self.dry_run) else {
            match self.host.json {
                true => print_line(other_tools::document(&plan, format, &project))?,
                false => print_page(|page| other_tools::render(page, &plan, &project))?,
            };
            return Ok(Exit::from_answer(true));
        };
        let (source, unchanged) = (other_tools::source(&plan)?, other_tools::unchanged(&plan));
        self.project = Some(project.clone());
        if source.projects().next().is_some() {
            return self.import(&host, &source, unchanged);
        }
        let mut summary = ImportSummary::new(project_id(&project)?);
        summary.lines = unchanged;
        summary.unchanged.packages = unchanged;
        match self.host.json {
            true => print_line(document(summary, None))?,
            false => print_page(|page| render(page, &summary, None))?,
        };
        Ok(Exit::from_answer(true))
    }

    /// Imports lines. `unchanged` counts what is not sent, because it was imported before.
    fn import(&self, host: &Connection, source: &Source, unchanged: u64) -> Result<Exit> {
        let only = self.project.as_deref();
        let projects = source.projects().filter(|project| only.is_none_or(|only| only == *project));
        let projects: Vec<&str> = projects.collect();
        let progress = Progress::bytes(true);
        progress.expect(Some(projects.iter().map(|project| source.bytes(project)).sum()));
        let mut is_whole = source.unassigned.is_empty();
        let reached = Reached::new(projects.len());
        let interrupted = reached.clone();
        on_signal(move || print_note(format!("interrupted: {}", interrupted.in_words())))?;
        for project in projects {
            progress.about(project);
            reached.begin(project, source.lines(project));
            let imported = import(host, source, project, &progress, &reached);
            let (mut summary, archives) = imported.map_err(|error| reached.explain(error))?;
            summary.lines += unchanged;
            summary.unchanged.packages += unchanged;
            is_whole &= summary.refused_count == 0 && summary.quarantined_count == 0;
            is_whole &= archives.as_ref().is_none_or(|stored| stored.failed == 0);
            reached.finish();
            progress.above(|| match self.host.json {
                true => print_line(document(summary, archives)),
                false => print_page(|page| render(page, &summary, archives.as_ref())),
            })?;
        }
        progress.finish();
        self.report_unassigned(source);
        Ok(Exit::from_answer(is_whole))
    }

    /// Reports lines that belong to no project, and archives that were not imported.
    fn report_unassigned(&self, source: &Source) {
        const SHOWN: usize = 20;
        for line in source.unassigned.iter().take(SHOWN) {
            let (LinePosition { file, line }, failure) =
                (source.position(line.number), &line.failure);
            print_note(format!("{file} line {line}: {}: {}", failure.code, failure.message));
        }
        if source.unassigned.len() > SHOWN {
            let more = (source.unassigned.len() - SHOWN) as u64;
            print_note(format!("and {} more that belong to no project", counted(more, "line")));
        }
        let Archives { missing, elsewhere, .. } = source.archives;
        if missing > 0 {
            let count = counted(missing, "archive");
            print_note(format!("{count} of packages not imported: the backup does not have them"));
        }
        if elsewhere > 0 {
            let count = counted(elsewhere, "archive");
            print_note(format!(
                "{count} of packages not imported: lines do not contain them; import the folder \
                 of the backup into a new project to keep them"
            ));
        }
        match &self.project {
            Some(only) if source.runs(only).is_empty() => {
                print_note(clean(&format!("no lines of project {only}")));
            }
            None if source.projects().next().is_none() && source.unassigned.is_empty() => {
                print_note("no lines to import");
            }
            _ => {}
        }
    }
}

/// Sends the lines and the archives of one project. Returns the summary of the host, with the line
/// numbers of the input, and what became of the archives.
fn import(
    host: &Connection,
    source: &Source,
    project: &str,
    progress: &Progress,
    reached: &Reached,
) -> Result<(ImportSummary, Option<StoredArchives>)> {
    let file = source.reader().map_err(lost)?;
    let pieces = Pieces { file, runs: source.runs(project).to_vec(), at: 0 };
    let call = Call::<ImportProject>::new(in_project(project)?, NoParams, Lines::default());
    let request = HostRequest::from(call.encode()).lines(pieces.into_body());
    let (before, bytes) = (progress.done(), source.bytes(project));
    let work = follow::<ImportSummary, ProgressLine>(host, request, |said| {
        if let Update::Progress { done, total } = said {
            progress.set(before + share(bytes, done, total));
            reached.advance(done, total);
        }
        Ok(())
    });
    let mut summary = host.runtime.block_on(work)?;
    progress.set(before + bytes);
    for refused in &mut summary.refused {
        let position = source.position_in(project, refused.line);
        refused.line = position.line;
        if source.has_parts() {
            refused.extra.insert("file".into(), position.file.into());
        }
    }
    for warned in summary.warnings.iter_mut().flatten() {
        let position = source.position_in(project, warned.line);
        warned.line = position.line;
        if source.has_parts() {
            warned.extra.insert("file".into(), position.file.into());
        }
    }
    let mut archives = source.archives.of(project).peekable();
    if archives.peek().is_none() {
        return Ok((summary, None));
    }
    // After the lines: the first blob of a new project would create it without its name.
    Ok((summary, Some(archives::store(host, archives)?)))
}

/// How far an import is.
#[derive(Clone)]
struct Reached(Arc<Mutex<ReachedState>>);

struct ReachedState {
    projects: usize,
    projects_done: usize,
    /// The current project, the number of its lines, and of those that are durable.
    current: Option<(String, u64, u64)>,
}

impl Reached {
    fn new(projects: usize) -> Self {
        let state = ReachedState { projects, projects_done: 0, current: None };
        Self(Arc::new(Mutex::new(state)))
    }

    fn begin(&self, project: &str, lines: u64) {
        self.0.lock().current = Some((project.to_owned(), lines, 0));
    }

    fn advance(&self, done: u64, total: u64) {
        if let Some((_, lines, durable)) = &mut self.0.lock().current {
            *durable = share(*lines, done, total);
        }
    }

    fn finish(&self) {
        let mut state = self.0.lock();
        state.projects_done += 1;
        state.current = None;
    }

    fn is_anything_written(&self) -> bool {
        let state = self.0.lock();
        state.projects_done > 0 || state.current.as_ref().is_some_and(|(.., durable)| *durable > 0)
    }

    /// An error of the import, with how far it got.
    fn explain(&self, error: CliError) -> CliError {
        if self.is_anything_written() { error.help(self.in_words()) } else { error }
    }

    fn in_words(&self) -> String {
        if !self.is_anything_written() {
            return "nothing is known to be imported; run the same command again".to_owned();
        }
        let state = self.0.lock();
        let mut parts = Vec::new();
        if state.projects > 1 {
            parts.push(format!("{} of {} projects", state.projects_done, state.projects));
        }
        if let Some((project, lines, durable)) = &state.current {
            parts.push(format!("about {durable} of {lines} lines of {}", clean(project)));
        }
        format!("{} imported; run the same command again to continue", parts.join(" and "))
    }
}

/// The part of an amount that `done` of `total` stands for.
fn share(amount: u64, done: u64, total: u64) -> u64 {
    let part = u128::from(amount) * u128::from(done) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(amount).min(amount)
}

/// The lines of one project, in pieces for a request body.
struct Pieces {
    file: File,
    /// The ranges that are not sent yet.
    runs: Vec<LineRange>,
    at: usize,
}

impl Pieces {
    fn into_body(self) -> Body {
        let next = |mut pieces: Self| async move {
            let piece = pieces.next().map_err(lost).transpose()?;
            Some((piece, pieces))
        };
        Body::from_stream(futures_util::stream::unfold(self, next))
    }

    fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(run) = self.runs.get_mut(self.at) else { return Ok(None) };
        // For each piece: `try_clone` shares the position with the other copies of the file.
        self.file.seek(SeekFrom::Start(run.offset))?;
        let wanted = usize::try_from(run.length).map_or(PIECE, |left| left.min(PIECE));
        let mut piece = vec![0; wanted];
        self.file.read_exact(&mut piece)?;
        run.offset += wanted as u64;
        run.length -= wanted as u64;
        if run.length == 0 {
            self.at += 1;
            // The last line of a file may lack its line end.
            if piece.last() != Some(&b'\n') {
                piece.push(b'\n');
            }
        }
        Ok(Some(piece.into()))
    }
}

/// The summary for programs: that of the host, and what became of the archives.
fn document(mut summary: ImportSummary, archives: Option<StoredArchives>) -> String {
    // The kind of the line that had the summary.
    summary.extra.shift_remove("kind");
    summary.extra.extend(archives.map(|stored| ("archives".to_owned(), stored.encode())));
    summary.encode().to_string()
}

fn render(page: &mut Page, summary: &ImportSummary, archives: Option<&StoredArchives>) {
    page.heading(summary.project_id.as_str());
    let counts = |what: &str, counts: &ImportCounts| {
        let kinds = [
            (counts.projects, "project"),
            (counts.sessions, "session"),
            (counts.packages, "package"),
            (counts.facts, "fact"),
        ];
        match counts_of(kinds).as_str() {
            "" => String::new(),
            counts => format!("{what}: {counts}"),
        }
    };
    page.pieces(&[counts("added", &summary.added)]);
    page.pieces(&[counts("advanced", &summary.advanced)]);
    page.pieces(&[counts("unchanged", &summary.unchanged)]);
    let (refused, listed) = (summary.refused_count, &summary.refused);
    if refused > 0 {
        let text = format!("refused: {}", counted(refused, "line"));
        page.pieces(&[page.styled(Style::Bad, &text)]);
    }
    for entry in listed {
        let file = entry.extra.get("file").and_then(|file| file.as_str()).map(clean);
        page.pieces(&[
            format!("  {}", file.unwrap_or_default()).trim_end().to_owned(),
            format!("line {}", entry.line),
            clean(&entry.code),
            clean(&entry.message),
        ]);
    }
    if refused > listed.len() as u64 {
        page.pieces(&[format!("  and {} more", refused - listed.len() as u64)]);
    }
    let warned = summary.warned_count.unwrap_or_default();
    if warned > 0 {
        let text = format!("warnings: {}", counted(warned, "line"));
        page.pieces(&[page.styled(Style::Waiting, &text)]);
    }
    for entry in summary.warnings.iter().flatten() {
        let file = entry.extra.get("file").and_then(|file| file.as_str()).map(clean);
        page.pieces(&[
            format!("  {}", file.unwrap_or_default()).trim_end().to_owned(),
            format!("line {}", entry.line),
            clean(&entry.code),
            clean(&entry.message),
        ]);
    }
    if let Some(archives) = archives {
        archives::render(page, archives);
    }
    if summary.quarantined_count > 0 {
        let file = clean(summary.quarantine_file.as_deref().unwrap_or_default());
        let count = counted(summary.quarantined_count, "line");
        page.pieces(&[page.styled(Style::Waiting, &format!("quarantined: {count} {file}"))]);
    }
}

fn lost(error: io::Error) -> Failure {
    Failure::new(Code::InputUnreadable, format!("cannot read the lines again: {error}"))
}

const EXIT_CODES: &str = "\
Each line names its project. A refused line does not affect the others. Importing the same lines
again changes nothing, so an import that was interrupted continues when it is run again.

A backup of Relay is imported as a folder, with its archives, or as its .ndjson files in any order,
without them. `accord store restore` restores a folder that `accord store backup` wrote.

With --from: markdown (notes), adr (decision records), beads (.beads/issues.jsonl), mem0 (what
get_all returns), claude (CLAUDE.md, rules, memory files). What was imported before and changed
becomes a package that supersedes the earlier one.

Examples:
  accord context import docs/adr --from adr --dry-run
  accord context import . --from claude --project shop

Exit codes: 0 every line was imported; 1 some lines were refused or quarantined, or archives were
not stored; 2 error.";
