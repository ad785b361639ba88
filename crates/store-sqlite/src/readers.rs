//! Connections for reading, as many as are needed at once, up to a limit.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use accord_store::{Result, StoreError, Trouble};
use rusqlite::Connection;

use crate::connect;
use crate::error::Known as _;

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
    /// Those that were used last stand behind.
    idle: Vec<Idle>,
    open: usize,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    /// Whether nobody has used it since the last look.
    forgotten: bool,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, limit: usize) -> Self {
        Self {
            path,
            limit: limit.max(1),
            pool: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Runs `job` with a connection that sees one snapshot.
    pub(crate) fn with<T>(&self, job: impl FnOnce(&Connection) -> T) -> Result<T> {
        let lent = Lent {
            readers: self,
            connection: Some(self.take()?),
        };
        let connection = lent
            .connection
            .as_ref()
            .expect("it is given back on drop alone");
        connection
            .prepare_cached("BEGIN")
            .and_then(|mut begin| begin.execute(()))
            .known()?;
        let outcome = job(connection);
        connection
            .prepare_cached("COMMIT")
            .and_then(|mut end| end.execute(()))
            .known()?;
        Ok(outcome)
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        let pool = self.pool.lock();
        pool.unwrap_or_else(PoisonError::into_inner).open
    }

    /// Closes the connections that are not in use.
    pub(crate) fn close(&self) {
        self.keep(|_| false);
    }

    /// Closes the connections that nobody has used since this was called last.
    pub(crate) fn close_forgotten(&self) {
        self.keep(|idle| !std::mem::replace(&mut idle.forgotten, true));
    }

    /// Closes the connections that are not in use and not to be kept.
    fn keep(&self, kept: impl FnMut(&mut Idle) -> bool) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pool.idle.len();
        pool.idle.retain_mut(kept);
        pool.open -= before - pool.idle.len();
        drop(pool);
        self.returned.notify_all();
    }

    fn take(&self) -> Result<Connection> {
        let deadline = Instant::now() + PATIENCE;
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(idle) = pool.idle.pop() {
                return Ok(idle.connection);
            }
            if pool.open < self.limit {
                pool.open += 1;
                drop(pool);
                return connect::reader(&self.path).inspect_err(|_| self.closed());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::new(Trouble::Busy, "every reader is at work"));
            }
            let waited = self.returned.wait_timeout(pool, left);
            pool = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn closed(&self) {
        self.pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .open -= 1;
        self.returned.notify_one();
    }
}

/// A connection that goes back when its user is done, in whatever way.
struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        // A job that broke off left its snapshot open.
        if !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err() {
            drop(connection);
            self.readers.closed();
            return;
        }
        let mut pool = self
            .readers
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pool.idle.push(Idle {
            connection,
            forgotten: false,
        });
        drop(pool);
        self.readers.returned.notify_one();
    }
}
