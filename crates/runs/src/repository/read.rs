//! Reading a governed repository; no lock is needed.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::accept::StagedFile;
use accord_runs_core::coordinator::{CoordinatorState, coordinator_state_path};
use accord_runs_core::evidence::FileDigest;
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::{RepoPath, RunId, RunIndex, State, TurnId, manifest, proposal};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use accord_trees::record::{self, RecordLines};
use accord_trees::{Entry, Kind, Stat, TreeError, read_file};

use super::{
    LockHolder, RecordFile, Repository, RepositoryError, Result, bundle, index, layout, limits,
    lock,
};

impl Repository {
    pub fn is_governed(&self) -> Result<bool> {
        Ok(self.disk().stat(layout::CONFIG)?.is_some())
    }

    /// The bytes of the configuration. Fails with `not_governed` if there is none.
    pub fn config_bytes(&self) -> Result<Vec<u8>> {
        let bytes = read_file(self.disk(), layout::CONFIG, limits::DOCUMENT)?;
        let folder = || self.root().display().to_string();
        bytes.ok_or_else(|| RepositoryError::NotGoverned { folder: folder() })
    }

    /// The configuration as a document, not judged yet. Fails with `not_governed` if there is none,
    /// `invalid_config` if it is not JSON.
    pub fn config(&self) -> Result<Value> {
        Self::read_config(&self.config_bytes()?)
    }

    /// The configuration in these bytes, not judged yet.
    pub(crate) fn read_config(bytes: &[u8]) -> Result<Value> {
        accord_canon::read(bytes).map_err(|error| {
            let message = format!("{} is not JSON: {error}", layout::CONFIG);
            let failure = Failure::new(Code::XchainInvalidConfig, message);
            RepositoryError::Document(failure.at(error.pointer()).with("path", layout::CONFIG))
        })
    }

    /// The bytes of the state; `None` before the first run.
    pub fn state_bytes(&self) -> Result<Option<Vec<u8>>> {
        Ok(read_file(self.disk(), &layout::state(), limits::DOCUMENT)?)
    }

    /// The state; `None` before the first run. Fails with `state_invalid` if it is damaged.
    pub fn state(&self) -> Result<Option<State>> {
        self.state_bytes()?.map(|bytes| Self::read_state(&bytes)).transpose()
    }

    pub(crate) fn read_state(bytes: &[u8]) -> Result<State> {
        parse(bytes, &layout::state(), Code::XchainStateInvalid, State::read)
    }

    /// The state of a coordinator; `None` if there is none. Fails with `coordinator_state_invalid`
    /// if it is damaged.
    pub fn coordinator_state(&self) -> Result<Option<CoordinatorState>> {
        let path = coordinator_state_path();
        let bytes = read_file(self.disk(), &path, limits::DOCUMENT)?;
        let code = Code::XchainCoordinatorStateInvalid;
        let read = |bytes: Vec<u8>| parse(&bytes, &path, code, CoordinatorState::read);
        bytes.map(read).transpose()
    }

    /// `session.json`. A damaged one counts as none: everything in it can be written again.
    pub fn session(&self) -> Result<Option<Object>> {
        let bytes = read_file(self.disk(), &layout::session(), limits::DOCUMENT)?;
        let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
        let Some(Value::Object(session)) = document else { return Ok(None) };
        Ok(Some(session))
    }

    pub fn lines(&self, record: RecordFile) -> Result<RecordLines> {
        Ok(RecordLines::open(self.disk(), record.path().as_str(), 0, 0)?)
    }

    /// The objects in a record at this moment; the first damaged line is an error.
    pub fn objects(&self, record: RecordFile) -> Result<impl Iterator<Item = Result<Object>>> {
        Ok(self.lines(record)?.map(|line| Ok(line?.object)))
    }

    /// The last lines of a record, oldest first; the rest of it is not read. Fails with
    /// `record_invalid` if one of them is damaged.
    pub fn last_lines(&self, record: RecordFile, count: usize) -> Result<Vec<Object>> {
        Ok(record::last_lines(self.disk(), record.path().as_str(), count)?)
    }

    /// The decisions that outlive their runs. Fails with `record_invalid` if a line is damaged.
    pub fn repo_decisions(&self) -> Result<RepoDecisions> {
        let lines: Result<Vec<Object>> = self.objects(RecordFile::RepoDecisions)?.collect();
        Ok(RepoDecisions::new(lines?))
    }

    /// What the records say about a run. Fails with `record_invalid` if a line is damaged.
    pub fn index(&self, run: Option<&RunId>) -> Result<RunIndex> {
        // Not stored: a reader never writes.
        Ok(index::load(self.disk(), run)?.index)
    }

    pub(crate) fn index_path() -> String {
        layout::index()
    }

    /// What the records say about a run, without the stored index. Fails with `record_invalid` if a
    /// line is damaged.
    pub fn rebuilt_index(&self, run: Option<&RunId>) -> Result<RunIndex> {
        Ok(index::rebuild(self.disk(), run)?.index)
    }

    /// The line of the history at a position that the index names; `None` if no line begins there.
    pub fn history_line(&self, position: u64) -> Result<Option<Object>> {
        Ok(index::history_line(self.disk(), position)?)
    }

    /// A staged result: the first of these paths that exists, and its bytes. Fails with
    /// `path_outside_repository`, `not_a_file` or `file_too_large`.
    pub fn staged(&self, paths: &[String]) -> Result<Option<StagedFile>> {
        for path in paths {
            if let Some(bytes) = read_file(self.disk(), path, limits::STAGED)? {
                return Ok(Some((path.clone(), bytes)));
            }
        }
        Ok(None)
    }

    /// The texts of these files; files that do not exist or are not UTF-8 are left out.
    pub fn texts(&self, paths: &[RepoPath]) -> Result<BTreeMap<String, String>> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let bytes = read_file(self.disk(), path.as_str(), limits::GATE_FILE)?;
            if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                texts.insert(path.to_string(), text);
            }
        }
        Ok(texts)
    }

    /// The bytes of a file; `None` if it does not exist.
    pub fn read(&self, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>> {
        Ok(read_file(self.disk(), path.as_str(), limit)?)
    }

    /// The digest of a file, as evidence of a decision.
    pub fn file_digest(&self, path: &RepoPath) -> FileDigest {
        match read_file(self.disk(), path.as_str(), limits::GATE_FILE) {
            Ok(Some(bytes)) => FileDigest::Sha256(accord_canon::sha256(&bytes).hex()),
            Ok(None) => FileDigest::Absent,
            // The decision is about a path that cannot be read, and not refused because of it.
            Err(_) => FileDigest::Unreadable,
        }
    }

    /// The digest of a file, as [`proposal::digest`] gives it; [`proposal::ABSENT`] or
    /// [`proposal::NOT_FILE`] for a path that is none. A link is not followed.
    pub fn digest(&self, path: &RepoPath) -> Result<String> {
        const CHUNK: usize = 64 * 1024;
        let missing = || Ok(proposal::ABSENT.to_owned());
        match self.disk().stat(path.as_str()) {
            Ok(None) => return missing(),
            Ok(Some(stat)) if stat.kind != Kind::File => return Ok(proposal::NOT_FILE.to_owned()),
            // A file is in the place of a folder of the path.
            Err(TreeError::NotFile { .. }) => return missing(),
            found => drop(found?),
        }
        let Some(content) = self.disk().open(path.as_str())? else { return missing() };
        let (mut digest, mut offset) = (Sha256::new(), 0);
        loop {
            let chunk = content.read_at(offset, CHUNK)?;
            if chunk.is_empty() {
                return Ok(format!("sha256:{}", HEXLOWER.encode(&digest.finalize())));
            }
            offset += chunk.len() as u64;
            digest.update(&chunk);
        }
    }

    /// What a path is, without following a link.
    pub fn stat(&self, path: &RepoPath) -> Result<Option<Stat>> {
        Ok(self.disk().stat(path.as_str())?)
    }

    /// The paths among these that lead out of the repository, through a link in them or as one.
    pub fn leading_out(&self, paths: &[RepoPath]) -> Result<Vec<String>> {
        let mut outside = Vec::new();
        for path in paths {
            let found = match self.disk().stat(path.as_str()) {
                // `stat` does not follow the last name, so the link itself is opened.
                Ok(Some(stat)) if stat.kind == Kind::Link => {
                    self.disk().open(path.as_str()).map(drop)
                }
                other => other.map(drop),
            };
            match found {
                // Other kinds of files are refused when they are read.
                Ok(()) | Err(TreeError::NotFile { .. }) => {}
                Err(TreeError::Outside { .. }) => outside.push(path.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(outside)
    }

    /// The entries of a folder; none if it does not exist.
    pub fn list(&self, path: &RepoPath) -> Result<Vec<Entry>> {
        Ok(self.disk().list(path.as_str())?.unwrap_or_default())
    }

    /// The files of a turn's bundle, including those in its subfolders.
    pub fn bundle(&self, turn: &TurnId) -> Result<manifest::Bundle> {
        Ok(self.bundle_and_others(turn)?.0)
    }

    /// The files of a turn's bundle, and the entries in it that are neither files nor folders.
    pub fn bundle_and_others(&self, turn: &TurnId) -> Result<(manifest::Bundle, Vec<String>)> {
        bundle::read(self.disk(), turn)
    }

    /// The process that holds the lock; `None` if the lock is free.
    pub fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let owner = lock::file().owner(self.disk())?;
        Ok(owner.map(|(owner, alive)| LockHolder::new(&owner, alive)))
    }
}

/// Parses a document; failures name its file.
fn parse<T, F>(bytes: &[u8], path: &str, code: Code, read: F) -> Result<T>
where
    F: FnOnce(Value) -> Result<T, Failure>,
{
    let read = accord_canon::read(bytes).map_err(Failure::from).and_then(read);
    read.map_err(|failure| {
        let mut named = Failure::new(code, format!("{path}: {}", failure.message));
        named.pointer = failure.pointer;
        named.details = failure.details;
        RepositoryError::Document(named.with("path", path))
    })
}
