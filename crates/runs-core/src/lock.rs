//! `locks/accept-turn.lock`: the lock of a repository.
//!
//! Other runners take over a lock that is older than [`STALE_AFTER_MS`], so its owner renews it
//! more often. This runner takes over a lock only when the owner's process has ended.

use accord_contract::{Code, Failure, Object, Time, Value};

use crate::members::{build, count, text};

/// The age at which other runners consider a lock stale.
pub const STALE_AFTER_MS: u64 = 30_000;

pub const RENEW_EVERY_MS: u64 = 10_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lock {
    pub owner_pid: u64,
    /// When it was acquired or last renewed, if that can be read.
    pub acquired_at: Option<Time>,
}

impl Lock {
    pub fn new(owner_pid: u64, acquired_at: Option<Time>) -> Self {
        Self { owner_pid, acquired_at }
    }

    /// Reads a lock file; `None` when it is invalid, as after a crash during the write.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let document = accord_canon::read(bytes).ok()?;
        let members = document.as_object()?;
        Some(Self {
            owner_pid: count(members, "owner_pid")?,
            acquired_at: text(members, "acquired_at").and_then(Time::parse_iso),
        })
    }

    /// The content of a lock that is acquired or renewed now.
    pub fn document(owner_pid: u64, now: Time) -> Object {
        build([("owner_pid", owner_pid.into()), ("acquired_at", now.to_string().into())])
    }

    pub fn held(&self) -> Failure {
        let since = self.acquired_at.map(|at| at.to_string());
        let shown = since.as_deref().unwrap_or("some time");
        let message = format!("process {} works on the repository since {shown}", self.owner_pid);
        Failure::new(Code::XchainLockTimeout, message)
            .with("owner_pid", self.owner_pid)
            .with("acquired_at", Value::from(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_says_who_holds_it() {
        let now = Time::from_unix_millis(0);
        let text = Value::Object(Lock::document(42, now)).to_string();
        let lock = Lock::read(text.as_bytes()).unwrap();
        assert_eq!((lock.owner_pid, lock.acquired_at), (42, Some(now)));
        let failure = lock.held();
        assert_eq!(failure.code, Code::XchainLockTimeout);
        assert_eq!(failure.details.unwrap()["owner_pid"], 42);
        assert_eq!(Lock::read(b"{\"owner_pid\":"), None);
    }
}
