//! Notes and records of other tools as packages: Markdown, decision records (ADR), issues of beads,
//! memories of mem0, `CLAUDE.md` and the memory files of Claude Code.
//!
//! Each format has a reader, which makes an [`Entry`] of each note or record. [`plan`] compares
//! them with the packages of earlier imports.
//!
//! Invariants:
//! - a file that cannot be read fails the whole import, with its path and line;
//! - the member `x-source` of a package names the format, the path and the digest of its source;
//! - what was imported and did not change is not imported again. What changed becomes a package
//!   that supersedes the earlier one.

mod adr;
mod beads;
mod claude;
mod front_matter;
mod markdown;
mod mem0;
mod notes;
mod plan;

use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, wire_enum};

pub use plan::{Action, KnownSource, Plan, PlannedPackage, plan};

/// The member of a package that names its source.
pub const SOURCE: &str = "x-source";

wire_enum! {
    /// A format that can be imported.
    pub enum SourceFormat("SourceFormat", closed) {
        /// Markdown files, with or without front matter.
        Markdown = "markdown",
        /// Decision records in Markdown: MADR and the format of adr-tools.
        Adr = "adr",
        /// The lines that `bd export` writes.
        Beads = "beads",
        /// The JSON document that `get_all` of mem0 returns.
        Mem0 = "mem0",
        /// `CLAUDE.md`, `AGENTS.md`, rules, and memory files of Claude Code.
        Claude = "claude",
    }
}

/// A file to import.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path below the repository or folder, with `/`.
    pub path: String,
    pub text: String,
    /// When it was changed: the time of what has no other.
    pub modified: Time,
}

/// Where a package comes from. The same place is the same note, whatever its text.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SourcePlace {
    pub path: String,
    /// The section or record in the file.
    pub part: Option<String>,
}

/// A note or record.
#[derive(Clone, Debug)]
pub struct Entry {
    pub place: SourcePlace,
    /// Its first line, from 1.
    pub line: usize,
    /// The digest of its source.
    pub digest: String,
    pub created_at: Timestamp,
    pub title: String,
    /// The other members of its package.
    pub members: Object,
    /// What `x-source` has beside place and digest.
    pub origin: Object,
    /// The places whose packages it supersedes.
    pub supersedes: Vec<SourcePlace>,
    pub parent: Option<SourcePlace>,
}

/// What is not imported, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    pub path: String,
    pub line: usize,
    pub why: String,
}

/// What files contain.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub entries: Vec<Entry>,
    pub skipped: Vec<Skipped>,
}

/// Reads files of a format. Fails with `INPUT_UNREADABLE`, the path and the line.
pub fn read(format: SourceFormat, files: &[SourceFile]) -> Result<Reading, Failure> {
    let mut reading = Reading::default();
    match format {
        SourceFormat::Markdown => notes::read(files, &mut reading)?,
        SourceFormat::Adr => adr::read(files, &mut reading)?,
        SourceFormat::Claude => claude::read(files, &mut reading)?,
        SourceFormat::Beads => {
            for file in files {
                beads::read(file, &mut reading)?;
            }
        }
        SourceFormat::Mem0 => {
            for file in files {
                mem0::read(file, &mut reading)?;
            }
        }
    }
    Ok(reading)
}

impl SourcePlace {
    fn file(path: &str) -> Self {
        Self { path: path.to_owned(), part: None }
    }

    fn part(path: &str, part: impl Into<String>) -> Self {
        Self { path: path.to_owned(), part: Some(part.into()) }
    }
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        self.part.iter().try_for_each(|part| write!(f, "#{part}"))
    }
}

impl Entry {
    pub fn package_type(&self) -> &str {
        self.members.get("package_type").and_then(Value::as_str).unwrap_or("standard")
    }

    fn new(place: SourcePlace, line: usize, title: &str, source: &str, created_at: Time) -> Self {
        Self {
            place,
            line,
            digest: format!("sha256:{}", accord_canon::sha256(source.as_bytes()).hex()),
            created_at: Timestamp::emit(created_at),
            title: shortened(&one_line(title), crate::limits::MAX_TITLE_CHARS),
            members: Object::new(),
            origin: Object::new(),
            supersedes: Vec::new(),
            parent: None,
        }
    }

    /// Sets a member that has something in it.
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        let is_empty = match &value {
            Value::String(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Null => true,
            _ => false,
        };
        if !is_empty {
            self.members.insert(name.to_owned(), value);
        }
    }

    fn named(&mut self, name: &str, value: Option<&Value>) {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            self.origin.insert(name.to_owned(), value.clone());
        }
    }
}

/// A file that is not of the format.
fn refused(path: &str, line: usize, why: impl std::fmt::Display) -> Failure {
    let message = format!("{path} line {line}: {why}; nothing is imported");
    Failure::new(Code::InputUnreadable, message).with("path", path).with("line", line as u64)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most that many characters, with `…` at the end of what is longer.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(most - 1).map_or(0, |(at, _)| at);
            format!("{}…", text[..end].trim_end())
        }
    }
}

/// A time as people and tools write it: a day, a time with an offset, or one without.
fn time_of(text: &str) -> Option<Time> {
    let text = text.trim().trim_matches(['"', '\'', '`', '*']);
    Time::parse_or_date(text)
        .ok()
        .or_else(|| Time::parse_rfc3339(text))
        .or_else(|| Time::parse_rfc3339(&format!("{}Z", text.replacen(' ', "T", 1))))
        .or_else(|| Time::parse_or_date(&text.get(..10)?.replace('/', "-")).ok())
}

/// The name of the file of a path, without its extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
