//! Access to members of JSON objects that may have any type or be absent.

use accord_contract::{Object, Value, wire};

pub(crate) fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// A text member that is not blank.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    text(object, name).filter(|text| !text.trim().is_empty())
}

/// The items of a list member; none when it is not a list.
pub(crate) fn list<'a>(object: &'a Object, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of a list member. Other items are skipped.
pub(crate) fn texts(object: &Object, name: &str) -> Vec<String> {
    let items = list(object, name).iter().filter_map(Value::as_str);
    items.map(str::to_owned).collect()
}

pub(crate) fn object<'a>(object: &'a Object, name: &str) -> Option<&'a Object> {
    object.get(name).and_then(Value::as_object)
}

pub(crate) fn entries<'a>(
    object: &'a Object,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    self::object(object, name).into_iter().flatten()
}

/// A whole number from zero, in any JSON spelling.
pub(crate) fn count(object: &Object, name: &str) -> Option<u64> {
    object.get(name).and_then(wire::count_of)
}

pub(crate) fn number(object: &Object, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64)
}

/// Whether a member is exactly `true`.
pub(crate) fn is_true(object: &Object, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// A member, unless it is `null`.
pub(crate) fn given<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// A number as JSON. A number that is not finite becomes zero.
pub(crate) fn amount(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| 0.into(), Value::Number)
}

/// A list of texts as JSON.
pub(crate) fn array<T: AsRef<str>>(items: &[T]) -> Value {
    items.iter().map(|item| Value::from(item.as_ref())).collect()
}

/// An object with these members, in this order.
pub fn build<const N: usize>(pairs: [(&str, Value); N]) -> Object {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
