//! Checks of single members.

use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};

use super::Problem;
use crate::members::{filled, given, text};

/// Problems of the schema stage while they are collected.
pub(super) struct Fields<'a> {
    pub(super) found: &'a mut Vec<Problem>,
}

impl Fields<'_> {
    pub(super) fn wrong(&mut self, field: impl Into<String>, what: &str) {
        let field = field.into();
        let message = format!("{field} {what}");
        self.found
            .push(Problem::new(Code::XchainSchemaError, message).field(field));
    }

    /// A member that must be one of some names.
    pub(super) fn one_of(&mut self, object: &Object, at: &str, name: &str, names: &[&str]) {
        if !text(object, name).is_some_and(|value| names.contains(&value)) {
            self.wrong(
                place(at, name),
                &format!("must be one of {}", names.join(", ")),
            );
        }
    }

    /// A member that must say something.
    pub(super) fn filled(&mut self, object: &Object, at: &str, name: &str) {
        if filled(object, name).is_none() {
            self.wrong(place(at, name), "must be a text that says something");
        }
    }

    /// A member that may be absent or null, and is a text otherwise.
    pub(super) fn optional_text(&mut self, object: &Object, name: &str) {
        if given(object, name).is_some_and(|value| !value.is_string()) {
            self.wrong(name, "must be a text or null");
        }
    }

    /// A member that must be a list; its items.
    pub(super) fn items<'v>(&mut self, object: &'v Object, name: &str) -> &'v [Value] {
        match object.get(name) {
            Some(Value::Array(items)) => items,
            _ => {
                self.wrong(name, "must be a list");
                &[]
            }
        }
    }

    /// An item that must be an object.
    pub(super) fn object<'v>(&mut self, at: &str, item: &'v Value) -> Option<&'v Object> {
        let object = item.as_object();
        if object.is_none() {
            self.wrong(at, "must be an object");
        }
        object
    }
}

pub(super) fn place(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}
