//! Making JSON objects.

use accord_contract::{Object, Value};

pub(crate) fn members<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn put(into: &mut Object, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        into.insert(name.into(), value.into());
    }
}

/// The length of a value as JSON text, in bytes.
pub(crate) fn text_len(value: &Value) -> usize {
    value.to_string().len()
}
