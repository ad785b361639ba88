//! Members that a host adds to its answers beside those that their messages name.

use accord_contract::{Object, Value, Wire, message};

use super::{DigestBundle, QuestionList};
use crate::package::PackageFields;
use crate::{ContentHash, Fact, WARNINGS, Warning};

message! {
    /// What a bundle left out.
    pub struct LeftOutItems("LeftOutItems", open) {
        /// The member of the bundle.
        required member: String = "member", "member-name";
        /// Why: limit, budget or integrity.
        required reason: String = "reason", "reason";
        /// How many, if that is known.
        optional count: u64 = "count", "count";
    }
}

impl PackageFields {
    /// Its hash, as the answer states it.
    pub fn stated_hash(&self) -> Option<ContentHash> {
        added(&self.extra, "content_hash")
    }

    pub fn warnings(&self) -> Vec<Warning> {
        added(&self.extra, WARNINGS).unwrap_or_default()
    }

    /// The members that the protocol does not name.
    pub fn own_members(&self) -> impl Iterator<Item = (&String, &Value)> {
        // A package can have a member of this name that is something else.
        let has_warnings = !self.warnings().is_empty();
        let is_added =
            move |name: &str| name == "content_hash" || (name == WARNINGS && has_warnings);
        self.extra.iter().filter(move |(name, _)| !is_added(name))
    }
}

impl Fact {
    pub fn warnings(&self) -> Vec<Warning> {
        added(&self.extra, WARNINGS).unwrap_or_default()
    }
}

impl QuestionList {
    /// The ids of damaged rows that are left out.
    pub fn damaged(&self) -> Vec<String> {
        added(&self.extra, "x-integrity_warnings").unwrap_or_default()
    }
}

impl DigestBundle {
    pub fn left_out(&self) -> Vec<LeftOutItems> {
        added(&self.extra, "x-left_out").unwrap_or_default()
    }

    /// The ids of damaged rows that are left out.
    pub fn damaged(&self) -> Vec<String> {
        added(&self.extra, "x-integrity_warnings").unwrap_or_default()
    }
}

fn added<T: Wire>(members: &Object, name: &str) -> Option<T> {
    T::from_answer(members.get(name)?.clone()).ok()
}
