//! A pool of connections for reading, up to a limit. Invariant: once the pool is closed, no
//! connection is opened or kept: one that is in use is closed when it is returned.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use accord_store::{Result, StoreError, StoreErrorKind};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use crate::connect;
use crate::error::IntoStoreError as _;

/// The detail of the error after the pool was closed.
pub(crate) const CLOSED: &str = "the store is closed";

/// How long a read waits for a connection.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    limit: usize,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    /// The most recently used connections are at the end.
    idle: Vec<Idle>,
    open: usize,
    closed: bool,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    /// Whether it has been unused since the last check.
    forgotten: bool,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, limit: usize) -> Self {
        Self { path, limit: limit.max(1), pool: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `job` with a connection that sees one snapshot.
    pub(crate) fn with<T>(&self, job: impl FnOnce(&Connection) -> T) -> Result<T> {
        let lent = Lent { readers: self, connection: Some(self.take()?) };
        let connection = lent.connection.as_ref().expect("it is returned only on drop");
        // Without BEGIN, each statement of the job would see its own snapshot.
        connection.prepare_cached("BEGIN").and_then(|mut begin| begin.execute(())).store_error()?;
        let outcome = job(connection);
        connection.prepare_cached("COMMIT").and_then(|mut end| end.execute(())).store_error()?;
        Ok(outcome)
    }

    pub(crate) fn open(&self) -> usize {
        self.pool.lock().open
    }

    /// Refuses new reads, closes idle connections, and waits for the others, at most for `limit`.
    pub(crate) fn close(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut pool = self.pool.lock();
        pool.closed = true;
        pool.open -= pool.idle.len();
        pool.idle.clear();
        self.returned.notify_all();
        while pool.open > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.returned.wait_for(&mut pool, left);
        }
    }

    /// Closes the connections that were not used since the previous call.
    pub(crate) fn close_forgotten(&self) {
        let mut pool = self.pool.lock();
        let before = pool.idle.len();
        // Marked by one call, closed by the next unless used in between: this needs no clock.
        pool.idle.retain_mut(|idle| !std::mem::replace(&mut idle.forgotten, true));
        pool.open -= before - pool.idle.len();
        drop(pool);
        self.returned.notify_all();
    }

    fn take(&self) -> Result<Connection> {
        let deadline = Instant::now() + PATIENCE;
        let mut pool = self.pool.lock();
        loop {
            if pool.closed {
                return Err(StoreError::new(StoreErrorKind::Unavailable, CLOSED));
            }
            // The last returned first: under low load the others become idle and are closed.
            if let Some(idle) = pool.idle.pop() {
                return Ok(idle.connection);
            }
            if pool.open < self.limit {
                // Counted first, and opened without the lock, because opening reads the disk.
                pool.open += 1;
                drop(pool);
                return connect::reader(&self.path).inspect_err(|_| self.closed());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let detail = "all connections for reading are in use";
                return Err(StoreError::new(StoreErrorKind::Busy, detail));
            }
            self.returned.wait_for(&mut pool, left);
        }
    }

    fn closed(&self) {
        self.pool.lock().open -= 1;
        // Readers and the closing thread may both be waiting.
        self.returned.notify_all();
    }
}

/// A connection that returns to the pool when it is dropped.
struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        // A job that panicked left its snapshot open.
        let is_lost = !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err();
        let mut pool = self.readers.pool.lock();
        if is_lost || pool.closed {
            drop(pool);
            // Closed before it is counted: the thread that waits for the count closes the last one.
            drop(connection);
            return self.readers.closed();
        }
        pool.idle.push(Idle { connection, forgotten: false });
        drop(pool);
        self.readers.returned.notify_one();
    }
}
