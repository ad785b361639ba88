//! What git keeps in its folder about work in progress, such as a merge, a rebase or a stash. The
//! next command of a person takes it over, also if a worker put it there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use accord_process::{is_git_state, is_shared_git_state};
use accord_runs_core::Result;
use sha2::{Digest as _, Sha256};

use super::submodules::unreadable;
use super::{Git, marker, view};

/// Begins the names of what is only named if it has changed: it may be the work of a person.
pub(super) const NAMED: &str = "state/";
/// The log of `HEAD`, which grows with every commit.
const LOG: &str = "state/logs/HEAD";

/// What is compared elsewhere, and what git takes nothing from.
const KNOWN: [&str; 20] = [
    "HEAD",
    "accord",
    "config",
    "config.worktree",
    "description",
    "fsmonitor--daemon",
    "fsmonitor--daemon.ipc",
    "gc.log",
    "gc.pid",
    "hooks",
    "index",
    "info",
    "lfs",
    "locked",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "worktrees",
];

impl Git {
    /// The marks of work in progress, in the work tree and in the others of the repository.
    pub(super) fn state(&self) -> Result<BTreeMap<String, String>> {
        let marks = |folder: &Path| {
            marks(folder).map_err(|error| unreadable("the state in git's folder", &error))
        };
        let mut state = BTreeMap::new();
        let folder = self.folder.clone().unwrap_or_default();
        for (name, mark) in marks(&folder)? {
            let begin = if is_git_state(&name) { "" } else { NAMED };
            state.insert(format!("{begin}{name}"), mark);
        }
        let common = self.common();
        let common = common.canonicalize().unwrap_or(common);
        if common != folder {
            for (name, mark) in marks(&common)? {
                let begin = if is_shared_git_state(&name) { "" } else { NAMED };
                state.insert(format!("{begin}{name}"), mark);
            }
        }
        let others = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        for other in others.map(|entry| entry.path()).filter(|other| *other != folder) {
            let tree = other.file_name().unwrap_or_default().to_string_lossy();
            // What says where they are is compared with their settings.
            for (name, mark) in
                marks(&other)?.into_iter().filter(|(name, _)| !is_shared_git_state(name))
            {
                state.insert(format!("{NAMED}worktrees/{tree}/{name}"), mark);
            }
        }
        let log = read_log(&folder)?;
        state.insert(LOG.to_owned(), format!("{} {}", log.len(), marker::of_bytes(&log)));
        Ok(state)
    }

    /// Replaces the mark of the log by that of before, if it only grew by commits of the history.
    pub(super) fn settle_log(
        &self,
        before: &BTreeMap<String, String>,
        now: &mut BTreeMap<String, String>,
    ) -> Result<()> {
        let Some(mark) = before.get(LOG) else {
            // An earlier version recorded none of these.
            now.retain(|name, _| !name.starts_with(NAMED));
            return Ok(());
        };
        let log = read_log(self.folder.as_deref().unwrap_or(&self.root))?;
        let length = mark.split(' ').next().and_then(|length| length.parse().ok());
        let Some((kept, grown)) = length.and_then(|length| log.split_at_checked(length)) else {
            return Ok(());
        };
        if format!("{} {}", kept.len(), marker::of_bytes(kept)) != *mark {
            return Ok(());
        }
        let grown = String::from_utf8_lossy(grown);
        let moves = |line: &str| line.contains("\tcheckout:");
        let new = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned() + "\n";
        // The commits of the log that the history does not have.
        let list = grown.lines().map(new).collect::<String>() + "^HEAD\n";
        let others = || self.ask(&["rev-list", "--max-count=1", "--stdin"], list.into_bytes());
        let is_own = || !grown.lines().any(moves) && others().is_ok_and(|others| others.is_empty());
        if grown.is_empty() || is_own() {
            now.insert(LOG.to_owned(), mark.clone());
        }
        Ok(())
    }

    /// The folder of git that all work trees share.
    pub(super) fn common(&self) -> PathBuf {
        self.own_files.get(view::FILES.len()).map(|it| self.root.join(it)).unwrap_or_default()
    }
}

/// The marks of the files and folders in a folder of git, by name.
pub(super) fn marks(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut marks = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_temporary = name.ends_with(".lock") || name.starts_with("sharedindex.");
        if KNOWN.contains(&name.as_str()) || is_temporary || name.ends_with("_EDITMSG") {
            continue;
        }
        let mark = match is_git_state(&name) {
            true => mark_all(&entry.path())?,
            false => marker::read(&entry.path())?,
        };
        // A new repository may have these.
        if !(["branches", "remotes"].contains(&name.as_str()) && mark == marker::of_bytes(&[])) {
            marks.insert(name, mark);
        }
    }
    Ok(marks)
}

/// The mark of a file, or of a folder with all that is in it.
fn mark_all(place: &Path) -> io::Result<String> {
    let mark = marker::read(place)?;
    if mark != "folder" {
        return Ok(mark);
    }
    let mut entries = fs::read_dir(place)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut digest = Sha256::new();
    for entry in entries {
        let name = Sha256::digest(entry.file_name().as_encoded_bytes());
        digest.update(name);
        digest.update(mark_all(&entry.path())?);
    }
    Ok(marker::of_digest(digest))
}

/// The log of a folder of git; empty without one.
fn read_log(folder: &Path) -> Result<Vec<u8>> {
    match fs::read(folder.join("logs/HEAD")) {
        Err(error) if marker::is_gone(&error) => Ok(Vec::new()),
        read => read.map_err(|error| unreadable("logs/HEAD in git's folder", &error)),
    }
}
