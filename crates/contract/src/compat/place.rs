//! The place of a member in a message.

use accord_canon::unescape_segment;

/// A place, by its names. The places below a place directly follow it in this order.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct ChangePath(Vec<String>);

impl ChangePath {
    /// Reads a dotted path (`error.code`) or a JSON pointer (`/error/code`).
    pub(super) fn parse(text: &str) -> Self {
        let names = match text.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|segment| unescape_segment(segment).into_owned()).collect()
            }
            None if text.is_empty() => Vec::new(),
            None => text.split('.').map(String::from).collect(),
        };
        Self(names)
    }

    /// Whether this place is inside another one that is not the message itself.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        !other.0.is_empty() && self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_paths_and_pointers_name_the_same_places() {
        assert_eq!(ChangePath::parse("error.code"), ChangePath::parse("/error/code"));
        assert_eq!(ChangePath::parse("/a~1b/c~0d/~01").0, ["a/b", "c~d", "~1"]);
        assert_eq!(ChangePath::parse("").0, Vec::<String>::new());
    }

    #[test]
    fn below_is_inside_and_the_message_itself_has_no_inside() {
        let below =
            |place: &str, other: &str| ChangePath::parse(place).is_below(&ChangePath::parse(other));
        assert!(below("a.b", "a") && below("a.b.c", "a"));
        assert!(!below("a", "a") && !below("a", "a.b") && !below("ab", "a"));
        assert!(!below("a", "") && !below("a.b", ""));
    }
}
