//! Ids, and the generator of new ones.
//!
//! Invariants:
//! - an id is safe as a file name: it is not empty, not `.` or `..`, and has no separator;
//! - all ids from one [`Ids`] are different.

use std::fmt;

use accord_canon::sha256;

pub const MAX_ID_CHARS: usize = 128;

macro_rules! ids {
    ($($(#[doc = $about:literal])* $name:ident;)+) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(String);

        impl $name {
            /// Parses an id.
            pub fn parse(text: &str) -> Option<Self> {
                is_id(text).then(|| Self(text.to_owned()))
            }

            /// The id as it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    )+};
}

ids! {
    /// The id of a run.
    RunId;
    /// The id of a turn.
    TurnId;
    /// The id of a commit, and of its journal.
    TransactionId;
    /// The id of an event.
    EventId;
}

impl TurnId {
    /// The first eight characters after `turn_`, as a short name for people.
    pub fn short(&self) -> &str {
        let rest = self.0.strip_prefix("turn_").unwrap_or(&self.0);
        rest.char_indices().nth(8).map_or(rest, |(at, _)| &rest[..at])
    }
}

/// Generates ids from a seed. A host gives each operation 32 fresh random bytes.
#[derive(Clone, Debug)]
pub struct Ids {
    seed: [u8; 32],
    drawn: u64,
}

impl Ids {
    /// The same seed gives the same ids.
    pub fn new(seed: [u8; 32]) -> Self {
        Self { seed, drawn: 0 }
    }

    pub fn run(&mut self) -> RunId {
        RunId(format!("run_{}", self.hex(8)))
    }

    pub fn turn(&mut self) -> TurnId {
        TurnId(format!("turn_{}", self.hex(8)))
    }

    pub fn transaction(&mut self) -> TransactionId {
        TransactionId(format!("txn_{}", self.hex(8)))
    }

    pub fn event(&mut self) -> EventId {
        EventId(format!("evt_{}", self.hex(8)))
    }

    /// `bytes` new bytes as lowercase hexadecimal digits; at most 32 bytes.
    pub fn hex(&mut self, bytes: usize) -> String {
        // The counter makes each input, and so each id, different. The hash hides the seed.
        let mut input = self.seed.to_vec();
        input.extend(self.drawn.to_be_bytes());
        self.drawn += 1;
        let mut digits = sha256(&input).hex();
        digits.truncate(bytes * 2);
        digits
    }
}

/// Clauses: AX-TR-ID-NAME.
fn is_id(text: &str) -> bool {
    let tidy = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    !text.is_empty()
        && text.len() <= MAX_ID_CHARS
        && text.chars().all(tidy)
        && !matches!(text, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_as_names() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a b", "ü"] {
            assert_eq!(TurnId::parse(bad), None, "{bad}");
        }
        assert_eq!(TurnId::parse("turn_0123456789abcdef").unwrap().short(), "01234567");
        assert_eq!(TurnId::parse("turn_abc").unwrap().short(), "abc");
    }

    #[test]
    fn a_source_never_repeats_itself() {
        let mut ids = Ids::new([7; 32]);
        let drawn: std::collections::BTreeSet<String> =
            (0..100).map(|_| ids.event().to_string()).collect();
        assert_eq!(drawn.len(), 100);
        assert!(drawn.iter().all(|id| id.len() == 20));
    }
}
