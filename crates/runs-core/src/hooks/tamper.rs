//! Files that no hook may change.
//!
//! The host takes a [`Snapshot`] before and after each hook, restores the files that differ and
//! reports their names.

use std::collections::BTreeMap;

use accord_canon::{Digest, sha256};
use accord_contract::Code;

use crate::rule;

pub const PROTECTED_FILES: [&str; 7] = [
    ".agentxchain/state.json",
    ".agentxchain/history.jsonl",
    ".agentxchain/decision-ledger.jsonl",
    ".agentxchain/repo-decisions.jsonl",
    ".agentxchain/events.jsonl",
    ".agentxchain/run-history.jsonl",
    ".agentxchain/hook-audit.jsonl",
];

/// The digests of protected files at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Snapshot {
    files: BTreeMap<String, Option<Digest>>,
}

impl Snapshot {
    /// Adds a file: its content, or `None` when it does not exist.
    pub fn add(&mut self, path: &str, bytes: Option<&[u8]>) {
        self.files.insert(path.to_owned(), bytes.map(sha256));
    }

    pub fn changed(&self, after: &Self) -> Vec<String> {
        let before = self.files.iter();
        // A file that a snapshot does not have differs from one that was recorded as missing.
        let changed = before.filter(|(path, digest)| after.files.get(*path) != Some(digest));
        let made = after.files.keys().filter(|path| !self.files.contains_key(*path));
        changed.map(|(path, _)| path.clone()).chain(made.cloned()).collect()
    }
}

/// Whether a hook left a protected file as it was. `now` is `None` for a file that cannot be read
/// any more.
///
/// Clauses: AX-HK-TAMPER.
pub fn is_unchanged(before: Option<&[u8]>, now: Option<Option<&[u8]>>) -> bool {
    rule!(
        now == Some(before);
        TamperByLength => now.is_some_and(|now| now.map(<[u8]>::len) == before.map(<[u8]>::len));
        TamperUnnoticed => true
    )
}

/// The code for changed files, of this repository or a coordinated one. The most severe one wins. A
/// file of a bundle never counts as a record, whatever its name.
pub fn tamper_code(paths: &[String]) -> Code {
    let records = paths.iter().filter(|path| !path.contains("/dispatch/"));
    let records: Vec<&str> = records.filter_map(|path| path.rsplit('/').next()).collect();
    let named = |names: &[&str]| records.iter().any(|name| names.contains(name));
    if named(&["state.json", "barriers.json"]) {
        Code::XchainHookStateTamper
    } else if named(&["history.jsonl"]) {
        Code::XchainHookHistoryTamper
    } else if named(&["decision-ledger.jsonl", "barrier-ledger.jsonl", "repo-decisions.jsonl"]) {
        Code::XchainHookLedgerTamper
    } else if named(&["events.jsonl", "run-history.jsonl", "hook-audit.jsonl"]) {
        // The protocol has no code of their own for these records.
        Code::XchainHookStateTamper
    } else {
        Code::XchainHookBundleTamper
    }
}
