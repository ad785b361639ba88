//! The files that an agent leaves in a folder of its task.
//!
//! What is not read has a mark: the numbers and times of the system, which an agent cannot set.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
use std::path::Path;

use accord_canon::{sha256, sha256_parts};
use accord_tasks_core::evidence::Output;
use accord_trees::{Disk, Kind, Result};

/// The most of `outputs/` that is looked at.
const OUTPUTS: Most = Most { files: 20_000, depth: 64 };
/// How many bytes of all outputs are hashed. A file that is longer than the rest has a mark.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;
/// How many files are marked below a folder that is not listed.
const MOST_MARKED: usize = 100_000;
/// What is read of an output at once.
const CHUNK: usize = 1024 * 1024;

/// The most that is listed of a folder.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) files: usize,
    /// How many folders may be inside each other.
    pub(crate) depth: usize,
}

/// What is not listed of a folder.
#[derive(Default)]
pub(crate) struct Others {
    pub(crate) count: u64,
    /// The first of them, each with its kind.
    pub(crate) named: Vec<String>,
    /// The marks of what is not read.
    pub(crate) marks: Vec<String>,
}

impl Others {
    fn add(&mut self, most: Most, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < most.files {
            self.named.push(name());
        }
    }

    fn mark(&mut self, place: &Path) {
        self.marks.push(mark(place));
        if self.marks.len() > OUTPUTS.files {
            self.marks = vec![sha256(self.marks.concat().as_bytes()).hex()];
        }
    }
}

/// The files in `outputs/` of a task, whose folder is `root`, and what is left out.
pub(crate) fn outputs(disk: &dyn Disk, root: &str) -> Result<(Vec<Output>, Others)> {
    let (paths, mut others) = files_below(disk, root, "outputs", OUTPUTS)?;
    let mut left = MOST_BYTES;
    let mut outputs = Vec::new();
    for path in paths {
        let place = disk.root_path().join(root).join(&path);
        let output = output(disk, root, path, &mut left)?;
        if output.sha256.is_none() {
            others.mark(&place);
        }
        outputs.push(output);
    }
    Ok((outputs, others))
}

/// A part of the files in a folder of a task.
pub(crate) struct Part<'a> {
    /// The folder: `outputs` or `inputs`.
    pub(crate) of: &'a str,
    /// The path after which it begins.
    pub(crate) after: Option<&'a str>,
    /// How many files it has at most.
    pub(crate) most: usize,
}

impl Part<'_> {
    /// Its files in the order of their paths, how many entries of the folder are no files, and how
    /// many files follow.
    pub(crate) fn list(&self, disk: &dyn Disk, root: &str) -> Result<(Vec<Output>, u64, u64)> {
        let (mut paths, others) = files_below(disk, root, self.of, OUTPUTS)?;
        paths.sort_unstable();
        paths.retain(|path| self.after.is_none_or(|after| path.as_str() > after));
        let more = paths.len().saturating_sub(self.most) as u64;
        paths.truncate(self.most);
        let mut left = MOST_BYTES;
        let outputs = paths.into_iter().map(|path| output(disk, root, path, &mut left));
        Ok((outputs.collect::<Result<_>>()?, others.count, more))
    }
}

/// A mark of a path and of what is below it, also behind a link.
fn mark(place: &Path) -> String {
    let (mut marks, mut left) = (Vec::new(), MOST_MARKED);
    let target = place.canonicalize().ok().filter(|_| place.is_symlink());
    for place in [Some(place), target.as_deref()].into_iter().flatten() {
        add_marks(place, &mut marks, &mut left);
    }
    sha256(&marks).hex()
}

fn add_marks(place: &Path, marks: &mut Vec<u8>, left: &mut usize) {
    let Some(rest) = left.checked_sub(1) else { return };
    *left = rest;
    marks.extend(place.file_name().unwrap_or_default().as_bytes());
    let Ok(about) = place.symlink_metadata() else { return };
    let numbers = [about.dev(), about.ino(), about.mode().into(), about.len()];
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    marks.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
    marks.extend(times.into_iter().flat_map(i64::to_le_bytes));
    let entries = about.is_dir().then(|| fs::read_dir(place)).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names.iter().for_each(|name| add_marks(&place.join(name), marks, left));
}

/// The files below a folder of a task, by their paths, and what is left out, as links are.
pub(crate) fn files_below(
    disk: &dyn Disk,
    root: &str,
    folder: &str,
    most: Most,
) -> Result<(Vec<String>, Others)> {
    let (mut found, mut others) = (Vec::new(), Others::default());
    collect(disk, root, folder, most, (&mut found, &mut others))?;
    Ok((found, others))
}

fn collect(
    disk: &dyn Disk,
    root: &str,
    folder: &str,
    most: Most,
    (found, others): (&mut Vec<String>, &mut Others),
) -> Result<()> {
    let entries = match disk.list(&format!("{root}/{folder}")) {
        // A link that leads outside, or a folder that may not be read.
        Err(error) if error.is_unreadable() => {
            others.add(most, || format!("{folder}: not readable"));
            return Ok(());
        }
        entries => entries?,
    };
    let entries = entries.unwrap_or_default();
    let place = disk.root_path().join(root).join(folder);
    if entries.iter().any(|entry| entry.name.contains(char::REPLACEMENT_CHARACTER)) {
        let names = fs::read_dir(&place).into_iter().flatten().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.retain(|name| OsStr::to_str(name).is_none());
        names.sort();
        names.iter().for_each(|name| others.mark(&place.join(name)));
    }
    for entry in entries {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            Kind::Folder if most.depth > 0 => {
                let inside = Most { depth: most.depth - 1, ..most };
                collect(disk, root, &path, inside, (&mut *found, &mut *others))?;
            }
            Kind::File if found.len() < most.files => found.push(path),
            Kind::Link => {
                let place = place.join(&entry.name);
                let target = fs::read_link(&place).unwrap_or_default();
                others.add(most, || format!("{path}: a link to {}", target.display()));
                others.mark(&place);
            }
            kind => {
                others.mark(&place.join(&entry.name));
                others.add(most, || format!("{path}: {kind:?}"));
            }
        }
    }
    Ok(())
}

/// The length of a file in a folder of a task.
pub(crate) fn length(disk: &dyn Disk, root: &str, path: &str) -> Result<u64> {
    Ok(disk.stat(&format!("{root}/{path}"))?.map_or(0, |stat| stat.length))
}

fn output(disk: &dyn Disk, root: &str, path: String, left: &mut u64) -> Result<Output> {
    let bytes = length(disk, root, &path)?;
    let whole = format!("{root}/{path}");
    let place = disk.root_path().join(&whole);
    let is_executable = place.symlink_metadata().is_ok_and(|about| about.mode() & 0o111 != 0);
    let rest = left.checked_sub(bytes);
    let content = rest.and_then(|_| disk.open(&whole).ok().flatten());
    *left = rest.unwrap_or(*left);
    let digest = content.and_then(|content| {
        let part = |at: u64| match content.read_at(at, CHUNK) {
            Ok(part) if part.is_empty() => None,
            part => Some(part),
        };
        let starts = (0..).map(|number: u64| number * CHUNK as u64);
        sha256_parts(starts.map_while(part)).ok()
    });
    Ok(Output { path, bytes, sha256: digest.map(|digest| digest.hex()), is_executable })
}
