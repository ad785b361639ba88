//! The data folder of a command.

use std::path::{Path, PathBuf};

use accord_contract::Failure;
use accord_host::settings::{Settings, Sources, check_trusted};
use accord_host::upkeep::{DATA_FOLDER, find_folder};

use super::names::setting;
use crate::Result;

/// A data folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder {
    /// Its path, as short as possible: the path of a socket has a limit.
    pub(crate) path: PathBuf,
    /// Whether a flag or the environment names it.
    pub(crate) is_named: bool,
}

impl DataFolder {
    /// The folder that is named by a flag or the environment, else the nearest one upwards from the
    /// current folder, else a new one in the current folder. Fails with `STORE_FOLDER_UNTRUSTED` if
    /// the settings of a folder that was found need trust.
    pub(crate) fn of(flag: Option<&Path>) -> Result<Self> {
        let folder = Self::untrusted(flag)?;
        if !folder.is_named {
            check_trusted(&folder.path)?;
        }
        Ok(folder)
    }

    /// The same folder, whether its settings are trusted or not.
    pub(crate) fn untrusted(flag: Option<&Path>) -> Result<Self> {
        let named = flag.map(Path::to_owned);
        let named = named.or_else(|| setting("ACCORD_DATA").map(PathBuf::from));
        if let Some(path) = named {
            return Ok(Self { path, is_named: true });
        }
        let here = std::env::current_dir().unwrap_or_default();
        let found = find_folder(&here)?;
        let above = found.as_deref().and_then(Path::parent);
        let depth = above.and_then(|above| here.strip_prefix(above).ok());
        let mut path: PathBuf =
            depth.into_iter().flat_map(Path::components).map(|_| "..").collect();
        path.push(DATA_FOLDER);
        Ok(Self { path, is_named: false })
    }

    /// The settings in its file, without those of the environment.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let sources = Sources { folder: self.path.clone(), ..Sources::default() };
        Ok(sources.resolve()?.settings)
    }
}

/// The settings of a host in this process that serves a folder.
pub(crate) fn settings_of(folder: &Path) -> Result<Settings, Failure> {
    Ok(Sources::of_process(folder, None, Vec::new()).resolve()?.settings)
}

/// The path of a folder, for people.
pub(crate) fn full_path(folder: &Path) -> String {
    let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    whole.unwrap_or_else(|_| folder.to_owned()).display().to_string()
}
