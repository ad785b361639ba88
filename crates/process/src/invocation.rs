//! What to start: a program, its arguments and its environment. Never a shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, io, thread};

use rustix::fs::Access;
use rustix::io::Errno;

use crate::error::StartError;
use crate::hidden::hidden_variables;
use crate::kept::kept_programs;
use crate::launcher::launcher;
use crate::namespace::announce_supervisor;
use crate::record::{Record, Work};
use crate::sandbox::Attempt;

/// A program to start with exactly these arguments.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// A path, or a bare name that is looked up in `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables that are added to those of the caller, or replace them.
    pub env: Vec<(OsString, OsString)>,
    /// Variables of the caller that are removed for the child.
    pub without: Vec<OsString>,
    /// The working folder; the caller's if absent.
    pub cwd: Option<PathBuf>,
    /// What it works on, if it is a worker, which a launcher starts in a session of its own.
    pub(crate) work: Option<Work>,
    /// Whether the program only starts the worker, and must not be asked to end.
    pub(crate) is_wrapped: bool,
    /// Whether it may finish when this process is killed.
    pub(crate) finishes: bool,
    /// Mounts of its sandbox that must stay while it runs.
    pub(crate) held: Vec<PathBuf>,
    /// The folder of the attempt, if the worker is in a sandbox.
    pub(crate) attempt: Option<Arc<Attempt>>,
}

impl Invocation {
    /// A program with its arguments, in the caller's folder and environment.
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            without: Vec::new(),
            cwd: None,
            work: None,
            is_wrapped: false,
            finishes: false,
            held: Vec::new(),
            attempt: None,
        }
    }

    /// Starts the program through the launcher of this process, if it has one. `name` is what it
    /// works on, in the repository or the tree of tasks in the folder `root`.
    #[must_use]
    pub fn as_worker(mut self, root: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        self.work = Some(Work { root: root.into(), name: name.into() });
        self
    }

    /// The program of the launcher, if one starts the program.
    pub(crate) fn launcher(&self) -> Option<&'static OsStr> {
        launcher().filter(|_| self.work.is_some())
    }

    /// The value of a variable for the child.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        // The last setting of a variable counts, as for `Command`.
        let own = self.env.iter().rev().find(|(own, _)| own == OsStr::new(name));
        own.map(|(_, value)| value.clone()).or_else(|| env::var_os(name))
    }

    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Removes a variable of the caller from the child's environment.
    #[must_use]
    pub fn without(mut self, name: impl Into<OsString>) -> Self {
        self.without.push(name.into());
        self
    }

    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Checks that the program can be started, without starting it. A long run can then fail early.
    pub fn locate(&self) -> Result<PathBuf, StartError> {
        let candidates = self.candidates();
        let found = candidates.iter().find(|path| is_executable(path)).cloned();
        found.ok_or_else(|| match candidates.iter().find(|path| path.exists()) {
            Some(path) if path.is_dir() => self.not_executable("it is a folder"),
            Some(_) => self.not_executable("it has no execute permission"),
            None => StartError::NotFound { program: self.name() },
        })
    }

    /// The record of its processes, if a launcher starts it.
    pub(crate) fn record(&self) -> Option<Record> {
        self.launcher().and(self.work.as_ref()).and_then(Record::make)
    }

    /// Starts the child with three pipes, as the leader of a new process group.
    pub(crate) fn spawn(&self, record: Option<&Record>) -> Result<std::process::Child, StartError> {
        // Checked first: `spawn` reports a missing folder with the same error as a missing program.
        if let Some(path) = self.cwd.as_ref().filter(|path| !path.is_dir()) {
            return Err(StartError::WorkingFolder { path: path.clone() });
        }
        let mut command = match self.launcher() {
            Some(launcher) => {
                // The launcher could only say it with an exit code.
                self.locate()?;
                announce_supervisor();
                let mut command = Command::new(launcher);
                command.arg("launch");
                if let Some(attempt) = &self.attempt {
                    command.arg("--attempt").arg(attempt.folder());
                }
                if let Some(record) = record {
                    command.arg("--record").arg(record.path());
                    // What is in a namespace of its own ends with it.
                    let keeps = !self.is_wrapped && !self.finishes;
                    for program in kept_programs().iter().filter(|_| keeps) {
                        command.arg("--keep").arg(program);
                    }
                }
                for path in &self.held {
                    command.arg("--held").arg(path);
                }
                command.args(self.is_wrapped.then_some("--wrapped"));
                command.args(self.finishes.then_some("--finish")).arg("--").arg(&self.program);
                command
            }
            None => {
                let mut command = Command::new(&self.program);
                // The leader of a group cannot begin a session, as a launcher does.
                command.process_group(0);
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.start(command)
    }

    /// Starts the child with the streams of this process, in its group.
    pub(crate) fn start_attached(&self) -> Result<std::process::Child, StartError> {
        self.start(Command::new(&self.program))
    }

    /// Replaces this process by the program. Returns only if that fails.
    pub(crate) fn replace_process(&self) -> io::Error {
        Command::new(&self.program).args(&self.args).exec()
    }

    fn start(&self, mut command: Command) -> Result<std::process::Child, StartError> {
        if self.work.is_some() {
            // Before `envs`: what a supervisor sets for its worker is meant for it.
            for name in hidden_variables() {
                command.env_remove(name);
            }
        }
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        // After `envs`: a variable that must not reach the child is removed even if it was also
        // set.
        for name in &self.without {
            command.env_remove(name);
        }
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        let mut attempts = 0;
        loop {
            match command.spawn() {
                Ok(child) => return Ok(child),
                Err(error) if is_busy(&error) && attempts < BUSY_ATTEMPTS => {
                    attempts += 1;
                    thread::sleep(BUSY_PAUSE);
                }
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    /// The system refused something that the child needs.
    pub(crate) fn failed(&self, source: io::Error) -> StartError {
        StartError::System { program: self.name(), source }
    }

    fn explain(&self, error: io::Error) -> StartError {
        match (self.locate(), Errno::from_io_error(&error)) {
            // The error of `exec` does not tell what is missing, so the program is searched for
            // again.
            (Err(error), _) => error,
            // The file exists, so the kernel means the interpreter of its `#!` line.
            (Ok(_), Some(Errno::NOENT)) => {
                self.not_executable("the interpreter that its first line names does not exist")
            }
            (Ok(_), Some(Errno::NOEXEC)) => self.not_executable(
                "it is neither a program for this machine nor a script with a #! line",
            ),
            (Ok(_), _) => self.failed(error),
        }
    }

    fn candidates(&self) -> Vec<PathBuf> {
        if self.program.is_empty() {
            return Vec::new();
        }
        let program = Path::new(&self.program);
        // The child changes its folder before it executes the program, so a relative path starts
        // there.
        if program.as_os_str().as_encoded_bytes().contains(&b'/') {
            return vec![match &self.cwd {
                Some(folder) => folder.join(program),
                None => program.to_path_buf(),
            }];
        }
        self.variable("PATH")
            .map(|path| env::split_paths(&path).map(|dir| dir.join(program)).collect())
            .unwrap_or_default()
    }

    fn not_executable(&self, why: &'static str) -> StartError {
        StartError::NotExecutable { program: self.name(), why }
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// Folders with the programs of the system, which only root changes.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/run/current-system/sw/bin", "/sbin"];

/// A program of the system, not one of `PATH`: a worker may be able to write a folder of `PATH`.
pub(crate) fn system_program(name: &str) -> OsString {
    let mut programs = SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    programs.find(|program| is_executable(program)).map_or_else(|| name.into(), OsString::from)
}

/// The first program of this name in `PATH` that is not in one of these folders, where a worker
/// could have put it, also by a link.
pub fn find_outside(name: &str, folders: &[&Path]) -> Option<PathBuf> {
    find_in(&env::var_os("PATH")?, name, folders)
}

fn find_in(path: &OsStr, name: &str, folders: &[&Path]) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let within: Vec<PathBuf> = folders.iter().filter_map(|folder| real(folder)).collect();
    let is_outside = |path: &PathBuf| !within.iter().any(|folder| path.starts_with(folder));
    let searched = env::split_paths(path).filter(|folder| folder.is_absolute());
    // The folder too: a worker could replace a link in its own folder by another one.
    let searched = searched.filter(|folder| is_outside(folder));
    let searched = searched.filter(|folder| real(folder).is_some_and(|it| is_outside(&it)));
    let mut programs = searched.map(|folder| folder.join(name));
    programs.find(|path| is_executable(path) && real(path).is_some_and(|it| is_outside(&it)))
}

fn is_executable(path: &Path) -> bool {
    // `access` alone would accept a folder, which has the same permission bit.
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// A program that was just written can still be open for writing in a process that was forked
/// meanwhile. Starting it then fails with ETXTBSY for a short time.
fn is_busy(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::TXTBSY)
}

const BUSY_ATTEMPTS: u32 = 20;
const BUSY_PAUSE: std::time::Duration = std::time::Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_program_that_a_worker_can_replace_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let make = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        make("tree/bin/git");
        make("usr/git");
        fs::create_dir_all(root.join("home")).unwrap();
        symlink(root.join("tree/bin"), root.join("linked")).unwrap();
        symlink(root.join("tree/bin/git"), root.join("home/git")).unwrap();
        symlink(root.join("usr"), root.join("tree/usr")).unwrap();
        let tree = root.join("tree");
        let search = |names: &[&str]| {
            let path = env::join_paths(names.iter().map(|name| root.join(name))).unwrap();
            find_in(&path, "git", &[&tree])
        };
        assert_eq!(search(&["tree/bin", "linked", "home", "tree/usr"]), None);
        assert_eq!(search(&["tree/bin", "usr"]), Some(root.join("usr/git")));
        assert_eq!(find_in(OsStr::new("tree/bin:."), "git", &[&tree]), None);
    }
}
