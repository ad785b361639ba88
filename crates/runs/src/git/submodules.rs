//! Submodules. To look for changes in one, git starts itself there, with settings that a worker can
//! write: filters, for example, are programs. So git never looks into a submodule for Accord, which
//! compares their files and settings itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};
use accord_process::is_git_state;
use accord_runs_core::Result;
use sha2::{Digest as _, Sha256};

use super::{Git, marker, state};

/// The first words of the names under which the view has the markers.
const SETTINGS: &str = "settings of the submodule ";
const FILES: &str = "files of the submodule ";

/// Files in git's folder of a submodule that name programs or other folders, or hide changes.
const OF_GIT: [&str; 8] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
];

/// How deep folders of submodules are looked for.
const DEPTH: usize = 8;
/// The longest file `.git` that is read.
const LONGEST_NAME: u64 = 8 * 1024;

/// The folders of git in its own folder: those of submodules, and of linked work trees.
const WITHIN: [&str; 2] = ["modules", "worktrees"];

impl Git {
    /// The markers of the settings in the folders of submodules and of linked work trees.
    pub(super) fn git_folders(&self) -> Result<BTreeMap<String, String>> {
        let mut marks = BTreeMap::new();
        for name in WITHIN {
            let folder = self.common().join(name);
            // A person may merge in another work tree, which is named only.
            let mut seen = Seen { without_state: name == WITHIN[1], ..Seen::default() };
            let looked = seen.settings_below(&folder, DEPTH);
            looked.map_err(|error| unreadable(&format!("{name} in git's folder"), &error))?;
            if folder.exists() {
                marks.insert(format!("settings in {name}"), digits(seen.settings));
            }
        }
        Ok(marks)
    }

    /// The markers of submodules, for the view.
    pub(super) fn submodules(&self, paths: &[String]) -> Result<BTreeMap<String, String>> {
        let mut marks = BTreeMap::new();
        for path in paths {
            let mut seen = Seen::default();
            let walked = seen.walk(&self.root.join(path));
            walked.map_err(|error| unreadable(&format!("the submodule {path}"), &error))?;
            marks.insert(format!("{SETTINGS}{path}"), digits(seen.settings));
            marks.insert(format!("{FILES}{path}"), digits(seen.files));
        }
        Ok(marks)
    }
}

fn digits(digest: Sha256) -> String {
    marker::of_digest(digest)
}

pub(super) fn unreadable(what: &str, error: &io::Error) -> Failure {
    Failure::new(Code::XchainFileSystemFailed, format!("{what} could not be read: {error}"))
}

/// Splits what the view has about the files of submodules from the rest: markers by path.
pub(super) fn take_files(view: &mut BTreeMap<String, String>) -> BTreeMap<String, String> {
    let files = view.extract_if(.., |name, _| name.starts_with(FILES));
    files.map(|(name, mark)| (name[FILES.len()..].to_owned(), mark)).collect()
}

#[derive(Default)]
struct Seen {
    settings: Sha256,
    files: Sha256,
    without_state: bool,
}

impl Seen {
    /// Looks at a folder, without following links. Times stand for contents: a submodule can be
    /// large, and the system sets the time of the last change of a file.
    fn walk(&mut self, folder: &Path) -> io::Result<()> {
        let mut entries = match fs::read_dir(folder) {
            Ok(entries) => entries.collect::<io::Result<Vec<_>>>()?,
            // It is not checked out.
            Err(error) if marker::is_gone(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (place, about) = (entry.path(), entry.metadata()?);
            if entry.file_name() == ".git" {
                self.settings_of(&place, about.is_file())?;
                continue;
            }
            self.files.update(entry.file_name().as_bytes());
            if about.is_dir() {
                self.files.update(b"/");
                self.walk(&place)?;
                self.files.update(b"/");
                continue;
            }
            let of = [i64::from(about.mode()), about.len().cast_signed(), about.mtime()];
            let times = [about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
            for number in of.into_iter().chain(times) {
                self.files.update(number.to_le_bytes());
            }
        }
        Ok(())
    }

    /// What decides which programs git starts in a repository with this `.git`: git's folder, or a
    /// file that names it.
    fn settings_of(&mut self, git: &Path, is_file: bool) -> io::Result<()> {
        let mut folder = git.to_owned();
        if is_file {
            let mut text = String::new();
            fs::File::open(git)?.take(LONGEST_NAME).read_to_string(&mut text)?;
            let named = text.trim().strip_prefix("gitdir: ").unwrap_or_default();
            self.settings.update(named);
            folder = git.with_file_name(named);
        }
        self.settings_in(&folder)
    }

    /// Looks for folders of git, also within each other.
    fn settings_below(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.is_dir() && !folder.is_symlink());
        folders.sort();
        for folder in folders {
            self.settings.update(folder.file_name().unwrap_or_default().as_bytes());
            if folder.join("HEAD").exists() {
                self.settings_in(&folder)?;
                self.settings_below(&folder.join(WITHIN[0]), depth)?;
            } else if depth > 0 {
                // The name of a submodule can have slashes.
                self.settings_below(&folder, depth - 1)?;
            }
        }
        Ok(())
    }

    fn settings_in(&mut self, folder: &Path) -> io::Result<()> {
        let hooks = fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = hooks.map(|hook| hook.path()).collect();
        files.retain(|hook| hook.extension().is_none_or(|it| it != "sample"));
        files.sort();
        files.extend(OF_GIT.map(|name| folder.join(name)));
        for file in files {
            self.settings.update(file.file_name().unwrap_or_default().as_bytes());
            self.settings.update(marker::read(&file)?);
        }
        let state = if self.without_state { BTreeMap::new() } else { state::marks(folder)? };
        for (name, mark) in state.into_iter().filter(|(name, _)| is_git_state(name)) {
            self.settings.update(name);
            self.settings.update(mark);
        }
        Ok(())
    }
}
