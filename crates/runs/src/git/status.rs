//! Differences from a commit: committed since, changed, or new files.

use std::collections::{BTreeMap, BTreeSet};

use accord_canon::shorten_path;
use accord_contract::{Code, Failure};
use accord_process::Ending;
use accord_runs_core::{Baseline, Observation, RepoPath, Result};

use super::hidden::Index;
use super::submodules::take_files;
use super::{Git, failure, view};

/// Content markers by path.
type Markers = BTreeMap<String, String>;

/// Git does not look into submodules, where it would run the filters of a worker.
pub(super) const NOT_INTO: &str = "--ignore-submodules=dirty";

/// Names of files that differ, whatever the settings of the user say.
const DIFF: [&str; 7] =
    ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", NOT_INTO];

/// Begin the names of the markers of a commit's objects, and of those of its files that git
/// converts. The commit follows.
const OBJECTS_OF: &str = "objects of ";
const CONVERTED_OF: &str = "converted files of ";

/// The folder of reviews.
const REVIEWS: &str = ".agentxchain/reviews/";

/// Attributes with which git stores another text than the file has, beyond line ends and filters.
const CONVERTING: [&str; 2] = ["working-tree-encoding", "ident"];

/// The uncommitted changes, and the commit that they are based on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// The commit; the empty tree before the first one.
    pub head: String,
    /// Paths that differ from it, with a marker of their content; without the records of the run.
    pub dirty: BTreeMap<String, String>,
    /// Those that git does not track.
    pub untracked: BTreeSet<String>,
    /// Those that git ignores on request (see `hidden.rs`).
    pub hidden: BTreeSet<String>,
    /// Settings and files that decide which changes git shows, with their markers.
    pub view: BTreeMap<String, String>,
}

impl Changes {
    /// The paths that can be attributed to a turn. A hidden file is a choice of the user until it
    /// changes again.
    pub fn attributable(&self) -> impl Iterator<Item = &String> {
        let is_exempt = |path: &str| {
            let path = RepoPath::parse(path);
            path.is_ok_and(|path| path.is_operational() || path.is_baseline_exempt())
        };
        let seen = self.dirty.keys().filter(|path| !self.hidden.contains(*path));
        seen.filter(move |path| !is_exempt(path))
    }

    pub fn baseline(&self) -> Baseline {
        let dirty = self.dirty.iter().filter(|(path, _)| !is_operational(path));
        Baseline {
            head_ref: Some(self.head.clone()),
            way_ref: None,
            clean: self.attributable().next().is_none(),
            dirty: dirty.map(|(path, mark)| (path.clone(), mark.clone())).collect(),
            view: self.view.clone(),
        }
    }
}

impl Git {
    /// Reads the uncommitted changes. Fails with `git_failed`; `path_outside_repository` for an
    /// invalid path.
    pub fn changes(&self) -> Result<Changes> {
        let index = self.index()?;
        let view = self.view_with(&index)?;
        self.changes_in(index, view)
    }

    fn changes_in(&self, index: Index, view: BTreeMap<String, String>) -> Result<Changes> {
        // Everything that a setting could change is given as an option, so that no setting hides a
        // change. A rename is two changes here: one path is gone, another is new.
        let output = self.ask_about_files(&[
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--untracked-files=all",
            "--no-renames",
            NOT_INTO,
        ])?;
        let read = self.read_status(&output)?;
        // The base of a repository without commits is the empty tree.
        let empty_tree = || self.ask(&["hash-object", "-t", "tree", "--stdin"], Vec::new());
        let text = |output: Vec<u8>| String::from_utf8_lossy(&output).trim().to_owned();
        let head = read.head.map_or_else(|| empty_tree().map(text), Ok)?;
        let mut hidden = self.hidden(&index, &read.paths)?;
        let mut view = view;
        if self.reads_contents {
            view.extend(self.objects(&head)?);
            let staged = self.staged_since(&index, &head)?;
            hidden.extend(staged.into_iter().filter(|path| !read.paths.contains(path)));
        }
        let paths = read.paths.iter().chain(&read.untracked).chain(&hidden);
        Ok(Changes { head, dirty: self.marks(paths)?, untracked: read.untracked, hidden, view })
    }

    /// The commit that is checked out; `None` before the first one. Fails with `git_failed`.
    pub fn head(&self) -> Result<Option<String>> {
        let outcome = self.start(&["rev-parse", "--verify", "--quiet", "HEAD"], Vec::new())?;
        match outcome.ending {
            Ending::Exited(0) => {
                Ok(Some(String::from_utf8_lossy(&outcome.stdout).trim_end().into()))
            }
            Ending::Exited(1) => Ok(None),
            _ => Err(self.failed("rev-parse", &outcome)),
        }
    }

    /// The changes since a baseline: what differs now, and every path that a commit on the way
    /// changed. In a turn by hand, a person may change settings and refs of git. Fails like
    /// [`Git::changes`]; also if the commit of the baseline is invalid or no longer exists.
    pub fn observe(&self, baseline: Option<&Baseline>, by_hand: bool) -> Result<Observation> {
        let mut before = baseline.map(|baseline| baseline.view.clone()).unwrap_or_default();
        let files_before = take_files(&mut before);
        let is_of_commit =
            |name: &str| name.starts_with(OBJECTS_OF) || name.starts_with(CONVERTED_OF);
        let objects: Markers = before.extract_if(.., |name, _| is_of_commit(name)).collect();
        // As at the baseline: a file may differ from its object without a change.
        let git = Self { reads_contents: !objects.is_empty(), ..self.clone() };
        let index = git.index()?;
        let mut view = git.view_with(&index)?;
        git.settle_log(&before, &mut view)?;
        let files_now = take_files(&mut view);
        // Check this first: git runs filters while it reads files.
        let moved = view::check(&before, &view, by_hand)?;
        // With a baseline, the filters are those of then.
        let now = match before.is_empty() {
            true => git.changes_in(index, view)?,
            false => git.with_filters().changes_in(index, view)?,
        };
        let mut findings = Vec::new();
        if !moved.is_empty() {
            findings.push(format!("refs of git moved in the turn: {}", moved.join(", ")));
        }
        let mut seen = now.dirty.keys().filter(|path| !now.hidden.contains(*path));
        let dirty = seen.any(|path| !is_operational(path));
        let base = baseline.and_then(|baseline| baseline.head_ref.as_deref());
        for (name, mark) in objects {
            let is_same =
                self.objects(name.rsplit(' ').next().unwrap_or(&name))?.get(&name) == Some(&mark);
            // A file could then have another text, and the same object.
            if !is_same && name.starts_with(CONVERTED_OF) && !by_hand {
                let names = CONVERTING.join(", ");
                let message = format!("the {name} changed by attributes of git ({names})");
                let next = "let a person change .gitattributes between turns";
                return Err(view::changed(message).suggesting(next));
            }
            // Git does not compare an object with its name when it reads it.
            if !is_same && name.starts_with(OBJECTS_OF) {
                return Err(view::changed(format!("the {name} changed; run git fsck")));
            }
        }
        let mut changed = now.dirty.clone();
        let mut commits = 0;
        if let Some(base) = base.filter(|base| *base != now.head) {
            let start = baseline.and_then(|baseline| baseline.way_ref.as_deref());
            let way = self.way(base, start, &now.head)?;
            commits = way.commits;
            changed = self.since(base, &now, &way.paths)?;
            let known = baseline.map_or(&[][..], |baseline| &baseline.dirty);
            for (path, mark) in known.iter().filter(|(path, _)| way.paths.contains(path)) {
                // It is as it was, but a commit on the way has something else.
                if let Some(now) = changed.get_mut(path).filter(|now| *now == mark) {
                    now.insert_str(0, "committed:");
                }
            }
            let records = way.paths.iter().filter(|path| is_record(path));
            let records: Vec<&str> = records.map(String::as_str).collect();
            if !records.is_empty() {
                findings.push(format!("commits of the turn have records: {}", records.join(", ")));
            }
        }
        if !before.is_empty() {
            let differs = |(path, mark): &(String, String)| files_before.get(path) != Some(mark);
            changed.extend(files_now.into_iter().filter(differs));
        }
        findings.extend(self.nested(&changed, baseline));
        findings.extend(self.reviews(&changed, baseline)?);
        if changed.keys().any(|path| path.ends_with(".gitattributes")) {
            let converted = self.converted(changed.keys())?;
            let shown = converted.iter().map(|line| format!("git stores another text: {line}"));
            findings.extend(shown);
        }
        let uncommitted = now.dirty.into_keys().collect();
        let head_ref = Some(now.head);
        Ok(Observation {
            head_ref,
            dirty,
            changed,
            uncommitted,
            commits,
            findings,
            ..Observation::default()
        })
    }

    /// A marker of all files of a commit or a tree, with their modes and objects, and one of those
    /// that git converts.
    pub(super) fn objects(&self, commit: &str) -> Result<Markers> {
        check_name(commit)?;
        let output = self.ask(&["ls-tree", "-r", "-z", "--full-tree", commit], Vec::new())?;
        let mark = super::marker::of_text(&String::from_utf8_lossy(&output));
        let of_entry = |entry| std::str::from_utf8(entry).ok()?.split_once('\t');
        let paths = names(&output).filter_map(of_entry);
        let paths = paths.filter_map(|(_, path)| path.strip_prefix(&self.prefix));
        let converted = self.converted(&paths.map(str::to_owned).collect::<Vec<_>>())?;
        let converted = super::marker::of_text(&converted.join("\n"));
        let objects = (format!("{OBJECTS_OF}{commit}"), mark);
        Ok(Markers::from([objects, (format!("{CONVERTED_OF}{commit}"), converted)]))
    }

    /// The files of which git stores another text, each with the attribute.
    fn converted<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Result<Vec<String>> {
        let ask = [&["check-attr", "-z", "--stdin"], &CONVERTING[..]].concat();
        let output = self.ask(&ask, super::list_of(paths))?;
        let output = String::from_utf8_lossy(&output);
        let mut fields = output.split('\0');
        let mut converted = Vec::new();
        while let (Some(path), Some(name), Some(value)) =
            (fields.next(), fields.next(), fields.next())
        {
            if !["unspecified", "unset"].contains(&value) {
                converted.push(format!("{path} ({name}: {value})"));
            }
        }
        Ok(converted)
    }

    /// The git paths of all index entries that differ from the last commit, including those outside
    /// this repository, in the work tree around it.
    pub(super) fn staged(&self) -> Result<BTreeSet<Vec<u8>>> {
        let arguments = [&DIFF[..], &["--cached", "--no-relative"]].concat();
        let output = self.ask(&arguments, Vec::new())?;
        Ok(names(&output).map(<[u8]>::to_vec).collect())
    }

    /// The commits between two, and every path that one of them changed. A path that was changed
    /// back counts, too: a clone has both commits.
    fn way(&self, base: &str, start: Option<&str>, head: &str) -> Result<Way> {
        let mut arguments = vec!["rev-list".to_owned(), head.to_owned()];
        for known in [base].into_iter().chain(start) {
            check_name(known)?;
            // Before the first commit, it is the empty tree.
            if !self.ask(&["cat-file", "-t", known], Vec::new())?.starts_with(b"tree") {
                arguments.push(format!("^{known}"));
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let list = self.ask(&arguments, Vec::new())?;
        let commits = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        let mut way = Way { commits, paths: BTreeSet::new() };
        let changes = ["diff-tree", "--stdin", "-r", "-m", "--root", "--no-commit-id", "-z"];
        let output = self.ask(&[&changes[..], &["--name-only", "--no-renames"]].concat(), list)?;
        for name in names(&output) {
            // Paths outside of this repository, in the work tree around it, belong to nobody here.
            if name.starts_with(self.prefix.as_bytes()) {
                way.paths.insert(self.path(name)?);
            }
        }
        Ok(way)
    }

    /// The differences from a commit that is earlier than the present one, in the files and in the
    /// index, and the paths on the way.
    fn since(&self, base: &str, now: &Changes, way: &BTreeSet<String>) -> Result<Markers> {
        let is_record = |path: &&String| super::records().any(|record| record == **path);
        // `git diff` shows neither of them.
        let mut paths: BTreeSet<String> = now.untracked.union(&now.hidden).cloned().collect();
        paths.extend(way.iter().filter(|path| !is_record(path)).cloned());
        for place in [&[base][..], &["--cached", base]] {
            let output = self.ask_about_files(&[&DIFF[..], place].concat())?;
            for name in names(&output) {
                paths.insert(self.path(name)?);
            }
        }
        self.marks(paths.iter())
    }

    /// Repositories within the tree that are new since the baseline. Git runs their own settings
    /// when a person uses it there.
    fn nested(&self, changed: &Markers, baseline: Option<&Baseline>) -> Vec<String> {
        let known = baseline.map_or(&[][..], |baseline| &baseline.dirty);
        let is_known = |path: &str| known.iter().any(|(known, _)| known == path);
        let holds = |folder: &str, name: &str| self.root.join(folder).join(name).is_dir();
        let found = changed.iter().filter_map(|(path, mark)| {
            let bare = path.strip_suffix("HEAD").map(|folder| folder.trim_end_matches('/'));
            let bare = bare.filter(|it| holds(it, "objects") && holds(it, "refs"));
            let nested = (mark == "folder" && !is_known(path)).then_some(path.as_str());
            nested.or(bare).map(|place| format!("a repository of its own is in {place:?}"))
        });
        found.collect()
    }

    /// Reviews from before the turn that changed. They belong to no turn, and a person reads them.
    fn reviews(&self, changed: &Markers, baseline: Option<&Baseline>) -> Result<Option<String>> {
        let known = baseline.map_or(&[][..], |baseline| &baseline.dirty);
        let base = baseline.and_then(|baseline| baseline.head_ref.as_deref());
        let is_same = |path: &String, mark: &String| {
            known.iter().any(|(known, before)| (known, before) == (path, mark))
        };
        let differing = changed.iter().filter(|(path, mark)| !is_same(path, mark));
        let reviews = differing.filter(|(path, _)| path.starts_with(REVIEWS));
        let reviews: Vec<String> = reviews.map(|(path, _)| path.clone()).collect();
        let Some(base) = base.filter(|_| !reviews.is_empty()) else { return Ok(None) };
        let committed = self.committed(base, &reviews)?;
        let is_earlier = |path: &&String| {
            committed.contains(*path) || known.iter().any(|(known, _)| known == *path)
        };
        let earlier: Vec<&str> = reviews.iter().filter(is_earlier).map(String::as_str).collect();
        let named = || format!("earlier reviews changed in the turn: {}", earlier.join(", "));
        Ok((!earlier.is_empty()).then(named))
    }

    fn marks<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Result<Markers> {
        let mark = |path: &'p String| {
            // Records of the run belong to no turn.
            let is_record = is_operational(path);
            let mark =
                if is_record { Ok("run".into()) } else { super::marker::of(&self.root, path) };
            Ok((path.clone(), mark?))
        };
        paths.map(mark).collect()
    }

    fn read_status(&self, output: &[u8]) -> Result<Status> {
        let mut status = Status::default();
        for entry in names(output) {
            let (kind, rest) = entry.split_at(entry.len().min(2));
            match kind {
                b"# " => {
                    let head = rest.strip_prefix(b"branch.oid ");
                    if let Some(head) = head.filter(|head| *head != b"(initial)") {
                        status.head = Some(String::from_utf8_lossy(head).into_owned());
                    }
                }
                b"? " => drop(status.untracked.insert(self.path(rest)?)),
                b"1 " => drop(status.paths.insert(self.path(field(rest, 7)?)?)),
                b"u " => drop(status.paths.insert(self.path(field(rest, 9)?)?)),
                _ => return Err(unknown(entry)),
            }
        }
        Ok(status)
    }

    pub(super) fn path(&self, name: &[u8]) -> Result<String> {
        let strange = |name: &str| {
            let name = shorten_path(name);
            let what = "which is not a valid path in a run";
            let message = format!("git reports a change of {name:?}, {what}");
            Failure::new(Code::XchainPathOutsideRepository, message)
                .suggesting("rename the file, or let git ignore it")
        };
        let text = std::str::from_utf8(name);
        let text = text.map_err(|_| strange(&String::from_utf8_lossy(name)))?;
        // Git prints paths from the root of its work tree; the governed folder may be below it.
        let inside = text.strip_prefix(&self.prefix).unwrap_or(text);
        // The name of a nested repository ends with a slash.
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        match RepoPath::parse(inside) {
            // A change must not be attributed to another path, as a normalised one would be.
            Ok(path) if path.as_str() == inside => Ok(inside.to_owned()),
            _ => Err(strange(inside)),
        }
    }
}

struct Way {
    commits: usize,
    paths: BTreeSet<String>,
}

#[derive(Default)]
struct Status {
    head: Option<String>,
    paths: BTreeSet<String>,
    untracked: BTreeSet<String>,
}

/// Whether a path is what the next clone would take for the state of a run.
fn is_record(path: &str) -> bool {
    path == ".agentxchain/state.json"
        || path.starts_with(".agentxchain/") && super::records().any(|record| record == path)
}

fn is_operational(path: &str) -> bool {
    RepoPath::parse(path).is_ok_and(|path| path.is_operational())
}

/// Checks the name of a commit. It comes from the state file, which others write: it must not be an
/// option.
fn check_name(name: &str) -> Result<()> {
    let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hex && (4..=64).contains(&name.len()) {
        true => Ok(()),
        false => Err(failure(format!("the baseline {name:?} of the turn is not a commit"))),
    }
}

pub(super) fn names(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

fn field(entry: &[u8], fields: usize) -> Result<&[u8]> {
    entry.splitn(fields + 1, |byte| *byte == b' ').nth(fields).ok_or_else(|| unknown(entry))
}

pub(super) fn unknown(entry: &[u8]) -> Failure {
    let entry = String::from_utf8_lossy(entry);
    failure(format!("git printed {entry:?}, which cannot be parsed"))
}

#[cfg(test)]
mod tests {
    use accord_contract::testing::assemble;

    use super::*;

    /// Fuzz target for the output of `git status`.
    #[test]
    fn any_status_is_read_or_refused() {
        const PIECES: [&str; 16] = [
            "\0",
            "# branch.oid 0123abcd\0",
            "# branch.oid (initial)\0",
            "1 ",
            "1 .M N... 100644 100644 100644 0123 4567 ",
            "u UU N... 100644 100644 100644 100644 01 23 45 ",
            "? ",
            "! ",
            "src/lib.rs\0",
            "sub/",
            "../outside\0",
            "/absolute\0",
            " ",
            "\n",
            "é\0",
            ".git/config\0",
        ];
        let git = Git {
            root: "/nowhere".into(),
            place: Vec::new(),
            prefix: "sub/".to_owned(),
            folder: None,
            own_files: Vec::new(),
            no_filters: Vec::new(),
            reads_contents: false,
            confinement: None,
            cancel: None,
        };
        bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
            let assembled = assemble(&PIECES, input);
            for output in [input, assembled.as_bytes()] {
                let Ok(status) = git.read_status(output) else {
                    continue;
                };
                for path in status.paths.iter().chain(&status.untracked) {
                    assert_eq!(RepoPath::parse(path).unwrap().as_str(), path);
                }
            }
        });
    }
}
