//! Files of a repository that change while a worker works.
//!
//! A repository can have millions of files, so a look visits a limited number of entries and takes
//! a limited time. The next look continues where the last one stopped. `.git` and the records of
//! the run are left out: this program writes there itself. The folder of the turn's result counts.
//!
//! It is not known which process changed a file. A person who edits files, or another worker, keeps
//! a silent worker alive as well.

use std::fs::{self, Metadata, ReadDir};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use accord_runs_core::HOME;

use super::job::Job;

/// How many entries a look visits, and how long it takes, at most.
const LOOK: (usize, Duration) = (4_096, Duration::from_millis(20));
/// The same for the look before a worker is ended.
const LAST_LOOK: (usize, Duration) = (262_144, Duration::from_secs(1));

/// A walk through the files of a repository that never ends.
pub(super) struct FileChanges {
    root: PathBuf,
    staging: Option<PathBuf>,
    open: Option<(PathBuf, ReadDir)>,
    /// Folders that are still to be read in this round.
    pending: Vec<PathBuf>,
}

impl FileChanges {
    pub(super) fn new(job: &Job<'_>) -> Self {
        let staging = job.staging().parent().map(PathBuf::from);
        Self { root: job.root.to_owned(), staging, open: None, pending: Vec::new() }
    }

    /// The latest change after `since` that a short look finds.
    pub(super) fn look(&mut self, since: SystemTime) -> Option<SystemTime> {
        self.visit(since, LOOK)
    }

    /// The latest change after `since` that a long look finds.
    pub(super) fn last_look(&mut self, since: SystemTime) -> Option<SystemTime> {
        self.visit(since, LAST_LOOK)
    }

    fn visit(
        &mut self,
        since: SystemTime,
        (entries, time): (usize, Duration),
    ) -> Option<SystemTime> {
        let began = Instant::now();
        let mut latest = None;
        let mut rounds = 0;
        for _ in 0..entries {
            if began.elapsed() >= time {
                break;
            }
            let Some((folder, list)) = &mut self.open else {
                match self.pending.pop() {
                    // A folder that cannot be read has no changes that can be seen.
                    Some(folder) => {
                        self.open = fs::read_dir(&folder).ok().map(|list| (folder, list));
                    }
                    // A look visits every file once.
                    None if rounds > 0 => break,
                    None => {
                        rounds += 1;
                        self.pending.extend(self.staging.clone());
                        self.pending.push(self.root.clone());
                    }
                }
                continue;
            };
            let Some(entry) = list.next() else {
                self.open = None;
                continue;
            };
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            if *folder == self.root && (name == ".git" || name == HOME) {
                continue;
            }
            // Of the entry itself: a link is not followed.
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                self.pending.push(entry.path());
            }
            latest = latest.max(changed(&found).filter(|at| *at > since));
        }
        latest
    }
}

/// When a file changed last. This time is set by the system alone, unlike that of the content.
fn changed(file: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(file.ctime()).ok()?;
    let nanos = u32::try_from(file.ctime_nsec()).ok()?;
    Some(UNIX_EPOCH + Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    fn walk(root: PathBuf, staging: Option<PathBuf>) -> FileChanges {
        FileChanges { root, staging, open: None, pending: Vec::new() }
    }

    #[test]
    fn a_change_below_the_root_is_found_and_records_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let staging = root.join(".agentxchain/staging/turn_1");
        for below in [root.join("a/b"), root.join(".git"), staging.clone()] {
            create_dir_all(below).unwrap();
        }
        let mut walk = walk(root.clone(), Some(staging.clone()));
        let made = walk.look(UNIX_EPOCH).unwrap();
        assert_eq!(walk.look(made), None);
        write(root.join(".git/index"), "x").unwrap();
        write(root.join(".agentxchain/state.json"), "x").unwrap();
        assert_eq!(walk.look(made), None);
        // The clock of a file system can be coarse: the change is written until it is later.
        let later = |walk: &mut FileChanges, path: PathBuf, since| {
            let give_up = Instant::now() + Duration::from_secs(20);
            loop {
                write(&path, "x").unwrap();
                match walk.look(since) {
                    Some(found) => return found,
                    None => assert!(Instant::now() < give_up, "{path:?} is never later"),
                }
            }
        };
        let changed = later(&mut walk, root.join("a/b/c.txt"), made);
        later(&mut walk, staging.join("turn-result.json"), changed);
    }

    #[test]
    fn a_look_continues_where_the_last_one_stopped() {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..20 {
            write(folder.path().join(format!("{at}.txt")), "x").unwrap();
        }
        let mut walk = walk(folder.path().to_owned(), None);
        // Two steps open the folder, and each of the others visits one file.
        let few = (3, Duration::from_secs(60));
        let looks: Vec<bool> = (0..8).map(|_| walk.visit(UNIX_EPOCH, few).is_some()).collect();
        assert_eq!(looks, [true; 8]);
        let whole = (1_000, Duration::from_secs(60));
        assert!(walk.visit(UNIX_EPOCH, whole).is_some());
    }
}
