//! The work trees of git: which folder is the top of one, and where its main one is.
//!
//! No git is started: only a few small files of git are read, each up to a limit. A worker can
//! write every file of its work tree, `.git` included. So a work tree counts as linked only if the
//! repository that it names, which is outside of it, names it back.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

/// The longest file of git that is read: one with a path, or the settings of a repository.
const LONGEST: u64 = 64 * 1024;

/// The folder in a repository that has a folder for each linked work tree.
const WORK_TREES: &str = "worktrees";

/// What a folder is to git.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GitFolder {
    /// The top of a work tree with a repository of its own, or of a submodule.
    Main,
    /// The top of a linked work tree, which `git worktree remove` deletes.
    Linked {
        /// The folder that all work trees of the repository share.
        repository: PathBuf,
        /// The main work tree.
        main: MainTree,
    },
    /// The top of a work tree that names a repository which does not name it back: one of the two
    /// was moved or removed.
    Stray { named: PathBuf },
    /// A bare repository.
    Bare,
}

/// The main work tree of a repository.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MainTree {
    /// Where it is.
    At(PathBuf),
    /// The repository is bare.
    None,
    /// The repository does not say where it is (`git init --separate-git-dir`).
    Unknown,
}

impl GitFolder {
    /// What a folder is. `None` for a folder that is nothing to git, or is inside of something.
    /// The path is absolute and has no links.
    pub fn of(folder: &Path) -> Option<Self> {
        let git = folder.join(".git");
        if git.is_dir() {
            // Work trees can stand beside a bare repository of this name.
            return (is_git_folder(&git) && !Settings::of(&git).is_bare).then_some(Self::Main);
        }
        if let Some((_, common)) = linked_folder(folder) {
            let linked =
                |repository: PathBuf| Self::Linked { main: main_of(&repository), repository };
            return Some(common.map_or(Self::Main, linked));
        }
        if let Some(named) = named_folder(folder) {
            let is_linked = named.parent().is_some_and(|above| above.ends_with(WORK_TREES));
            // The folder with a bare repository in it, and its work trees beside that.
            let is_main = is_git_folder(&named) && !Settings::of(&named).is_bare;
            return match is_linked {
                true => Some(Self::Stray { named }),
                false => is_main.then_some(Self::Main),
            };
        }
        let is_repository = is_git_folder(folder) && folder.join("refs").is_dir();
        (is_repository && Settings::of(folder).is_bare).then_some(Self::Bare)
    }
}

fn main_of(repository: &Path) -> MainTree {
    let settings = Settings::of(repository);
    if settings.is_bare {
        return MainTree::None;
    }
    let at = |main: Option<PathBuf>| main.map_or(MainTree::Unknown, MainTree::At);
    let Some(named) = settings.work_tree else {
        let above = repository.parent().filter(|_| repository.ends_with(".git"));
        return at(above.map(Path::to_owned));
    };
    let main = normal(&repository.join(named));
    let git = main.join(".git");
    let is_its = normal(&git) == repository
        || linked_folder(&main).is_some_and(|(folder, _)| folder == repository);
    at(is_its.then_some(main))
}

/// What the settings of a repository say about its main work tree.
#[derive(Debug, Default)]
struct Settings {
    is_bare: bool,
    work_tree: Option<String>,
}

impl Settings {
    fn of(repository: &Path) -> Self {
        let mut settings = Self::default();
        for name in ["config", "config.worktree"] {
            let text = read_small(&repository.join(name)).unwrap_or_default();
            let mut is_core = false;
            for line in text.lines().map(str::trim) {
                if let Some(section) = line.strip_prefix('[') {
                    let end = section.find(']').unwrap_or(section.len());
                    is_core = section[..end].trim().eq_ignore_ascii_case("core");
                    continue;
                }
                let (name, value) = line.split_once('=').unwrap_or((line, "true"));
                let (name, value) = (name.trim(), value.trim().trim_matches('"'));
                if is_core && name.eq_ignore_ascii_case("bare") {
                    let yes = ["true", "yes", "on", "1"];
                    settings.is_bare = yes.iter().any(|yes| value.eq_ignore_ascii_case(yes));
                } else if is_core && name.eq_ignore_ascii_case("worktree") {
                    settings.work_tree = Some(value.to_owned());
                }
            }
        }
        settings
    }
}

/// The folder that the file `.git` of a folder names.
fn named_folder(tree: &Path) -> Option<PathBuf> {
    let text = read_small(&tree.join(".git")).ok()?;
    Some(normal(&tree.join(text.strip_prefix("gitdir:")?.trim())))
}

/// The folder that the file `.git` of a tree names, if that folder names the tree, and the common
/// folder of a linked work tree. Each file is read once: another worker of the tree could exchange
/// it.
pub(crate) fn linked_folder(tree: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let path = named_folder(tree)?;
    let common = read_small(&path.join("commondir")).ok();
    let common = common.map(|common| normal(&path.join(common.trim_end())));
    // A folder in the tree comes from a worker.
    let is_elsewhere = !path.starts_with(normal(tree)) && !path.starts_with("/dev");
    let is_linked = is_git_folder(&path) && belongs_to(&path, tree);
    // Git put it there. A worker could name any repository.
    let is_joined = |common: &PathBuf| {
        let above = path.parent().filter(|above| above.ends_with(WORK_TREES));
        is_git_folder(common) && above.and_then(Path::parent) == Some(common)
    };
    let is_joined = common.as_ref().is_none_or(is_joined);
    (is_elsewhere && is_linked && is_joined).then_some((path, common))
}

/// Whether a git folder says that it is that of a tree. A worker can write the file `.git`, and
/// could name any repository in it.
fn belongs_to(folder: &Path, tree: &Path) -> bool {
    let tree = normal(tree);
    // A linked work tree.
    if let Ok(back) = read_small(&folder.join("gitdir")) {
        return normal(&folder.join(back.trim_end())) == tree.join(".git");
    }
    // A submodule.
    let named = Settings::of(folder).work_tree;
    named.is_some_and(|path| normal(&folder.join(path)) == tree)
}

/// Whether a folder is one of git. The file `.git` could name any folder, which would be visible
/// then.
pub(crate) fn is_git_folder(path: &Path) -> bool {
    path.join("HEAD").is_file()
        && (path.join("objects").is_dir() || path.join("commondir").is_file())
}

/// A path without `..`, which a mount needs.
pub(crate) fn normal(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let mut kept = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(kept.pop()),
                Component::CurDir => {}
                part => kept.push(part),
            }
        }
        kept
    })
}

/// Reads a file of git. Something else in its place, such as a pipe, is not waited for.
fn read_small(path: &Path) -> io::Result<String> {
    let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(no_wait).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(io::Error::other("it is no small file"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository as git makes it, with a linked work tree `w`.
    fn repository(root: &Path, git: &str, settings: &str) -> PathBuf {
        let git = root.join(git);
        let record = git.join("worktrees/w");
        for folder in [git.join("objects"), git.join("refs"), record.clone(), root.join("w")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), settings).unwrap();
        fs::write(record.join("HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(record.join("commondir"), "../..\n").unwrap();
        let back = format!("{}\n", root.join("w/.git").display());
        fs::write(record.join("gitdir"), back).unwrap();
        fs::write(root.join("w/.git"), format!("gitdir: {}\n", record.display())).unwrap();
        git
    }

    fn root(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().canonicalize().unwrap()
    }

    #[test]
    fn a_linked_work_tree_has_its_main_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = root(&folder);
        let git = repository(&root, "main/.git", "[core]\n\tbare = false\n");
        let main = MainTree::At(root.join("main"));
        let linked = GitFolder::Linked { repository: git.clone(), main };
        assert_eq!(GitFolder::of(&root.join("w")), Some(linked));
        assert_eq!(GitFolder::of(&root.join("main")), Some(GitFolder::Main));
        // The folder of git itself is inside of the work tree.
        assert_eq!(GitFolder::of(&git), None);
        assert_eq!(GitFolder::of(&root), None);
        // The work tree was moved.
        fs::rename(root.join("w"), root.join("v")).unwrap();
        let named = git.join("worktrees/w");
        assert_eq!(GitFolder::of(&root.join("v")), Some(GitFolder::Stray { named }));
    }

    #[test]
    fn a_bare_repository_has_no_main_work_tree() {
        for (git, settings, main) in [
            ("shop.git", "[core]\n\tbare = true\n", MainTree::None),
            // A name without a value is true.
            (".git", "[extensions]\n\tx = true\n[core]\n\tBare\n", MainTree::None),
            // It does not say where its work tree is.
            ("shop.git", "[core]\n\tbare = false\n", MainTree::Unknown),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = root(&folder);
            let repository = repository(&root, git, settings);
            let is_bare = main == MainTree::None;
            let linked = GitFolder::Linked { repository: repository.clone(), main };
            assert_eq!(GitFolder::of(&root.join("w")), Some(linked), "{git}");
            assert_eq!(GitFolder::of(&repository), is_bare.then_some(GitFolder::Bare), "{git}");
            assert_eq!(GitFolder::of(&root), None, "{git}");
        }
    }

    #[test]
    fn what_stands_in_the_place_of_a_small_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = root(&folder);
        repository(&root, "main/.git", "");
        let place = root.join("w/.git");
        fs::remove_file(&place).unwrap();
        let (mode, kind) = (rustix::fs::Mode::from_raw_mode(0o600), rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, &place, kind, mode, 0).unwrap();
        assert_eq!(GitFolder::of(&root.join("w")), None);
        fs::remove_file(&place).unwrap();
        fs::write(&place, format!("gitdir: {}", "x/".repeat(40_000))).unwrap();
        assert_eq!(GitFolder::of(&root.join("w")), None);
    }
}
