//! A fixture's setup as files: a repository, or several with their coordinator, in a folder that is gone
//! afterwards.
//!
//! Invariants:
//! - a setup is set up in full or not at all: what is not understood is an error;
//! - nothing is written outside the folder, whatever the setup names;
//! - how much is written is bounded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use accord_runs::coordinator::COORDINATOR_CONFIG;
use accord_runs::repository::{RecordFile, Repository};
use accord_runs_core::coordinator::{barriers_path, coordinator_state_path};
use accord_runs_core::fixture::inflate;
use accord_runs_core::{RepoPath, TurnId, dispatch};
use accord_trees::{Disk as _, Root};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::scratch::Scratch;
use crate::{BadCall, Call};

/// How many files and folders a setup may make.
const MOST: usize = 4096;

/// The configuration of a governed repository.
pub(super) const CONFIG: &str = "agentxchain.json";

const STATE: &str = ".agentxchain/state.json";

/// The workspaces that are there now. A process that must end at once, without letting fixtures come to their end,
/// removes them.
pub fn workspaces() -> Vec<PathBuf> {
    live().iter().cloned().collect()
}

/// The files of one case.
pub(super) struct Workspace {
    disk: Arc<Scratch>,
    /// What was made so far.
    folders: BTreeSet<String>,
    files: usize,
    /// Removed with everything in it when this is dropped, and listed until then.
    _folder: TempDir,
    _listed: Listed,
}

/// A workspace in the list of those that are there; dropped, it is none of them any more.
struct Listed(PathBuf);

impl Workspace {
    /// Writes what a case sets up.
    ///
    /// # Errors
    /// When its setup is not understood in full, or cannot be written.
    pub(super) fn set_up(call: &Call) -> Result<Self, BadCall> {
        inflate::check_setup(&call.setup).map_err(trouble)?;
        super::applies::check(call)?;
        let mut workspace = Self::empty()?;
        let setup = &call.setup;
        let coordinated = setup.contains_key("coordinator_config");
        if !coordinated || setup.contains_key("config") || setup.contains_key("state") {
            workspace.govern("", setup)?;
        }
        if coordinated {
            workspace.coordinate(setup)?;
        }
        for (id, repo) in members(setup, "repos")? {
            workspace.repo(id, object(repo, id)?)?;
        }
        for (path, text) in members(setup, "filesystem")? {
            workspace.put(path, text_of(text, path)?)?;
        }
        let result = setup.get("turn_result").or(call.args.get("turn_result"));
        if let Some(result) = result {
            workspace.put(dispatch::FLAT_STAGING_PATH, &result.to_string())?;
        }
        for (turn, files) in members(setup, "dispatch_bundle")? {
            let folder = bundle_folder(turn)?;
            workspace.folder(&folder)?;
            for (name, text) in object(files, turn)? {
                workspace.put(&bundle_path(turn, name)?, text_of(text, name)?)?;
            }
        }
        Ok(workspace)
    }

    /// The repository at the root of the workspace.
    pub(super) fn repository(&self) -> Repository {
        Repository::on(Arc::clone(&self.disk) as Arc<dyn accord_trees::Disk>)
    }

    /// Writes a file that is not there yet.
    ///
    /// # Errors
    /// When it is there, its path leaves the workspace, or there are too many.
    pub(super) fn put(&mut self, path: &str, text: &str) -> Result<(), BadCall> {
        let path = inside(path)?;
        if let Some((folder, _)) = path.as_str().rsplit_once('/') {
            self.folder(folder)?;
        }
        self.files += 1;
        self.check_size()?;
        match self.disk.create(path.as_str(), text.as_bytes()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(BadCall::new(format!("{path} is set up twice"))),
            Err(error) => Err(trouble(error)),
        }
    }

    /// Writes a file, whatever is there.
    ///
    /// # Errors
    /// As [`Workspace::put`].
    pub(super) fn replace(&mut self, path: &str, text: &str) -> Result<(), BadCall> {
        self.remove(path)?;
        self.put(path, text)
    }

    /// Removes a file that must be there.
    ///
    /// # Errors
    /// When it is not there, or its path leaves the workspace.
    pub(super) fn delete(&self, path: &str) -> Result<(), BadCall> {
        match self.remove(path)? {
            true => Ok(()),
            false => Err(BadCall::new(format!(
                "{path} is to be deleted and not there"
            ))),
        }
    }

    /// Removes a file; false where there is none.
    fn remove(&self, path: &str) -> Result<bool, BadCall> {
        let removed = self.disk.remove_file(inside(path)?.as_str());
        removed.map_err(trouble)
    }

    fn empty() -> Result<Self, BadCall> {
        let folder = temporary().map_err(trouble)?;
        let root = Root::open(folder.path()).map_err(trouble)?;
        let place = folder.path().to_owned();
        live().insert(place.clone());
        Ok(Self {
            disk: Arc::new(Scratch(root)),
            folders: BTreeSet::new(),
            files: 0,
            _folder: folder,
            _listed: Listed(place),
        })
    }

    /// A governed repository in a folder, out of the parts of a setup.
    fn govern(&mut self, folder: &str, parts: &Map<String, Value>) -> Result<(), BadCall> {
        let config = inflate::config(&part(parts, "config")?);
        super::hooks::check(&config)?;
        let state = inflate::state(&part(parts, "state")?, &config);
        self.document(&below(folder, CONFIG), config)?;
        self.document(&below(folder, STATE), state)?;
        self.lines(folder, RecordFile::History, parts, "history")?;
        self.lines(folder, RecordFile::Ledger, parts, "ledger")
    }

    fn coordinate(&mut self, setup: &Map<String, Value>) -> Result<(), BadCall> {
        // Whatever it is, it is what the coordinator finds.
        let config = setup.get("coordinator_config").unwrap_or(&Value::Null);
        self.put(COORDINATOR_CONFIG, &pretty(config)?)?;
        let state = inflate::coordinator_state(Some(&part(setup, "coordinator_state")?.into()));
        self.document(&coordinator_state_path(), state)?;
        self.document(&barriers_path(), part(setup, "barriers")?)?;
        let history = RecordFile::CoordinatorHistory;
        self.lines("", history, setup, "coordinator_history")?;
        self.lines("", RecordFile::BarrierLedger, setup, "barrier_ledger")
    }

    fn repo(&mut self, id: &str, parts: &Map<String, Value>) -> Result<(), BadCall> {
        let known = ["path", "config", "state", "history", "files"];
        if let Some(name) = parts.keys().find(|name| !known.contains(&name.as_str())) {
            let message = format!("the repository {id} has an unknown member {name}");
            return Err(BadCall::new(message));
        }
        let path = parts.get("path").unwrap_or(&Value::Null);
        let folder = inside(text_of(path, id)?)?.to_string();
        self.govern(&folder, parts)?;
        for (path, text) in members(parts, "files")? {
            self.put(&below(&folder, path), text_of(text, path)?)?;
        }
        Ok(())
    }

    fn document(&mut self, path: &str, members: Map<String, Value>) -> Result<(), BadCall> {
        self.put(path, &pretty(&members.into())?)
    }

    /// A record with the lines that a setup lists, where it lists any.
    fn lines(
        &mut self,
        folder: &str,
        record: RecordFile,
        setup: &Map<String, Value>,
        name: &str,
    ) -> Result<(), BadCall> {
        let lines = match setup.get(name) {
            None => return Ok(()),
            Some(Value::Array(lines)) => lines,
            Some(_) => return Err(BadCall::kind(name, "a list")),
        };
        let mut text = String::new();
        for line in lines {
            text.push_str(&Value::Object(object(line, name)?.clone()).to_string());
            text.push('\n');
        }
        self.put(&below(folder, record.path().as_str()), &text)
    }

    fn folder(&mut self, path: &str) -> Result<(), BadCall> {
        if self.folders.contains(path) {
            return Ok(());
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent)?;
        }
        self.folders.insert(path.to_owned());
        self.check_size()?;
        self.disk.make_folder(path).map(drop).map_err(trouble)
    }

    fn check_size(&self) -> Result<(), BadCall> {
        match self.folders.len() + self.files > MOST {
            true => Err(BadCall::new(format!(
                "the setup has more than {MOST} files and folders"
            ))),
            false => Ok(()),
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        live().remove(&self.0);
    }
}

/// The folders that are there now.
fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new folder: in memory, which is the place for what lives for a moment, unless somebody named another
/// with `TMPDIR`.
fn temporary() -> std::io::Result<TempDir> {
    let mut named = tempfile::Builder::new();
    named.prefix("accord-fixture-");
    let place = tempfile::env::temp_dir();
    if place == Path::new("/tmp")
        && let Ok(folder) = named.tempdir_in("/dev/shm")
    {
        return Ok(folder);
    }
    named.tempdir_in(place)
}

/// The folder of a turn's bundle.
pub(super) fn bundle_folder(turn: &str) -> Result<String, BadCall> {
    let turn = TurnId::parse(turn).ok_or_else(|| BadCall::kind(turn, "the id of a turn"))?;
    Ok(dispatch::bundle_folder(&turn).to_string())
}

/// The path of a file in a turn's bundle, which its name does not lead out of.
pub(super) fn bundle_path(turn: &str, name: &str) -> Result<String, BadCall> {
    match RepoPath::parse(name) {
        Ok(path) if path.as_str() == name => Ok(format!("{}/{name}", bundle_folder(turn)?)),
        _ => Err(BadCall::new(format!(
            "{name:?} is no name for a file of a bundle; name it as the bundle has it, without . and .."
        ))),
    }
}

/// The members of a part of the setup; none where it is absent.
pub(super) fn members<'a>(
    setup: &'a Map<String, Value>,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, BadCall> {
    let part = setup.get(name).filter(|part| !part.is_null());
    let part = part.map(|part| object(part, name)).transpose()?;
    Ok(part.into_iter().flatten())
}

/// What must be an object.
pub(super) fn object<'a>(value: &'a Value, name: &str) -> Result<&'a Map<String, Value>, BadCall> {
    value
        .as_object()
        .ok_or_else(|| BadCall::kind(name, "an object"))
}

/// What must be a text.
pub(super) fn text_of<'a>(value: &'a Value, name: &str) -> Result<&'a str, BadCall> {
    value.as_str().ok_or_else(|| BadCall::kind(name, "a text"))
}

/// Something went wrong that is not the implementation's answer.
pub(super) fn trouble(error: impl std::fmt::Display) -> BadCall {
    BadCall::new(error.to_string())
}

fn part(setup: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, BadCall> {
    match setup.get(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(value) => object(value, name).cloned(),
    }
}

fn inside(path: &str) -> Result<RepoPath, BadCall> {
    RepoPath::parse(path).map_err(|error| BadCall::new(format!("{path}: {error}")))
}

fn below(folder: &str, path: &str) -> String {
    match folder {
        "" => path.to_owned(),
        folder => format!("{folder}/{path}"),
    }
}

/// A document as runners write it.
fn pretty(document: &Value) -> Result<String, BadCall> {
    let mut text = serde_json::to_string_pretty(document).map_err(trouble)?;
    text.push('\n');
    Ok(text)
}
