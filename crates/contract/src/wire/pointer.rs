//! The place of a value in its document, as an RFC 6901 JSON pointer.

use std::fmt;

use accord_canon::escape_segment;

/// A place in a document. Each step borrows the one above; the text is made only for an error.
#[derive(Clone, Copy, Debug)]
pub enum Pointer<'a> {
    /// The whole document.
    Root,
    /// The whole document of a later version, whose unknown members are ignored.
    Answer,
    /// A member of the object above.
    Member(&'a Self, &'a str),
    /// An element of the list above.
    Index(&'a Self, usize),
}

impl<'a> Pointer<'a> {
    /// The place of a member of this object.
    pub fn member(&'a self, name: &'a str) -> Self {
        Self::Member(self, name)
    }

    /// The place of an element of this list.
    pub fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// Whether the document is one that a later version may have written.
    pub(super) fn is_in_answer(&self) -> bool {
        match self {
            Self::Root => false,
            Self::Answer => true,
            Self::Member(above, _) | Self::Index(above, _) => above.is_in_answer(),
        }
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root | Self::Answer => Ok(()),
            Self::Member(above, name) => write!(f, "{above}/{}", escape_segment(name)),
            Self::Index(above, index) => write!(f, "{above}/{index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_serde_json_resolves() {
        let document = serde_json::json!({"a/b": [{"m~n": 7}]});
        let root = Pointer::Root;
        let (list, item);
        list = root.member("a/b");
        item = list.index(0);
        let place = item.member("m~n").to_string();
        assert_eq!(place, "/a~1b/0/m~0n");
        assert_eq!(document.pointer(&place), Some(&serde_json::json!(7)));
        assert_eq!(Pointer::Root.to_string(), "");
    }
}
