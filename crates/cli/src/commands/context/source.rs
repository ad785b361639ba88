//! What is to be imported: lines, and which project each belongs to.
//!
//! A host imports one project at a time, and a file may hold several, one behind the other or
//! mixed. The lines are looked through once; what is kept in memory is where each project's lines
//! lie, not the lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use accord_memory_core::export::{RowFile, row_line};
use accord_memory_core::limits::MAX_LINE_BYTES;

use crate::error::CliError;

/// Lines to import.
pub(super) struct Source {
    file: File,
    /// The files that they came from, each with the number of its first line.
    parts: Vec<(String, u64)>,
    runs: BTreeMap<String, Vec<Run>>,
    /// Lines that belong to no project.
    pub(super) stray: Vec<Stray>,
}

/// Lines that lie one behind the other and belong to one project.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) first_line: u64,
    pub(super) lines: u64,
}

/// A line that belongs to no project.
pub(super) struct Stray {
    pub(super) line: u64,
    pub(super) failure: Failure,
}

/// The place of a line, as people can find it.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
}

impl Source {
    /// Reads what a path names: a file, standard input, or a folder of rows.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let name = match path == Path::new("-") {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        };
        let unreadable = |error: io::Error| unreadable(&name, &error);
        if path.is_dir() {
            return Self::rows(path);
        }
        let file = match path == Path::new("-") {
            true => spool(io::stdin().lock()),
            false => File::open(path).and_then(|file| match file.metadata()?.is_file() {
                true => Ok(file),
                // What cannot be read twice is copied first.
                false => spool(file),
            }),
        };
        Self::scan(file.map_err(unreadable)?, vec![(name.clone(), 1)]).map_err(unreadable)
    }

    /// The projects that have lines.
    pub(super) fn projects(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    /// Where the lines of a project lie.
    pub(super) fn runs(&self, project: &str) -> &[Run] {
        self.runs.get(project).map_or(&[], Vec::as_slice)
    }

    /// How many bytes the lines of a project have.
    pub(super) fn bytes(&self, project: &str) -> u64 {
        self.runs(project).iter().map(|run| run.length).sum()
    }

    /// The file that the runs lie in.
    pub(super) fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// The place of a line of a project, counted from 1 over all of its runs.
    pub(super) fn place(&self, project: &str, line: u64) -> Place<'_> {
        let mut before = 0;
        for run in self.runs(project) {
            if line <= before + run.lines {
                return self.find(run.first_line + (line - before).saturating_sub(1));
            }
            before += run.lines;
        }
        self.find(line)
    }

    /// The place of a line, counted from 1 over all files.
    pub(super) fn find(&self, line: u64) -> Place<'_> {
        let part = self.parts.iter().rev().find(|(_, first)| *first <= line);
        let (file, first) = part.map_or(("", 1), |(file, first)| (file.as_str(), *first));
        Place {
            file,
            line: line - first + 1,
        }
    }

    /// Whether the lines came from several files.
    pub(super) fn has_parts(&self) -> bool {
        self.parts.len() > 1
    }

    /// A folder of rows, as the protocol's reference tool backs projects up.
    fn rows(folder: &Path) -> Result<Self, CliError> {
        let name = folder.display().to_string();
        let failed = |error: io::Error| unreadable(&name, &error);
        let mut spooled = BufWriter::new(tempfile::tempfile().map_err(failed)?);
        let mut parts = Vec::new();
        let mut stray = Vec::new();
        let mut number = 1;
        for kind in RowFile::ALL {
            let path = folder.join(kind.name());
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(&path.display().to_string(), &error)),
            };
            parts.push((kind.name().to_owned(), number));
            let mut lines = Lines::new(file);
            while let Some(line) = lines.next().map_err(failed)? {
                let row = line.text.map(|text| match text.trim_ascii() {
                    b"" => Ok(String::new()),
                    row => row_line(kind, row),
                });
                match row.unwrap_or_else(|| Err(too_long())) {
                    Ok(row) => writeln!(spooled, "{row}").map_err(failed)?,
                    Err(failure) => {
                        writeln!(spooled).map_err(failed)?;
                        stray.push(Stray {
                            line: number,
                            failure,
                        });
                    }
                }
                number += 1;
            }
        }
        if parts.is_empty() {
            let names: Vec<_> = RowFile::ALL.iter().map(|file| file.name()).collect();
            return Err(CliError::new(
                Code::InputUnreadable,
                format!("{name} holds none of {}", names.join(", ")),
            ));
        }
        let file = spooled
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        let mut source = Self::scan(file, parts).map_err(failed)?;
        source.stray.extend(stray);
        source.stray.sort_by_key(|stray| stray.line);
        Ok(source)
    }

    fn scan(mut file: File, parts: Vec<(String, u64)>) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
        let mut stray = Vec::new();
        let mut lines = Lines::new(file.try_clone()?);
        let mut current: Option<String> = None;
        let mut goes_on = false;
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let Some(text) = &line.text else {
                stray.push(Stray {
                    line: number,
                    failure: too_long(),
                });
                goes_on = false;
                continue;
            };
            if text.trim_ascii().is_empty() {
                goes_on = false;
                continue;
            }
            let project = match (project_of(text), &current) {
                (Ok(project), _) => project,
                // What cannot be understood goes where its neighbours go, and is refused there.
                (Err(_), Some(current)) => current.clone(),
                (Err(failure), None) => {
                    stray.push(Stray {
                        line: number,
                        failure,
                    });
                    continue;
                }
            };
            let of_project = runs.entry(project.clone()).or_default();
            match of_project.last_mut() {
                Some(run) if goes_on && current.as_ref() == Some(&project) => {
                    run.length += line.length;
                    run.lines += 1;
                }
                _ => of_project.push(Run {
                    offset: line.offset,
                    length: line.length,
                    first_line: number,
                    lines: 1,
                }),
            }
            current = Some(project);
            goes_on = true;
        }
        Ok(Self {
            file,
            parts,
            runs,
            stray,
        })
    }
}

/// Lines with their places.
struct Lines {
    reader: BufReader<File>,
    offset: u64,
}

struct Line {
    /// Without its end; nothing where it is longer than any line may be.
    text: Option<Vec<u8>>,
    offset: u64,
    /// With its end.
    length: u64,
}

impl Lines {
    fn new(file: File) -> Self {
        Self {
            reader: BufReader::with_capacity(256 * 1024, file),
            offset: 0,
        }
    }

    fn next(&mut self) -> io::Result<Option<Line>> {
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
        Ok(Some(Line {
            text: fits.then_some(text),
            offset,
            length,
        }))
    }
}

/// The project that a line names: in the document itself, or in the one that it wraps.
fn project_of(line: &[u8]) -> Result<String, Failure> {
    let document: Value = serde_json::from_slice(line).map_err(|error| {
        Failure::new(
            Code::CanonInvalidJson,
            format!("the line is not JSON: {error}"),
        )
    })?;
    let named = document
        .get("project_id")
        .or_else(|| document.get("data")?.get("project_id"));
    match named.and_then(Value::as_str) {
        Some(project) if !project.is_empty() => Ok(project.to_owned()),
        _ => Err(Failure::new(
            Code::AgenticInvalidSchema,
            "the line names no project",
        )),
    }
}

fn too_long() -> Failure {
    Failure::new(
        Code::AgenticPayloadTooLarge,
        format!("the line is longer than {MAX_LINE_BYTES} bytes"),
    )
}

/// A copy that can be read more than once.
fn spool(mut from: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut from, &mut file)?;
    Ok(file)
}

fn unreadable(name: &str, error: &io::Error) -> CliError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    };
    CliError::new(
        Code::InputUnreadable,
        format!("cannot read {name}: {reason}"),
    )
}
