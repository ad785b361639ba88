//! What the two sides of a merge or rebase in progress say about tasks, read from git. The work
//! tree cannot say it: task files are alike, so that git takes one for a renamed other one, and
//! mixes their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_process::{Ending, Invocation, Overflow, Spec, find_outside, run};
use accord_tasks_core::merge::{Origin, Sides, group};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How much of what git prints is read.
const OUTPUT: usize = 256 * 1024 * 1024;
/// What names the commit that is merged, rebased or picked.
const OTHERS: [&str; 3] = ["MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD"];

/// The task files of a commit: their objects.
type Files = BTreeSet<(String, String)>;

/// A merge, rebase or pick in progress.
pub(super) struct Merging {
    /// The tasks about which the sides differ, by the ids that they have now.
    pub(super) tasks: BTreeMap<TaskId, Vec<(Origin, Sides)>>,
    /// Paths that git could not merge, within the tree.
    pub(super) unmerged: BTreeSet<String>,
    git: Git,
    /// The commits: base, ours, theirs. None if only the index has the versions.
    commits: [Option<String>; 3],
}

/// The files of a folder in a commit: their objects and modes, by their paths in it.
pub(super) type Folder = BTreeMap<String, (String, bool)>;

/// What is merged now. `None` if nothing is, or git cannot say it.
pub(super) fn merging(root: &Path) -> Option<Merging> {
    let git = Git { root: root.to_owned(), program: find_outside("git", &[root])? };
    let commit = |name: &str| git.line(&["rev-parse", "--verify", "--quiet", name]);
    // Git leaves the name of the last commit behind when a rebase is finished.
    let is_rebased = ["rebase-merge", "rebase-apply"].iter().any(|name| {
        let path = git.line(&["rev-parse", "--git-path", name]);
        path.is_some_and(|path| root.join(path).exists())
    });
    let others = OTHERS.iter().filter(|name| **name != "REBASE_HEAD" || is_rebased);
    let other = others.into_iter().find_map(|name| Some((*name, commit(name)?)));
    let staged = git.unmerged();
    let unmerged = staged.iter().map(|(_, path, _)| path.clone()).collect();
    let (commits, files) = match other {
        Some((name, theirs)) => {
            let ours = commit("HEAD")?;
            let base = match name {
                "MERGE_HEAD" => git.line(&["merge-base", &ours, &theirs]),
                // One commit is applied: what it changed counts.
                _ => commit(&format!("{theirs}^")),
            };
            let commits = [base, Some(ours), Some(theirs)];
            let files = commits
                .each_ref()
                .map(|commit| commit.as_ref().map(|commit| git.files(commit)).unwrap_or_default());
            (commits, files)
        }
        // Another way to merge, such as a stash: the index has the versions.
        None if !staged.is_empty() => {
            let of = |stage: u8| {
                let of_stage = staged.iter().filter(|(one, ..)| *one == stage);
                let files = of_stage.filter(|(_, path, _)| is_task(path));
                files.map(|(_, path, object)| (path.clone(), object.clone())).collect::<Files>()
            };
            ([None, None, None], [of(1), of(2), of(3)])
        }
        None => return None,
    };
    let [base, ours, theirs] = &files;
    let is_same = |file: &&(String, String)| {
        base.contains(*file) && ours.contains(*file) && theirs.contains(*file)
    };
    let wanted = files.iter().flatten().filter(|file| !is_same(file));
    let texts = git.texts(&wanted.map(|(_, object)| object.clone()).collect())?;
    // A version belongs to the task that it says, wherever git put it.
    let read = |files: &Files| -> Vec<TaskFile> {
        let changed = files.iter().filter(|file| !is_same(file));
        let changed = changed.filter_map(|(_, object)| texts.get(object));
        changed.filter_map(|text| TaskFile::read(text).ok()).collect()
    };
    let tasks = group(read(base), read(ours), read(theirs));
    Some(Merging { tasks, unmerged, git, commits })
}

impl Merging {
    /// What names the merge of a task, so that it is done once.
    pub(super) fn key(&self, sides: &[(Origin, Sides)]) -> String {
        let mut all = format!("{:?}", self.commits);
        for (_, sides) in sides {
            for file in [&sides.ours, &sides.theirs].into_iter().flatten() {
                all.push_str(&file.text());
            }
        }
        let mut key = digest(all.as_bytes());
        key.truncate(16);
        key
    }

    pub(super) fn has_commits(&self) -> bool {
        self.commits.iter().any(Option::is_some)
    }

    /// The files of a folder on a side: 0 for the base, 1 for ours, 2 for theirs.
    pub(super) fn folder(&self, side: usize, path: &str) -> Folder {
        let Some(commit) = self.commits.get(side).and_then(Option::as_ref) else {
            return Folder::new();
        };
        let below = format!("{path}/");
        let entries = self.git.tree(commit, &below).into_iter();
        let inside = entries.filter_map(|(mode, object, path)| {
            let path = path.strip_prefix(&below)?.to_owned();
            matches!(&*mode, "100644" | "100755").then(|| (path, (object, mode == "100755")))
        });
        inside.collect()
    }

    /// The contents of objects.
    pub(super) fn contents(&self, objects: &BTreeSet<String>) -> Option<BTreeMap<String, Vec<u8>>> {
        self.git.contents(objects)
    }
}

/// Whether a path is that of a task file.
pub(super) fn is_task(path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let ["tasks", status, name] = names[..] else { return false };
    let id = name.strip_suffix(".md").and_then(|name| TaskId::parse(name).ok());
    Status::parse(status).is_some() && id.is_some()
}

struct Git {
    root: PathBuf,
    program: PathBuf,
}

impl Git {
    fn run(&self, args: &[&str], input: String) -> Option<Vec<u8>> {
        let git = Invocation::new(&self.program, args.iter().copied())
            .cwd(&self.root)
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0");
        let spec = Spec::new(git).stdin(input).time_limit(LIMIT);
        let ran = run(&spec.stdout_limit(OUTPUT, Overflow::Kill)).ok()?;
        matches!(ran.ending, Ending::Exited(0)).then_some(ran.stdout)
    }

    fn line(&self, args: &[&str]) -> Option<String> {
        let printed = String::from_utf8(self.run(args, String::new())?).ok()?;
        printed.lines().next().map(str::to_owned)
    }

    /// The entries below a path in a commit: their modes, objects and paths.
    fn tree(&self, commit: &str, below: &str) -> Vec<(String, String, String)> {
        let printed = self.run(&["ls-tree", "-r", "-z", commit, "--", below], String::new());
        let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
        let entries = printed.split('\0').filter_map(|entry| {
            let (about, path) = entry.split_once('\t')?;
            let mut about = about.split(' ');
            let (mode, kind, object) = (about.next()?, about.next()?, about.next()?);
            (kind == "blob").then(|| (mode.to_owned(), object.to_owned(), path.to_owned()))
        });
        entries.collect()
    }

    fn files(&self, commit: &str) -> Files {
        let entries = self.tree(commit, "tasks/").into_iter();
        let tasks = entries.filter(|(_, _, path)| is_task(path));
        tasks.map(|(_, object, path)| (path, object)).collect()
    }

    /// The stages, paths and objects that git could not merge.
    fn unmerged(&self) -> Vec<(u8, String, String)> {
        let printed = self.run(&["ls-files", "-u", "-z"], String::new()).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let entries = printed.split('\0').filter_map(|entry| {
            let (about, path) = entry.split_once('\t')?;
            let mut about = about.split(' ').skip(1);
            let (object, stage) = (about.next()?, about.next()?.parse().ok()?);
            Some((stage, path.to_owned(), object.to_owned()))
        });
        entries.collect()
    }

    /// The texts of objects.
    fn texts(&self, objects: &BTreeSet<String>) -> Option<BTreeMap<String, String>> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let contents = self.contents(objects)?.into_iter();
        Some(contents.map(|(object, bytes)| (object, text(bytes))).collect())
    }

    fn contents(&self, objects: &BTreeSet<String>) -> Option<BTreeMap<String, Vec<u8>>> {
        let input: String = objects.iter().map(|object| format!("{object}\n")).collect();
        if input.is_empty() {
            return Some(BTreeMap::new());
        }
        let printed = self.run(&["cat-file", "--batch"], input)?;
        let (mut texts, mut rest) = (BTreeMap::new(), &printed[..]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = head.split(' ');
            let (Some(object), Some("blob"), Some(length)) =
                (words.next(), words.next(), words.next().and_then(|it| it.parse::<usize>().ok()))
            else {
                return None;
            };
            let text = rest.get(end + 1..end + 1 + length)?;
            texts.insert(object.to_owned(), text.to_vec());
            rest = rest.get(end + length + 2..).unwrap_or_default();
        }
        Some(texts)
    }
}
