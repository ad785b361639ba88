//! Ids, and where new ones come from.
//!
//! Invariants:
//! - an id is safe as one name in a path: it is never empty, never `.` or `..`, and has no
//!   separator;
//! - two ids that one [`Ids`] drew are different.

use std::fmt;

use accord_canon::sha256;

/// The most characters that an id may have.
pub const MAX_ID_CHARS: usize = 128;

macro_rules! ids {
    ($($(#[doc = $about:literal])* $name:ident;)+) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(String);

        impl $name {
            /// The id that a text is, where it is one.
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
    /// Names a run.
    RunId;
    /// Names a turn.
    TurnId;
    /// Names the journal of one acceptance.
    TransactionId;
    /// Names an event.
    EventId;
}

impl TurnId {
    /// The first eight characters after `turn_`, as people call the turn.
    pub fn short(&self) -> &str {
        let rest = self.0.strip_prefix("turn_").unwrap_or(&self.0);
        rest.char_indices()
            .nth(8)
            .map_or(rest, |(at, _)| &rest[..at])
    }
}

/// New ids, drawn from one seed: a host gives each operation 32 fresh random bytes.
#[derive(Clone, Debug)]
pub struct Ids {
    seed: [u8; 32],
    drawn: u64,
}

impl Ids {
    /// A source that was not drawn from yet.
    pub fn new(seed: [u8; 32]) -> Self {
        Self { seed, drawn: 0 }
    }

    /// The next run.
    pub fn run(&mut self) -> RunId {
        RunId(format!("run_{}", self.hex(8)))
    }

    /// The next turn.
    pub fn turn(&mut self) -> TurnId {
        TurnId(format!("turn_{}", self.hex(8)))
    }

    /// The next journal.
    pub fn transaction(&mut self) -> TransactionId {
        TransactionId(format!("txn_{}", self.hex(8)))
    }

    /// The next event.
    pub fn event(&mut self) -> EventId {
        EventId(format!("evt_{}", self.hex(8)))
    }

    /// The next so many bytes, as lowercase hexadecimal digits; at most 32.
    pub fn hex(&mut self, bytes: usize) -> String {
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
        assert_eq!(
            TurnId::parse("turn_0123456789abcdef").unwrap().short(),
            "01234567"
        );
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
