//! Corrections of a staged result before its validation.
//!
//! Agents make small mistakes of form. Mistakes whose correction needs no guess about the intent
//! are corrected here, and every correction is recorded. A strict run skips this.

mod items;
mod requests;
mod rewrite;
mod shape;

use accord_contract::{Object, Value};

pub use rewrite::{Rewrite, RewriteCode};

use super::{Leniency, Situation};
use crate::doc::{Content, Member};

/// Normalizes a result.
///
/// Clauses: AX-TR-NORMALIZED.
pub fn normalize(
    staged: Value,
    situation: &Situation<'_>,
    leniency: Leniency,
) -> (Value, Vec<Rewrite>) {
    let Value::Object(result) = staged else { return (staged, Vec::new()) };
    let mut draft = Draft { result, rewrites: Vec::new() };
    // The order matters: a step reads members that earlier steps have put in place.
    shape::identity(&mut draft, situation);
    shape::files(&mut draft);
    shape::missing(&mut draft, situation);
    shape::status(&mut draft);
    items::decisions(&mut draft, situation);
    items::verification(&mut draft);
    items::objections(&mut draft);
    items::created(&mut draft);
    requests::phase(&mut draft, situation);
    // This needs the final requests: a result that asks to go on may have no files.
    shape::artifact(&mut draft, situation, leniency);
    requests::next_role(&mut draft, situation);
    (draft.result.into(), draft.rewrites)
}

struct Draft {
    result: Object,
    rewrites: Vec<Rewrite>,
}

impl Draft {
    fn set<K>(&mut self, code: RewriteCode, member: Member<K>, value: impl Content<K>, why: &str) {
        member.set(&mut self.result, value);
        self.note(code, member, why);
    }

    fn note(&mut self, code: RewriteCode, field: impl Into<String>, why: &str) {
        self.rewrites.push(Rewrite { code, field: field.into(), message: why.to_owned() });
    }
}
