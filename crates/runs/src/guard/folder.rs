//! The folder of a repository's copies, in the state directory of the user.
//!
//! Invariants:
//! - the folder belongs to the user, has mode 0700 and is outside the repository;
//! - its name is made from the path of the repository, which the file `root` in it repeats.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_trees::{Root, atomic, read_file};

use crate::Environment;
use crate::repository::{failure, limits};
use accord_runs_core::Result;

const ROOT: &str = "root";

/// Where the copies of a repository are, whether or not the folder exists.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    repository: PathBuf,
    /// The folder; `None` if the user has no state directory.
    folder: Option<PathBuf>,
}

impl Place {
    pub(crate) fn new(repository: &Path, environment: &Environment) -> Self {
        let base = environment.state_folder();
        let folder = base.map(|base| base.join("accord/runs").join(name(repository)));
        Self { repository: repository.to_owned(), folder }
    }

    /// The path of the folder; empty if the user has no state directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.clone().unwrap_or_default()
    }

    /// Opens the folder; `None` if it does not exist. Fails with `state_folder_unusable` if it is
    /// not the user's own.
    pub(crate) fn open(&self) -> Result<Option<Root>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        if !folder.is_dir() {
            return Ok(None);
        }
        self.check(folder)?;
        Ok(Some(Root::open(folder).map_err(|error| failure(&error))?))
    }

    /// Opens the folder; it is made if it does not exist. Fails with `state_folder_unusable` if
    /// there is no place for it, or if it is not the user's own.
    pub(crate) fn make(&self) -> Result<Root> {
        let Some(folder) = &self.folder else {
            let message = "neither XDG_STATE_HOME nor HOME names a folder for the copies that \
                           judge a turn";
            return Err(unusable(message.to_owned()));
        };
        if folder.starts_with(&self.repository) {
            return Err(self.inside(folder));
        }
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| unusable(format!("{} cannot be made: {error}", folder.display())))?;
        self.check(folder)?;
        let root = Root::open(folder).map_err(|error| failure(&error))?;
        let text = format!("{}\n", self.repository.display());
        atomic::create(&root, ROOT, text.as_bytes()).map_err(|error| failure(&error))?;
        Ok(root)
    }

    fn check(&self, folder: &Path) -> Result<()> {
        let refuse = |why: String| unusable(format!("{} {why}", folder.display()));
        let real = folder.canonicalize().map_err(|error| refuse(format!("is lost: {error}")))?;
        if real.starts_with(&self.repository) {
            return Err(self.inside(&real));
        }
        let found = fs::metadata(&real).map_err(|error| refuse(format!("is lost: {error}")))?;
        let user = rustix::process::geteuid().as_raw();
        if found.uid() != user {
            return Err(refuse(format!("belongs to user {}, not to {user}", found.uid())));
        }
        if found.mode() & 0o077 != 0 {
            // Made by hand, or restored from a backup.
            fs::set_permissions(&real, fs::Permissions::from_mode(0o700))
                .map_err(|error| refuse(format!("is open to other users: {error}")))?;
        }
        // Not with `fs`, which would wait for the other end of a pipe.
        let named = Root::open(&real).and_then(|root| read_file(&root, ROOT, limits::DOCUMENT));
        let named = named.map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let Some(named) = named else { return Ok(()) };
        let named = String::from_utf8_lossy(&named);
        if Path::new(named.trim_end_matches('\n')) == self.repository {
            return Ok(());
        }
        Err(refuse(format!("has the copies of another repository: {}", named.trim_end())))
    }

    fn inside(&self, folder: &Path) -> Failure {
        let repository = self.repository.display();
        unusable(format!("{} is inside the repository {repository}", folder.display()))
    }
}

fn name(repository: &Path) -> String {
    let last = repository.file_name().unwrap_or_default().to_string_lossy();
    let kept = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let last: String = last.chars().filter(|letter| kept(*letter)).take(40).collect();
    let digest = sha256(repository.as_os_str().as_encoded_bytes()).hex();
    format!("{last}-{}", &digest[..16])
}

fn unusable(message: String) -> Failure {
    Failure::new(Code::XchainStateFolderUnusable, message)
}
