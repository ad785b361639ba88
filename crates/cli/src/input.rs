//! Reading input, within limits.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use accord_contract::Code;

use crate::{CliError, Result};

pub(crate) const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The source of a document and its maximum size.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The file to read; standard input when absent or `-`
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// The maximum size of a document, in bytes
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_BYTES)]
    pub(crate) max_bytes: u64,
}

impl InputArgs {
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte more than the limit shows that a document is too large without reading all of
        // it.
        open(&self.file)?
            .take(self.max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&self.file, &error))?;
        if bytes.len() as u64 > self.max_bytes {
            let (name, limit) = (name(&self.file), self.max_bytes);
            let message = format!("{name} is larger than {limit} bytes");
            return Err(CliError::new(Code::InputTooLarge, message)
                .help("raise the limit with --max-bytes if you trust the input"));
        }
        Ok(bytes)
    }

    pub(crate) fn lines(&self) -> Result<Lines> {
        let metadata = std::fs::metadata(&self.file).ok().filter(Metadata::is_file);
        Ok(Lines {
            reader: BufReader::with_capacity(256 * 1024, open(&self.file)?),
            path: self.file.clone(),
            max_bytes: self.max_bytes,
            length: metadata.map(|metadata| metadata.len()),
            read: 0,
        })
    }
}

/// Reads a whole file, within the default limit.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    InputArgs { file: path.to_owned(), max_bytes: DEFAULT_MAX_BYTES }.read()
}

/// The lines of an input, each within the limit.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    path: PathBuf,
    max_bytes: u64,
    /// The length of the whole input, where it is known.
    pub(crate) length: Option<u64>,
    /// How many bytes have been read.
    pub(crate) read: u64,
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum InputLine {
    /// The line, without its line end.
    Text(Vec<u8>),
    /// A line past the limit, which was skipped.
    TooLong,
}

impl Lines {
    pub(crate) fn next(&mut self) -> Result<Option<InputLine>> {
        let mut line = Vec::new();
        let limit = self.max_bytes.saturating_add(1);
        // `take` bounds the memory: without it, a file without line ends would be read as a whole.
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
            let skipped = self.reader.skip_until(b'\n');
            self.read += skipped.map_err(|error| unreadable(&self.path, &error))? as u64;
            return Ok(Some(InputLine::TooLong));
        }
        if line.len() as u64 > self.max_bytes {
            return Ok(Some(InputLine::TooLong));
        }
        Ok(Some(InputLine::Text(line)))
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Box::new(file))
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "it is a folder, not a file",
        _ => &error.to_string(),
    };
    CliError::new(Code::InputUnreadable, format!("cannot read {}: {reason}", name(path)))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
