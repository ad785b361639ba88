//! A small protocol: a counter, a log of its changes, and notes that each change replaces.

use std::sync::Arc;
use std::time::Duration;

use accord_contract::{Object, Value};
use accord_trees::commit::{Lengths, LineKey, Write};
use accord_trees::lock::{LockFile, LockFormat, LockOwner, ProcessIdentity};
use accord_trees::{
    Disk, LockedTree, Recovery, Result, TreeError, TreeFormat, journal, limits, read_file,
};
use serde_json::json;

/// The format of the protocol.
pub(crate) struct Counter(pub(crate) Arc<dyn Disk>);

struct CounterLock;

impl LockFormat for CounterLock {
    fn write(&self, owner: &LockOwner) -> Vec<u8> {
        let identity = owner.identity.as_ref().map(ProcessIdentity::document);
        let document = json!({"pid": owner.pid, "at": owner.acquired_ms, "identity": identity});
        document.to_string().into_bytes()
    }

    fn read(&self, bytes: &[u8]) -> Option<LockOwner> {
        let document: Object = serde_json::from_slice(bytes).ok()?;
        Some(LockOwner {
            pid: document.get("pid")?.as_u64()?,
            acquired_ms: document.get("at")?.as_i64(),
            identity: ProcessIdentity::read(document.get("identity")),
        })
    }
}

impl TreeFormat for Counter {
    type Error = TreeError;
    type Detail = u64;

    fn lock_file(&self) -> LockFile {
        LockFile {
            path: "own/lock".into(),
            takeover_guard: "own/takeover".into(),
            renew_every: Duration::from_secs(10),
            stale_after: Duration::from_secs(30),
            format: &CounterLock,
        }
    }

    fn folders(&self) -> Vec<String> {
        ["own", "own/journal", "data"].map(str::to_owned).to_vec()
    }

    fn journals(&self) -> Result<Vec<String>> {
        let journals = journal::list(self.0.as_ref(), "own/journal")?.into_iter();
        Ok(journals.map(|(path, _)| path).collect())
    }

    fn prepared_at(&self, _: &Object) -> Option<String> {
        None
    }

    fn recover(&self, path: &str, journal: &Object) -> Result<Recovery<u64>> {
        let to = journal.get("to").and_then(Value::as_u64);
        let to = to.ok_or_else(|| TreeError::damaged(path, "the journal has no count"))?;
        Ok(Recovery {
            writes: writes(to),
            lengths: journal::read_lengths(journal.get("lengths")),
            detail: to,
        })
    }
}

/// Takes the lock.
pub(crate) fn lock(disk: &Arc<impl Disk + 'static>) -> Result<LockedTree<Counter>> {
    LockedTree::take(disk.clone(), Counter(disk.clone()), Duration::ZERO)
}

/// Everything that counting to a number writes.
fn writes(to: u64) -> Vec<Write> {
    let line = |key| Write::Append {
        path: "data/log.jsonl".into(),
        line: json!({"to": to, "by": key}).as_object().unwrap().clone(),
        key: LineKey::Whole,
    };
    vec![
        line("one"),
        line("another"),
        Write::Section { path: "data/notes.md".into(), text: format!("\n## {to}\n") },
        Write::Replace { path: "data/count".into(), text: to.to_string() },
        Write::Remove { path: format!("data/old-{to}") },
    ]
}

/// Counts one further, in one commit.
pub(crate) fn count(tree: &LockedTree<Counter>) -> Result<()> {
    let disk = tree.format().0.as_ref();
    let count = read_file(disk, "data/count", limits::DOCUMENT)?.unwrap_or_default();
    let count: u64 = String::from_utf8(count).unwrap().parse().unwrap_or(0);
    // A journal of the fuzz target can name the largest number.
    let to = count.wrapping_add(1);
    let document = |lengths: &Lengths| {
        let lengths = journal::lengths_member(lengths);
        let document = json!({"to": to, "lengths": lengths});
        document.as_object().unwrap().clone()
    };
    tree.commit(&format!("own/journal/{to}.json"), document, &writes(to))?;
    Ok(())
}
