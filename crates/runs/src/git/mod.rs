//! Git, through its own program: changed files and checkpoint commits.
//!
//! Invariants:
//! - reading writes nothing, not even git's index;
//! - no hook, alias, pager, external diff or file system monitor of a configuration runs;
//! - git does not look into submodules, whose settings a worker can write;
//! - the first cancellation does not kill git in mid-operation: it would leave its lock file
//!   behind;
//! - the number of processes does not grow with the number of files;
//! - an invalid path in git's output fails the operation, so that no change is overlooked.

mod commit;
mod files;
mod hidden;
mod marker;
mod place;
mod state;
mod status;
mod submodules;
mod view;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_process::{
    Cancel, Confinement, Ending, Invocation, Overflow, RunOutput, SandboxMode, Spec, StartError,
};
use accord_runs_core::{RepoPath, Result};

use crate::RecordFile;
use crate::environment::cancelled;
use crate::run_marker::git_folder;

pub(crate) use files::added;
pub use status::Changes;
pub(crate) use view::changed;

/// The largest output of git: names of some millions of files.
const MAX_OUTPUT: usize = 256 * 1024 * 1024;
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Environment variables that would make git use another repository, as within a git hook.
const MISLEADING: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
];

/// How git says that it does not know who makes a commit.
const NO_IDENTITY: [&str; 3] = ["tell me who you are", "empty ident", "auto-detect email"];

/// How git says that it skipped a folder.
const UNREADABLE: &str = "could not open directory";

const SET_IDENTITY: &str =
    "git config user.name \"NAME\" && git config user.email \"ADDRESS\", in the repository";

/// The detail that marks a failure that git itself reported.
const REFUSED: &str = "git_refused";

// A worker can configure a file system monitor and hooks. Signing may wait for a passphrase.
const SETTINGS: [&str; 15] = [
    "--no-pager",
    "-c",
    // A worker can write the graph of the commits.
    "core.commitGraph=false",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "core.quotepath=off",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "status.relativePaths=false",
];

/// Commands that read files of the tree, and so run filters.
const READING: [&str; 3] = ["diff", "hash-object", "status"];
/// Those that write into git's folder.
const WRITING: [&str; 5] = ["commit", "commit-tree", "update-index", "update-ref", "write-tree"];

/// Files of git that it reads first. Another kind of file in their place could block it.
const FIRST_READ: [&str; 6] =
    ["HEAD", "config", "config.worktree", "commondir", "index", "packed-refs"];

/// Files that git writes. It would follow a link out of its folder.
const WRITTEN: [&str; 5] = ["HEAD", "config", "index", "packed-refs", "COMMIT_EDITMSG"];

/// Folders that git writes into, with how many levels of their folders are examined. A pipe in
/// place of a log would block git.
const WRITTEN_BELOW: [(&str, usize); 3] = [("logs", 32), ("refs", 32), ("objects", 1)];

#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    /// Options that name git's folder and the work tree, once they are found.
    place: Vec<String>,
    /// The path of the repository in the git work tree, ending with a slash; empty at its root.
    prefix: String,
    /// Git's folder of the work tree.
    folder: Option<PathBuf>,
    /// Git's own files that decide which changes it shows, then its common folder.
    own_files: Vec<String>,
    /// The filters of the repository's own settings, which do not run.
    no_filters: Vec<OsString>,
    /// Whether every file is read, also if the index says that it has not changed.
    reads_contents: bool,
    /// The sandbox of the commands that run filters.
    confinement: Option<Confinement>,
    cancel: Option<Cancel>,
}

impl Git {
    /// Finds the git work tree of a folder, if there is one. Fails with `git_failed` if there is
    /// one and it cannot be used; `given_up` if git was killed by a cancellation.
    pub fn find(root: &Path, cancel: Option<&Cancel>) -> Result<Option<Self>> {
        let Some(top) = work_tree_of(root) else { return Ok(None) };
        check_files(top)?;
        let unfound = Self {
            root: root.to_owned(),
            place: Vec::new(),
            prefix: String::new(),
            folder: None,
            own_files: Vec::new(),
            no_filters: Vec::new(),
            reads_contents: false,
            confinement: None,
            cancel: cancel.cloned(),
        };
        let mut arguments = vec!["rev-parse", "--is-inside-work-tree", "--show-prefix"];
        arguments.extend(["--show-toplevel", "--absolute-git-dir"]);
        for file in view::FILES {
            arguments.extend(["--git-path", file]);
        }
        arguments.push("--git-common-dir");
        let outcome = unfound.start(&arguments, Vec::new())?;
        // `--show-toplevel` fails without a work tree, which is not an error here.
        let without = outcome.stdout.starts_with(b"false\n");
        if outcome.ending != Ending::Exited(0) && !without {
            return Err(unfound.failed("rev-parse", &outcome));
        }
        let not_text = |_| failure("the path of the repository within git is not UTF-8".to_owned());
        let output = String::from_utf8(outcome.stdout).map_err(not_text)?;
        let mut lines = output.lines();
        if lines.next() != Some("true") {
            return Ok(None);
        }
        let prefix = lines.next().unwrap_or_default().to_owned();
        let shown = lines.next().unwrap_or_default();
        // A worker could set `core.worktree`, so that git compares another folder.
        if !is_same(Path::new(shown), top) {
            let top = top.display();
            let message = format!("core.worktree makes git use {shown} instead of {top}; unset it");
            return Err(refusal(message));
        }
        let folder = lines.next().unwrap_or_default();
        let real = Path::new(folder).canonicalize().ok();
        let place = vec![format!("--git-dir={folder}"), format!("--work-tree={shown}")];
        let own_files = lines.map(str::to_owned).collect();
        let mut found = Self { folder: real, place, prefix, own_files, ..unfound };
        found.no_filters = found.own_filters()?;
        // A folder that the surrounding repository ignores is not under version control.
        let ignored = !found.prefix.is_empty() && {
            let look = found.start(&["check-ignore", "-q", "--", "."], Vec::new())?;
            look.ending == Ending::Exited(0)
        };
        Ok((!ignored).then_some(found))
    }

    /// The same, with the filters of the repository's own settings, which are programs. Only for
    /// settings that no worker can have changed unnoticed.
    #[must_use]
    pub fn with_filters(mut self) -> Self {
        self.no_filters.clear();
        self
    }

    /// The same, for the measure of a worker: every file is read, because a worker can write the
    /// index.
    #[must_use]
    pub fn reading_contents(mut self) -> Self {
        self.reads_contents = true;
        self
    }

    /// The same, whose filters run in a sandbox, or without one as a worker: they may be programs
    /// of the work tree, which a worker can write.
    pub(crate) fn confined(mut self, mut confinement: Option<Confinement>) -> Result<Self> {
        if let Some(confinement) = confinement.as_mut().filter(|it| it.mode != SandboxMode::Off) {
            // Its own settings are in the home, which is hidden.
            confinement.visible.extend(self.settings_files()?);
        }
        self.confinement = confinement;
        Ok(self)
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Checks that git knows who makes a commit. Fails with `git_failed`, with what to do.
    pub(crate) fn check_identity(&self) -> Result<()> {
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            self.ask(&["var", who], Vec::new())?;
        }
        Ok(())
    }

    fn ask(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>> {
        // File names are literal, also those with glob characters.
        let words = [&["--literal-pathspecs"], arguments].concat();
        self.taken(arguments, self.start(&words, input)?)
    }

    /// Asks about all files except the records of the run. They belong to no turn, and git would
    /// read a long record to its end to compare it.
    fn ask_about_files(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let records: Vec<String> =
            records().map(|path| format!(":(exclude,literal){path}")).collect();
        let places = ["--", "."].into_iter().chain(records.iter().map(String::as_str));
        let words: Vec<&str> = arguments.iter().copied().chain(places).collect();
        self.taken(arguments, self.start(&words, Vec::new())?)
    }

    fn taken(&self, arguments: &[&str], outcome: RunOutput) -> Result<Vec<u8>> {
        // Git only warns, and does not list the files in it.
        let words = String::from_utf8_lossy(&outcome.stderr);
        if let Some(line) = words.lines().find(|line| line.contains(UNREADABLE)) {
            return Err(refusal(format!("{line}; make the folder readable")));
        }
        if outcome.ending == Ending::Exited(0) && !outcome.stdout_truncated {
            return Ok(outcome.stdout);
        }
        Err(self.failed(arguments.first().copied().unwrap_or_default(), &outcome))
    }

    fn start(&self, arguments: &[&str], input: Vec<u8>) -> Result<RunOutput> {
        let place = self.place.iter().map(String::as_str);
        let words = SETTINGS.into_iter().chain(place).chain(arguments.iter().copied());
        let words = words.map(OsString::from);
        let mut invocation = Invocation::new(self.program(), words)
            .cwd(&self.root)
            // Without it `git status` writes the index that it has refreshed.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Replacement refs would show another content for the commit of the baseline.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // A worker could let git fetch a missing object, with a program of its own.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "")
            .env("LC_ALL", "C");
        for name in MISLEADING {
            invocation = invocation.without(name);
        }
        // As variables: the name of a filter can contain an equals sign.
        let mut count = 0;
        for filter in &self.no_filters {
            let off = ["clean", "process", "smudge"].map(|name| (name, ""));
            for (name, value) in off.into_iter().chain([("required", "false")]) {
                let mut key = OsString::from("filter.");
                key.push(filter);
                key.push(format!(".{name}"));
                invocation = invocation.env(format!("GIT_CONFIG_KEY_{count}"), key);
                invocation = invocation.env(format!("GIT_CONFIG_VALUE_{count}"), value);
                count += 1;
            }
        }
        invocation = invocation.env("GIT_CONFIG_COUNT", count.to_string());
        let is_any = |words: &[&str]| arguments.iter().any(|word| words.contains(word));
        if is_any(&WRITING) {
            // A filter of the command before could have put a link there.
            check_files(self.top())?;
        }
        if let Some(confinement) = &self.confinement
            && is_any(&[&READING[..], &WRITING[..]].concat())
        {
            let written = self.written(is_any(&WRITING));
            let confined = confinement.apply_to_tool(invocation.clone(), &written);
            let confined = confined.map_err(|error| failure(error.to_string()))?;
            if confined.is_none() && self.no_filters.is_empty() {
                let no_filters = self.own_filters()?;
                if !no_filters.is_empty() {
                    return Self { no_filters, ..self.clone() }.start(arguments, input);
                }
            }
            invocation = confined.unwrap_or(invocation);
        }
        // Not with `cancel`: a git that is killed leaves its lock file behind.
        let spec = Spec::new(invocation).stdin(input).time_limit(TIME_LIMIT);
        let spec = spec.stdout_limit(MAX_OUTPUT, Overflow::Kill);
        accord_process::run(&spec).map_err(|error| match error {
            StartError::NotFound { .. } => {
                failure("the repository uses git, but git is not on the PATH".to_owned())
            }
            other => failure(other.to_string()),
        })
    }

    /// What a command in a sandbox may change. The objects of large files are written when such a
    /// file is read.
    fn written(&self, writes: bool) -> Vec<PathBuf> {
        let folder = self.common().canonicalize().ok();
        match writes {
            true => folder.into_iter().chain(self.folder.clone()).collect(),
            false => {
                folder.map(|it| it.join("lfs")).filter(|lfs| lfs.is_dir()).into_iter().collect()
            }
        }
    }

    /// The first git in `PATH` that no worker can have put into the work tree.
    fn program(&self) -> OsString {
        let top = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let top = work_tree_of(&top).unwrap_or(&top);
        accord_process::find_outside("git", &[top]).map_or_else(|| "git".into(), OsString::from)
    }

    fn failed(&self, command: &str, outcome: &RunOutput) -> Failure {
        let cancelled_now = self.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        // The second signal kills every group, git included. That is not a failure of git.
        if cancelled_now && !matches!(outcome.ending, Ending::Exited(_)) {
            return cancelled();
        }
        if outcome.timed_out {
            let seconds = TIME_LIMIT.as_secs();
            return failure(format!("git {command} took more than {seconds} s"));
        }
        if outcome.stdout_truncated {
            return failure(format!("git {command} printed more than {MAX_OUTPUT} bytes"));
        }
        let words = String::from_utf8_lossy(&outcome.stderr);
        if NO_IDENTITY.iter().any(|part| words.contains(part)) {
            let refused = refusal("git does not know who makes the commit".to_owned());
            return refused.suggesting(SET_IDENTITY);
        }
        // On one line: git explains some errors at length.
        let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
        let words = lines.collect::<Vec<_>>().join(" ");
        let words: String = words.chars().take(2000).collect();
        refusal(format!("git {command}: {words} ({})", outcome.ending))
    }
}

fn records() -> impl Iterator<Item = String> {
    let records = [
        RecordFile::History,
        RecordFile::Ledger,
        RecordFile::Events,
        RecordFile::RepoDecisions,
        RecordFile::RunHistory,
        RecordFile::HookAudit,
        RecordFile::HookAnnotations,
    ];
    let records = records.into_iter().map(|record| record.path()).filter(RepoPath::is_operational);
    records.map(|path| path.to_string()).chain(["TALK.md".to_owned()])
}

fn failure(message: String) -> Failure {
    Failure::new(Code::XchainGitFailed, message)
}

fn refusal(message: String) -> Failure {
    failure(message).with(REFUSED, true)
}

/// Whether git itself reported the failure, because of the contents of the repository.
pub(crate) fn is_refusal(failure: &Failure) -> bool {
    let details = failure.details.as_ref();
    failure.code == Code::XchainGitFailed
        && details.is_some_and(|details| details.contains_key(REFUSED))
}

/// Paths for git: relative to the folder that it runs in, each followed by a zero byte.
fn list_of<'f>(files: impl IntoIterator<Item = &'f String>) -> Vec<u8> {
    files.into_iter().flat_map(|file| file.bytes().chain([0])).collect()
}

/// Fails if something else is in the place of a file that git reads first, or if git would write
/// through a link. In a linked work tree, the common folder has some of them.
fn check_files(top: &Path) -> Result<()> {
    let Some(folder) = git_folder(top) else { return Ok(()) };
    let is_other = |name: &&str| fs::metadata(folder.join(name)).is_ok_and(|it| !it.is_file());
    if let Some(name) = FIRST_READ.into_iter().find(is_other) {
        return Err(refusal(format!("{name} in git's folder is not a file")));
    }
    let common = fs::read_to_string(folder.join("commondir")).ok();
    let common = common.map(|path| folder.join(path.trim_end()));
    for folder in [&folder].into_iter().chain(&common) {
        let files = WRITTEN.into_iter().map(|name| (name, 0));
        for (name, levels) in files.chain(WRITTEN_BELOW) {
            check_written(folder, name, levels)?;
        }
    }
    Ok(())
}

/// Fails if git would write through a link, or into something that is no file.
fn check_written(folder: &Path, name: &str, levels: usize) -> Result<()> {
    let place = folder.join(name);
    let Ok(found) = place.symlink_metadata() else { return Ok(()) };
    if found.is_symlink() {
        // A link within the folder is how git stores a symbolic ref in old repositories.
        let target = place.canonicalize();
        if !target.is_ok_and(|target| target.starts_with(folder)) {
            return Err(refusal(format!("{name} in git's folder is a link to another folder")));
        }
    } else if !found.is_dir() && !found.is_file() {
        return Err(refusal(format!("{name} in git's folder is not a file")));
    }
    if levels == 0 || !found.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
        let below = format!("{name}/{}", entry.file_name().to_string_lossy());
        check_written(folder, &below, levels - 1)?;
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(one).is_some_and(|one| Some(one) == whole(other))
}

/// The folder with a `.git`: this one, or the nearest parent. Without one, git is not started.
///
/// An empty folder `.git` is no repository, as for git. While Codex works, its sandbox has one in
/// every folder without git where it may write, `/tmp` included.
pub(crate) fn work_tree_of(root: &Path) -> Option<&Path> {
    let has = |folder: &Path| {
        let git = folder.join(".git");
        match git.symlink_metadata() {
            Ok(about) => !(about.is_dir() && is_empty(&git)),
            // If it cannot be read, it may exist; git reports the error.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    };
    root.ancestors().find(|folder| has(folder))
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
