//! Reading what the user names, within limits.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use accord_contract::codes::Code;

use crate::error::CliError;

/// The largest document that is read unless the user raises the limit.
pub(crate) const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Where a document comes from, and how large it may be.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The file to read; `-` or nothing is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// The largest document to read, in bytes
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_BYTES)]
    pub(crate) max_bytes: u64,
}

impl InputArgs {
    /// The whole document.
    pub(crate) fn read(&self) -> Result<Vec<u8>, CliError> {
        let mut bytes = Vec::new();
        // One byte more than allowed tells a document that fits from one that
        // does not, and no more than that is ever held.
        open(&self.file)?
            .take(self.max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&self.file, &error))?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(self.too_large());
        }
        Ok(bytes)
    }

    /// The document line by line.
    pub(crate) fn lines(&self) -> Result<Lines, CliError> {
        let length = std::fs::metadata(&self.file)
            .ok()
            .filter(|metadata| metadata.is_file())
            .map(|metadata| metadata.len());
        Ok(Lines {
            reader: BufReader::with_capacity(256 * 1024, open(&self.file)?),
            path: self.file.clone(),
            max_bytes: self.max_bytes,
            length,
            read: 0,
        })
    }

    fn too_large(&self) -> CliError {
        CliError::new(
            Code::InputTooLarge,
            format!(
                "{} is larger than {} bytes",
                name(&self.file),
                self.max_bytes
            ),
        )
        .help("raise the limit with --max-bytes if you trust the input")
    }
}

/// A whole file of the user's, within the default limit.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, CliError> {
    InputArgs {
        file: path.to_owned(),
        max_bytes: DEFAULT_MAX_BYTES,
    }
    .read()
}

/// The lines of an input, each within the limit.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    path: PathBuf,
    max_bytes: u64,
    /// How long the whole input is, where that is known.
    pub(crate) length: Option<u64>,
    /// How much of it has been read.
    pub(crate) read: u64,
}

/// One line of an input.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// The line, without its end.
    Text(Vec<u8>),
    /// The line is longer than allowed; it was read past.
    TooLong,
}

impl Lines {
    /// The next line, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, CliError> {
        let mut line = Vec::new();
        let limit = self.max_bytes.saturating_add(1);
        let read = (&mut self.reader)
            .take(limit)
            .read_until(b'\n', &mut line)
            .map_err(|error| unreadable(&self.path, &error))? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.read += read;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read == limit {
            self.read += self.skip_line()?;
            return Ok(Some(Line::TooLong));
        }
        if line.len() as u64 > self.max_bytes {
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Text(line)))
    }

    fn skip_line(&mut self) -> Result<u64, CliError> {
        self.reader
            .skip_until(b'\n')
            .map(|skipped| skipped as u64)
            .map_err(|error| unreadable(&self.path, &error))
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        _ => error.to_string(),
    };
    CliError::new(
        Code::InputUnreadable,
        format!("cannot read {}: {reason}", name(path)),
    )
}

fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}
