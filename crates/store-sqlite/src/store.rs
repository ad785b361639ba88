//! The store.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use accord_store::{
    CommonTermLimits, Engine, Listener, Listeners, Progress, ReadUnit, Result, Statistics, Store,
    StoreError, StoreErrorKind, WriteJob,
};
use parking_lot::Mutex;

use crate::error::IntoStoreError as _;
use crate::folder::Folder;
use crate::readers::Readers;
use crate::unit::Unit;
use crate::writer::{Counters, GroupWait, Queue, Writer};
use crate::{Options, connect, migrate, upkeep};

/// A store in a folder. Dropping it finishes waiting jobs and unlocks the folder.
pub struct SqliteStore {
    readers: Arc<Readers>,
    queue: Arc<Queue>,
    listeners: Arc<Listeners>,
    counters: Arc<Counters>,
    common: CommonTermLimits,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Dropped last, so that the folder is locked until everything else is closed.
    folder: Folder,
}

impl SqliteStore {
    /// Opens the store in a folder. Creates both if needed, and migrates an older format.
    pub fn open(folder: &Path, options: &Options) -> Result<Self> {
        // The lock comes first: everything below changes files.
        let folder = Folder::take(folder)?;
        folder.prepare()?;
        let path = folder.database();
        let connection = connect::writer(&path, options)?;
        migrate::migrate(&connection)?;
        // Otherwise a power loss could remove the new files together with acknowledged commits.
        folder.sync()?;
        let queue = Arc::new(Queue::new(options));
        let listeners = Arc::new(Listeners::default());
        let counters = Arc::new(Counters::default());
        let readers = Arc::new(Readers::new(path, options.readers));
        let writer = Writer {
            connection,
            readers: Arc::clone(&readers),
            queue: Arc::clone(&queue),
            listeners: Arc::clone(&listeners),
            counters: Arc::clone(&counters),
            common: options.common,
            group: options.group.max(1),
            pace: GroupWait::default(),
            rest: options.rest,
            #[cfg(feature = "testing")]
            delay: options.commit_delay,
        };
        let thread = std::thread::Builder::new().name("store-writer".to_owned());
        let thread = thread.spawn(move || writer.run()).store_error()?;
        Ok(Self {
            readers,
            queue,
            listeners,
            counters,
            common: options.common,
            thread: Mutex::new(Some(thread)),
            folder,
        })
    }
}

impl Store for SqliteStore {
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()> {
        self.readers.with(|connection| job(&Unit::new(connection, self.common)))
    }

    fn submit(&self, job: Box<dyn WriteJob>) {
        self.queue.put(job);
    }

    fn subscribe(&self, listener: Weak<dyn Listener>) {
        self.listeners.add(listener);
    }
}

impl Engine for SqliteStore {
    fn format(&self) -> u32 {
        migrate::FORMAT
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            jobs: self.counters.jobs.load(Ordering::Relaxed),
            commits: self.counters.groups.load(Ordering::Relaxed),
            waiting: self.queue.waiting(),
            readers: self.readers.open(),
        }
    }

    fn check(&self) -> Result<()> {
        // A new connection: one that has searched takes changes of the index for damage.
        upkeep::check(&self.folder.database())
    }

    fn backup(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()> {
        upkeep::backup(&self.folder.database(), to, report)
    }

    /// Finishes waiting jobs and running reads. The folder stays locked until the store is dropped.
    fn close(&self) -> Result<()> {
        self.queue.close();
        // The last job may own the last reference to the store. The writer cannot join itself.
        let writer = self.thread.lock().take();
        let writer = writer.filter(|writer| writer.thread().id() != std::thread::current().id());
        match writer.map(JoinHandle::join) {
            Some(Err(_)) => Err(StoreError::new(StoreErrorKind::Broken, "the writer panicked")),
            Some(Ok(())) | None => Ok(()),
        }
    }

    fn check_backup(backup: &Path) -> Result<()> {
        upkeep::check(backup)
    }

    fn restore(backup: &Path, folder: &Path, replace: bool) -> Result<()> {
        upkeep::restore(backup, folder, replace)
    }

    fn compact(folder: &Path) -> Result<(u64, u64)> {
        upkeep::compact(folder)
    }

    fn repair(folder: &Path, rebuild: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        upkeep::repair(folder, rebuild)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        drop(self.close());
    }
}
