//! The compatibility checker: what changed between two contract snapshots, what each change means
//! for users of the contract, and whether the new version number is honest about it.
//!
//! Invariants:
//! * Every difference is a change in the report, except text for people, an additional identity
//!   vector, and another spelling of the same (an empty list that is left out, `null` among the
//!   types for `nullable`, the order of a list of values).
//! * The order of names in a snapshot never matters, and does not change the report.
//! * What is unknown is an open question, never a guess: the verdict is given only if every answer
//!   to the open questions leads to the same one.

mod attributes;
mod changes;
mod fields;
mod identity;
mod json_types;
mod place;
mod rules;
mod sections;
mod snapshot;
mod verdict;

use std::collections::BTreeSet;

use crate::wire::{Extensible, Object, Value, same};
use crate::{message, wire_enum};

pub use rules::{Rule, Rules};
pub use snapshot::{Direction, Snapshot, SnapshotDocument};

use changes::Changes;

message! {
    /// What changed between two contract snapshots.
    pub struct Report("CompatReport", closed) {
        /// The version of the old snapshot.
        required old_version: String = "oldVersion", "contract-version";
        /// The version of the new snapshot.
        required new_version: String = "newVersion", "contract-version";
        /// The most severe class of all changes.
        required overall: Class = "overall", "change-class";
        /// Whether the new version number is honest about the changes; null if that depends on
        /// a change that needs review, or on a version that cannot be parsed.
        required_or_null honest: bool = "honest", "verdict";
        /// Why, for people.
        required reason: String = "reason", "text-for-people";
        /// The changes, in the order of their paths.
        required changes: Vec<Change> = "changes", "changes";
    }

    /// One change.
    pub struct Change("CompatChange", closed) {
        /// The place in the snapshot: its names, each after a slash; members of lists by value.
        required path: String = "path", "snapshot-path";
        /// What happened there.
        required change_type: Extensible<ChangeType> = "changeType", "change-type";
        /// Its class.
        required class: Class = "class", "change-class";
        /// The rule that decides it.
        required rule: Extensible<Rule> = "rule", "rule-id";
        /// What changed, for people.
        required note: String = "note", "text-for-people";
    }
}

wire_enum! {
    /// What happened at a place of a contract.
    pub enum ChangeType("CompatChangeType", closed) {
        /// It is new.
        Added = "added",
        /// It was removed.
        Removed = "removed",
        /// It was renamed.
        Renamed = "renamed",
        /// It was changed.
        Changed = "changed",
        /// It is invalid.
        Wrong = "wrong",
    }

    /// What a change means for those who use the contract, mildest first.
    pub enum Class("CompatClass", closed) {
        /// Nothing.
        None = "none",
        /// Old clients go on working; a new minor version says it.
        MinorSafe = "minor-safe",
        /// A person must review it.
        NeedsReview = "needs-review",
        /// Old clients can break; a new major version says it.
        Major = "major",
        /// It is wrong under every version number.
        Violation = "violation",
    }
}

/// Compares two snapshots.
pub fn check(old: &Snapshot, new: &Snapshot, rules: &Rules) -> Report {
    let mut changes = Changes::new(rules, old.version() == new.version());
    fields::compare(old, new, &mut changes);
    sections::compare(old, new, &mut changes);
    identity::compare(old, new, &mut changes);
    let changes = changes.into_sorted();
    let verdict = verdict::verdict(old.version(), new.version(), &changes);
    Report {
        old_version: old.version().into(),
        new_version: new.version().into(),
        overall: verdict.overall,
        honest: verdict.honest,
        reason: verdict.reason,
        changes,
    }
}

/// The members that differ, without text for people. Clauses: ALX-COMPAT-25.
fn differing<'a>(old: &'a Object, new: &'a Object) -> BTreeSet<&'a str> {
    let differs = |name: &&String| match (contractual(old, name), contractual(new, name)) {
        (None, None) => false,
        (Some(was), Some(is)) => !same(was, is),
        _ => true,
    };
    let names = old.keys().chain(new.keys()).filter(differs);
    names.map(String::as_str).collect()
}

/// A member of an object, unless it is text for people. Clauses: ALX-COMPAT-26.
fn contractual<'a>(members: &'a Object, name: &str) -> Option<&'a Value> {
    const TEXTS: [&str; 7] =
        ["$comment", "$schema", "comment", "description", "doc", "message", "title"];
    let value = members.get(name)?;
    // A value of another type is not text for people, so it counts.
    let for_people = name == "examples" || (TEXTS.contains(&name) && value.is_string());
    (!for_people).then_some(value)
}
