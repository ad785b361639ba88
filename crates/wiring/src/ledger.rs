//! The ledger: what was written where, so that it can be taken out again.

use std::collections::BTreeMap;

use accord_canon::sha256;
use accord_contract::{Code, Failure};
use serde::{Deserialize, Serialize};

use crate::edit::{Entry, Written};
use crate::tool::Tool;

const VERSION: u32 = 1;

/// What was written into the files of one project, or of the user.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Ledger {
    #[serde(default)]
    pub(crate) files: Vec<FileRecord>,
    /// The folders that were made, in the order in which they were made.
    #[serde(default)]
    pub(crate) folders: Vec<String>,
}

/// A file that Accord changed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FileRecord {
    pub(crate) path: String,
    /// Whether the file did not exist.
    #[serde(default)]
    pub(crate) created: bool,
    /// The digest of the bytes from before, which are kept beside the ledger. Missing if others
    /// changed the file since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    /// The digest of the bytes that were written.
    pub(crate) after: String,
    pub(crate) entries: Vec<Owned>,
}

/// An entry, and the tools that it is for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Owned {
    pub(crate) tools: Vec<Tool>,
    #[serde(flatten)]
    pub(crate) written: Written,
}

/// The document: the ledgers by the roots of their projects.
#[derive(Deserialize, Serialize)]
struct Document {
    version: u32,
    roots: BTreeMap<String, Ledger>,
}

impl Ledger {
    /// The ledgers in a file, by the root of the project.
    pub fn read_all(path: &str, text: &str) -> Result<BTreeMap<String, Self>, Failure> {
        let refuse = |why: String| {
            let message = format!("{path}: {why}");
            Failure::new(Code::WiringFileBroken, message)
                .suggesting("correct the file, or remove it; entries are then found by their form")
        };
        let document: Document =
            serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        match document.version {
            VERSION => Ok(document.roots),
            other => Err(refuse(format!("version {other} is of a later Accord"))),
        }
    }

    pub fn write_all(roots: &BTreeMap<String, Self>) -> String {
        let roots = roots.iter().filter(|(_, ledger)| !ledger.is_empty());
        let roots = roots.map(|(root, ledger)| (root.clone(), ledger.clone())).collect();
        let document = Document { version: VERSION, roots };
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        format!("{text}\n")
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    /// The files that it names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// The digests of the bytes that it needs.
    pub fn priors(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|file| file.before.as_deref())
    }

    /// The name of the server that a tool has.
    pub fn name(&self, tool: Tool) -> Option<&str> {
        self.owned(tool).find_map(|owned| match &owned.written.entry {
            Entry::Member { path, .. } | Entry::Table { path, .. } => {
                path.last().map(String::as_str)
            }
            _ => None,
        })
    }

    pub(crate) fn owned(&self, tool: Tool) -> impl Iterator<Item = &Owned> {
        let entries = self.files.iter().flat_map(|file| &file.entries);
        entries.filter(move |owned| owned.tools.contains(&tool))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl FileRecord {
    /// The entry that stands at the same place.
    pub(crate) fn same(&self, entry: &Entry) -> Option<&Owned> {
        self.entries.iter().find(|owned| is_same(&owned.written.entry, entry))
    }
}

/// Whether two entries have the same place in a file.
pub(crate) fn is_same(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Member { path: one, .. }, Entry::Member { path: other, .. })
        | (Entry::Hook { path: one, .. }, Entry::Hook { path: other, .. })
        | (Entry::Table { path: one, .. }, Entry::Table { path: other, .. }) => one == other,
        (Entry::Block { .. }, Entry::Block { .. }) | (Entry::File { .. }, Entry::File { .. }) => {
            true
        }
        _ => false,
    }
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    sha256(bytes).hex()
}
