//! Errors of a corpus.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A corpus that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A file or folder could not be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Some files have mistakes.
    #[error("{0}")]
    Faulty(Faults),
    /// No protocol of that name is in the corpus.
    #[error("no corpus for the protocol {asked:?}; there is {}", listing(known))]
    UnknownProtocol {
        /// The name that was asked for.
        asked: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// No case of that id is in the corpus.
    #[error("no case has the id {asked:?}{}", did_you_mean(nearest.as_deref()))]
    UnknownCase {
        /// The id that was asked for.
        asked: String,
        /// A similar id.
        nearest: Option<String>,
    },
    /// The corpus could not be written.
    #[error("the corpus cannot be written to {}: {source}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder to write to already exists.
    #[error("{} exists already; choose another folder", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
}

impl CorpusError {
    pub(super) fn unknown_protocol<'a>(
        asked: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(str::to_owned).collect();
        Self::UnknownProtocol { asked: asked.to_owned(), known }
    }
}

/// One mistake in one file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Fault {
    /// The file, relative to the corpus.
    pub file: String,
    /// The place in it, as a JSON pointer; empty for the whole file.
    pub pointer: String,
    /// What is wrong there.
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.why)
    }
}

/// Every mistake that was found; at least one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    /// The mistakes, file by file.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().take(SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

fn listing(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

const SHOWN: usize = 20;

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |id| format!("; did you mean {id:?}?"))
}
