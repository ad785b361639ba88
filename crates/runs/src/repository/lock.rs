//! `locks/accept-turn.lock`, the lock that every runner of AgentXchain honours.

use std::time::Duration;

use accord_contract::{Time, Value};
use accord_runs_core::HOME;
use accord_runs_core::lock::{Lock, RENEW_EVERY_MS, STALE_AFTER_MS};
use accord_trees::lock::{LockFile, LockFormat, LockOwner, ProcessIdentity};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LockHolder {
    pub lock: Lock,
    /// Whether the process still runs; the next writer takes the lock over if it does not.
    pub alive: bool,
}

impl LockHolder {
    pub(super) fn new(owner: &LockOwner, alive: bool) -> Self {
        let acquired_at = owner.acquired_ms.map(Time::from_unix_millis);
        Self { lock: Lock::new(owner.pid, acquired_at), alive }
    }
}

pub(super) fn file() -> LockFile {
    LockFile {
        path: format!("{HOME}/locks/accept-turn.lock"),
        takeover_guard: format!("{HOME}/locks/accord-takeover"),
        renew_every: Duration::from_millis(RENEW_EVERY_MS),
        stale_after: Duration::from_millis(STALE_AFTER_MS),
        format: &ReferenceLock,
    }
}

/// The format of the reference runner, with a member of ours that tells which process it is.
struct ReferenceLock;

impl LockFormat for ReferenceLock {
    fn write(&self, owner: &LockOwner) -> Vec<u8> {
        let acquired_at = Time::from_unix_millis(owner.acquired_ms.unwrap_or_default());
        let mut document = Lock::document(owner.pid, acquired_at);
        if let Some(identity) = &owner.identity {
            document.insert("accord".into(), identity.document().into());
        }
        (Value::Object(document).to_string() + "\n").into_bytes()
    }

    fn read(&self, bytes: &[u8]) -> Option<LockOwner> {
        let lock = Lock::read(bytes)?;
        let document = accord_canon::read(bytes).ok()?;
        Some(LockOwner {
            pid: lock.owner_pid,
            acquired_ms: lock.acquired_at.map(Time::unix_millis),
            identity: ProcessIdentity::read(document.get("accord")),
        })
    }
}
