//! The data folder of a command.

use std::path::{Path, PathBuf};
use std::sync::Once;

use accord_contract::Failure;
use accord_host::settings::{Settings, Sources, check_trusted};
use accord_host::tasks::PROJECTS;
use accord_host::upkeep::{DATA_FOLDER, FoundFolder, Lookup, Obstacle};

use super::names::setting;
use crate::render::clean;
use crate::{Result, print_note};

/// A data folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder {
    /// Its path, as short as possible: the path of a socket has a limit.
    pub(crate) path: PathBuf,
    /// Whether a flag or the environment names it.
    pub(crate) is_named: bool,
    /// Why there is none, and none is made. The path is of none then.
    obstacle: Option<Obstacle>,
}

impl DataFolder {
    /// The folder that is named by a flag or the environment, else the nearest one that [`Lookup`]
    /// finds, else the place for a new one. Fails with `STORE_FOLDER_UNTRUSTED` if the settings of
    /// a folder that was found need trust.
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
            return Ok(Self { path, is_named: true, obstacle: None });
        }
        let here = std::env::current_dir().unwrap_or_default();
        let lookup = Lookup::from(&here);
        let (path, obstacle) = match (lookup.find()?, &lookup.new) {
            (Some(found), _) => {
                note_linked(&found, &lookup);
                (found.path, None)
            }
            (None, Ok(new)) => (new.join(DATA_FOLDER), None),
            (None, Err(obstacle)) => (here.join(DATA_FOLDER), Some(obstacle.clone())),
        };
        Ok(Self { path: shortest(&path, &here), is_named: false, obstacle })
    }

    /// The folder to use. Fails with `STORE_MISSING` where there is none, and none is made.
    pub(crate) fn usable(self) -> Result<PathBuf> {
        match self.obstacle {
            None => Ok(self.path),
            Some(obstacle) => Err(obstacle.refusal().into()),
        }
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
    let below = |above: &Path| Some(above.canonicalize().ok()?.join(folder.file_name()?));
    let whole = folder.canonicalize().or_else(|error| {
        folder.parent().filter(|above| above.as_os_str() != "").and_then(below).ok_or(error)
    });
    let whole = whole.or_else(|_| std::path::absolute(folder));
    whole.unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// The relative path of a folder above this one, else the whole path.
fn shortest(path: &Path, here: &Path) -> PathBuf {
    let above = path.parent().unwrap_or(path);
    let Ok(depth) = here.strip_prefix(above) else { return path.to_owned() };
    let up = depth.components().map(|_| "..");
    up.collect::<PathBuf>().join(DATA_FOLDER)
}

/// Warns about a data folder that goes with its work tree, once, with the command that saves it.
fn note_linked(found: &FoundFolder, lookup: &Lookup) {
    static NOTED: Once = Once::new();
    let Some(tree) = &found.linked else { return };
    let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
    let shown = found.path.display();
    let mut note = format!(
        "warning: using the data folder {shown}: `git worktree remove` deletes it with the work \
         tree {}",
        tree.display()
    );
    if let Ok(new) = &lookup.new {
        let (from, to) = (quoted(&found.path), quoted(&new.join(DATA_FOLDER)));
        let save = match new.join(DATA_FOLDER).exists() {
            true => format!(
                "accord context export --all --data {from} | accord context import - --data {to}"
            ),
            false => format!("mv {from} {to}"),
        };
        note.push_str(&format!("; to keep it: {save}"));
        if new.join(DATA_FOLDER).exists() && found.path.join(PROJECTS).is_dir() {
            note.push_str(&format!("; its tasks are in {from}/{PROJECTS}"));
        }
    }
    NOTED.call_once(|| print_note(clean(&note)));
}
