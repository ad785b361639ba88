//! The store.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use accord_store::{Common, Listener, ReadUnit, Result, Store, StoreError, Trouble, WriteJob};

use crate::error::Known as _;
use crate::folder::Folder;
use crate::readers::Readers;
use crate::unit::Unit;
use crate::writer::{Counters, Listeners, Pace, Queue, Writer};
use crate::{Options, connect, migrate};

/// A store in a folder. Dropped, it finishes what waits and lets go of the folder.
pub struct SqliteStore {
    readers: Arc<Readers>,
    queue: Arc<Queue>,
    listeners: Arc<Listeners>,
    counters: Arc<Counters>,
    common: Common,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Let go of last.
    folder: Folder,
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Jobs that were carried out.
    pub jobs: u64,
    /// Commits that they shared.
    pub commits: u64,
    /// Jobs that wait.
    pub waiting: usize,
    /// Connections for reading that are open.
    pub readers: usize,
}

impl SqliteStore {
    /// Opens the store in a folder; creates both where they are not there, and brings an older
    /// format to this one.
    ///
    /// # Errors
    /// When another process has the folder, when it cannot be written, and when what is in it is
    /// damaged, no store, or in a later format.
    pub fn open(folder: &Path, options: &Options) -> Result<Self> {
        let folder = Folder::take(folder)?;
        folder.prepare()?;
        let path = folder.database();
        let connection = connect::writer(&path, options)?;
        migrate::migrate(&connection)?;
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
            pace: Pace::default(),
            rest: options.rest,
            #[cfg(feature = "testing")]
            delay: options.commit_delay,
        };
        let thread = std::thread::Builder::new().name("store-writer".to_owned());
        let thread = thread.spawn(move || writer.run()).known()?;
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

    /// What the store has done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            jobs: self.counters.jobs.load(Ordering::Relaxed),
            commits: self.counters.groups.load(Ordering::Relaxed),
            waiting: self.queue.waiting(),
            readers: self.readers.open(),
        }
    }

    /// Finishes what waits and lets go of the folder.
    ///
    /// # Errors
    /// When the writer broke off.
    pub fn close(self) -> Result<()> {
        self.finish()
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Finishes what waits and what is being read, and takes nothing more. The folder is let go of when the store is dropped.
    ///
    /// # Errors
    /// When the writer broke off.
    pub fn finish(&self) -> Result<()> {
        self.queue.close();
        // The last job may be what held the store last: the writer cannot wait for its own end.
        let writer = (self.thread.lock())
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let writer = writer.filter(|writer| writer.thread().id() != std::thread::current().id());
        let ended = writer.map(JoinHandle::join);
        match ended {
            Some(Err(_)) => Err(StoreError::new(Trouble::Broken, "the writer broke off")),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

impl Store for SqliteStore {
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()> {
        self.readers
            .with(|connection| job(&Unit::new(connection, self.common)))
    }

    fn submit(&self, job: Box<dyn WriteJob>) {
        self.queue.put(job);
    }

    fn listen(&self, listener: Listener) {
        self.listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // There is nobody left to tell.
        drop(self.finish());
    }
}
