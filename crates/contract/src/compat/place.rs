//! The place of a member in a message.

/// A place, by its names. Ordered so that what is below a place follows it at once.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place(Vec<String>);

impl Place {
    /// Reads a dotted path (`error.code`) or a JSON pointer (`/error/code`).
    pub(super) fn parse(text: &str) -> Self {
        let names = match text.strip_prefix('/') {
            Some(pointer) => (pointer.split('/'))
                .map(|name| name.replace("~1", "/").replace("~0", "~"))
                .collect(),
            None if text.is_empty() => Vec::new(),
            None => text.split('.').map(String::from).collect(),
        };
        Self(names)
    }

    /// Whether this place is inside another one. Everything is inside the message
    /// itself, which therefore does not count.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        !other.0.is_empty() && self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }
}
