//! Writing answers to standard output or to a file.
//!
//! Data goes to standard output and talk to standard error, so that either can
//! be redirected alone.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use accord_contract::codes::Code;

use crate::error::CliError;

/// Where a command writes its answer.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Self {
            writer: BufWriter::new(Box::new(io::stdout().lock())),
        }
    }

    /// The file at `path`, or standard output for none.
    pub(crate) fn to(path: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = path else {
            return Ok(Self::stdout());
        };
        let file = File::create(path).map_err(|error| {
            CliError::new(
                Code::OutputFailed,
                format!("cannot write {}: {error}", path.display()),
            )
        })?;
        Ok(Self {
            writer: BufWriter::new(Box::new(file)),
        })
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) -> Result<(), CliError> {
        self.bytes(text.as_ref())?;
        self.bytes(b"\n")
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.writer.write_all(bytes).map_err(CliError::from_output)
    }

    /// Writes out what is held back. An answer counts only once this is done.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.writer.flush().map_err(CliError::from_output)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
