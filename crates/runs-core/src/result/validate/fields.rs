//! Checks of single members.

use accord_contract::{Code, Object, Value};

use super::Problem;
use crate::doc::{Member, Text};

pub(super) struct Fields<'a> {
    pub(super) found: &'a mut Vec<Problem>,
}

impl Fields<'_> {
    pub(super) fn wrong(&mut self, field: impl Into<String>, what: &str) {
        let field = field.into();
        let message = format!("{field} {what}");
        self.found.push(Problem::new(Code::XchainSchemaError, message).field(field));
    }

    /// Checks that a member is one of some names.
    pub(super) fn one_of(
        &mut self,
        object: &Object,
        at: &str,
        member: Member<Text>,
        names: &[&str],
    ) {
        if !member.get(object).is_some_and(|value| names.contains(&value)) {
            let what = format!("must be one of {}", names.join(", "));
            self.wrong(place(at, member.name()), &what);
        }
    }

    pub(super) fn filled(&mut self, object: &Object, at: &str, member: Member<Text>) {
        if member.filled(object).is_none() {
            self.wrong(place(at, member.name()), "must be a non-blank text");
        }
    }

    /// Checks that a member is absent, null or a text.
    pub(super) fn optional_text(&mut self, object: &Object, member: Member<Text>) {
        if member.given(object).is_some_and(|value| !value.is_string()) {
            self.wrong(member, "must be a text or null");
        }
    }

    /// Checks that a member is a list and returns its items.
    pub(super) fn items<'v, K>(&mut self, object: &'v Object, member: Member<K>) -> &'v [Value] {
        let items = member.raw(object).and_then(Value::as_array);
        if items.is_none() {
            self.wrong(member, "must be a list");
        }
        items.map_or(&[], Vec::as_slice)
    }

    pub(super) fn object<'v>(&mut self, at: &str, item: &'v Value) -> Option<&'v Object> {
        let object = item.as_object();
        if object.is_none() {
            self.wrong(at, "must be an object");
        }
        object
    }
}

fn place(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}
