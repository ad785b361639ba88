//! What git, agents and editors execute or follow in a work tree, compared before and after a
//! worker. A sandbox protects some of it; this shows what was changed in spite of it, or without
//! one.

#![expect(clippy::disallowed_types, reason = "no worker can make a file with an equal mark")]

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, Hash as _, Hasher, RandomState};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::attempt::is_placeholder;
use super::git::{Layout, folders_within, is_git_state, submodules};
use super::{CLIENT_FILES, CLIENT_FOLDERS, Confinement, DATA_FOLDER, home_of_user};
use crate::namespace::open;

/// In a folder of git: settings and programs, besides what the next command would continue.
const OF_GIT: [&str; 6] =
    ["config", "config.worktree", "hooks", "info", "refs/replace", "objects/info/alternates"];
/// What makes a folder a tree of tasks, or one of a governed run.
const RECORDS: [&str; 4] =
    ["project.yaml", "agentxchain.json", "agentxchain-multi.json", ".agentxchain"];
/// How much of a file is compared. Of a longer one, its length and time count, too.
const MOST_BYTES: u64 = 1024 * 1024;
/// The most files of a folder that are compared, and how deep.
const MOST_FILES: usize = 2_000;
const DEPTH: usize = 8;

/// The state of these files at one moment.
#[derive(Debug)]
pub struct Guards {
    tree: PathBuf,
    /// Random, so that no worker can make a file with an equal mark.
    keys: RandomState,
    marks: BTreeMap<PathBuf, u64>,
    /// The folders of git, where other files can appear.
    folders: Vec<PathBuf>,
}

impl Confinement {
    /// The state of what is executed in the work tree, now.
    pub fn guards(&self) -> Guards {
        let tree = &self.tree;
        let names = CLIENT_FOLDERS.iter().chain(&CLIENT_FILES).chain([&DATA_FOLDER]);
        let clients = names.map(|name| tree.join(name));
        // The data folder of Accord changes all the time.
        let clients = clients.filter(|path| !self.hidden.contains(path));
        // A tree of tasks or a run that appears at the top is what the next command there uses.
        let records = RECORDS.map(|name| tree.join(name)).into_iter();
        let clients = clients.chain(records.filter(|path| path.symlink_metadata().is_err()));
        let layout = Layout::of(tree, home_of_user().as_deref());
        let own = tree.join(".git");
        let mut folders = layout.data();
        folders.extend(Some(own.clone()).filter(|_| layout == Layout::Own));
        let within: Vec<PathBuf> = folders.iter().flat_map(|it| folders_within(it)).collect();
        folders.extend(within.into_iter().filter(|it| !folders.contains(it)).collect::<Vec<_>>());
        let of_git = folders.iter().flat_map(|folder| OF_GIT.map(|name| folder.join(name)));
        let of_git = of_git.chain(folders.iter().flat_map(|folder| states(folder)));
        let hooks = folders.iter().filter_map(|folder| hooks_path(&folder.join("config"), tree));
        let modules = submodules(tree).into_iter().map(|module| module.join(".git"));
        let file = Some(own).filter(|own| !own.is_dir());
        let replaced = folders.iter().map(|folder| folder.join("packed-refs"));
        let paths = clients.chain(of_git).chain(hooks).chain(modules).chain(file).chain(replaced);
        let keys = RandomState::new();
        let marks = paths.map(|path| (path.clone(), mark(&keys, &path))).collect();
        Guards { tree: tree.clone(), keys, marks, folders }
    }
}

impl Guards {
    /// What is not as it was, by paths within the work tree where they are in it.
    pub fn changed(&self) -> Vec<String> {
        let new = self.folders.iter().flat_map(|folder| states(folder));
        let new = new.filter(|path| !self.marks.contains_key(path)).map(|path| (path, 0));
        let known = self.marks.iter().map(|(path, was)| (path.clone(), *was));
        let changed = known.chain(new).filter(|(path, was)| mark(&self.keys, path) != *was);
        let shown = |path: PathBuf| path.strip_prefix(&self.tree).unwrap_or(&path).to_owned();
        changed.map(|(path, _)| shown(path).display().to_string()).collect()
    }
}

/// What the next command would continue or believe, in a folder of git.
fn states(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_state = |entry: &fs::DirEntry| is_git_state(&entry.file_name().to_string_lossy());
    entries.filter(is_state).map(|entry| entry.path()).collect()
}

/// The folder of hooks that settings of git name, if it is in the work tree.
fn hooks_path(config: &Path, tree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(config).ok()?;
    let mut values = text.lines().filter_map(|line| line.trim().split_once('='));
    let (_, path) = values.find(|(name, _)| name.trim().eq_ignore_ascii_case("hookspath"))?;
    Some(tree.join(path.trim().trim_matches('"'))).filter(|path| path.starts_with(tree))
}

fn mark(keys: &RandomState, path: &Path) -> u64 {
    // What a sandbox puts in the place of a missing file says nothing.
    if path.symlink_metadata().is_err() || is_placeholder(path) {
        return 0;
    }
    let mut state = keys.build_hasher();
    let mut left = MOST_FILES;
    add(&mut state, path, DEPTH, &mut left);
    state.finish()
}

fn add(state: &mut impl Hasher, path: &Path, depth: usize, left: &mut usize) {
    let Ok(found) = path.symlink_metadata() else { return };
    *left = left.saturating_sub(1);
    // Its kind, and whether it can be executed.
    (found.mode() & 0o170_111).hash(state);
    if found.is_symlink() {
        fs::read_link(path).ok().hash(state);
    } else if found.is_file() {
        let mut bytes = Vec::new();
        let read = open(path).map(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
        drop(read);
        if path.file_name() == Some("packed-refs".as_ref()) {
            // Branches and tags move; only what replaces objects matters.
            let text = String::from_utf8_lossy(&bytes);
            text.lines()
                .filter(|line| line.contains("refs/replace/"))
                .for_each(|it| it.hash(state));
            return;
        }
        bytes.hash(state);
        if found.len() > MOST_BYTES {
            (found.len(), found.mtime(), found.mtime_nsec()).hash(state);
        }
    } else if found.is_dir() && depth > 0 {
        let names = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            if *left == 0 {
                return;
            }
            name.hash(state);
            add(state, &path.join(name), depth - 1, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{GitAccess, SandboxRules};

    #[test]
    fn what_is_executed_is_compared_and_placeholders_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        for name in [".git/objects", ".git/hooks", ".git/refs/replace", ".husky", ".claude", "src"]
        {
            fs::create_dir_all(tree.join(name)).unwrap();
        }
        let write = |name: &str, text: &str| fs::write(tree.join(name), text).unwrap();
        write(".git/HEAD", "ref: refs/heads/main\n");
        write(".git/config", "[core]\n\thooksPath = .husky\n");
        write(".git/packed-refs", "1 refs/heads/main\n");
        for name in [".git/worktrees/w", ".git/modules/m/hooks"] {
            fs::create_dir_all(tree.join(name)).unwrap();
        }
        write(".git/worktrees/w/HEAD", "ref: refs/heads/w\n");
        write(".git/modules/m/HEAD", "ref: refs/heads/main\n");
        let rules = SandboxRules::default();
        let guards = || rules.confine(&tree, GitAccess::Commit, Path::new("/none")).guards();
        let before = guards();
        write(".mcp.json", "");
        write("src/a.rs", "x");
        write(".git/packed-refs", "2 refs/heads/main\n");
        assert_eq!(before.changed(), Vec::<String>::new());
        for (name, text, shown) in [
            (".mcp.json", "{\"x\":1}", ".mcp.json"),
            (".git/config", "[core]\n\tfsmonitor = evil\n", ".git/config"),
            (".git/hooks/pre-commit", "x", ".git/hooks"),
            (".husky/pre-commit", "x", ".husky"),
            (".git/refs/replace/1", "2", ".git/refs/replace"),
            (".git/packed-refs", "1 refs/replace/2\n", ".git/packed-refs"),
            (".git/MERGE_HEAD", "1", ".git/MERGE_HEAD"),
            (".git/MERGE_AUTOSTASH", "1", ".git/MERGE_AUTOSTASH"),
            (".git/worktrees/w/commondir", "x", ".git/worktrees/w/commondir"),
            (".git/modules/m/hooks/pre-commit", "x", ".git/modules/m/hooks"),
            (".claude/settings.json", "{}", ".claude"),
            ("project.yaml", "id: shop", "project.yaml"),
            ("agentxchain.json", "{}", "agentxchain.json"),
        ] {
            // The hooks are in another place, once git has other settings.
            write(".git/config", "[core]\n\thooksPath = .husky\n");
            let before = guards();
            write(name, text);
            assert_eq!(before.changed(), [shown]);
        }
    }
}
