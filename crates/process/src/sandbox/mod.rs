//! A sandbox for workers: what a worker may see and change of the system.
//!
//! A [`Confinement`] describes it. On Linux it is carried out by bubblewrap, a program that makes
//! namespaces, or by Landlock, with which a process takes rights from itself.
//!
//! Landlock can only add rights: what is below a folder that may be changed may be changed, too. So
//! it protects nothing inside the work tree.

mod attempt;
mod bubblewrap;
mod data_folders;
mod git;
mod guards;
mod held;
mod home;
mod landlock;
mod mounts;
mod restrict;
mod tool;
mod verify;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use self::attempt::Attempt;
pub use self::data_folders::note_data_folder;
pub use self::git::{SHOW_DIFFERENCE, is_git_state, is_shared_git_state};
pub use self::guards::Guards;
pub(crate) use self::held::HeldMounts;
pub use self::restrict::{Rights, restrict};
pub use self::verify::{ExpectedMounts, verify_mounts};

use crate::error::StartError;
use crate::group::Ending;
use crate::invocation::Invocation;
use crate::namespace::supervisor_file;
use crate::run::{Spec, run};

/// Which sandbox workers must have.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum SandboxMode {
    #[default]
    Off,
    Landlock,
    /// Bubblewrap, else Landlock, else none.
    Auto,
    Bubblewrap,
}

/// What a worker may change of the git data of its work tree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GitAccess {
    Read,
    /// Objects, refs and index, but nothing that git executes.
    Commit,
}

/// The sandbox that a worker was started in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Sandbox {
    Bubblewrap,
    Landlock,
    /// None, and why.
    Off(String),
}

/// What stands in the place of a protected path that does not exist.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Missing {
    File,
    /// A file of the work tree that configures coding agents.
    ClientFile,
    Folder,
    /// A file of git that must have a content, because an empty one stops every git command.
    CommonFolder,
}

/// What a worker may see and change. Paths are absolute and have no `..`.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub mode: SandboxMode,
    pub git: GitAccess,
    /// The folder that the worker may change.
    pub tree: PathBuf,
    /// Paths inside the tree, or elsewhere, that the worker cannot change. They exist.
    pub protected: Vec<PathBuf>,
    /// Paths that it may change, also below protected ones. Those that do not exist are made.
    pub writable: Vec<PathBuf>,
    /// Folders that it does not see, besides the homes and the temporary folders of the system.
    pub hidden: Vec<PathBuf>,
    /// Paths that it may read although they are below hidden ones.
    pub visible: Vec<PathBuf>,
    /// Whether the worker sees the folder of its program wherever it is: a person named it.
    pub shows_program: bool,
    /// Where the folders of running workers are. The worker does not see it.
    pub state: PathBuf,
}

/// What a person decided about the sandbox of workers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SandboxRules {
    pub mode: SandboxMode,
    /// `None` for the default of the kind of work.
    pub git: Option<GitAccess>,
    /// Paths that workers may read although they are in hidden folders.
    pub visible: Vec<PathBuf>,
    /// Paths outside of the work tree that workers may change.
    pub writable: Vec<PathBuf>,
    /// The data folder of Accord.
    pub data: Option<PathBuf>,
    /// Whether commands of gates run without a sandbox.
    pub open_gates: bool,
}

impl SandboxRules {
    /// A confinement to a work tree. Nothing below `state`, the folder of Accord's state, is
    /// visible, and nothing in the data folder.
    pub fn confine(&self, tree: &Path, git: GitAccess, state: &Path) -> Confinement {
        let tree = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        // A worker reaches Accord through a socket, and finds keys and secrets in the data folder.
        let data = self.data.as_deref().and_then(real_folder);
        let mut hidden: Vec<PathBuf> = [state.to_owned()].into_iter().chain(data).collect();
        for folder in data_folders::data_folders(state) {
            // Not one around the tree, which is an old one or a mistake.
            if !hidden.contains(&folder) && !tree.starts_with(&folder) {
                hidden.push(folder);
            }
        }
        Confinement {
            mode: self.mode,
            git: self.git.unwrap_or(git),
            tree,
            protected: Vec::new(),
            writable: self.writable.iter().map(real).collect(),
            hidden,
            visible: self.visible.clone(),
            shows_program: true,
            state: state.join("workers"),
        }
    }
}

/// The folder for the state of programs of the user: `$XDG_STATE_HOME`, else `~/.local/state`.
pub fn user_state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        // The standard says that a relative path is ignored.
        value.filter(|path| path.is_absolute())
    };
    folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))
}

/// Folders with homes, sockets and temporary files.
const HIDDEN: [&str; 5] = ["/home", "/root", "/run", "/tmp", "/var/tmp"];

/// The configuration of agent clients and editors, which they execute in the next session.
const CLIENT_FOLDERS: [&str; 12] = [
    ".claude",
    ".opencode",
    ".codex",
    ".agents",
    ".gemini",
    ".cursor",
    ".windsurf",
    ".continue",
    ".zed",
    ".vscode",
    ".idea",
    ".devcontainer",
];
/// A data folder of Accord, which the next command in the work tree would use.
const DATA_FOLDER: &str = ".accord";
const CLIENT_FILES: [&str; 4] = [".mcp.json", "opencode.json", "opencode.jsonc", ".envrc"];

/// Whether agents, editors or Accord itself execute or follow a path of a work tree.
pub fn is_followed(path: &Path) -> bool {
    let first = path.components().next().map(|name| name.as_os_str());
    let names = CLIENT_FOLDERS.iter().chain(&CLIENT_FILES).chain([&DATA_FOLDER]);
    first.is_some_and(|first| names.clone().any(|name| first.eq_ignore_ascii_case(name)))
}

/// Variables that name sockets which a worker does not see.
const SOCKETS: [&str; 4] = ["DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "TMUX", "XDG_RUNTIME_DIR"];
/// The variable with the socket of the attempt.
const OWN_SOCKET: &str = "ACCORD_SOCKET";

/// How long a probe of a sandbox may take.
const PROBE_LIMIT: Duration = Duration::from_secs(20);

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bubblewrap => f.write_str("bubblewrap"),
            Self::Landlock => f.write_str("landlock"),
            Self::Off(why) => write!(f, "off ({why})"),
        }
    }
}

impl Confinement {
    /// The worker in a sandbox, and which one. With a mode other than `auto`, fails if that sandbox
    /// cannot be used here. The last change of the invocation: its environment decides, too.
    pub fn apply(&self, worker: Invocation) -> Result<(Invocation, Sandbox), StartError> {
        if self.mode == SandboxMode::Off {
            return Ok((worker, Sandbox::Off("workers.sandbox is off".to_owned())));
        }
        if worker.launcher().is_none() {
            return Ok((worker, Sandbox::Off("this process has no launcher".to_owned())));
        }
        let program = worker.locate()?;
        if let Some(why) = self.has_own_folder(&worker) {
            return Err(StartError::Sandbox { why });
        }
        let bubblewrap = if self.mode >= SandboxMode::Auto {
            match self.bubblewrap(&worker, &program) {
                Ok(confined) => return Ok((confined, Sandbox::Bubblewrap)),
                Err(Obstacle::Refused(why)) => return Err(StartError::Sandbox { why }),
                Err(Obstacle::Unavailable(why)) => why,
            }
        } else {
            String::new()
        };
        if self.mode == SandboxMode::Bubblewrap {
            return Err(StartError::Sandbox { why: bubblewrap });
        }
        match self.landlock(&worker, &program) {
            Ok(confined) => Ok((confined, Sandbox::Landlock)),
            Err(Obstacle::Refused(why)) => Err(StartError::Sandbox { why }),
            Err(Obstacle::Unavailable(why)) if self.mode == SandboxMode::Landlock => {
                Err(StartError::Sandbox { why })
            }
            Err(Obstacle::Unavailable(landlock)) => {
                Ok((worker, Sandbox::Off(format!("{bubblewrap}; {landlock}"))))
            }
        }
    }

    /// Why a worker cannot start, if a folder of its person is in the work tree.
    fn has_own_folder(&self, worker: &Invocation) -> Option<String> {
        let tree = self.tree.display();
        if let Some(home) = home_of(worker).filter(|home| home.starts_with(&self.tree)) {
            let home = home.display();
            return Some(format!(
                "{tree} has the home folder {home} in it, which must stay hidden"
            ));
        }
        // A worker could write the settings that let workers do more.
        let settings = PathBuf::from(worker.variable("XDG_CONFIG_HOME")?);
        let settings = settings.canonicalize().unwrap_or(settings);
        settings.starts_with(&self.tree).then(|| {
            let settings = settings.display();
            format!(
                "XDG_CONFIG_HOME names {settings}, which is in the work tree, so a worker could \
                 write your own settings; name another folder"
            )
        })
    }

    /// The worker with a private home and without the sockets of its person.
    fn private(
        &self,
        worker: &Invocation,
        home: Option<&Path>,
        inside: &Path,
        attempt: &Attempt,
    ) -> Result<Invocation, Obstacle> {
        let words = worker.args.iter().map(OsString::as_os_str).chain([worker.program.as_os_str()]);
        let words: Vec<&OsStr> = words.collect();
        let private = attempt.folder().join("home");
        let variable = |name: &str| worker.variable(name);
        let places = (home, private.as_path(), inside);
        let named = home::fill(places, &self.tree, &words, &variable).map_err(no_folder)?;
        let mut confined = worker.clone().env("HOME", inside);
        for (name, folder) in named {
            confined = confined.env(name, folder);
        }
        Ok(SOCKETS.into_iter().fold(confined, Invocation::without))
    }

    /// Makes the folders that the worker may change. An earlier worker could have put a link in
    /// the place of one, to a folder that this worker must not change.
    fn make_writable(&self, attempt: &Attempt) -> Result<(), Obstacle> {
        for folder in attempt.missing(&self.writable).map_err(no_folder)? {
            fs::create_dir_all(folder).map_err(no_folder)?;
        }
        for path in &self.writable {
            if path.canonicalize().is_ok_and(|real| real != *path) {
                let shown = path.display();
                let why = format!("{shown} is a link, or is behind one; replace it by a folder");
                return Err(Obstacle::Refused(why));
            }
        }
        Ok(())
    }

    /// The hidden folders that exist. One below another is left out, except those of Accord: what
    /// is between them may be visible.
    fn hidden(&self, home: Option<&Path>) -> Vec<PathBuf> {
        // The sockets of attempts are in the folder for temporary files.
        let temporary = std::env::temp_dir();
        let temporary = Some(temporary.as_path()).filter(|path| !path.starts_with(&self.tree));
        let system = HIDDEN.iter().map(Path::new).chain(home).chain(temporary);
        let own: Vec<PathBuf> = self.hidden.iter().filter_map(|path| real_folder(path)).collect();
        let system = system.chain([self.state.as_path()]).filter_map(real_folder);
        let mut hidden: Vec<PathBuf> = system.chain(own.iter().cloned()).collect();
        hidden.sort();
        hidden.dedup();
        let mut kept: Vec<PathBuf> = Vec::new();
        for path in hidden {
            if own.contains(&path) || !kept.iter().any(|above| path.starts_with(above)) {
                kept.push(path);
            }
        }
        kept
    }

    /// What the worker may read below hidden folders.
    fn seen(
        &self,
        worker: &Invocation,
        program: &Path,
        home: Option<&Path>,
        hidden: &[PathBuf],
    ) -> Vec<PathBuf> {
        let search_path = worker.variable("PATH");
        let program = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
        let program = self.shows_program.then_some(program.as_path());
        let places = (home, search_path.as_deref(), program);
        let mut seen = home::programs(places, &self.tree, hidden);
        let socket = worker.variable(OWN_SOCKET).map(PathBuf::from);
        let socket = socket.as_deref().and_then(Path::parent).map(Path::to_owned);
        // Where names are resolved by a service, this is a link to its folder.
        let names = Path::new("/etc/resolv.conf").canonicalize().ok();
        let own = std::env::current_exe().ok();
        let mark = supervisor_file();
        let more = self.visible.iter().cloned().chain(socket).chain(names).chain(own).chain(mark);
        seen.extend(more.filter(|path| path.exists()));
        seen.retain(|path| hidden.iter().any(|hidden| path.starts_with(hidden)));
        // The tree is visible. A link in it comes from a worker.
        seen.retain(|path| !path.starts_with(&self.tree));
        // What judges a worker stays hidden, also below a toolchain.
        let judges = |path: &PathBuf| {
            let mut judging = self.hidden.iter().chain([&self.state]);
            judging.any(|hidden| hidden.starts_with(path) || path.starts_with(hidden))
        };
        seen.retain(|path| !judges(path));
        seen
    }
}

/// Why a sandbox cannot be used.
enum Obstacle {
    /// This machine does not have it.
    Unavailable(String),
    /// It could not protect what it must.
    Refused(String),
}

fn no_folder(error: io::Error) -> Obstacle {
    Obstacle::Refused(format!("the folder of a worker cannot be made: {error}"))
}

/// The home of the worker's person, if it is a folder.
fn home_of(worker: &Invocation) -> Option<PathBuf> {
    worker.variable("HOME").and_then(home_at)
}

/// The home of the user of this process.
fn home_of_user() -> Option<PathBuf> {
    std::env::var_os("HOME").and_then(home_at)
}

fn home_at(home: OsString) -> Option<PathBuf> {
    real_folder(Path::new(&home)).filter(|home| home.parent().is_some())
}

fn real_folder(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_absolute() && path.is_dir())
}

/// Whether a sandbox starts a program. The error has its last line.
fn succeeds(probe: Invocation, name: &str) -> Result<(), String> {
    let output = run(&Spec::new(probe).time_limit(PROBE_LIMIT));
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.ending == Ending::Exited(0) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    Err(line.map_or_else(|| format!("{name} failed: {}", output.ending), str::to_owned))
}

impl Invocation {
    /// Keeps the folder of its attempt for as long as the invocation exists.
    fn during(mut self, attempt: Attempt) -> Self {
        self.attempt = Some(Arc::new(attempt));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_worker_starts_where_it_could_write_the_settings_of_its_person() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        let rules = SandboxRules::default();
        let confinement = rules.confine(&tree, GitAccess::Read, Path::new("/none"));
        let worker = |at: &Path| Invocation::new("true", [""; 0]).env("XDG_CONFIG_HOME", at);
        let why = confinement.has_own_folder(&worker(&tree.join(".config"))).unwrap();
        assert!(why.starts_with("XDG_CONFIG_HOME names "), "{why}");
        assert_eq!(confinement.has_own_folder(&worker(Path::new("/etc"))), None);
        let home = worker(Path::new("/etc")).env("HOME", &tree);
        assert!(confinement.has_own_folder(&home).is_some());
    }

    #[test]
    fn files_that_others_execute_are_known_in_any_letter_case() {
        for (path, followed) in [
            (".claude/settings.json", true),
            (".MCP.json", true),
            (".accord/accord.toml", true),
            ("src/.claude/x", false),
            ("notes.md", false),
        ] {
            assert_eq!(is_followed(Path::new(path)), followed, "{path}");
        }
    }
}
