//! What changed in the repository that an agent worked in, for a hub that does not have it: the
//! files that differ from the commit at which the agent began, and that it did not find so.

use std::collections::BTreeMap;

use accord_canon::sha256;
use accord_trees::{Disk, Kind, Root, read_file};

use super::observe::Observer;

/// The most bytes of what git prints about differences.
const MOST_OF_DIFF: usize = 8 * 1024 * 1024;
/// The longest file that is read. Of a longer one only the size is known.
const LONGEST: u64 = 64 * 1024 * 1024;
/// The longest new file whose text is a difference.
const LONGEST_NEW: usize = 1024 * 1024;
/// How many files are read. Of further ones only the name is known.
const MOST_READ: usize = 1_000;
/// What is the same whatever the repository configures.
const DIFF: [&str; 7] = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// A file that an agent changed, as it is now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChangedFile {
    /// Its path within the work tree of git.
    pub path: String,
    /// `None` for a file that is gone, and for what is no file.
    pub size: Option<u64>,
    pub sha256: Option<String>,
    /// The difference; `None` if it is not text, or too long.
    pub diff: Option<String>,
    pub is_binary: bool,
}

/// The files that differed before the agent began, with their digests.
pub(super) struct Before(BTreeMap<String, Option<String>>);

impl Observer<'_> {
    /// What differs from a commit before the agent begins.
    pub(super) fn before(&self, base: &str) -> Option<Before> {
        let root = Root::open(&self.work_tree_of_git()).ok()?;
        let paths = self.changed_paths(base)?;
        let of = |path: String| {
            let digest = content(&root, &path).1.map(|bytes| sha256(&bytes).hex());
            (path, digest)
        };
        Some(Before(paths.all().take(MOST_READ).map(of).collect()))
    }

    /// The files that the agent changed since.
    pub(super) fn changes(&self, base: &str, before: &Before) -> Option<Vec<ChangedFile>> {
        let root = Root::open(&self.work_tree_of_git()).ok()?;
        let paths = self.changed_paths(base)?;
        let diffs = self.diffs(base, &paths.known);
        let mut changed = Vec::new();
        for (number, path) in paths.all().enumerate() {
            let mut file = ChangedFile { path, ..ChangedFile::default() };
            if number >= MOST_READ {
                changed.push(file);
                continue;
            }
            let (size, bytes) = content(&root, &file.path);
            file.size = size;
            file.sha256 = bytes.as_deref().map(|bytes| sha256(bytes).hex());
            if before.0.get(&file.path).is_some_and(|digest| *digest == file.sha256) {
                continue;
            }
            let text = bytes.as_deref().map(std::str::from_utf8);
            file.is_binary = match text {
                Some(Ok(text)) => text.contains('\0'),
                Some(Err(_)) => true,
                None => false,
            };
            if !file.is_binary {
                let known = diffs.get(&file.path).cloned();
                file.diff = known.or_else(|| match text {
                    Some(Ok(text)) if number >= paths.known.len() => added(&file.path, text),
                    _ => None,
                });
            }
            changed.push(file);
        }
        Some(changed)
    }

    fn changed_paths(&self, base: &str) -> Option<Paths> {
        let names = |arguments: &[&str]| {
            let printed = self.git_output(arguments, MOST_OF_DIFF)?;
            let names = printed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
            Some(names.collect::<Vec<String>>())
        };
        let top = self.work_tree_of_git();
        let known = names(&[&DIFF[..], &["--name-only", "-z", base]].concat())?;
        let new = names(&["ls-files", "--others", "--exclude-standard", "--full-name", "-z"])?;
        let known = self.without_bookkeeping(&top, known);
        Some(Paths { known, new: self.without_bookkeeping(&top, new) })
    }

    /// The differences of files that git knows, by their paths.
    fn diffs(&self, base: &str, paths: &[String]) -> BTreeMap<String, String> {
        let arguments = [&DIFF[..], &[base, "--"]].concat();
        let printed = self.git_output(&arguments, MOST_OF_DIFF).unwrap_or_default();
        let text = String::from_utf8_lossy(&printed);
        let (mut found, mut head) = (BTreeMap::<String, String>::new(), String::new());
        for line in text.split_inclusive('\n') {
            // No line of a content begins so: each has a mark before it.
            if line.starts_with("diff --git ") {
                line.trim_end().clone_into(&mut head);
            }
            found.entry(head.clone()).or_default().push_str(line);
        }
        // A name that git quotes has no difference.
        let of = |path: &String| {
            let diff = found.remove(&format!("diff --git a/{path} b/{path}"))?;
            Some((path.clone(), diff))
        };
        paths.iter().filter_map(of).collect()
    }
}

struct Paths {
    /// Those that git knows.
    known: Vec<String>,
    new: Vec<String>,
}

impl Paths {
    fn all(&self) -> impl Iterator<Item = String> {
        self.known.iter().chain(&self.new).cloned()
    }
}

/// The size of a file, and its bytes if they are not too many. A link is no file.
fn content(root: &Root, path: &str) -> (Option<u64>, Option<Vec<u8>>) {
    let found = root.stat(path).ok().flatten().filter(|found| found.kind == Kind::File);
    let Some(found) = found else { return (None, None) };
    let bytes = read_file(root, path, LONGEST).ok().flatten();
    (Some(bytes.as_ref().map_or(found.length, |bytes| bytes.len() as u64)), bytes)
}

/// The difference of a file that git does not know.
fn added(path: &str, text: &str) -> Option<String> {
    if text.len() > LONGEST_NEW {
        return None;
    }
    let lines = text.lines().count();
    let mut diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n");
    for line in text.lines() {
        diff.push('+');
        diff.push_str(line);
        diff.push('\n');
    }
    Some(diff)
}
