//! Folders of runs that are kept for people, and for how long.
//!
//! Invariants:
//! - the folder of a run whose worker runs is never removed;
//! - one whose end the hub was not told stays long enough for its worker to be started again.

use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use accord_system::now;
use accord_trees::Root;

use super::folder::{END, RUN, document, is_told};
use super::intent::{CLAIMS, runs};

/// In seconds.
const DAY: i64 = 86_400;
/// How long the folder of a run is kept whose files are not in the tree.
const KEPT: i64 = 14 * DAY;
/// How many of them are kept of a project.
const MOST_KEPT: usize = 20;
/// How long the folder of a run is kept that nobody ended.
const LEFT: i64 = 30 * DAY;

/// Removes the folders of earlier runs that are kept no longer, of all hubs and projects.
pub fn tidy(remote: &Path) {
    for project in folders(remote) {
        let mut kept = Vec::new();
        for run in folders(&project) {
            if run.file_name().is_some_and(|name| name == CLAIMS) {
                continue;
            }
            let Some((is_told, age)) = state(&run) else { continue };
            match is_told {
                true => kept.push((Reverse(age), run)),
                // What cannot be removed now is removed later.
                false if age > LEFT => drop(fs::remove_dir_all(run)),
                false => {}
            }
        }
        // The oldest come first.
        kept.sort();
        let excess = kept.len().saturating_sub(MOST_KEPT);
        for (number, (Reverse(age), run)) in kept.into_iter().enumerate() {
            if number < excess || age > KEPT {
                drop(fs::remove_dir_all(run));
            }
        }
    }
}

/// Whether the hub knows the end of a run, and how many seconds ago its worker wrote something
/// last; `None` if it is in use, or no folder of a run.
fn state(run: &Path) -> Option<(bool, i64)> {
    let disk = Root::open(run).ok()?;
    let known = document(&disk, RUN)?;
    if known.get("worker").is_none_or(runs) {
        return None;
    }
    let end = document(&disk, END);
    let at = |name: &str| run.join(name).metadata().map(|about| about.mtime()).ok();
    let last = [RUN, END].into_iter().filter_map(at).max()?;
    let age = now().unix_seconds() - last;
    Some((end.as_ref().is_some_and(is_told), age))
}

fn folders(above: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    // Not through a link.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.map(|entry| entry.path()).collect()
}
