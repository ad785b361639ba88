//! A fixture's setup as files in a temporary folder. It is written in full or refused, nothing is
//! written outside the folder, and the number of files and folders is limited.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use accord_contract::Object;
use accord_contract::text::pretty;
use accord_runs::coordinator::COORDINATOR_CONFIG;
use accord_runs::repository::{RecordFile, Repository, RepositoryError};
use accord_runs_core::coordinator::{barriers_path, coordinator_state_path};
use accord_runs_core::{RepoPath, TurnId, dispatch};
use accord_trees::{Disk as _, Root, TreeError};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tempfile::TempDir;

use super::expand;
use super::unsynced::UnsyncedDisk;
use crate::{BadCall, Call};

/// The limit on files and folders of a setup.
const MAX_ENTRIES: usize = 4096;

/// The configuration of a governed repository.
pub(super) const CONFIG: &str = "agentxchain.json";

const STATE: &str = ".agentxchain/state.json";

/// The workspaces in use. A process that exits before its fixtures have ended removes them.
pub fn workspaces() -> Vec<PathBuf> {
    registry().iter().cloned().collect()
}

pub(super) struct Workspace {
    disk: Arc<UnsyncedDisk>,
    folders: BTreeSet<String>,
    files: usize,
    /// Removed with its content on drop.
    _folder: TempDir,
    // Dropped after the folder: a workspace stays in the list until it is gone.
    _registration: Registration,
}

/// An entry of the list of workspaces, removed on drop.
struct Registration(PathBuf);

impl Workspace {
    /// Writes the setup of a case. Fails when it is not understood in full, or cannot be written.
    pub(super) fn set_up(call: &Call) -> Result<Self, BadCall> {
        super::parts::check(call)?;
        let mut workspace = Self::empty()?;
        let setup = &call.setup;
        let coordinated = setup.contains_key("coordinator_config");
        // The workspace of a coordinator need not be a governed repository itself.
        let governed = !coordinated || setup.contains_key("config") || setup.contains_key("state");
        if governed {
            workspace.write_repository("", setup)?;
        }
        if coordinated {
            workspace.write_coordinator(setup)?;
        }
        for (id, repo) in members(setup, "repos")? {
            workspace.write_repo(id, object(repo, id)?)?;
        }
        for (path, text) in members(setup, "filesystem")? {
            workspace.put(path, text_of(text, path)?)?;
        }
        // Last, because a setup can also give a record as a file.
        for record in [RecordFile::History, RecordFile::Ledger].into_iter().filter(|_| governed) {
            workspace.put_empty(record)?;
        }
        if let Some(result) = setup.get("turn_result").or(call.args.get("turn_result")) {
            workspace.put(dispatch::FLAT_STAGING_PATH, &result.to_string())?;
        }
        for (turn, files) in members(setup, "dispatch_bundle")? {
            workspace.folder(&bundle_folder(turn)?)?;
            for (name, text) in object(files, turn)? {
                workspace.put(&bundle_path(turn, name)?, text_of(text, name)?)?;
            }
        }
        Ok(workspace)
    }

    pub(super) fn repository(&self) -> Repository {
        Repository::on(Arc::clone(&self.disk) as Arc<dyn accord_trees::Disk>)
    }

    /// Writes a new file inside the workspace.
    pub(super) fn put(&mut self, path: &str, text: &str) -> Result<(), BadCall> {
        let path = inside(path)?;
        if let Some((folder, _)) = path.as_str().rsplit_once('/') {
            self.folder(folder)?;
        }
        self.files += 1;
        self.check_size()?;
        // Two parts of a setup can name the same file. Neither of them may win silently.
        match self.disk.create(path.as_str(), text.as_bytes())? {
            true => Ok(()),
            false => Err(BadCall::new(format!("{path} is set up twice"))),
        }
    }

    /// Writes a file, and replaces an existing one.
    pub(super) fn replace(&mut self, path: &str, text: &str) -> Result<(), BadCall> {
        self.remove(path)?;
        self.put(path, text)
    }

    /// Removes a file that must exist.
    pub(super) fn delete(&self, path: &str) -> Result<(), BadCall> {
        if self.remove(path)? {
            return Ok(());
        }
        Err(BadCall::new(format!("{path} cannot be deleted: it does not exist")))
    }

    /// Removes a file; false when there is none.
    fn remove(&self, path: &str) -> Result<bool, BadCall> {
        Ok(self.disk.remove_file(inside(path)?.as_str())?)
    }

    fn empty() -> Result<Self, BadCall> {
        let folder = temporary().map_err(BadCall::from_error)?;
        let root = Root::open(folder.path())?;
        let place = folder.path().to_owned();
        registry().insert(place.clone());
        Ok(Self {
            disk: Arc::new(UnsyncedDisk(root)),
            folders: BTreeSet::new(),
            files: 0,
            _folder: folder,
            _registration: Registration(place),
        })
    }

    fn write_repository(&mut self, folder: &str, parts: &Object) -> Result<(), BadCall> {
        let config = expand::config(&part(parts, "config")?);
        super::hooks::check(&config)?;
        let state = expand::state(&part(parts, "state")?, &config);
        self.put(&below(folder, CONFIG), &pretty(&config))?;
        self.put(&below(folder, STATE), &pretty(&state))?;
        self.put_lines(folder, RecordFile::History, parts, "history")?;
        self.put_lines(folder, RecordFile::Ledger, parts, "ledger")
    }

    fn write_coordinator(&mut self, setup: &Object) -> Result<(), BadCall> {
        // Not checked here: the coordinator must find what the fixture gives it.
        let config = setup.get("coordinator_config").unwrap_or(&Value::Null);
        self.put(COORDINATOR_CONFIG, &format!("{config:#}\n"))?;
        let state = expand::coordinator_state(&part(setup, "coordinator_state")?);
        self.put(&coordinator_state_path(), &pretty(&state))?;
        self.put(&barriers_path(), &pretty(&part(setup, "barriers")?))?;
        self.put_lines("", RecordFile::CoordinatorHistory, setup, "coordinator_history")?;
        self.put_lines("", RecordFile::BarrierLedger, setup, "barrier_ledger")
    }

    fn write_repo(&mut self, id: &str, parts: &Object) -> Result<(), BadCall> {
        let known = ["path", "config", "state", "history", "files"];
        if let Some(name) = parts.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(BadCall::new(format!("the repository {id} has an unknown member {name}")));
        }
        let path = parts.get("path").unwrap_or(&Value::Null);
        let folder = inside(text_of(path, id)?)?.to_string();
        self.write_repository(&folder, parts)?;
        for (path, text) in members(parts, "files")? {
            self.put(&below(&folder, path), text_of(text, path)?)?;
        }
        Ok(())
    }

    /// Writes a record with the lines that a setup lists, if it lists any.
    fn put_lines(
        &mut self,
        folder: &str,
        record: RecordFile,
        setup: &Object,
        name: &str,
    ) -> Result<(), BadCall> {
        let lines = match setup.get(name) {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(lines)) => lines,
            Some(_) => return Err(BadCall::kind(name, "a list")),
        };
        let mut text = String::new();
        for line in lines {
            text += &format!("{}\n", Value::Object(object(line, name)?.clone()));
        }
        self.put(&below(folder, record.path().as_str()), &text)
    }

    /// Writes a record without lines, unless the setup has written it.
    fn put_empty(&mut self, record: RecordFile) -> Result<(), BadCall> {
        self.files += 1;
        self.check_size()?;
        self.disk.create(record.path().as_str(), b"")?;
        Ok(())
    }

    fn folder(&mut self, path: &str) -> Result<(), BadCall> {
        if self.folders.contains(path) {
            return Ok(());
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent)?;
        }
        // Counted before it is made, so that a setup at the limit makes nothing more.
        self.folders.insert(path.to_owned());
        self.check_size()?;
        self.disk.make_folder(path)?;
        Ok(())
    }

    fn check_size(&self) -> Result<(), BadCall> {
        if self.folders.len() + self.files <= MAX_ENTRIES {
            return Ok(());
        }
        Err(BadCall::new(format!("the setup has more than {MAX_ENTRIES} files and folders")))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        registry().remove(&self.0);
    }
}

fn registry() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    PATHS.lock()
}

/// A new temporary folder: in memory (`/dev/shm`), unless `TMPDIR` names another place.
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

pub(super) fn bundle_folder(turn: &str) -> Result<String, BadCall> {
    let turn = TurnId::parse(turn).ok_or_else(|| BadCall::kind(turn, "the id of a turn"))?;
    Ok(dispatch::bundle_folder(&turn).to_string())
}

/// The path of a file in a turn's bundle. The name must not lead out of it.
pub(super) fn bundle_path(turn: &str, name: &str) -> Result<String, BadCall> {
    if RepoPath::parse(name).is_ok_and(|path| path.as_str() == name) {
        return Ok(format!("{}/{name}", bundle_folder(turn)?));
    }
    let message = format!("{name:?} is no name of a file in a bundle; write it without . and ..");
    Err(BadCall::new(message))
}

type Members<'a> = std::iter::Flatten<std::option::IntoIter<&'a Object>>;

/// The members of a part of the setup; none when it is absent.
pub(super) fn members<'a>(setup: &'a Object, name: &str) -> Result<Members<'a>, BadCall> {
    Ok(present(setup, name)?.into_iter().flatten())
}

fn present<'a>(setup: &'a Object, name: &str) -> Result<Option<&'a Object>, BadCall> {
    let part = setup.get(name).filter(|part| !part.is_null());
    part.map(|part| object(part, name)).transpose()
}

/// A value that must be an object.
pub(super) fn object<'a>(value: &'a Value, name: &str) -> Result<&'a Object, BadCall> {
    value.as_object().ok_or_else(|| BadCall::kind(name, "an object"))
}

/// A value that must be a string.
pub(super) fn text_of<'a>(value: &'a Value, name: &str) -> Result<&'a str, BadCall> {
    value.as_str().ok_or_else(|| BadCall::kind(name, "a string"))
}

/// An object; empty when it is absent.
pub(super) fn part(of: &Object, name: &str) -> Result<Object, BadCall> {
    Ok(present(of, name)?.cloned().unwrap_or_default())
}

// An error of the machine is no answer of the implementation.
impl From<TreeError> for BadCall {
    fn from(error: TreeError) -> Self {
        Self::from_error(error)
    }
}

impl From<RepositoryError> for BadCall {
    fn from(error: RepositoryError) -> Self {
        Self::from_error(error)
    }
}

fn inside(path: &str) -> Result<RepoPath, BadCall> {
    RepoPath::parse(path).map_err(|error| BadCall::new(format!("{path}: {error}")))
}

fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}
