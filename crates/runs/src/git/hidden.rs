//! What the index says: changed files that git ignores on request (`update-index
//! --assume-unchanged`, `--skip-worktree`, a sparse checkout), and submodules.
//!
//! A worker can write the index, so that it has the size and the times of a changed file beside the
//! object of before. Then git does not read the file. Where a worker is judged, every file is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _};

use super::status::{names, unknown};
use super::{Git, marker};
use accord_runs_core::Result;

pub(super) struct Index {
    /// The entries of files that are hidden, or all entries if contents are read.
    entries: Vec<Vec<u8>>,
    /// A marker of them; `None` if nothing is hidden.
    pub(super) flags: Option<String>,
    /// The folders of submodules.
    pub(super) submodules: Vec<String>,
}

struct IndexEntry<'a> {
    mode: &'a [u8],
    object: &'a [u8],
    path: String,
}

impl Git {
    /// What the index says beyond the comparison of files.
    pub(super) fn index(&self) -> Result<Index> {
        let output = self.ask_about_files(&["ls-files", "-v", "-s", "-z", "--full-name"])?;
        let mut submodules = Vec::new();
        for entry in names(&output).filter(|entry| entry[1..].starts_with(b" 160000 ")) {
            submodules.push(self.index_entry(entry)?.path);
        }
        let flag = |entry: &[u8]| {
            let tab = entry.iter().position(|byte| *byte == b'\t').unwrap_or(0);
            format!("{}{}\n", char::from(entry[0]), String::from_utf8_lossy(&entry[tab..]))
        };
        let flags: String = names(&output).filter(|entry| is_hidden(entry)).map(flag).collect();
        let flags = (!flags.is_empty()).then(|| marker::of_text(&flags));
        let entries = names(&output).filter(|entry| self.reads_contents || is_hidden(entry));
        Ok(Index { entries: entries.map(<[u8]>::to_vec).collect(), flags, submodules })
    }

    /// The files that differ from the index and that git did not show. A file that a sparse
    /// checkout left out is not a change.
    pub(super) fn hidden(
        &self,
        index: &Index,
        shown: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>> {
        let mut changed = BTreeSet::new();
        let (mut same_kind, mut links) = (Vec::new(), Vec::new());
        for entry in &index.entries {
            let known = match self.index_entry(entry) {
                // Git reports it if it has changed.
                Err(_) if !is_hidden(entry) => continue,
                known => known?,
            };
            if !is_hidden(entry) && (known.mode == b"160000" || shown.contains(&known.path)) {
                continue;
            }
            let place = self.root.join(&known.path);
            match place.symlink_metadata() {
                Ok(found) if is_kind(&found, known.mode) => {
                    if found.is_file() {
                        same_kind.push(known);
                    } else if found.is_symlink() {
                        links.push((known, fs::read_link(&place).unwrap_or_default()));
                    }
                }
                Err(error) if marker::is_gone(&error) && entry[0].eq_ignore_ascii_case(&b's') => {}
                _ => drop(changed.insert(known.path)),
            }
        }
        let targets = self.blobs(links.iter().map(|(known, _)| known.object))?;
        for (known, target) in links {
            if targets.get(known.object).map(Vec::as_slice) != Some(target.as_os_str().as_bytes()) {
                changed.insert(known.path);
            }
        }
        let list: Vec<&str> = same_kind.iter().map(|known| known.path.as_str()).collect();
        if list.is_empty() {
            return Ok(changed);
        }
        // Valid paths contain no line breaks.
        let list = list.join("\n") + "\n";
        // Git applies its filters as `git add` does, so that converted line ends are no change.
        let output = self.ask(&["hash-object", "--stdin-paths"], list.into_bytes())?;
        let objects = output.split(|byte| *byte == b'\n');
        for (known, object) in same_kind.into_iter().zip(objects) {
            if known.object != object {
                changed.insert(known.path);
            }
        }
        Ok(changed)
    }

    /// The files whose entries in the index differ from a commit. A worker can write a tree into
    /// the index, so that git does not compare the entries below a folder.
    pub(super) fn staged_since(&self, index: &Index, commit: &str) -> Result<BTreeSet<String>> {
        let output = self.ask(&["ls-tree", "-r", "-z", "--full-tree", commit], Vec::new())?;
        let mut before: BTreeMap<String, (&[u8], &[u8])> = BTreeMap::new();
        for entry in names(&output) {
            let tab = entry.iter().position(|byte| *byte == b'\t').ok_or_else(|| unknown(entry))?;
            let mut words = entry[..tab].split(|byte| *byte == b' ');
            let (mode, object) = (words.next(), words.nth(1));
            let name = &entry[tab + 1..];
            let is_inside = name.starts_with(self.prefix.as_bytes());
            let path = is_inside.then(|| self.path(name).ok()).flatten();
            if let (Some(path), Some(mode), Some(object)) = (path, mode, object) {
                before.insert(path, (mode, object));
            }
        }
        let mut changed = BTreeSet::new();
        for entry in &index.entries {
            let Ok(known) = self.index_entry(entry) else { continue };
            if before.remove(&known.path) != Some((known.mode, known.object)) {
                changed.insert(known.path);
            }
        }
        let is_record = |path: &String| super::records().any(|record| record == *path);
        changed.extend(before.into_keys().filter(|path| !is_record(path)));
        Ok(changed)
    }

    /// The contents of blobs, by name.
    fn blobs<'n>(
        &self,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let list: Vec<u8> = names.flat_map(|name| [name, b"\n"].concat()).collect();
        let mut blobs = BTreeMap::new();
        if list.is_empty() {
            return Ok(blobs);
        }
        let output = self.ask(&["cat-file", "--batch"], list)?;
        let mut rest = output.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = head.split(' ');
            let (name, size) = (words.next().unwrap_or_default(), words.nth(1));
            // Without a size, the blob is missing.
            let size = size.and_then(|size| size.parse().ok()).unwrap_or(usize::MAX);
            let (blob, after) = match rest[end + 1..].split_at_checked(size) {
                Some((blob, after)) => (Some(blob), after.get(1..).unwrap_or_default()),
                None => (None, &rest[end + 1..]),
            };
            blobs.extend(blob.map(|blob| (name.as_bytes().to_vec(), blob.to_vec())));
            rest = after;
        }
        Ok(blobs)
    }

    /// Parses an entry: a letter, the mode, the object, the stage, a tab, the name.
    fn index_entry<'a>(&self, entry: &'a [u8]) -> Result<IndexEntry<'a>> {
        let tab = entry.iter().position(|byte| *byte == b'\t');
        let (about, name) = entry.split_at(tab.ok_or_else(|| unknown(entry))?);
        let word = |at: usize| about.split(|byte| *byte == b' ').nth(at);
        Ok(IndexEntry {
            mode: word(1).ok_or_else(|| unknown(entry))?,
            object: word(2).ok_or_else(|| unknown(entry))?,
            path: self.path(&name[1..])?,
        })
    }
}

/// Whether git ignores changes of the file: the letter is lower case (assume-unchanged) or `S`
/// (skip-worktree).
fn is_hidden(entry: &[u8]) -> bool {
    let letter = entry.first().copied().unwrap_or_default();
    letter.is_ascii_lowercase() || letter == b'S'
}

fn is_kind(found: &Metadata, mode: &[u8]) -> bool {
    match mode {
        b"120000" => found.is_symlink(),
        b"160000" => found.is_dir(),
        b"100755" => found.is_file() && found.permissions().mode() & 0o100 != 0,
        _ => found.is_file() && found.permissions().mode() & 0o100 == 0,
    }
}
