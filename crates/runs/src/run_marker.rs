//! The last run of a repository, noted in git's own folder.
//!
//! The records of a run are files of the work tree. `git stash -u`, `git checkout` and `git reset`
//! take them away, and the repository then looks as if no run had ever started. This note stays,
//! so that the loss is named. It holds for the branch that it was written on.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure, Time, Value};
use accord_runs_core::State;
use accord_trees::{Root, atomic};
use rustix::fs::OFlags;
use serde_json::json;

use crate::git::work_tree_of;

const MAX_BYTES: u64 = 4096;
const MAX_REFS: u64 = 64 * 1024 * 1024;

pub(crate) struct RunMarker {
    git: PathBuf,
    /// The path within git's folder.
    below: String,
}

struct Marked {
    run_id: String,
    created_at: Option<Time>,
}

impl RunMarker {
    /// The place for a repository; `None` without git. No git is started.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let top = work_tree_of(root)?;
        // Git's own test for its folder begins with this file.
        let git = git_folder(top).filter(|git| git.join("HEAD").is_file())?;
        let below = root.strip_prefix(top).ok()?.to_str()?;
        let name = match below {
            "" => "run.json".to_owned(),
            below => format!("run-{}.json", below.replace('/', "+")),
        };
        Some(Self { git, below: format!("accord/{name}") })
    }

    /// Notes the run of a state, unless it is noted.
    pub(crate) fn note(&self, state: &State) -> io::Result<()> {
        let Some(run) = state.run_id() else { return Ok(()) };
        if self.read().is_some_and(|marked| marked.run_id == run.as_str()) {
            return Ok(());
        }
        let document = json!({
            "run_id": run.as_str(),
            "created_at": state.member("created_at"),
            "head": self.head(),
        });
        // A worker can put links into git's folder. None is followed out of it.
        let disk = Root::open(&self.git).map_err(io::Error::other)?;
        let written = atomic::write(&disk, &self.below, format!("{document}\n").as_bytes());
        written.map_err(io::Error::other)
    }

    /// The run that is noted for this branch and that a state does not know.
    pub(crate) fn missing_in(&self, state: &State) -> Option<String> {
        let marked = self.read()?;
        if state.run_id().is_some_and(|run| run.as_str() == marked.run_id) {
            return None;
        }
        let began = state.member("created_at").as_str().and_then(Time::parse_iso);
        // A process may be killed between the commit of a later run and its note.
        let is_later = state.run_id().is_none() || marked.created_at > began;
        is_later.then_some(marked.run_id)
    }

    /// The failure for a folder without a configuration that had a run.
    pub(crate) fn lost_with_config(&self, root: &Path) -> Option<Failure> {
        let run = self.read()?.run_id;
        let message = format!(
            "{run} was in {}, but agentxchain.json and the records of the run are missing, for \
             example after git stash",
            root.display()
        );
        let note = shell_words::quote(&self.git.join(&self.below).to_string_lossy()).into_owned();
        let failure = Failure::new(Code::XchainRecordsMissing, message).with("run_id", run);
        let next = "git stash pop restores them; to give the run up, remove the note: rm";
        Some(failure.suggesting(format!("{next} {note}")))
    }

    pub(crate) fn has_stash(&self) -> bool {
        let common = read_text(&self.git.join("commondir"), MAX_BYTES);
        let common = common.map_or_else(|| self.git.clone(), |path| self.git.join(path.trim()));
        let packed = || read_text(&common.join("packed-refs"), MAX_REFS).unwrap_or_default();
        common.join("refs/stash").exists() || packed().contains(" refs/stash")
    }

    fn read(&self) -> Option<Marked> {
        let text = read_text(&self.git.join(&self.below), MAX_BYTES)?;
        let document = accord_canon::read(text.as_bytes()).ok()?;
        let member = |name: &str| document.get(name).and_then(Value::as_str);
        let run_id = member("run_id").filter(|_| member("head") == Some(&self.head()))?.to_owned();
        Some(Marked { run_id, created_at: member("created_at").and_then(Time::parse_iso) })
    }

    /// The branch, as git notes it; the same text for every commit that is checked out without one.
    fn head(&self) -> String {
        let text = read_text(&self.git.join("HEAD"), MAX_BYTES).unwrap_or_default();
        match text.trim() {
            branch if branch.starts_with("ref: ") => branch.to_owned(),
            _ => "detached".to_owned(),
        }
    }
}

/// The beginning of a file as a text. A pipe in its place, which a worker can make, is not waited
/// for.
fn read_text(path: &Path, limit: u64) -> Option<String> {
    let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    let file = fs::OpenOptions::new().read(true).custom_flags(no_wait).open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    file.take(limit).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Git's folder of a work tree. In a linked work tree and a submodule, `.git` is a file that names
/// it.
pub(crate) fn git_folder(top: &Path) -> Option<PathBuf> {
    let place = top.join(".git");
    if place.is_dir() {
        return Some(place);
    }
    let text = read_text(&place, MAX_BYTES)?;
    Some(top.join(text.trim().strip_prefix("gitdir:")?.trim()))
}
