//! Writing answers to standard output or to a file.
//!
//! Data goes to standard output and notes go to standard error, so that either can be redirected
//! alone.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use accord_contract::Code;

use crate::render::Page;
use crate::{CliError, Exit, Result, interrupt};

/// Prints a note on standard error. A closed standard error is ignored: the answer does not depend
/// on it.
pub(crate) fn print_note(line: impl AsRef<str>) {
    let _ = writeln!(io::stderr().lock(), "{}", line.as_ref());
}

/// Prints an answer of one line.
pub(crate) fn print_line(text: impl AsRef<[u8]>) -> Result<Exit> {
    let mut output = Output::stdout();
    output.line(text)?;
    output.finish()
}

/// Prints an answer for people.
pub(crate) fn print_page(render: impl FnOnce(&mut Page)) -> Result<Exit> {
    let mut page = Page::new();
    render(&mut page);
    let mut output = Output::stdout();
    output.bytes(page.as_str().as_bytes())?;
    output.finish()
}

/// Prints a document for programs, or else an answer for people.
pub(crate) fn print_either(
    document: Option<impl AsRef<[u8]>>,
    render: impl FnOnce(&mut Page),
) -> Result<Exit> {
    document.map_or_else(|| print_page(render), print_line)
}

/// Where a command writes its answer.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self::new(io::stdout().lock())
    }

    /// A file that replaces `path` only when it is kept, so that a failed command leaves the old
    /// file.
    pub(crate) fn pending(path: &Path) -> Result<(Self, PendingFile)> {
        let failed = |error: io::Error| cannot_write(path, &error);
        // A device or a pipe is written directly: there is nothing to replace.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Ok((Self::direct(path)?, PendingFile { written: None, path: path.to_owned() }));
        }
        // In the same folder, so that `persist` is a rename within one file system, which is
        // atomic.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let written = interrupt::create_with_cleanup(|| {
            let written = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
            let beside = written.path().to_owned();
            // The file no longer exists when it was kept or dropped.
            Ok((written, move || drop(std::fs::remove_file(beside))))
        })?;
        let output = Self::new(written.reopen().map_err(failed)?);
        Ok((output, PendingFile { written: Some(written), path: path.to_owned() }))
    }

    /// The file at `path`, written directly, so that it can be followed while it grows.
    pub(crate) fn direct(path: &Path) -> Result<Self> {
        File::create(path).map(Self::new).map_err(|error| cannot_write(path, &error))
    }

    fn new(writer: impl Write + 'static) -> Self {
        Self { writer: BufWriter::new(Box::new(writer)) }
    }

    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        self.bytes(text.as_ref())?;
        self.bytes(b"\n")
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(CliError::from_output)
    }

    /// Flushes the buffer. Without it, an answer may be incomplete.
    pub(crate) fn finish(mut self) -> Result<Exit> {
        self.writer.flush().map(|()| Exit::Yes).map_err(CliError::from_output)
    }
}

/// A file that was written next to its final path.
#[must_use]
pub(crate) struct PendingFile {
    written: Option<tempfile::NamedTempFile>,
    path: PathBuf,
}

impl PendingFile {
    /// Moves the file to its final path. Its [`Output`] must be finished.
    pub(crate) fn keep(self) -> Result<()> {
        let Some(written) = self.written else { return Ok(()) };
        // A temporary file is readable by its owner only; an output file is for others, too.
        let readable = std::fs::Permissions::from_mode(0o644);
        written
            .as_file()
            .set_permissions(readable)
            // Synced before the rename. After a power loss, the path has the old or the new
            // content, never an empty file.
            .and_then(|()| written.as_file().sync_all())
            .and_then(|()| Ok(written.persist(&self.path)?))
            .map(drop)
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Code::OutputFailed, format!("cannot write {}: {error}", path.display()))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
