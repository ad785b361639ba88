//! The three profiles and what sets them apart.

use crate::KeyOrder;

/// The deepest nesting that is read; `[]` has depth 1. Bounds recursion. Clauses: ALX-CANON-DEPTH.
pub const MAX_DEPTH: usize = 256;

/// A named set of rules for canonical JSON.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Profile {
    /// RFC 8785: keys by UTF-16 code unit, `null` kept.
    Jcs,
    /// ALX Knowledge Blocks: RFC 8785 in which `null` is refused.
    Alx,
    /// Agentic packages: keys by UTF-8 byte, `null` members dropped from objects only.
    Agentic,
}

impl Profile {
    /// Every profile, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Jcs, Self::Alx, Self::Agentic];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jcs => "jcs",
            Self::Alx => "alx",
            Self::Agentic => "agentic",
        }
    }

    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// How object members are ordered. Clauses: ALX-CANON-KEYS, AGENTIC-R-028.
    pub const fn key_order(self) -> KeyOrder {
        match self {
            Self::Jcs | Self::Alx => KeyOrder::Utf16,
            Self::Agentic => KeyOrder::Utf8,
        }
    }

    /// How `null` is handled. Clauses: ALX-CANON-NULL, AGENTIC-R-030, AGENTIC-R-031.
    pub const fn nulls(self) -> Nulls {
        match self {
            Self::Jcs => Nulls::Keep,
            Self::Alx => Nulls::Refuse,
            Self::Agentic => Nulls::DropMembers,
        }
    }
}

/// What a profile does with `null`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nulls {
    /// It is a value like any other.
    Keep,
    /// It is refused everywhere.
    Refuse,
    /// An object member that is `null` is left out; an array element stays.
    DropMembers,
}

/// What happens to an integer literal that a double cannot hold. Clauses: ALX-CANON-ROUND.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Numbers {
    /// It is refused: its canonical form would be another number.
    #[default]
    Exact,
    /// It is rounded, as ECMAScript does, to check blocks made elsewhere.
    Round,
}
