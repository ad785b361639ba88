//! Trees for tests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use accord_contract::time::Time;
use accord_contract::wire::Value;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::message::{Detected, detect};
use serde_json::json;

/// A clock that a test moves.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicI64>);

impl Clock {
    /// The time of the tests: 2026-02-09T21:00:00Z and what was added.
    pub(crate) fn now(&self) -> Time {
        let start = Time::parse_rfc3339("2026-02-09T21:00:00Z").unwrap();
        start.add_seconds(self.0.load(Ordering::Acquire))
    }

    /// Moves the clock.
    pub(crate) fn add(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::AcqRel);
    }

    pub(crate) fn environment(&self) -> Environment {
        let (clock, count) = (self.clone(), AtomicU64::new(0));
        let random = move || {
            let mut bytes = [0; 16];
            bytes[8..].copy_from_slice(&count.fetch_add(1, Ordering::AcqRel).to_be_bytes());
            bytes
        };
        Environment::new(move || clock.now(), random, "boot")
    }
}

/// A new tree in a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let tree = Tree::open(folder, "shop", Clock::default().environment()).unwrap();
    tree.init().unwrap();
    tree
}

/// A message.
pub(crate) fn message(kind: &str, id: &str, sender: &str, payload: Value) -> Detected {
    detect(&json!({
        "protocol": "aof",
        "version": 1,
        "type": kind,
        "taskId": id,
        "fromAgent": sender,
        "toAgent": "dispatcher",
        "sentAt": "2026-02-09T21:00:00.000Z",
        "payload": payload,
    }))
}

/// A report.
pub(crate) fn report(id: &str, sender: &str, outcome: &str) -> Detected {
    let payload = json!({
        "outcome": outcome,
        "summaryRef": "outputs/summary.md",
        "tests": {"total": 0, "passed": 0, "failed": 0},
        "notes": "ok",
    });
    message("completion.report", id, sender, payload)
}
