//! Members of JSON objects, as documents that others wrote have them: of any type or absent.

use accord_contract::wire::{self, Object, Value};

/// A member that is a text.
pub(crate) fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// A member that is a text with more than white space in it.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    text(object, name).filter(|text| !text.trim().is_empty())
}

/// The items of a member that is a list; none where it is not one.
pub(crate) fn list<'a>(object: &'a Object, name: &str) -> &'a [Value] {
    object
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The texts of a member that is a list; items that are no texts are passed over.
pub(crate) fn texts(object: &Object, name: &str) -> Vec<String> {
    let items = list(object, name).iter().filter_map(Value::as_str);
    items.map(str::to_owned).collect()
}

/// A member that is an object.
pub(crate) fn object<'a>(object: &'a Object, name: &str) -> Option<&'a Object> {
    object.get(name).and_then(Value::as_object)
}

/// The members of a member that is an object, in their order.
pub(crate) fn entries<'a>(
    object: &'a Object,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    self::object(object, name).into_iter().flatten()
}

/// A member that is a whole number from zero, however it is written.
pub(crate) fn count(object: &Object, name: &str) -> Option<u64> {
    object.get(name).and_then(wire::count_of)
}

/// A member that is a number.
pub(crate) fn number(object: &Object, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64)
}

/// Whether a member is exactly `true`.
pub(crate) fn holds(object: &Object, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// Whether a member is there and says something other than `null`.
pub(crate) fn given<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// A number of dollars or the like as JSON; one that is not finite becomes zero.
pub(crate) fn amount(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| 0.into(), Value::Number)
}

/// What a list of texts is as JSON.
pub(crate) fn array<T: AsRef<str>>(items: &[T]) -> Value {
    items
        .iter()
        .map(|item| Value::from(item.as_ref()))
        .collect()
}

/// An object out of pairs, in their order.
pub(crate) fn build<const N: usize>(pairs: [(&str, Value); N]) -> Object {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
