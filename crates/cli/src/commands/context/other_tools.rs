//! Notes and records of other tools: which files are read, and what an import of them will do.
//!
//! The files are read and compared with the packages of earlier imports here; what is new is
//! imported as lines, as an export is. Nothing is written before all files are read.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use accord_api::body::Either;
use accord_base::{Actor, ProjectId};
use accord_contract::{Code, Time, Wire as _, message};
use accord_memory_core::limits::MAX_PACKAGE_BYTES;
use accord_memory_core::operations::{PullPackages, PullParams};
use accord_memory_core::sources::{
    self, Action, KnownSource, Plan, PlannedPackage, SourceFile, SourceFormat,
};

use super::source::{Source, unreadable};
use crate::host::{Connection, in_project};
use crate::render::{Page, Style, clean, counted, table};
use crate::{CliError, Result, print_note};

/// How many files are read at most.
const MOST_FILES: usize = 20_000;
/// The largest file of records; a Markdown file must fit into a package.
const LARGEST: u64 = 256 * 1024 * 1024;
/// Folders that hold no notes.
const NOT_READ: [&str; 3] = ["node_modules", "target", "vendor"];
/// The files of Claude Code in a repository.
const RULES: [&str; 4] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md"];

message! {
    /// What an import of another tool's notes would do.
    pub(super) struct ImportPlan("ImportPlan", open) {
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// The format of the source.
        required format: SourceFormat = "format", "source-format";
        /// How many packages would be new.
        required added: u64 = "added", "count";
        /// How many would supersede those of an earlier import.
        required superseding: u64 = "superseding", "count";
        /// How many notes and records were imported before, and did not change.
        required unchanged: u64 = "unchanged", "count";
        /// What would be imported.
        required packages: Vec<PlannedEntry> = "packages", "planned-packages";
        /// What would be left out.
        required skipped: Vec<SkippedEntry> = "skipped", "skipped-sources";
        /// The sources of earlier imports that are gone; their packages stay.
        required gone: Vec<String> = "gone", "paths";
    }

    /// A note or record.
    pub(super) struct PlannedEntry("PlannedEntry", open) {
        /// What is done with it.
        required action: Action = "action", "import-action";
        /// Its package.
        required package_id: String = "package_id", "package-id";
        /// The title.
        required title: String = "title", "title";
        /// The type of the package.
        required package_type: String = "package_type", "package-type";
        /// The time of the package.
        required created_at: String = "created_at", "time:rfc-3339-utc";
        /// The file.
        required path: String = "path", "path";
        /// The section or record in it.
        optional part: String = "part", "text";
        /// The line in which it begins.
        required line: u64 = "line", "line-number";
        /// The package of the earlier import.
        optional supersedes: String = "supersedes", "package-id";
    }

    /// What is left out.
    pub(super) struct SkippedEntry("SkippedEntry", open) {
        /// The file.
        required path: String = "path", "path";
        /// The line.
        required line: u64 = "line", "line-number";
        /// Why.
        required why: String = "why", "text-for-people";
    }
}

/// Reads files, and plans their import into a project. Without a host nothing was imported yet.
pub(super) fn plan(
    host: Option<&Connection>,
    format: SourceFormat,
    path: &Path,
    project: &str,
    author: &Actor,
) -> Result<Plan> {
    let reading = sources::read(format, &files(format, path)?)?;
    let known = host.map(|host| known(host, format, project)).transpose()?.unwrap_or_default();
    let id: ProjectId = in_project(project)?.project;
    let mut plan = sources::plan(format, &id, author, reading.entries, &known)?;
    plan.skipped = reading.skipped;
    Ok(plan)
}

/// The lines of a plan, as an import sends them.
pub(super) fn source(plan: &Plan) -> Result<Source> {
    let failed = |error: io::Error| unreadable("the lines of the import", &error);
    let (mut file, mut parts) = (tempfile::tempfile().map_err(failed)?, Vec::new());
    let new = plan.packages.iter().filter_map(|it| Some((it, it.document.as_ref()?)));
    for (number, (planned, document)) in new.enumerate() {
        writeln!(file, "{document}").map_err(failed)?;
        parts.push((planned.entry.place.to_string(), number as u64 + 1));
    }
    Source::scan(file, parts).map_err(failed)
}

pub(super) fn unchanged(plan: &Plan) -> u64 {
    count(plan, Action::Unchanged)
}

fn count(plan: &Plan, action: Action) -> u64 {
    plan.packages.iter().filter(|planned| planned.action == action).count() as u64
}

/// The packages of earlier imports that are not superseded, newest first.
fn known(host: &Connection, format: SourceFormat, project: &str) -> Result<Vec<KnownSource>> {
    let (mut known, mut cursor) = (Vec::new(), None);
    loop {
        let asked = PullParams { limit: Some(200), cursor, ..PullParams::default() };
        let list = match host.ask::<PullPackages>(in_project(project)?, asked) {
            Ok(answered) => match answered.answer {
                Either::One(list) => list,
                Either::Other(_) => return Ok(known),
            },
            Err(error) if error.code() == Some(Code::AgenticProjectNotFound) => return Ok(known),
            Err(error) => return Err(error),
        };
        let superseded = list.superseded.unwrap_or_default();
        let current = list
            .packages
            .iter()
            .filter(|package| !superseded.contains_key(package.package_id.as_str()));
        known.extend(current.filter_map(|package| KnownSource::of(package, format)));
        cursor = list.next_cursor;
        if cursor.is_none() {
            return Ok(known);
        }
    }
}

/// The files of a format below a path, by their names.
fn files(format: SourceFormat, path: &Path) -> Result<Vec<SourceFile>> {
    let name = path.display().to_string();
    let failed = |error: io::Error| unreadable(&name, &error);
    if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map_err(failed)?;
        return Ok(vec![SourceFile {
            path: "standard input".to_owned(),
            text,
            modified: accord_system::now(),
        }]);
    }
    let path = path.canonicalize().map_err(failed)?;
    let mut found = Vec::new();
    if path.is_file() {
        found.push(path.clone());
    } else {
        match format {
            SourceFormat::Markdown | SourceFormat::Adr => {
                walk(&path, &mut found).map_err(failed)?;
            }
            SourceFormat::Claude => rules(&path, &mut found).map_err(failed)?,
            SourceFormat::Beads => {
                let names = [".beads/issues.jsonl", "issues.jsonl", ".beads/beads.jsonl"];
                found.extend(names.iter().map(|it| path.join(it)).find(|it| it.is_file()));
            }
            SourceFormat::Mem0 => {}
        }
    }
    if found.is_empty() {
        let wanted = match format {
            SourceFormat::Markdown | SourceFormat::Adr => "no Markdown file",
            SourceFormat::Claude => "no CLAUDE.md, AGENTS.md, .claude/rules or MEMORY.md",
            SourceFormat::Beads => "no .beads/issues.jsonl; write one with `bd export`",
            _ => "no document; give the file with what get_all returned",
        };
        let message = format!("{name} has {wanted}");
        return Err(CliError::new(Code::InputUnreadable, message));
    }
    found.sort();
    let root = root(&path);
    found.iter().map(|file| read(format, &root, file)).collect()
}

/// The folder that paths are relative to: the work tree of git, so that they are the same in every
/// clone; else the folder that the named folder, or that of the named file, is in.
fn root(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let work_tree = folder.ancestors().find(|it| it.join(".git").exists());
    work_tree.or(folder.parent()).unwrap_or(folder).to_owned()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            // Links are not followed: they may lead out of the folder, or in a circle.
            if kind.is_dir() && !NOT_READ.contains(&name.as_ref()) {
                folders.push(entry.path());
            } else if kind.is_file() && is_markdown(&name) {
                found.push(entry.path());
            }
            if found.len() > MOST_FILES {
                let message = format!("it has more than {MOST_FILES} Markdown files");
                return Err(io::Error::other(message));
            }
        }
    }
    Ok(())
}

fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("md" | "markdown" | "mdc"))
}

/// The files of Claude Code: the memory files of a folder with `MEMORY.md`, else the rules.
fn rules(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.join("MEMORY.md").is_file() {
        return walk(folder, found);
    }
    // A link to a file that is read, too, has nothing new.
    let own = RULES.iter().map(|name| folder.join(name));
    found.extend(own.filter(|file| file.symlink_metadata().is_ok_and(|it| it.is_file())));
    let rules = folder.join(".claude/rules");
    if rules.is_dir() { walk(&rules, found) } else { Ok(()) }
}

fn read(format: SourceFormat, root: &Path, file: &Path) -> Result<SourceFile> {
    let name = file.display().to_string();
    let failed = |error: io::Error| unreadable(&name, &error);
    let is_of_records = matches!(format, SourceFormat::Beads | SourceFormat::Mem0);
    let most = if is_of_records { LARGEST } else { MAX_PACKAGE_BYTES as u64 };
    let opened = File::open(file).map_err(failed)?;
    let modified = opened.metadata().and_then(|about| about.modified()).map_err(failed)?;
    let mut bytes = Vec::new();
    opened.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        let message = format!("{name} is larger than {most} bytes; nothing is imported");
        return Err(CliError::new(Code::InputTooLarge, message));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{name} line {line}: it is not UTF-8; nothing is imported");
        CliError::new(Code::InputUnreadable, message)
    })?;
    let path = file.strip_prefix(root).unwrap_or(file).display().to_string();
    Ok(SourceFile { path, text, modified: time(modified) })
}

fn time(time: SystemTime) -> Time {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_unix(i64::try_from(since.as_secs()).unwrap_or_default(), 0)
        .unwrap_or_else(|| Time::from_unix_millis(0))
}

/// What an import would do, for programs.
pub(super) fn document(plan: &Plan, format: SourceFormat, project: &str) -> String {
    let entry = |planned: &PlannedPackage| {
        let entry = &planned.entry;
        PlannedEntry {
            action: planned.action,
            package_id: planned.package_id.to_string(),
            title: entry.title.clone(),
            package_type: entry.package_type().to_owned(),
            created_at: entry.created_at.as_str().to_owned(),
            path: entry.place.path.clone(),
            part: entry.place.part.clone(),
            line: entry.line as u64,
            supersedes: planned.superseded().map(ToString::to_string),
            extra: Default::default(),
        }
    };
    let skipped = plan.skipped.iter().map(|skipped| SkippedEntry {
        path: skipped.path.clone(),
        line: skipped.line as u64,
        why: skipped.why.clone(),
        extra: Default::default(),
    });
    let document = ImportPlan {
        project_id: project.to_owned(),
        format,
        added: count(plan, Action::Add),
        superseding: count(plan, Action::Supersede),
        unchanged: count(plan, Action::Unchanged),
        packages: plan.packages.iter().map(entry).collect(),
        skipped: skipped.collect(),
        gone: plan.gone.iter().map(ToString::to_string).collect(),
        extra: Default::default(),
    };
    document.encode().to_string()
}

/// What an import would do, for people: a row per note or record that is imported.
pub(super) fn render(page: &mut Page, plan: &Plan, project: &str) {
    page.heading(project);
    let changed = plan.packages.iter().filter(|planned| planned.action != Action::Unchanged);
    let rows: Vec<Vec<String>> = changed
        .map(|planned| {
            let entry = &planned.entry;
            vec![
                planned.action.as_str().to_owned(),
                clean(entry.package_type()),
                entry.created_at.as_str().get(..10).unwrap_or_default().to_owned(),
                clean(&entry.title),
                clean(&format!("{} line {}", entry.place.path, entry.line)),
            ]
        })
        .collect();
    table(page, &["DO", "TYPE", "DATE", "TITLE", "SOURCE"], &rows);
    let mut counts = Vec::new();
    for (action, word) in [
        (Action::Add, "would be added"),
        (Action::Supersede, "would supersede earlier ones"),
        (Action::Unchanged, "unchanged"),
    ] {
        let number = count(plan, action);
        if number > 0 {
            counts.push(format!("{} {word}", counted(number, "package")));
        }
    }
    let counts = if counts.is_empty() { "nothing to import".to_owned() } else { counts.join(", ") };
    page.line(page.styled(Style::Good, &counts));
}

/// Says what is left out, and what is gone.
pub(super) fn print_notes(plan: &Plan) {
    const SHOWN: usize = 20;
    for skipped in plan.skipped.iter().take(SHOWN) {
        let text = format!("skipped: {} line {}: {}", skipped.path, skipped.line, skipped.why);
        print_note(clean(&text));
    }
    if plan.skipped.len() > SHOWN {
        print_note(format!("skipped: {} more", plan.skipped.len() - SHOWN));
    }
    if !plan.gone.is_empty() {
        let gone = counted(plan.gone.len() as u64, "source");
        let first = clean(&plan.gone[0].to_string());
        print_note(format!(
            "{gone} of earlier imports not there any more, such as {first}; their packages stay"
        ));
    }
}
