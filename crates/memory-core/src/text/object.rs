//! Writes objects and lists from parts that are JSON already.

use accord_contract::Value;

#[derive(Clone, Debug)]
pub(crate) struct ObjectText(String);

#[derive(Clone, Debug)]
pub(crate) struct ListText(String);

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
        self.name(name);
        self.0.push_str(value);
        self
    }

    /// Adds a member that is a list of items, each of which is JSON already.
    #[must_use]
    pub(crate) fn list<'t>(mut self, name: &str, items: impl IntoIterator<Item = &'t str>) -> Self {
        self.name(name);
        self.0.push('[');
        for (place, item) in items.into_iter().enumerate() {
            if place > 0 {
                self.0.push(',');
            }
            self.0.push_str(item);
        }
        self.0.push(']');
        self
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
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

impl ListText {
    pub(crate) fn new() -> Self {
        Self("[".into())
    }

    /// Adds an item that is JSON already.
    pub(crate) fn raw(&mut self, item: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(item);
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text has a JSON form")
}
