//! Syncs of the tree while commits go on, so that a log is emptied quickly. A log is emptied after
//! a sync of everything that it says. If all of it were written out only then, all callers would
//! wait for the disk. So a process that writes much to a log syncs the tree before, in another
//! thread. The sync that empties the log still follows, and finds less to do.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crate::disk::Disk;
use crate::{Result, TreeError};

/// How often the tree is synced for each log, with the sync that empties it.
const PER_LOG: u64 = 4;

#[derive(Default)]
pub(super) struct EarlySync {
    running: Option<JoinHandle<Result<()>>>,
    /// The system reports an error of a file once: the sync that empties the log would not get it.
    error: Option<TreeError>,
    /// The bytes that this process appended to the log since it started the last sync.
    appended: u64,
}

impl EarlySync {
    /// Notes bytes that were appended to a log, which is emptied at the length `full`. Starts a
    /// sync if they are many. A disk with one lane does one thing at a time.
    pub(super) fn note(&mut self, appended: u64, full: u64, disk: &Arc<dyn Disk>) {
        self.appended += appended;
        let is_running = self.running.as_ref().is_some_and(|sync| !sync.is_finished());
        if self.appended < full / PER_LOG || disk.lanes() == 1 || is_running {
            return;
        }
        self.join();
        if self.error.is_some() {
            return;
        }
        self.appended = 0;
        let disk = Arc::clone(disk);
        let sync = Builder::new().name("accord-sync".to_owned()).spawn(move || disk.sync_tree());
        // Without a thread, the sync that empties the log does everything.
        self.running = sync.ok();
    }

    /// Waits for the sync that runs. Fails if one failed: the log must not be emptied now.
    pub(super) fn end(&mut self) -> Result<()> {
        self.join();
        self.appended = 0;
        self.error.take().map_or(Ok(()), Err)
    }

    fn join(&mut self) {
        if let Some(running) = self.running.take()
            && let Ok(Err(error)) = running.join()
        {
            self.error = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;

    #[test]
    fn the_tree_is_synced_after_a_part_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        let mut early = EarlySync::default();
        early.note(24, 100, &disk);
        assert!(early.running.is_none());
        early.note(1, 100, &disk);
        assert_eq!(early.running.is_some(), disk.lanes() > 1);
        assert_eq!(early.appended == 0, disk.lanes() > 1);
        early.end().unwrap();
        assert!(early.running.is_none());
    }

    #[test]
    fn a_failed_sync_is_reported_to_the_one_who_empties_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        let failed = || Err(TreeError::system("", "synced", std::io::Error::other("gone")));
        let mut early =
            EarlySync { running: Some(std::thread::spawn(failed)), ..EarlySync::default() };
        while early.running.as_ref().is_some_and(|sync| !sync.is_finished()) {
            std::thread::yield_now();
        }
        // No other sync is started until someone has the error.
        early.note(100, 100, &disk);
        assert!(early.running.is_none());
        assert!(early.end().unwrap_err().to_string().contains("gone"));
        early.end().unwrap();
    }
}
