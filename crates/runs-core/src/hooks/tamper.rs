//! Files that no hook may change.
//!
//! The host takes a [`Snapshot`] before each and after it, restores every file
//! that differs, and reports their names.

use std::collections::BTreeMap;

use accord_canon::{Digest, sha256};
use accord_contract::codes::Code;

/// What is always protected.
pub const PROTECTED_FILES: [&str; 7] = [
    ".agentxchain/state.json",
    ".agentxchain/history.jsonl",
    ".agentxchain/decision-ledger.jsonl",
    ".agentxchain/repo-decisions.jsonl",
    ".agentxchain/events.jsonl",
    ".agentxchain/run-history.jsonl",
    ".agentxchain/hook-audit.jsonl",
];

/// What protected files were like at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Snapshot {
    files: BTreeMap<String, Option<Digest>>,
}

impl Snapshot {
    /// Takes a file in: its bytes, or `None` where there is none.
    pub fn add(&mut self, path: &str, bytes: Option<&[u8]>) {
        self.files.insert(path.to_owned(), bytes.map(sha256));
    }

    /// The files that are not what they were, made and deleted ones included.
    pub fn changed(&self, after: &Self) -> Vec<String> {
        let before = self.files.iter();
        let changed = before.filter(|(path, digest)| after.files.get(*path) != Some(digest));
        let made = after
            .files
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        changed
            .map(|(path, _)| path.clone())
            .chain(made.cloned())
            .collect()
    }
}

/// The code for what was changed, in this repository or in one that is coordinated: the
/// gravest first. A file of a bundle is never taken for a record.
pub fn tamper_code(paths: &[String]) -> Code {
    let records: Vec<&str> = paths
        .iter()
        .filter(|path| !path.contains("/dispatch/"))
        .filter_map(|path| path.rsplit('/').next())
        .collect();
    let named = |names: &[&str]| records.iter().any(|name| names.contains(name));
    if named(&["state.json", "barriers.json"]) {
        Code::XchainHookStateTamper
    } else if named(&["history.jsonl"]) {
        Code::XchainHookHistoryTamper
    } else if named(&[
        "decision-ledger.jsonl",
        "barrier-ledger.jsonl",
        "repo-decisions.jsonl",
    ]) {
        Code::XchainHookLedgerTamper
    } else if named(&["events.jsonl", "run-history.jsonl", "hook-audit.jsonl"]) {
        // The state has no code of its own.
        Code::XchainHookStateTamper
    } else {
        Code::XchainHookBundleTamper
    }
}
