//! A backup of Relay: a folder of rows and archives, or one such folder for each project.
//!
//! Rows are converted to lines. An archive is stored as a blob, and its package names the digest,
//! so that the blob is kept as long as the package. The digest is computed before the upload: the
//! lines are the same however often they are imported.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use accord_canon::Digest;
use accord_contract::Code;
use accord_memory_core::export::{RowArchive, RowFile, row_line};
use sha2::{Digest as _, Sha256};

use super::source::{Lines, RESTORE, Source, UnassignedLine, too_long, unreadable};
use crate::host::holds_store;
use crate::{CliError, Result};

/// The member of a row with the path of an archive.
pub(super) const STORAGE_PATH: &str = "storage_path";

/// The archives of packages.
#[derive(Default)]
pub(super) struct Archives {
    pub(super) found: Vec<Archive>,
    /// How many a row names, and the backup does not have.
    pub(super) missing: u64,
    /// How many rows name one, where only lines were read.
    pub(super) elsewhere: u64,
}

pub(super) struct Archive {
    pub(super) project: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
    pub(super) file: PathBuf,
}

pub(super) fn read(folder: &Path) -> Result<Source> {
    let name = folder.display().to_string();
    let failed = |error: io::Error| unreadable(&name, &error);
    if holds_store(folder) {
        let message = format!("{name} is a copy of a data folder, and not a backup of Relay");
        return Err(CliError::new(Code::InputUnreadable, message).help(RESTORE));
    }
    let folders = folders(folder).map_err(failed)?;
    if folders.is_empty() {
        let names: Vec<_> = RowFile::ALL.iter().map(|file| file.name()).collect();
        let message = format!("{name} has none of {}", names.join(", "));
        return Err(CliError::new(Code::InputUnreadable, message));
    }
    let mut rows = Rows {
        lines: BufWriter::new(tempfile::tempfile().map_err(failed)?),
        parts: Vec::new(),
        unassigned: Vec::new(),
        archives: Archives::default(),
        number: 1,
    };
    for (label, folder) in &folders {
        for file in RowFile::ALL {
            rows.read(label, folder, file)?;
        }
    }
    let lines = rows.lines.into_inner().map_err(|error| failed(error.into_error()))?;
    let mut source = Source::scan(lines, rows.parts).map_err(failed)?;
    source.unassigned.extend(rows.unassigned);
    source.unassigned.sort_by_key(|line| line.number);
    source.archives = rows.archives;
    Ok(source)
}

/// The folders with files of rows, each with the label of its files: the folder itself, or else
/// those in it.
fn folders(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let has_rows = |it: &Path| RowFile::ALL.iter().any(|file| it.join(file.name()).exists());
    if has_rows(folder) {
        return Ok(vec![(String::new(), folder.to_owned())]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_dir() && has_rows(&entry.path()) {
            found.push((format!("{}/", entry.file_name().display()), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Rows that are converted to lines.
struct Rows {
    lines: BufWriter<File>,
    parts: Vec<(String, u64)>,
    unassigned: Vec<UnassignedLine>,
    archives: Archives,
    /// The number of the next line.
    number: u64,
}

impl Rows {
    fn read(&mut self, label: &str, folder: &Path, kind: RowFile) -> Result<()> {
        let path = folder.join(kind.name());
        let name = path.display().to_string();
        let failed = |error: io::Error| unreadable(&name, &error);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        self.parts.push((format!("{label}{}", kind.name()), self.number));
        let mut lines = Lines::new(file);
        while let Some(line) = lines.next().map_err(failed)? {
            let archives = &mut self.archives;
            let row = line.text.map(|text| match text.trim_ascii() {
                b"" => Ok(String::new()),
                row => row_line(kind, row, |project, path| archives.find(folder, project, path)),
            });
            match row.unwrap_or_else(|| Err(too_long())) {
                Ok(row) => writeln!(self.lines, "{row}").map_err(failed)?,
                Err(failure) => {
                    // An empty line in its place, so that the numbers of the lines after it stay
                    // right.
                    writeln!(self.lines).map_err(failed)?;
                    self.unassigned.push(UnassignedLine { number: self.number, failure });
                }
            }
            self.number += 1;
        }
        Ok(())
    }
}

impl Archives {
    /// Finds the archive that a row names by its path.
    fn find(&mut self, folder: &Path, project: &str, path: &str) -> Option<RowArchive> {
        let found = inside(folder, path).and_then(|file| {
            let (digest, size) = digest_of(&file).ok()?;
            Some(Archive { project: project.to_owned(), digest, size, file })
        });
        let Some(found) = found else {
            self.missing += 1;
            return None;
        };
        let named = RowArchive { digest: found.digest, size: found.size };
        self.found.push(found);
        Some(named)
    }

    pub(super) fn of<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a Archive> {
        self.found.iter().filter(move |archive| archive.project == project)
    }
}

/// The file of a path inside a folder. A row must not reach a file outside of its backup, also not
/// through a link.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let (folder, file) = (folder.canonicalize().ok()?, folder.join(relative).canonicalize().ok()?);
    (file.starts_with(folder) && file.is_file()).then_some(file)
}

/// The SHA-256 of a file, and its size.
pub(super) fn digest_of(file: &Path) -> io::Result<(Digest, u64)> {
    let mut file = File::open(file)?;
    let (mut hasher, mut size, mut piece) = (Sha256::new(), 0, vec![0; 256 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((Digest::from(<[u8; 32]>::from(hasher.finalize())), size)),
            length => {
                hasher.update(&piece[..length]);
                size += length as u64;
            }
        }
    }
}
