//! A tree whose lock this process holds: commits, and the recovery of commits after a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use accord_contract::Object;

use crate::commit::{self, Attempt, Lengths, Write};
use crate::disk::{Disk, name, parent};
use crate::lock::{HeldLock, LockFile, now_ms};
use crate::{Result, TreeError, atomic, journal};

/// The age at which a temporary file counts as left behind, if there are no signs of a crash.
const LEFT_AFTER_MS: i64 = 60_000;

/// Where a protocol keeps its lock, journals and files, and how it reads its journals.
pub trait TreeFormat {
    type Error: From<TreeError>;
    /// What the protocol says about a recovered commit.
    type Detail;

    fn lock_file(&self) -> LockFile;

    /// The folders in which files are created or renamed, those of lock and journals included.
    /// They are synced after a crash, and temporary files in them are removed.
    fn folders(&self) -> Vec<String>;

    fn journals(&self) -> Result<Vec<String>, Self::Error>;

    /// When the commit of a journal happened. Journals are replayed in this order.
    fn prepared_at(&self, journal: &Object) -> Option<String>;

    /// What is left to do for a journal. If it fails, the journal stays, and the lock is not given.
    fn recover(&self, path: &str, journal: &Object) -> Result<Recovery<Self::Detail>, Self::Error>;
}

#[derive(Clone, Debug)]
pub struct Recovery<D> {
    pub writes: Vec<Write>,
    pub lengths: Lengths,
    /// What the protocol says about it.
    pub detail: D,
}

/// A commit of another process that was finished.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Recovered<D> {
    pub path: String,
    /// What the protocol says about it.
    pub detail: D,
    /// What could not be removed or written; see [`commit::apply`].
    pub left: Vec<String>,
}

/// A tree whose lock this process holds until this value is dropped.
pub struct LockedTree<F: TreeFormat> {
    disk: Arc<dyn Disk>,
    format: F,
    lock: HeldLock,
    recovered: Vec<Recovered<F::Detail>>,
    /// Whether a commit of this process is not applied in full.
    unfinished: AtomicBool,
}

impl<F: TreeFormat> LockedTree<F> {
    /// Takes the lock, and finishes the commits that other processes left unfinished.
    pub fn take(disk: Arc<dyn Disk>, format: F, timeout: Duration) -> Result<Self, F::Error> {
        let lock = HeldLock::take(&disk, format.lock_file(), timeout)?;
        let (recovered, unfinished) = (Vec::new(), AtomicBool::new(false));
        let mut tree = Self { disk, format, lock, recovered, unfinished };
        // Only after a crash: syncing every folder for each lock would be slow.
        if tree.lock.is_taken_over() {
            tree.sync_folders()?;
        }
        // Before anything is read: the files are not in the state of the last commit until then.
        tree.recovered = tree.recover()?;
        tree.remove_temporaries()?;
        Ok(tree)
    }

    pub fn format(&self) -> &F {
        &self.format
    }

    pub fn lock(&self) -> &HeldLock {
        &self.lock
    }

    /// The commits that were finished when the lock was taken.
    pub fn recovered(&self) -> &[Recovered<F::Detail>] {
        &self.recovered
    }

    /// Applies all writes or none. `document` makes the content of the journal. Returns what
    /// could not be removed. After [`TreeError::Unfinished`], the commit has happened: the next
    /// one, or the next holder of the lock, finishes it. After any other error nothing was written.
    pub fn commit(
        &self,
        journal: &str,
        document: impl FnOnce(&Lengths) -> Object,
        writes: &[Write],
    ) -> Result<Vec<String>, F::Error> {
        // The new commit was decided on the state after the pending one.
        if self.unfinished.load(Ordering::Acquire) {
            self.recover()?;
            self.unfinished.store(false, Ordering::Release);
        }
        // The lock may have been lost while hooks ran or the machine slept.
        self.lock.check()?;
        let disk = self.disk.as_ref();
        let lengths = commit::prepare(disk, writes)?;
        journal::write(disk, journal, &document(&lengths)).inspect_err(|error| {
            let happened = matches!(error, TreeError::Unfinished { .. });
            self.unfinished.store(happened, Ordering::Release);
        })?;
        // The journal is removed last: until then a crash is repaired by the next holder.
        let applied = commit::apply(disk, writes, &lengths, Attempt::First)
            .and_then(|left| journal::remove(disk, journal).map(|()| left));
        Ok(applied.map_err(|error| {
            self.unfinished.store(true, Ordering::Release);
            TreeError::unfinished(journal, error)
        })?)
    }

    /// Syncs what a process that ended may have created, renamed or removed without a sync: what
    /// is visible now may not be on the disk, and this process is about to rely on it.
    fn sync_folders(&self) -> Result<()> {
        for folder in std::iter::once(String::new()).chain(self.format.folders()) {
            if self.disk.list(&folder)?.is_some() {
                self.disk.sync_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Finishes what was left unfinished, oldest first.
    fn recover(&self) -> Result<Vec<Recovered<F::Detail>>, F::Error> {
        let mut journals = Vec::new();
        // A journal that is visible may not be on the disk yet. If it is applied and then lost in a
        // power failure, its commit would be applied only in part.
        if !self.format.journals()?.is_empty() {
            self.sync_folders()?;
        }
        for path in self.format.journals()? {
            if let Some(journal) = journal::read(self.disk.as_ref(), &path)? {
                journals.push((path, journal));
            }
        }
        // A later commit was decided on the state that an earlier one left. The name makes the
        // order of equal times the same on every attempt.
        journals.sort_by_cached_key(|(path, journal)| {
            (self.format.prepared_at(journal), name(path).to_owned())
        });
        journals.iter().map(|(path, journal)| self.replay(path, journal)).collect()
    }

    fn replay(&self, path: &str, journal: &Object) -> Result<Recovered<F::Detail>, F::Error> {
        let disk = self.disk.as_ref();
        let recovery = self.format.recover(path, journal)?;
        let applied = commit::apply(disk, &recovery.writes, &recovery.lengths, Attempt::Again);
        let left = applied.map_err(|error| match error {
            // The user needs the path of the journal as well as that of the obstacle.
            TreeError::Obstructed { .. } => TreeError::unfinished(path, error),
            other => other,
        })?;
        journal::remove(disk, path)?;
        Ok(Recovered { path: path.to_owned(), detail: recovery.detail, left })
    }

    /// Removes the temporary files of processes that ended while they wrote. A young one beside
    /// the lock stays: another process may be about to take the lock with it.
    fn remove_temporaries(&self) -> Result<()> {
        let crashed = self.lock.is_taken_over() || !self.recovered.is_empty();
        let lock_file = self.format.lock_file();
        for path in atomic::temporaries(self.disk.as_ref(), &self.format.folders())? {
            let modified = self.disk.stat(&path)?.map(|stat| stat.modified_ms);
            let old = modified.is_some_and(|modified| now_ms() - modified > LEFT_AFTER_MS);
            if old || crashed && parent(&path) != parent(&lock_file.path) {
                self.disk.remove_file(&path)?;
            }
        }
        Ok(())
    }
}
