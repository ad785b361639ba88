//! The named lists of values on the wire, and how a reader handles a value that is not listed.

mod ggui;

use accord_canon::Refusal;

use super::{Category, Code, Protocol, RetryClass};
use crate::alx::{RunEventType, SessionStatus, SessionTimelineEventType};
use crate::fixture::Status;
use crate::wire::{AliasState, DecodeErrorKind, Names};
use crate::wire_enum;

/// A named list of values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Union {
    /// The list's name.
    pub name: String,
    /// How the list may change.
    pub policy: Policy,
    /// What the values are, in a sentence.
    pub about: &'static str,
    /// The values of this version.
    pub members: Vec<&'static str>,
}

wire_enum! {
    /// What may happen to a named list, and so what its readers must do.
    pub enum Policy("UnionPolicy", closed) {
        /// A new value needs a new major version; a reader refuses what it does not know.
        Closed = "closed",
        /// New values come without one; a reader must handle what it does not know.
        Extensible = "extensible",
    }
}

impl Union {
    /// Whether a reader accepts a value.
    pub fn accepts(&self, value: &str) -> bool {
        self.policy == Policy::Extensible || self.members.contains(&value)
    }
}

/// Every named list of the wire contract.
pub fn unions() -> Vec<Union> {
    use Policy::{Closed, Extensible};
    let live = "The types of live run events; an emitter writes no other.";
    let historical = "The types of historical session events; an emitter writes no other.";
    let wire = "Why a document is not the message that it should be.";
    let registry = "Why a registry refuses a Knowledge Block.";
    let kit = "Why a run of the conformance kit went wrong.";
    let mut unions = vec![
        of_names::<Category>(Extensible, "The stable categories of failures."),
        of_names::<RunEventType>(Extensible, live),
        of_names::<SessionTimelineEventType>(Extensible, historical),
        of_names::<SessionStatus>(Closed, "The states of a session."),
        of_names::<Status>(Closed, "What an adapter says about a case."),
        of_names::<RetryClass>(Closed, "When a failed request may be sent again."),
        of_names::<AliasState>(Closed, "How an alias compares with its canonical member."),
        of_codes("CanonRefusal", Closed, "Why a document has no canonical form.", |code| {
            Refusal::ALL.iter().any(|refusal| code == (*refusal).into())
        }),
        of_codes("WireRefusal", Closed, wire, |code| {
            DecodeErrorKind::ALL.iter().any(|kind| code == (*kind).into())
        }),
        of_codes("RegistryCode", Closed, registry, is_registry_code),
        of_codes("KitFailure", Extensible, kit, |code| code.as_str().starts_with("KIT_")),
        of_codes("AgenticCode", Extensible, "The failure codes of the Agentic Protocol.", |code| {
            code.protocol() == Protocol::Agentic
        }),
    ];
    unions.extend(Category::ALL.iter().map(|category| {
        let alx = |code: Code| code.protocol() == Protocol::Alx && code.category() == *category;
        let about = "The ALX failure codes within one category.";
        of_codes(&format!("ErrorCode.{category}"), Extensible, about, alx)
    }));
    unions.extend(ggui::lists());
    let violations = "Why a part of a contract is refused.";
    unions.push(of_codes("GguiViolation", Extensible, violations, |code| {
        code.as_str().starts_with("CTR_")
    }));
    // ALX has no codes in some categories.
    unions.retain(|union| !union.members.is_empty());
    unions
}

fn of_names<N: Names>(policy: Policy, about: &'static str) -> Union {
    let members = N::ALL.iter().map(|name| name.as_str()).collect();
    Union { name: N::NAME.into(), policy, about, members }
}

fn of_codes(
    name: &str,
    policy: Policy,
    about: &'static str,
    belongs: impl Fn(Code) -> bool,
) -> Union {
    let members = Code::ALL.iter().filter(|code| belongs(**code));
    Union { name: name.into(), policy, about, members: members.map(|code| code.as_str()).collect() }
}

fn is_registry_code(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidEnvelope
            | Code::SourcesNotSorted
            | Code::SchemaInvalid
            | Code::SelfReference
            | Code::UnregisteredSource
            | Code::CycleDetected
    )
}
