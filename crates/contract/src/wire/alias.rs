//! Whether the aliases in a document repeat what they claim to repeat.

use serde_json::Value;

use super::{Alias, Message, same};
use crate::{message, wire_enum};

message! {
    /// One alias of a message, compared with its canonical member.
    pub struct AliasCheck("AliasCheck", closed) {
        /// The alias, as a member name.
        required alias: String = "alias", "member-name";
        /// The place of the canonical member, as a dotted path.
        required mirrors: String = "mirrors", "dotted-path";
        /// The result of the comparison.
        required state: AliasState = "state", "alias-state";
    }
}

wire_enum! {
    /// The result of comparing an alias with its canonical member.
    pub enum AliasState("AliasState", closed) {
        /// The alias has the canonical value.
        Match = "match",
        /// The alias has another value, or its canonical member is absent.
        Wrong = "wrong",
        /// The alias is absent.
        Absent = "absent",
    }
}

/// Compares the aliases in a document with their canonical members, for tests of senders.
/// Clauses: ALX-ALIAS-MIRROR.
pub fn check_aliases<M: Message>(document: &Value) -> Vec<AliasCheck> {
    let members = document.as_object();
    let check = |alias: &Alias| {
        let written = members.and_then(|members| members.get(alias.name));
        let state = match (written, members.and_then(|members| alias.canonical(members))) {
            (None, _) => AliasState::Absent,
            (Some(written), Some(canonical)) if same(written, canonical) => AliasState::Match,
            (Some(_), _) => AliasState::Wrong,
        };
        AliasCheck { alias: alias.name.into(), mirrors: alias.mirrors.into(), state }
    };
    M::ALIASES.iter().map(check).collect()
}
