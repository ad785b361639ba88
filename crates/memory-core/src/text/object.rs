//! Writes objects and lists from parts that are JSON already.

use accord_contract::Value;

#[derive(Clone, Debug)]
pub(crate) struct ObjectText(String);

impl ObjectText {
    pub(crate) fn new() -> Self {
        Self("{".into())
    }

    /// With a capacity in bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push('{');
        Self(text)
    }

    /// Adds a member whose value is JSON already.
    #[must_use]
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    /// Adds a member that is a list of items, each of which is JSON already.
    #[must_use]
    pub(crate) fn list<'t>(self, name: &str, items: impl IntoIterator<Item = &'t str>) -> Self {
        self.raw(name, &list(items))
    }

    #[must_use]
    pub(crate) fn value(self, name: &str, value: impl Into<Value>) -> Self {
        self.raw(name, &value.into().to_string())
    }

    #[must_use]
    pub(crate) fn optional(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.value(name, value),
            None => self,
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of items that are JSON already.
pub(crate) fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut list = String::from("[");
    for item in items {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(item.as_ref());
    }
    list.push(']');
    list
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text has a JSON form")
}
