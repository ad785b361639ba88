//! Where git keeps the data of a work tree, and which of it a worker may change.

use std::fs;
use std::path::{Path, PathBuf};

use super::mounts::{Mount, Mounts};
use super::{GitAccess, HIDDEN, Missing};
use crate::work_tree::{is_git_folder, linked_folder, normal};

/// How deep submodules inside submodules are looked for.
const DEPTH: usize = 8;

/// What a commit in a linked work tree changes of the folder that all work trees share. The rest of
/// it belongs to the main one.
const OF_COMMITS: [&str; 3] = ["logs", "objects", "refs"];

/// In git's folder: what all work trees share, and what says where they are.
const SHARED: [&str; 6] = ["branches", "commondir", "gitdir", "remotes", "rr-cache", "shallow"];
/// Folders of operations in progress.
const IN_PROGRESS: [&str; 3] = ["rebase-apply", "rebase-merge", "sequencer"];
/// Where git was, which many commands write.
const BEFORE: [&str; 3] = ["FETCH_HEAD", "HEAD", "ORIG_HEAD"];

/// Whether the next command of a person takes over what is directly in git's folder under a name:
/// an operation in progress, a stash, a message, another folder.
pub fn is_git_state(name: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    is_shared_git_state(name)
        || IN_PROGRESS.contains(&name)
        || name.bytes().all(is_capital) && !BEFORE.contains(&name) && !name.ends_with("_EDITMSG")
}

/// Whether all work trees share what git's folder has under a name, or it says where they are.
pub fn is_shared_git_state(name: &str) -> bool {
    SHARED.contains(&name)
}

/// The words of `git` that show a difference in a repository that a worker can have changed: no
/// program of its settings runs, except filters, and git looks into no submodule.
pub const SHOW_DIFFERENCE: &str = "--no-replace-objects -c core.fsmonitor=false diff \
     --no-ext-diff --no-textconv --ignore-submodules=dirty";

/// The git data of a work tree.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Layout {
    /// The folder `.git` of the tree.
    Own,
    /// The file `.git` names a folder. A linked work tree has a common folder beside it.
    Linked { folder: PathBuf, common: Option<PathBuf> },
    /// A folder above has it.
    Above(PathBuf),
    /// There is none, and none may be planted.
    Absent,
}

impl Layout {
    /// The layout of a tree. A repository around the home folder does not count: it would show the
    /// home.
    pub(crate) fn of(tree: &Path, home: Option<&Path>) -> Self {
        let place = tree.join(".git");
        if place.is_dir() {
            return Self::Own;
        }
        if let Some((folder, common)) = linked_folder(tree) {
            return Self::Linked { folder, common };
        }
        let mut above = tree.ancestors().skip(1);
        // An empty folder is no repository.
        let has = |git: PathBuf| git.is_file() || is_git_folder(&git);
        let above = above.find(|folder| has(folder.join(".git")));
        // A link comes from a worker of the folder above.
        let above = above.filter(|above| !above.join(".git").is_symlink());
        let above = above.filter(|above| home.is_none_or(|home| !home.starts_with(above)));
        let above = above.filter(|above| !shows_hidden(above));
        above.map_or(Self::Absent, |folder| Self::Above(folder.to_owned()))
    }

    /// What must be protected although it may not exist. A worker that may commit must not change
    /// what git executes or follows.
    pub(crate) fn guarded(&self, tree: &Path, access: GitAccess) -> Vec<(PathBuf, Missing)> {
        let own = || vec![(tree.join(".git"), Missing::Folder)];
        let (main, folder) = match (self, access) {
            (Self::Own, GitAccess::Commit) => (tree.join(".git"), None),
            (Self::Linked { folder, common }, GitAccess::Commit) => match common {
                Some(common) => (common.clone(), Some(folder)),
                None => (folder.clone(), None),
            },
            _ => return own(),
        };
        let names = ["config", "config.worktree"];
        let mut guarded = Vec::from(names.map(|name| (main.join(name), Missing::File)));
        let folders = ["hooks", "info", "modules", "worktrees"];
        guarded.extend(folders.map(|name| (main.join(name), Missing::Folder)));
        guarded.push((main.join("commondir"), Missing::CommonFolder));
        if let Some(folder) = folder {
            let names = ["commondir", "gitdir", "config.worktree"];
            guarded.extend(names.map(|name| (folder.join(name), Missing::File)));
        }
        if !matches!(self, Self::Own) {
            guarded.extend(own());
        }
        guarded
    }

    /// The folders with git data outside of the work tree.
    pub(crate) fn outside(&self) -> Vec<PathBuf> {
        match self {
            Self::Linked { folder, common } => common.iter().chain([folder]).cloned().collect(),
            Self::Above(above) => vec![above.clone()],
            Self::Own | Self::Absent => Vec::new(),
        }
    }

    /// What a worker that commits changes outside of the work tree.
    pub(crate) fn changed(&self) -> Vec<PathBuf> {
        match self {
            Self::Linked { folder, common: Some(common) } => {
                let shared = OF_COMMITS.map(|name| common.join(name));
                shared.into_iter().chain([folder.clone()]).collect()
            }
            _ => self.data(),
        }
    }

    /// The list of packed refs that work trees share. Where it is missing, git would write a new
    /// one, and remove the refs that it has.
    pub(crate) fn packed_refs(&self) -> Option<PathBuf> {
        let Self::Linked { common: Some(common), .. } = self else { return None };
        Some(common.join("packed-refs"))
    }

    /// Whether a path is in git's data, where no worker changes anything.
    pub(crate) fn is_closed(&self, path: &Path) -> bool {
        let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        is_in(&self.data()) && !is_in(&self.changed())
    }

    /// The folders of git outside of the work tree, which it changes.
    pub(crate) fn data(&self) -> Vec<PathBuf> {
        match self {
            // The rest of that tree is not the worker's.
            Self::Above(above) => vec![above.join(".git")],
            _ => self.outside(),
        }
    }

    /// The folders with git data.
    pub(crate) fn mount(&self, tree: &Path, access: GitAccess, mounts: &mut Mounts) {
        if let (Self::Linked { common: Some(common), .. }, GitAccess::Commit) = (self, access) {
            // A new file here would be one of the main work tree. It is gone with the worker.
            mounts.add(common, Mount::Empty);
            let entries = fs::read_dir(common).into_iter().flatten().flatten();
            let is_kept = |entry: &fs::DirEntry| {
                let is_lock = entry.path().extension().is_some_and(|it| it == "lock");
                !is_lock && entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file())
            };
            entries.filter(is_kept).for_each(|entry| mounts.read_only(&entry.path()));
            self.changed().iter().for_each(|path| mounts.writable(path));
            return;
        }
        let at = |path: &Path| match access {
            GitAccess::Read => Mount::ReadOnly(path.to_owned()),
            GitAccess::Commit => Mount::Writable(path.to_owned()),
        };
        match self {
            Self::Own => mounts.add(tree.join(".git"), at(&tree.join(".git"))),
            Self::Linked { folder, common } => {
                let common = common.iter();
                for path in common.chain([folder]) {
                    mounts.add(path, at(path));
                }
            }
            // The rest of that tree belongs to it, so that git finds no file missing.
            Self::Above(above) => mounts.read_only(above),
            Self::Absent => {}
        }
    }
}

/// The folders of git that are in another one: those of submodules, and of linked work trees.
pub(crate) fn folders_within(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = Vec::from(["modules", "worktrees"].map(|name| (folder.join(name), 0)));
    while let Some((folder, depth)) = next.pop() {
        let below = fs::read_dir(folder).into_iter().flatten().flatten();
        let below = below.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
        for folder in below.map(|it| it.path()).filter(|_| depth < DEPTH) {
            // The name of a submodule can have slashes.
            let is_git = folder.join("HEAD").exists();
            next.push((if is_git { folder.join("modules") } else { folder.clone() }, depth + 1));
            found.extend(Some(folder).filter(|_| is_git));
        }
    }
    found
}

/// The submodules of a work tree that are checked out, also those inside of others. A worker could
/// let the file `.git` of one name a folder of its own.
pub(crate) fn submodules(tree: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![(tree.to_owned(), 0)];
    while let Some((tree, depth)) = next.pop() {
        let list = tree.join(".gitmodules");
        // A pipe in its place would be waited for.
        let is_file = list.symlink_metadata().is_ok_and(|found| found.is_file());
        let text = is_file.then(|| fs::read_to_string(list).unwrap_or_default());
        let text = text.unwrap_or_default();
        let values = text.lines().filter_map(|line| line.trim().split_once('='));
        for (_, path) in values.filter(|(name, _)| name.trim() == "path") {
            let path = normal(&tree.join(path.trim().trim_matches('"')));
            let is_inside = path.starts_with(&tree) && path != tree && !found.contains(&path);
            if is_inside && depth < DEPTH && path.join(".git").is_file() {
                next.push((path.clone(), depth + 1));
                found.push(path);
            }
        }
    }
    found
}

/// Whether a folder has one in it that is hidden. Anyone can make a repository in `/tmp`.
fn shows_hidden(folder: &Path) -> bool {
    HIDDEN.iter().any(|hidden| Path::new(hidden).starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(root: &Path, names: &[&str]) {
        for name in names {
            fs::create_dir_all(root.join(name)).unwrap();
        }
    }

    #[test]
    fn git_data_is_found_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        folders(&root, &["main/.git/objects", "main/.git/worktrees/w", "main/sub", "w", "none"]);
        let [main, worktree] = ["main", "w"].map(|name| root.join(name));
        let git = main.join(".git");
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let of = |tree: &Path| Layout::of(tree, None);
        assert_eq!(of(&main), Layout::Own);
        assert_eq!(of(&main.join("sub")), Layout::Above(main.clone()));
        assert_eq!(Layout::of(&main.join("sub"), Some(&main)), Layout::Absent);
        assert_eq!(of(&root.join("none")), Layout::Absent);
        let shown = ["/", "/tmp", "/var", "/tmp/shop"].map(|it| shows_hidden(Path::new(it)));
        assert_eq!(shown, [true, true, true, false]);

        let linked = git.join("worktrees/w");
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
        // A folder that is none of git is not shown.
        assert_eq!(of(&worktree), Layout::Absent);
        fs::write(linked.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
        fs::write(linked.join("HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        let expected = Layout::Linked { folder: linked, common: Some(git) };
        assert_eq!(of(&worktree), expected);
        // A folder of the worker that names the tree back, and another repository.
        folders(&root, &["w/fake", "fake/worktrees/w"]);
        for fake in [root.join("w/fake"), root.join("fake/worktrees/w")] {
            fs::write(worktree.join(".git"), format!("gitdir: {}\n", fake.display())).unwrap();
            let back = format!("{}\n", worktree.join(".git").display());
            fs::write(fake.join("gitdir"), back).unwrap();
            fs::write(fake.join("HEAD"), "ref: refs/heads/w\n").unwrap();
            fs::write(fake.join("commondir"), format!("{}\n", main.join(".git").display()))
                .unwrap();
            assert_eq!(of(&worktree), Layout::Absent);
        }
        // Another repository: it does not name this tree.
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", main.join(".git").display()))
            .unwrap();
        assert_eq!(of(&worktree), Layout::Absent);
        fs::write(main.join(".git/config"), "[core]\n\tworktree = ../../w\n").unwrap();
        assert!(matches!(of(&worktree), Layout::Linked { common: None, .. }));
    }

    #[test]
    fn a_worker_that_commits_cannot_change_what_git_executes() {
        let tree = Path::new("/r");
        let guarded = |layout: &Layout, access| {
            let guarded = layout.guarded(tree, access).into_iter();
            let shown = guarded.map(|(path, _)| path.display().to_string());
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(guarded(&Layout::Own, GitAccess::Read), "/r/.git");
        assert_eq!(
            guarded(&Layout::Own, GitAccess::Commit),
            "/r/.git/config /r/.git/config.worktree /r/.git/hooks /r/.git/info /r/.git/modules \
             /r/.git/worktrees /r/.git/commondir"
        );
        let (folder, common) = (PathBuf::from("/m/.git/worktrees/r"), PathBuf::from("/m/.git"));
        let linked = Layout::Linked { folder, common: Some(common) };
        assert_eq!(
            guarded(&linked, GitAccess::Commit),
            "/m/.git/config /m/.git/config.worktree /m/.git/hooks /m/.git/info /m/.git/modules \
             /m/.git/worktrees /m/.git/commondir /m/.git/worktrees/r/commondir \
             /m/.git/worktrees/r/gitdir /m/.git/worktrees/r/config.worktree /r/.git"
        );
        assert_eq!(guarded(&linked, GitAccess::Read), "/r/.git");
        for (path, closed) in [
            ("/m/.git/MERGE_HEAD", true),
            ("/m/.git/worktrees/other/HEAD", true),
            ("/m/.git/refs/heads/main", false),
            ("/m/.git/worktrees/r/HEAD", false),
            ("/r/.git", false),
        ] {
            assert_eq!(linked.is_closed(Path::new(path)), closed, "{path}");
        }
        assert_eq!(guarded(&Layout::Absent, GitAccess::Commit), "/r/.git");
    }

    #[test]
    fn submodules_are_found_inside_of_the_tree_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        folders(&root, &["tree/a/b", "other"]);
        for (name, text) in [
            ("tree/.gitmodules", "[submodule \"a\"]\n\tpath = a\n\tpath = ../other\n"),
            ("tree/a/.gitmodules", "[submodule \"b\"]\n\tpath = b\n"),
            ("tree/a/.git", "gitdir: x\n"),
            ("tree/a/b/.git", "gitdir: x\n"),
            ("other/.git", "gitdir: x\n"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        let expected = [root.join("tree/a"), root.join("tree/a/b")];
        assert_eq!(submodules(&root.join("tree")), expected);
    }
}
