//! What can be read of a governed repository without a lock.

use std::collections::BTreeMap;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_runs_core::coordinator::{CoordinatorState, coordinator_state_path};
use accord_runs_core::history::RunIndex;
use accord_runs_core::manifest;
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::state::State;
use accord_runs_core::{RepoPath, RunId, TurnId};

use super::{RecordFile, Repository, Waiting, bundle, files, index, journal};
use crate::lock::{self, Holder};
use crate::{Entry, Kind, Lines, Result, Stat, TreeError, disk, limits, record};

impl Repository {
    /// Whether there is a configuration.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn is_governed(&self) -> Result<bool> {
        Ok(self.disk().stat(files::CONFIG)?.is_some())
    }

    /// The bytes of the configuration.
    ///
    /// # Errors
    /// With `not_governed` when there is none.
    pub fn config_bytes(&self) -> Result<Vec<u8>> {
        let bytes = disk::read(self.disk(), files::CONFIG, limits::DOCUMENT)?;
        bytes.ok_or_else(|| TreeError::NotGoverned {
            place: self.root().display().to_string(),
        })
    }

    /// The configuration as a document, not judged yet.
    ///
    /// # Errors
    /// With `not_governed` when there is none, with `invalid_config` when it is no JSON.
    pub fn config(&self) -> Result<Value> {
        let bytes = self.config_bytes()?;
        accord_canon::read(&bytes).map_err(|error| {
            let message = format!("{} is no JSON: {error}", files::CONFIG);
            let failure = Failure::new(Code::XchainInvalidConfig, message);
            TreeError::Document(failure.at(error.pointer()).with("path", files::CONFIG))
        })
    }

    /// The bytes of the state; `None` before the first run.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn state_bytes(&self) -> Result<Option<Vec<u8>>> {
        disk::read(self.disk(), &files::state(), limits::DOCUMENT)
    }

    /// The state; `None` before the first run.
    ///
    /// # Errors
    /// With `state_invalid` when it is damaged.
    pub fn state(&self) -> Result<Option<State>> {
        let bytes = self.state_bytes()?;
        let read = |bytes: Vec<u8>| {
            judged(
                &bytes,
                &files::state(),
                Code::XchainStateInvalid,
                State::read,
            )
        };
        bytes.map(read).transpose()
    }

    /// The state of a coordinator; `None` where there is none.
    ///
    /// # Errors
    /// With `coordinator_state_invalid` when it is damaged.
    pub fn coordinator_state(&self) -> Result<Option<CoordinatorState>> {
        let path = coordinator_state_path();
        let bytes = disk::read(self.disk(), &path, limits::DOCUMENT)?;
        let code = Code::XchainCoordinatorStateInvalid;
        let read = |bytes: Vec<u8>| judged(&bytes, &path, code, CoordinatorState::read);
        bytes.map(read).transpose()
    }

    /// `session.json`; a damaged one says nothing that cannot be said again, and counts as none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn session(&self) -> Result<Option<Object>> {
        let bytes = disk::read(self.disk(), &files::session(), limits::DOCUMENT)?;
        let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
        Ok(match document {
            Some(Value::Object(session)) => Some(session),
            _ => None,
        })
    }

    /// The lines of a record, as they are now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn lines(&self, record: RecordFile) -> Result<Lines> {
        Lines::open(self.disk(), record.path().as_str(), 0, 0)
    }

    /// The last lines of a record, oldest first; the rest of it is not read.
    ///
    /// # Errors
    /// With `record_invalid` when one of them is damaged.
    pub fn last_lines(&self, record: RecordFile, count: usize) -> Result<Vec<Object>> {
        record::last_lines(self.disk(), record.path().as_str(), count)
    }

    /// The decisions that outlive their runs.
    ///
    /// # Errors
    /// With `record_invalid` when a line is damaged.
    pub fn repo_decisions(&self) -> Result<RepoDecisions> {
        let lines = self.lines(RecordFile::RepoDecisions)?;
        let lines: Result<Vec<Object>> = lines.map(|line| Ok(line?.object)).collect();
        Ok(RepoDecisions::new(lines?))
    }

    /// What the records say about a run.
    ///
    /// # Errors
    /// With `record_invalid` when a line is damaged.
    pub fn index(&self, run: Option<&RunId>) -> Result<RunIndex> {
        Ok(index::load(self.disk(), run)?.index)
    }

    /// A staged result: the first of these paths that is there, and its bytes.
    ///
    /// # Errors
    /// With `path_outside_repository`, `not_a_file` or `file_too_large` when there is something
    /// that is not read.
    pub fn staged(&self, paths: &[String]) -> Result<Option<(String, Vec<u8>)>> {
        for path in paths {
            if let Some(bytes) = disk::read(self.disk(), path, limits::STAGED)? {
                return Ok(Some((path.clone(), bytes)));
            }
        }
        Ok(None)
    }

    /// The texts of those of these files that are there and are texts.
    ///
    /// # Errors
    /// As [`Repository::staged`].
    pub fn texts(&self, paths: &[RepoPath]) -> Result<BTreeMap<String, String>> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let bytes = disk::read(self.disk(), path.as_str(), limits::GATE_FILE)?;
            if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                texts.insert(path.to_string(), text);
            }
        }
        Ok(texts)
    }

    /// The bytes of a file, where it is there.
    ///
    /// # Errors
    /// As [`Repository::staged`].
    pub fn read(&self, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>> {
        disk::read(self.disk(), path.as_str(), limit)
    }

    /// What a path is, links not followed.
    ///
    /// # Errors
    /// When it leads out of the repository.
    pub fn stat(&self, path: &RepoPath) -> Result<Option<Stat>> {
        self.disk().stat(path.as_str())
    }

    /// Those of these paths to which the way leads out of the repository: by a link in them, or
    /// by being one.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn leading_out(&self, paths: &[RepoPath]) -> Result<Vec<String>> {
        let mut outside = Vec::new();
        for path in paths {
            let found = match self.stat(path) {
                Ok(Some(stat)) if stat.kind == Kind::Link => {
                    self.disk().open(path.as_str()).map(drop)
                }
                other => other.map(drop),
            };
            match found {
                // What is no file is judged where it is read.
                Ok(()) | Err(TreeError::NotFile { .. }) => {}
                Err(TreeError::Outside { .. }) => outside.push(path.to_string()),
                Err(error) => return Err(error),
            }
        }
        Ok(outside)
    }

    /// The names in a folder; none where there is no folder.
    ///
    /// # Errors
    /// When it leads out of the repository.
    pub fn list(&self, path: &RepoPath) -> Result<Vec<Entry>> {
        Ok(self.disk().list(path.as_str())?.unwrap_or_default())
    }

    /// The files of a turn's bundle, those in folders inside it included.
    ///
    /// # Errors
    /// As [`Repository::staged`].
    pub fn bundle(&self, turn: &TurnId) -> Result<manifest::Bundle> {
        Ok(self.bundle_and_others(turn)?.0)
    }

    /// The files of a turn's bundle, and what lies in it and is neither a file nor a folder.
    ///
    /// # Errors
    /// As [`Repository::staged`].
    pub fn bundle_and_others(&self, turn: &TurnId) -> Result<(manifest::Bundle, Vec<String>)> {
        bundle::read(self.disk(), turn)
    }

    /// The journals that wait for somebody who writes.
    ///
    /// # Errors
    /// When their folders cannot be read.
    pub fn waiting(&self) -> Result<Vec<Waiting>> {
        journal::waiting(self.disk())
    }

    /// Who holds the lock; `None` where nobody does.
    ///
    /// # Errors
    /// When the lock cannot be read.
    pub fn holder(&self) -> Result<Option<Holder>> {
        lock::holder(self.disk())
    }
}

/// Reads a document and what it says; what is wrong with it names its file.
fn judged<T>(
    bytes: &[u8],
    path: &str,
    code: Code,
    read: impl FnOnce(Value) -> std::result::Result<T, Failure>,
) -> Result<T> {
    let read = accord_canon::read(bytes)
        .map_err(Failure::from)
        .and_then(read);
    read.map_err(|failure| {
        let mut named = Failure::new(code, format!("{path}: {}", failure.message));
        named.pointer = failure.pointer;
        named.details = failure.details;
        TreeError::Document(named.with("path", path))
    })
}
