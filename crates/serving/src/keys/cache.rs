//! Keys in memory, so that not every request reads the store.
//!
//! Invariants:
//! - An entry is used for at most [`MAX_AGE`] after the read that it comes from began. A revocation
//!   by another host is therefore seen within a second.
//! - A read that began before a revocation by this host leaves no entry behind.
//! - The number of entries is bounded, and so is that of ids that the store does not have.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use accord_base::{Caller, StoredKey};
use accord_store::KeyRow;
use parking_lot::Mutex;

/// How long an entry is used. Less than a second, to leave time for the read that replaces it.
const MAX_AGE: Duration = Duration::from_millis(500);
/// The most entries. Each takes about 1 KiB.
const MAX_ENTRIES: usize = 10_000;
/// The most ids that are known to be missing.
const MAX_MISSING: usize = 1_000;

/// A key as it was read from the store.
pub(super) struct CachedKey {
    pub row: KeyRow,
    pub stored: StoredKey,
    pub caller: Caller,
    /// When its use was last recorded, in milliseconds; 0 for never.
    pub used: AtomicI64,
}

/// Marks the beginning of a read.
#[derive(Clone, Copy)]
pub(super) struct ReadStart {
    at: Instant,
    generation: u64,
}

#[derive(Default)]
pub(super) struct KeyCache(Mutex<State>);

#[derive(Default)]
struct State {
    entries: BTreeMap<String, (Instant, Arc<CachedKey>)>,
    /// Ids that the store did not have, and when that was.
    missing: BTreeMap<String, Instant>,
    /// Grows with every revocation by this host.
    generation: u64,
    any_keys: bool,
    /// When the store was last found to have no keys.
    no_keys_at: Option<Instant>,
}

impl KeyCache {
    /// An entry that is recent enough to be used.
    pub(super) fn get(&self, key_id: &str) -> Option<Arc<CachedKey>> {
        let state = self.0.lock();
        let (read_at, key) = state.entries.get(key_id)?;
        (read_at.elapsed() < MAX_AGE).then(|| Arc::clone(key))
    }

    pub(super) fn start_read(&self) -> ReadStart {
        ReadStart { at: Instant::now(), generation: self.0.lock().generation }
    }

    /// Keeps a key that a read found.
    pub(super) fn insert(&self, start: ReadStart, key: Arc<CachedKey>) {
        let mut state = self.0.lock();
        // The read may have begun before a revocation and found the key valid.
        if state.generation != start.generation {
            return;
        }
        let key_id = key.row.key_id.clone();
        if let Some((_, old)) = state.entries.get(&key_id) {
            // The use may be recorded in memory and not yet in the store.
            let used = old.used.load(Ordering::Relaxed);
            key.used.fetch_max(used, Ordering::Relaxed);
        } else if state.entries.len() >= MAX_ENTRIES {
            state.entries.retain(|_, (read_at, _)| read_at.elapsed() < MAX_AGE);
            if state.entries.len() >= MAX_ENTRIES {
                return;
            }
        }
        // The age counts from the start of the read: the row may have changed right after it was
        // read.
        state.entries.insert(key_id, (start.at, key));
    }

    /// Whether the store has just been found to have no such key.
    pub(super) fn is_missing(&self, key_id: &str) -> bool {
        self.0.lock().missing.get(key_id).is_some_and(|read_at| read_at.elapsed() < MAX_AGE)
    }

    /// Keeps that a read found no key.
    pub(super) fn insert_missing(&self, start: ReadStart, key_id: &str) {
        let mut state = self.0.lock();
        if state.missing.len() >= MAX_MISSING {
            state.missing.retain(|_, read_at| read_at.elapsed() < MAX_AGE);
        }
        if state.missing.len() < MAX_MISSING {
            state.missing.insert(key_id.to_owned(), start.at);
        }
    }

    /// Sets when the use of a key was recorded back from `from` to `to`.
    pub(super) fn set_used(&self, key_id: &str, from: i64, to: i64) {
        if let Some((_, key)) = self.0.lock().entries.get(key_id) {
            // If it differs, another request has recorded its own use.
            let _ = key.used.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Forgets a key that was revoked, also for reads that are under way.
    pub(super) fn revoke(&self, key_id: &str) {
        let mut state = self.0.lock();
        state.generation += 1;
        state.entries.remove(key_id);
    }

    /// When the use of a key was last recorded, if it is in memory.
    pub(super) fn used(&self, key_id: &str) -> i64 {
        let state = self.0.lock();
        let entry = state.entries.get(key_id);
        entry.map_or(0, |(_, key)| key.used.load(Ordering::Relaxed))
    }

    /// Whether the store has keys; `None` if that must be read. Keys are never deleted, so "yes" is
    /// final.
    pub(super) fn has_keys(&self) -> Option<bool> {
        let state = self.0.lock();
        if state.any_keys {
            return Some(true);
        }
        let is_recent = state.no_keys_at.is_some_and(|at| at.elapsed() < MAX_AGE);
        is_recent.then_some(false)
    }

    pub(super) fn set_has_keys(&self, start: ReadStart, has_keys: bool) {
        let mut state = self.0.lock();
        state.any_keys |= has_keys;
        state.no_keys_at = Some(start.at);
    }
}
