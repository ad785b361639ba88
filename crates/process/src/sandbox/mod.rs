//! A sandbox for workers: what a worker may see and change of the system.
//!
//! A [`Confinement`] describes it. On Linux it is carried out by bubblewrap, a program that makes
//! namespaces, or by Landlock, with which a process takes rights from itself.
//!
//! Landlock can only add rights: what is below a folder that may be changed may be changed, too. So
//! it protects nothing inside the work tree.

mod attempt;
mod data_folders;
mod git;
mod guards;
mod held;
mod home;
mod mounts;
mod restrict;
mod tool;
mod verify;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use self::attempt::Attempt;
pub use self::data_folders::note_data_folder;
pub use self::git::{SHOW_DIFFERENCE, is_git_state, is_shared_git_state};
pub use self::guards::Guards;
pub(crate) use self::held::HeldMounts;
pub use self::restrict::{Rights, restrict};
pub use self::verify::{ExpectedMounts, verify_mounts};

use self::attempt::SAME_FOLDER;
use self::git::Layout;
use self::mounts::{Mount, Mounts};
use crate::error::StartError;
use crate::group::Ending;
use crate::invocation::{Invocation, find_outside, system_program};
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

    fn bubblewrap(&self, worker: &Invocation, program: &Path) -> Result<Invocation, Obstacle> {
        let bubblewrap = self.program_of_bubblewrap()?;
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let home = home_of(worker);
        // Without a home of its own, the worker gets one in a folder that only it sees.
        let inside = home.clone().unwrap_or_else(|| PathBuf::from("/var/tmp/home"));
        let is_root = rustix::process::geteuid().is_root();
        let hidden = self.hidden(home.as_deref());
        let mut mounts = Mounts::default();
        for folder in &hidden {
            let is_own = self.hidden.contains(folder);
            mounts.add(folder, if is_own { Mount::Hidden } else { Mount::Empty });
        }
        mounts.add(&inside, Mount::Writable(attempt.folder().join("home")));
        static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
        // Without the work tree, whose content must not decide that there is no sandbox.
        let probe = || starts_in(&bubblewrap, &mounts);
        PROBE.get_or_init(probe).clone().map_err(Obstacle::Unavailable)?;
        for path in self.seen(worker, program, home.as_deref(), &hidden) {
            mounts.read_only(&path);
        }
        let layout = Layout::of(&self.tree, home.as_deref());
        let missing = self.mount_tree(&layout, &mut mounts, &attempt)?;
        let held = mounts.held();
        let folder = worker.cwd.as_deref().unwrap_or(&self.tree);
        let (own, expected) = self.verification(&mounts)?;
        let arguments = mounts.arguments(folder, is_root);
        let mut confined = self.private(worker, home.as_deref(), &inside, &attempt)?;
        let private = attempt.folder().join("home");
        let places = (home.as_deref(), private.as_path(), inside.as_path());
        let missing: Vec<&Path> =
            missing.iter().filter_map(|path| path.strip_prefix(&self.tree).ok()).collect();
        let ignored = home::ignore(places, &self.tree, &missing, &|name| worker.variable(name));
        confined.env.extend(ignored.map_err(no_folder)?.map(|(name, value)| (name.into(), value)));
        if self.git == GitAccess::Commit {
            home::without_own_sandbox(&confined.program, &mut confined.args);
        }
        let program = std::mem::replace(&mut confined.program, bubblewrap.into());
        confined.args = [arguments, vec![own], expected, vec![program], confined.args].concat();
        confined.is_wrapped = true;
        confined.held = held;
        Ok(confined.env("TMPDIR", "/tmp").during(attempt))
    }

    /// Accord's own program and its arguments, which checks the mounts of the worker inside.
    fn verification(&self, mounts: &Mounts) -> Result<(OsString, Vec<OsString>), Obstacle> {
        let mut expected = ExpectedMounts::default();
        for (at, mount) in mounts.iter() {
            let is_own = at.starts_with(&self.tree) || *mount == Mount::Writable(at.clone());
            let why =
                |error| Obstacle::Refused(format!("{}: {error}; is it a link?", at.display()));
            expected.add(at, mount, is_own).map_err(why)?;
        }
        let own = std::env::current_exe().unwrap_or_default().into_os_string();
        // An update has replaced the file.
        let own = match own.as_encoded_bytes().strip_suffix(b" (deleted)") {
            Some(path) => OsStr::from_bytes(path).to_owned(),
            None => own,
        };
        let mut words: Vec<OsString> = vec!["verify-mounts".into()];
        words.extend(expected.same.into_iter().flat_map(|word| ["--same".into(), word]));
        let apart = expected.apart.into_iter();
        words.extend(apart.flat_map(|path| ["--apart".into(), path.into_os_string()]));
        words.push("--".into());
        Ok((own, words))
    }

    fn landlock(&self, worker: &Invocation, program: &Path) -> Result<Invocation, Obstacle> {
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let home = home_of(worker);
        let inside = attempt.folder().join("home");
        let mut hidden = self.hidden(home.as_deref());
        // Rules are made for each file beside a hidden folder, and a tree can have many.
        hidden.retain(|path| !path.starts_with(&self.tree));
        hidden.push(PathBuf::from("/dev"));
        let mut rights = Rights::outside(&hidden);
        rights.read.extend(self.seen(worker, program, home.as_deref(), &hidden));
        let git = Layout::of(&self.tree, home.as_deref());
        rights.read.extend(git.outside());
        rights.write.extend([self.tree.clone(), inside.clone(), attempt.folder().join("tmp")]);
        self.make_writable(&attempt)?;
        // What is in the tree may be changed already.
        let outside = self.writable.iter().filter(|path| !path.starts_with(&self.tree));
        rights.write.extend(outside.cloned());
        // Not those in the tree, where an earlier worker could have put a link.
        let outside = self.protected.iter().filter(|path| !path.starts_with(&self.tree));
        rights.read.extend(outside.cloned());
        if self.git == GitAccess::Commit {
            rights.write.extend(git.data());
        }
        let mut confined = self.private(worker, home.as_deref(), &inside, &attempt)?;
        home::without_own_sandbox(&confined.program, &mut confined.args);
        let confined = confined.env("HOME", inside).env("TMPDIR", attempt.folder().join("tmp"));
        self.restricted(confined, rights, attempt)
    }

    /// A program with these rights.
    fn restricted(
        &self,
        mut confined: Invocation,
        mut rights: Rights,
        attempt: Attempt,
    ) -> Result<Invocation, Obstacle> {
        let launcher = crate::launcher::launcher();
        let Some(launcher) = launcher.filter(|_| cfg!(target_os = "linux")) else {
            return Err(Obstacle::Unavailable("this system has no Landlock".to_owned()));
        };
        // The rules are made without following links.
        let real =
            |path: &mut PathBuf| *path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let all = rights.read.iter_mut().chain(&mut rights.write);
        // The tree was real when its worker was asked for, and may be a link now.
        all.filter(|path| !path.starts_with(&self.tree)).for_each(real);
        let mut arguments: Vec<OsString> = vec!["restrict".into()];
        for (flag, paths) in [("--read", &rights.read), ("--write", &rights.write)] {
            arguments.extend(paths.iter().flat_map(|path| [flag.into(), path.into()]));
        }
        arguments.push("--".into());
        static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
        let probe = || {
            // Without what a worker can change, which must not decide that there is no sandbox.
            let words = ["restrict", "--read", "/", "--"].map(OsString::from);
            let words = words.into_iter().chain([system_program("true")]);
            succeeds(Invocation::new(launcher, words), "landlock")
        };
        PROBE.get_or_init(probe).clone().map_err(Obstacle::Unavailable)?;
        let program = std::mem::replace(&mut confined.program, launcher.to_owned());
        confined.args = [arguments, vec![program], confined.args].concat();
        Ok(confined.during(attempt))
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

    /// Mounts the tree, and what the worker cannot change in it. Returns the protected paths that
    /// do not exist.
    fn mount_tree(
        &self,
        layout: &Layout,
        mounts: &mut Mounts,
        attempt: &Attempt,
    ) -> Result<Vec<PathBuf>, Obstacle> {
        mounts.writable(&self.tree);
        let list = layout.packed_refs().filter(|_| self.git == GitAccess::Commit);
        // Git makes it with the first log.
        list.iter().for_each(|list| drop(fs::create_dir(list.with_file_name("logs"))));
        layout.mount(&self.tree, self.git, mounts);
        if let Some(list) = list.filter(|list| !list.exists()) {
            mounts.add(list, Mount::ReadOnly(attempt.folder().join("nothing")));
        }
        let mut guarded = layout.guarded(&self.tree, self.git);
        guarded.retain(|(path, _)| !layout.is_closed(path));
        for submodule in git::submodules(&self.tree) {
            guarded.push((submodule.join(".git"), Missing::File));
        }
        guarded.extend(self.protected.iter().map(|path| (path.clone(), Missing::File)));
        guarded.extend(CLIENT_FOLDERS.map(|name| (self.tree.join(name), Missing::Folder)));
        let data = self.tree.join(DATA_FOLDER);
        let is_own = |path: &PathBuf| self.hidden.iter().any(|hidden| hidden == path);
        guarded.extend(Some(data).filter(|path| !is_own(path)).map(|it| (it, Missing::Folder)));
        guarded.extend(CLIENT_FILES.map(|name| (self.tree.join(name), Missing::File)));
        let paths: Vec<PathBuf> = guarded.iter().map(|(path, _)| path.clone()).collect();
        let missing = attempt.missing(&paths).map_err(no_folder)?;
        for (path, kind) in guarded {
            if !missing.contains(&path) {
                check_protected(&path)?;
                mounts.read_only(&path);
                continue;
            }
            let standing_in = |name: &str| Mount::ReadOnly(attempt.folder().join(name));
            match kind {
                Missing::Folder if path.file_name() == Some(OsStr::new(DATA_FOLDER)) => {
                    mounts.add(path, Mount::Hidden);
                }
                // A client that finds its folder read-only and empty may refuse to start.
                Missing::Folder if path.file_name() != Some(OsStr::new(".git")) => {
                    mounts.add(path, Mount::Empty);
                }
                Missing::Folder => mounts.add(path, standing_in("empty")),
                Missing::File if path.extension() == Some(OsStr::new("json")) => {
                    mounts.add(path, standing_in("nothing.json"));
                }
                Missing::File => mounts.add(path, standing_in("nothing")),
                Missing::CommonFolder => {
                    fs::write(&path, SAME_FOLDER).map_err(no_folder)?;
                    mounts.read_only(&path);
                }
            }
        }
        self.make_writable(attempt)?;
        for path in &self.writable {
            mounts.writable(path);
        }
        mounts.hold_folders(&self.tree);
        Ok(missing)
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

    /// The first `bwrap` in `PATH`, except one that a worker could have put there.
    fn program_of_bubblewrap(&self) -> Result<PathBuf, Obstacle> {
        // One that is a link stops the worker later.
        let is_real = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| real == **path);
        let folders = self.writable.iter().filter(is_real).chain([&self.tree]);
        let folders: Vec<&Path> = folders.map(PathBuf::as_path).collect();
        let found = find_outside("bwrap", &folders);
        found.ok_or_else(|| Obstacle::Unavailable("bubblewrap is not installed".to_owned()))
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

/// A link could be replaced although its target is protected, and a file with two names could be
/// written by the other one.
fn check_protected(path: &Path) -> Result<(), Obstacle> {
    let shown = path.display();
    let found = path.symlink_metadata();
    let found = found.map_err(|error| Obstacle::Refused(format!("{shown}: {error}")))?;
    if found.is_symlink() {
        let why = format!("{shown} is a link, which cannot be protected; replace it by its target");
        return Err(Obstacle::Refused(why));
    }
    if found.is_file() && found.nlink() > 1 {
        let why = format!("{shown} has another hard link, so it cannot be protected; copy it");
        return Err(Obstacle::Refused(why));
    }
    Ok(())
}

/// Whether bubblewrap starts a program with these mounts.
fn starts_in(bubblewrap: &Path, mounts: &Mounts) -> Result<(), String> {
    let is_root = rustix::process::geteuid().is_root();
    let words = mounts.clone().arguments(Path::new("/"), is_root);
    let words = words.into_iter().chain([system_program("true")]);
    succeeds(Invocation::new(bubblewrap, words), "bubblewrap")
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
