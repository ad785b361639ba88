//! The files of a project or a user: read as a snapshot, written as a whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use accord_canon::sha256;
use accord_contract::Code;
use accord_process::user_state_folder;
use accord_wiring::{Change, Homes, Ledger, Plan, Scope, Snapshot, TOOLS, folders_of};

use crate::host::setting;
use crate::{CliError, Result};

/// The folder of the records, in the folder for the state of programs of the user. They say what is
/// written over the files of a repository, so nothing that is cloned or shared can be one.
const RECORDS: &str = "accord/wiring";
/// The ledger, and the folder with the bytes from before.
const LEDGER: &str = "ledger.json";
const PRIORS: &str = "before";
/// What the settings of the user are called.
const USER: &str = "user";

/// A file that does not exist.
const MISSING: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];

/// The mode of a new file of a project.
const SHARED: u32 = 0o644;
const PRIVATE: u32 = 0o600;

/// Where the settings are.
pub(super) struct Place {
    pub(super) scope: Scope,
    /// The folder that relative paths are in.
    pub(super) root: PathBuf,
    pub(super) homes: Homes,
    /// The folder of the ledger, which no other root shares.
    records: PathBuf,
    /// What the ledger calls the root.
    key: String,
}

impl Place {
    pub(super) fn find(scope: Scope) -> Result<Self> {
        let unreadable = |error: io::Error| {
            CliError::new(Code::InputUnreadable, format!("the current folder: {error}"))
        };
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let here = here.map_err(unreadable)?;
        let homes = homes()?;
        let state = user_state_folder().unwrap_or_else(|| Path::new(&homes.home).to_owned());
        let records = state.join(RECORDS);
        if scope == Scope::User {
            let root = PathBuf::from(&homes.home);
            let records = records.join(USER);
            return Ok(Self { scope, root, homes, records, key: USER.to_owned() });
        }
        let is_top = |folder: &&Path| folder.join(".git").exists();
        let root = here.ancestors().find(is_top).unwrap_or(&here).to_owned();
        let key = root.to_string_lossy().into_owned();
        let records = records.join(&sha256(key.as_bytes()).hex()[..32]);
        Ok(Self { scope, root, homes, records, key })
    }

    pub(super) fn root_text(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    /// The ledgers in the folder of the records.
    fn ledgers(&self) -> Result<BTreeMap<String, Ledger>> {
        let path = self.records.join(LEDGER);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Ledger::read_all(&path.display().to_string(), &text)?),
            // Something else in its place is refused when it is written.
            Err(error) if MISSING.contains(&error.kind()) => Ok(BTreeMap::new()),
            Err(error) => Err(unreadable(&path, &error)),
        }
    }

    pub(super) fn ledger(&self) -> Result<Ledger> {
        Ok(self.ledgers()?.remove(&self.key).unwrap_or_default())
    }

    /// Reads the files that a plan can need.
    pub(super) fn snapshot(&self, ledger: &Ledger) -> Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        let known = TOOLS.iter().flat_map(|tool| tool.files(self.scope, &self.homes));
        let paths: Vec<String> = known.chain(ledger.paths().map(str::to_owned)).collect();
        for path in paths {
            self.read(&path, &mut snapshot)?;
            for folder in folders_of(&path) {
                if self.root.join(&folder).is_dir() {
                    snapshot.folders.insert(folder);
                }
            }
        }
        for digest in ledger.priors() {
            if let Ok(bytes) = fs::read(self.records.join(PRIORS).join(digest)) {
                snapshot.priors.insert(digest.to_owned(), bytes);
            }
        }
        Ok(snapshot)
    }

    fn read(&self, path: &str, snapshot: &mut Snapshot) -> Result<()> {
        let whole = self.root.join(path);
        let real = match whole.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nothing, or no file. The folder above can be a link, too.
                if fs::symlink_metadata(&whole).is_ok() {
                    snapshot.links.insert(path.to_owned(), None);
                } else if let Some(above) = existing_above(&whole)
                    && !Path::new(path).is_absolute()
                    && !above.starts_with(&self.root)
                {
                    snapshot.links.insert(path.to_owned(), None);
                }
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
            Err(error) => return Err(unreadable(&whole, &error)),
        };
        let inside = real.strip_prefix(&self.root).ok();
        let own = match (inside, Path::new(path).is_absolute()) {
            (_, true) => Some(real.clone()),
            (Some(inside), false) => Some(inside.to_owned()),
            (None, false) => None,
        };
        let own = own.map(|own| own.to_string_lossy().into_owned());
        if own.as_deref() != Some(path) {
            snapshot.links.insert(path.to_owned(), own.clone());
        }
        if !real.is_file() {
            let message = format!("{} is no file", whole.display());
            return Err(CliError::new(Code::InputUnreadable, message));
        }
        let bytes = fs::read(&real).map_err(|error| unreadable(&whole, &error))?;
        snapshot.files.insert(path.to_owned(), bytes.clone());
        if let Some(own) = own {
            snapshot.files.insert(own, bytes);
        }
        Ok(())
    }

    /// Writes a plan. If a part of it fails, what was written is undone.
    pub(super) fn write(&self, plan: &Plan) -> Result<()> {
        let mut done: Vec<&Change> = Vec::new();
        let mut made: Vec<PathBuf> = Vec::new();
        let written = self.write_files(plan, &mut done, &mut made);
        let written = written.and_then(|()| self.write_records(plan));
        if let Err(error) = written {
            for change in done.iter().rev() {
                // The error that caused this is reported.
                let _ = self.set(&change.path, change.before.as_deref());
            }
            for folder in made.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
            return Err(error);
        }
        for folder in &plan.old_folders {
            // One that others use stays.
            let _ = fs::remove_dir(self.root.join(folder));
        }
        Ok(())
    }

    fn write_files<'p>(
        &self,
        plan: &'p Plan,
        done: &mut Vec<&'p Change>,
        made: &mut Vec<PathBuf>,
    ) -> Result<()> {
        for folder in &plan.new_folders {
            let folder = self.root.join(folder);
            fs::create_dir(&folder).map_err(|error| unwritable(&folder, &error))?;
            made.push(folder);
        }
        for change in &plan.changes {
            let path = self.root.join(&change.path);
            let now = match fs::read(&path) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(&path, &error)),
            };
            if now != change.before {
                let message = format!("{} changed in the meantime", path.display());
                return Err(CliError::new(Code::WiringMoved, message));
            }
            done.push(change);
            let after = change.after.as_deref();
            self.set(&change.path, after).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(())
    }

    fn set(&self, path: &str, bytes: Option<&[u8]>) -> io::Result<()> {
        let path = self.root.join(path);
        match bytes {
            Some(bytes) => {
                let mode = fs::metadata(&path).map(|found| found.permissions().mode());
                replace(&path, bytes, mode.unwrap_or(SHARED))
            }
            None => fs::remove_file(&path).and_then(|()| sync_folder(&path)),
        }
    }

    /// Writes the ledger and the bytes from before.
    fn write_records(&self, plan: &Plan) -> Result<()> {
        let mut ledgers = self.ledgers()?;
        let before = ledgers.clone();
        ledgers.insert(self.key.clone(), plan.ledger.clone());
        ledgers.retain(|_, ledger| !ledger.is_empty());
        if ledgers == before {
            return Ok(());
        }
        let path = self.records.join(LEDGER);
        let failed = |error: io::Error| unwritable(&path, &error);
        let priors = self.records.join(PRIORS);
        let folder = if plan.priors.is_empty() { &self.records } else { &priors };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        for (digest, bytes) in &plan.priors {
            replace(&priors.join(digest), bytes, PRIVATE).map_err(failed)?;
        }
        if ledgers.is_empty() {
            fs::remove_file(&path).map_err(failed)?;
        } else {
            let text = Ledger::write_all(&ledgers);
            replace(&path, text.as_bytes(), PRIVATE).map_err(failed)?;
        }
        // Bytes that no ledger needs any more.
        let needed: Vec<&str> = ledgers.values().flat_map(Ledger::priors).collect();
        for entry in fs::read_dir(&priors).into_iter().flatten().flatten() {
            if !needed.iter().any(|digest| entry.file_name() == **digest) {
                let _ = fs::remove_file(entry.path());
            }
        }
        if needed.is_empty() {
            let _ = fs::remove_dir(&priors);
        }
        if ledgers.is_empty() {
            let _ = fs::remove_dir(&self.records);
        }
        Ok(())
    }
}

fn homes() -> Result<Homes> {
    let absolute = |name: &str| {
        setting(name).filter(|path| Path::new(path).is_absolute()).map(|path| {
            let path = PathBuf::from(path);
            path.canonicalize().unwrap_or(path).to_string_lossy().into_owned()
        })
    };
    let Some(home) = absolute("HOME") else {
        return Err(CliError::usage("HOME does not name a folder")
            .help("set HOME to the home folder of the user"));
    };
    Ok(Homes {
        home,
        claude: absolute("CLAUDE_CONFIG_DIR"),
        codex: absolute("CODEX_HOME"),
        config: absolute("XDG_CONFIG_HOME"),
    })
}

fn existing_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|above| above.canonicalize().ok())
}

/// Replaces a file at once: a new file beside it, synced and renamed.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(Permissions::from_mode(mode & 0o7777))?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(path)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Code::InputUnreadable, format!("cannot read {}: {error}", path.display()))
}

fn unwritable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Code::OutputFailed, format!("cannot write {}: {error}", path.display()))
}
