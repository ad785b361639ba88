//! The lines to import, and the project of each.
//!
//! A host imports one project at a time, and a file may contain several, in any order. The lines
//! are scanned once. Only the positions of the lines of each project stay in memory. A folder is
//! read by [`super::relay_backup`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use accord_contract::{Code, Failure, Object};
use accord_memory_core::export::line_project;
use accord_memory_core::limits::MAX_LINE_BYTES;
use serde_json::error::Category;

use super::relay_backup::{Archives, STORAGE_PATH};
use crate::{CliError, Result};

pub(super) struct Source {
    file: File,
    /// The input files, each with the number of its first line.
    parts: Vec<(String, u64)>,
    runs: BTreeMap<String, Vec<LineRange>>,
    /// Lines that belong to no project.
    pub(super) unassigned: Vec<UnassignedLine>,
    /// The archives of packages.
    pub(super) archives: Archives,
}

/// Consecutive lines of one project.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) first_line: u64,
    pub(super) lines: u64,
}

pub(super) struct UnassignedLine {
    pub(super) number: u64,
    pub(super) failure: Failure,
}

pub(super) struct LinePosition<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
}

impl Source {
    /// Reads a file, standard input (`-`), or a folder of rows.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let unreadable = |error: io::Error| unreadable(&name, &error);
        if path.is_dir() {
            return super::relay_backup::read(path);
        }
        let file = match is_stdin {
            true => spool(io::stdin().lock()),
            // A pipe cannot be read twice, and is copied.
            false => File::open(path).and_then(|file| match file.metadata()?.is_file() {
                true => Ok(file),
                false => spool(file),
            }),
        };
        let file = file.map_err(unreadable)?;
        if is_database(&file).map_err(unreadable)? {
            let message = format!("{name} is a database, and not lines of JSON");
            return Err(CliError::new(Code::InputUnreadable, message).help(RESTORE));
        }
        Self::scan(file, vec![(name.clone(), 1)]).map_err(unreadable)
    }

    pub(super) fn projects(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    pub(super) fn runs(&self, project: &str) -> &[LineRange] {
        self.runs.get(project).map_or(&[], Vec::as_slice)
    }

    pub(super) fn lines(&self, project: &str) -> u64 {
        self.runs(project).iter().map(|run| run.lines).sum()
    }

    pub(super) fn bytes(&self, project: &str) -> u64 {
        self.runs(project).iter().map(|run| run.length).sum()
    }

    /// The file that the ranges refer to.
    pub(super) fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// The position of the n-th line of a project, from 1.
    pub(super) fn position_in(&self, project: &str, line: u64) -> LinePosition<'_> {
        let mut before = 0;
        for run in self.runs(project) {
            if line <= before + run.lines {
                return self.position(run.first_line + (line - before).saturating_sub(1));
            }
            before += run.lines;
        }
        self.position(line)
    }

    /// The position of the n-th line of all files, from 1.
    pub(super) fn position(&self, line: u64) -> LinePosition<'_> {
        let part = self.parts.iter().rev().find(|(_, first)| *first <= line);
        let (file, first) = part.map_or(("", 1), |(file, first)| (file.as_str(), *first));
        LinePosition { file, line: line - first + 1 }
    }

    pub(super) fn has_parts(&self) -> bool {
        self.parts.len() > 1
    }

    pub(super) fn scan(mut file: File, parts: Vec<(String, u64)>) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let mut runs: BTreeMap<String, Vec<LineRange>> = BTreeMap::new();
        let mut unassigned = Vec::new();
        let mut archives = Archives::default();
        let mut lines = Lines::new(file.try_clone()?);
        let mut current: Option<String> = None;
        let mut goes_on = false;
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let Some(text) = &line.text else {
                unassigned.push(UnassignedLine { number, failure: too_long() });
                goes_on = false;
                continue;
            };
            if text.trim_ascii().is_empty() {
                goes_on = false;
                continue;
            }
            let project = match (project_of(text), &current) {
                (Ok((project, has_archive)), _) => {
                    archives.elsewhere += u64::from(has_archive);
                    project
                }
                // An invalid line is sent with the lines around it, so that the host reports it.
                (Err(_), Some(current)) => current.clone(),
                (Err(failure), None) => {
                    unassigned.push(UnassignedLine { number, failure });
                    continue;
                }
            };
            // One range per run of lines, not one per line: an export of one project is a single
            // range.
            let of_project = runs.entry(project.clone()).or_default();
            match of_project.last_mut() {
                Some(run) if goes_on && current.as_ref() == Some(&project) => {
                    run.length += line.length;
                    run.lines += 1;
                }
                _ => {
                    let (offset, length) = (line.offset, line.length);
                    of_project.push(LineRange { offset, length, first_line: number, lines: 1 });
                }
            }
            current = Some(project);
            goes_on = true;
        }
        Ok(Self { file, parts, runs, unassigned, archives })
    }
}

/// Lines with their positions.
pub(super) struct Lines {
    reader: BufReader<File>,
    offset: u64,
}

pub(super) struct SourceLine {
    /// Without its line end; `None` if it is too long.
    pub(super) text: Option<Vec<u8>>,
    offset: u64,
    /// With its line end.
    length: u64,
}

impl Lines {
    pub(super) fn new(file: File) -> Self {
        Self { reader: BufReader::with_capacity(256 * 1024, file), offset: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<SourceLine>> {
        let mut text = Vec::new();
        let most = MAX_LINE_BYTES as u64 + 1;
        let mut length = (&mut self.reader).take(most).read_until(b'\n', &mut text)? as u64;
        if length == 0 {
            return Ok(None);
        }
        let is_whole = text.pop_if(|byte| *byte == b'\n').is_some();
        let fits = text.len() <= MAX_LINE_BYTES;
        if !fits && !is_whole {
            length += self.reader.skip_until(b'\n')? as u64;
        }
        let offset = self.offset;
        self.offset += length;
        Ok(Some(SourceLine { text: fits.then_some(text), offset, length }))
    }
}

/// The project of a line, and whether the line is a row of a package with an archive.
fn project_of(line: &[u8]) -> Result<(String, bool), Failure> {
    let members: Object = match serde_json::from_slice(line) {
        Ok(members) => members,
        // Another value than an object has no members.
        Err(error) if error.classify() == Category::Data => Object::new(),
        Err(error) => {
            let message = format!("the line is not JSON: {error}");
            return Err(Failure::new(Code::CanonInvalidJson, message));
        }
    };
    let none = || Failure::new(Code::AgenticInvalidSchema, "the line has no project_id");
    let project = line_project(&members).ok_or_else(none)?;
    // A converted row has its archive as a member; only a row has both of these.
    let archive = members.get(STORAGE_PATH);
    let has_archive = members.contains_key("id") && archive.is_some_and(|path| path.is_string());
    Ok((project.to_owned(), has_archive))
}

pub(super) fn too_long() -> Failure {
    let message = format!("the line is longer than {MAX_LINE_BYTES} bytes");
    Failure::new(Code::AgenticPayloadTooLarge, message)
}

/// Whether a file is a database of SQLite, such as the store of a data folder.
fn is_database(mut file: &File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(DATABASE.len() as u64).read_to_end(&mut start)?;
    Ok(start == DATABASE)
}

/// How a database of SQLite begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// What to do with a copy of a data folder.
pub(super) const RESTORE: &str =
    "`accord store restore DIR` restores a folder that `accord store backup` wrote";

/// A copy that can be read more than once.
fn spool(mut from: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut from, &mut file)?;
    Ok(file)
}

pub(super) fn unreadable(name: &str, error: &io::Error) -> CliError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file",
        io::ErrorKind::PermissionDenied => "permission denied",
        _ => &error.to_string(),
    };
    CliError::new(Code::InputUnreadable, format!("cannot read {name}: {reason}"))
}
