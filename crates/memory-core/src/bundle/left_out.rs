//! What a bundle left out, and why.

use accord_contract::Value;

use crate::text::{ObjectText, list};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reason {
    /// There are more than the limit of the bundle.
    Limit,
    /// It did not fit into the budget.
    Budget,
    Integrity,
}

/// Builds the list `x-left_out`.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftOut {
    entries: Vec<String>,
}

impl LeftOut {
    /// Adds an entry for a member; `count` if it is known.
    pub(super) fn say(&mut self, member: &str, reason: Reason, count: Option<usize>) {
        self.say_named(member, reason, count, &[]);
    }

    /// The same, with the heads of packages, which are JSON already.
    pub(super) fn say_named(
        &mut self,
        member: &str,
        reason: Reason,
        count: Option<usize>,
        packages: &[String],
    ) {
        let reason = match reason {
            Reason::Limit => "limit",
            Reason::Budget => "budget",
            Reason::Integrity => "integrity",
        };
        let mut entry = ObjectText::new()
            .value("member", member)
            .value("reason", reason)
            .optional("count", count.map(Value::from));
        if !packages.is_empty() {
            entry = entry.list("packages", packages.iter().map(String::as_str));
        }
        self.entries.push(entry.finish());
    }

    pub(super) fn add_to(&self, bundle: ObjectText) -> ObjectText {
        if self.entries.is_empty() {
            bundle
        } else {
            bundle.raw("x-left_out", &list(&self.entries))
        }
    }
}
