//! Changes that were undone, kept until a person decides about them.
//!
//! Each is a folder below `kept`, with the changed files and `change.json`, which is written last:
//! a folder without it is incomplete and ignored.

use std::path::PathBuf;

use accord_canon::sha256;
use accord_contract::{Object, Time, Value};
use accord_runs_core::{Result, build};
use accord_trees::{Disk, Root, TreeError, atomic, read_file};
use serde_json::json;

use super::digest::Compared;
use super::document::Snapshot;
use super::files::{Differences, GuardedFile};
use crate::repository::{Repository, failure, limits};

const KEPT: &str = "kept";
const CHANGE: &str = "change.json";

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Decision {
    #[default]
    Open,
    Adopted,
    Undone,
}

impl Decision {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Adopted => "adopted",
            Self::Undone => "undone",
        }
    }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeptChange {
    pub id: String,
    pub at: String,
    pub turns: Vec<String>,
    /// The files, each with what happened to it.
    pub files: Vec<(String, String)>,
    pub reasons: Vec<String>,
    pub folder: PathBuf,
    /// Whether the run went on since, so that changed records cannot be put in force any more.
    pub outdated: bool,
    pub(super) base: Option<String>,
    pub(super) decision: Decision,
}

impl KeptChange {
    fn new(root: &Root, id: String) -> Self {
        Self { folder: root.root_path().join(KEPT).join(&id), id, ..Self::default() }
    }

    pub(super) fn has_config(&self) -> bool {
        self.has(GuardedFile::Config)
    }

    pub(super) fn has(&self, file: GuardedFile) -> bool {
        self.files.iter().any(|(path, what)| *path == file.path() && what != REMOVED)
    }

    pub(super) fn has_records(&self) -> bool {
        self.files.iter().any(|(path, _)| {
            GuardedFile::of_path(path).is_some_and(|file| file != GuardedFile::Config)
        })
    }

    /// The path of a file in the folder of the copies.
    pub(super) fn path(&self, file: GuardedFile) -> String {
        format!("{KEPT}/{}/{}", self.id, file.copy_name())
    }

    pub(super) fn bytes(&self, root: &Root, file: GuardedFile) -> Result<Option<Vec<u8>>> {
        read_file(root, &self.path(file), limits::PROTECTED).map_err(|error| failure(&error))
    }

    pub(super) fn decide(&self, root: &Root, decision: Decision) -> Result<()> {
        Self { decision, ..self.clone() }.store(root)
    }

    fn store(&self, root: &Root) -> Result<()> {
        let files = self.files.iter().map(|(path, what)| (path.clone(), what.as_str().into()));
        let files: Object = files.collect();
        let document = build([
            ("at", self.at.as_str().into()),
            ("turns", json!(self.turns)),
            ("files", files.into()),
            ("reasons", json!(self.reasons)),
            ("base", self.base.clone().into()),
            ("decision", self.decision.as_str().into()),
        ]);
        let path = format!("{KEPT}/{}/{CHANGE}", self.id);
        let text = accord_contract::text::pretty(&document);
        atomic::write(root, &path, text.as_bytes()).map_err(|error| failure(&error))
    }
}

const REMOVED: &str = "removed";

/// Keeps the files of a repository that are about to be put back.
pub(super) fn keep(
    root: &Root,
    repository: &Repository,
    (differences, snapshot): (&Differences, &Snapshot),
    turns: Vec<String>,
    reasons: Vec<String>,
    now: Time,
) -> Result<KeptChange> {
    let id = new_id(now);
    let mut files = Vec::new();
    for (file, compared) in &differences.files {
        let bytes = match read_file(repository.disk(), &file.path(), limits::PROTECTED) {
            Ok(bytes) => bytes,
            Err(error @ TreeError::System { .. }) => return Err(failure(&error)),
            // A link out of the repository, or a folder: there is nothing to keep.
            Err(_) => None,
        };
        let what = match (compared, &bytes) {
            (Compared::Missing, _) => REMOVED,
            (_, None) => "not a file",
            (Compared::Grown, _) => "lines added",
            _ => "changed",
        };
        if let Some(bytes) = bytes {
            let path = format!("{KEPT}/{id}/{}", file.copy_name());
            atomic::write(root, &path, &bytes).map_err(|error| failure(&error))?;
        }
        files.push((file.path(), what.to_owned()));
    }
    let base = Some(sha256(&snapshot.state).hex());
    let at = now.to_string();
    let kept = KeptChange { at, turns, files, reasons, base, ..KeptChange::new(root, id) };
    kept.store(root)?;
    Ok(kept)
}

/// Keeps a journal that is not Accord's own.
pub(super) fn keep_journal(
    root: &Root,
    path: &str,
    journal: &Object,
    turns: Vec<String>,
    now: Time,
) -> Result<KeptChange> {
    let id = new_id(now);
    let text = accord_contract::text::pretty(journal);
    let written = atomic::write(root, &format!("{KEPT}/{id}/journal.json"), text.as_bytes());
    written.map_err(|error| failure(&error))?;
    let kept = KeptChange {
        at: now.to_string(),
        turns,
        files: vec![(path.to_owned(), "not applied".to_owned())],
        reasons: vec!["the journal is not that of a commit of this machine's Accord".to_owned()],
        outdated: true,
        ..KeptChange::new(root, id)
    };
    kept.store(root)?;
    Ok(kept)
}

/// The changes about which no person has decided yet, oldest first.
pub(super) fn open(root: &Root, state: Option<&[u8]>) -> Result<Vec<KeptChange>> {
    let state = state.map(|state| sha256(state).hex());
    let mut changes = Vec::new();
    let entries = root.list(KEPT).map_err(|error| failure(&error))?;
    for entry in entries.unwrap_or_default() {
        let path = format!("{KEPT}/{}/{CHANGE}", entry.name);
        let bytes = match read_file(root, &path, limits::DOCUMENT) {
            Err(error) if error.is_unreadable() => None,
            read => read.map_err(|error| failure(&error))?,
        };
        let document = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let Some(document) = document else { continue };
        let mut change = read(root, entry.name, &document);
        // A configuration can be put in force at any time.
        let config_only = change.has_config() && !change.has_records();
        change.outdated = change.base != state && !config_only;
        if change.decision == Decision::Open {
            changes.push(change);
        }
    }
    Ok(changes)
}

fn read(root: &Root, id: String, document: &Value) -> KeptChange {
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    let texts = |name: &str| {
        let texts = document[name].as_array().into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let files = document["files"].as_object().into_iter().flatten();
    let owned = |what: &Value| what.as_str().unwrap_or_default().to_owned();
    let files = files.map(|(path, what)| (path.clone(), owned(what)));
    KeptChange {
        at: text("at"),
        turns: texts("turns"),
        files: files.collect(),
        reasons: texts("reasons"),
        base: document["base"].as_str().map(str::to_owned),
        decision: match document["decision"].as_str() {
            Some("adopted") => Decision::Adopted,
            Some("undone") => Decision::Undone,
            _ => Decision::Open,
        },
        ..KeptChange::new(root, id)
    }
}

fn new_id(now: Time) -> String {
    // Sorted by time, and different for two changes of the same moment.
    let at = now.to_string().replace([':', '.'], "-");
    format!("{at}-{}", accord_system::random_hex::<3>())
}
