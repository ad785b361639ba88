//! Members of a document whose value has another type than the declared one.
//!
//! Such a member reads as absent, as false or as empty, as if nobody had written it. The check-up
//! of a repository names it.
//!
//! Invariants:
//! - `null` counts as absent and is never reported;
//! - extensions, unknown members, and members that only other runners use are never reported;
//! - members below a reported one are not reported.

use std::fmt;

use accord_contract::{Object, Time, Value, wire};

use crate::doc::{self, Document as _};
use crate::unknown_members::{KnownMember, Part, Shape, below};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MemberType {
    Any,
    Text,
    Timestamp,
    /// A whole number from zero.
    Count,
    Int,
    Amount,
    Flag,
    List,
    Texts,
    Map,
}

/// A member, or an item of a list, whose value has another type than the declared one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MistypedMember {
    /// Its path, joined by dots.
    pub field: String,
    pub expected: &'static str,
    pub actual: String,
    /// Whether the absence of the member disables a protection.
    pub leaves_open: bool,
}

impl fmt::Display for MistypedMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be {}, but is {}; it is ignored", self.expected, self.actual)
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GovernedFile {
    /// `state.json`.
    State,
    /// `session.json`.
    Session,
    /// A line of `history.jsonl`.
    History,
    /// A line of `decision-ledger.jsonl`, also of a coordinator.
    Ledger,
    /// A line of `events.jsonl`.
    Events,
    /// A line of `repo-decisions.jsonl`.
    RepoDecisions,
    /// `multirepo/state.json`.
    CoordinatorState,
    /// `multirepo/barriers.json`.
    Barriers,
    /// A line of `multirepo/history.jsonl`.
    CoordinatorHistory,
}

impl GovernedFile {
    /// The members of the document that have another type than the declared one, in its order.
    pub fn mistyped_members(self, document: &Value) -> Vec<MistypedMember> {
        let shape = match self {
            Self::State => Shape::Object(doc::State::MEMBERS),
            Self::Session => Shape::Object(doc::Session::MEMBERS),
            Self::History => Shape::Object(doc::History::MEMBERS),
            Self::Ledger => Shape::Object(doc::Ledger::MEMBERS),
            Self::Events => Shape::Object(doc::Event::MEMBERS),
            Self::RepoDecisions => Shape::Object(doc::RepoDecision::MEMBERS),
            Self::CoordinatorState => Shape::Object(doc::Coordinator::MEMBERS),
            Self::Barriers => Shape::Map(&Shape::Object(doc::Barrier::MEMBERS)),
            Self::CoordinatorHistory => Shape::Object(doc::MultiHistory::MEMBERS),
        };
        let mut found = Vec::new();
        check(document, "", &shape, false, &mut found);
        found
    }
}

/// The members of a document that have another type than the declared one, in its order.
pub(crate) fn mistyped_members(of: &Object, known: &'static [KnownMember]) -> Vec<MistypedMember> {
    let mut found = Vec::new();
    check_members(of, "", known, &mut found);
    found
}

fn check_members(
    members: &Object,
    at: &str,
    known: &'static [KnownMember],
    found: &mut Vec<MistypedMember>,
) {
    for (name, value) in members {
        let known = known.iter().find(|known| known.name == name);
        if let Some(known) = known.filter(|known| known.part != Part::Kept) {
            let leaves_open = known.part == Part::Guards;
            check(value, &below(at, name), &known.shape, leaves_open, found);
        }
    }
}

fn check(
    value: &Value,
    at: &str,
    shape: &Shape,
    leaves_open: bool,
    found: &mut Vec<MistypedMember>,
) {
    let declared = match shape {
        Shape::Free => MemberType::Any,
        Shape::Value(declared) => *declared,
        Shape::Object(_) | Shape::ByType(_) | Shape::Map(_) => MemberType::Map,
        Shape::List(_) => MemberType::List,
    };
    if value.is_null() {
        return;
    }
    if !declared.fits(value) {
        let (expected, actual) = (declared.name(), actual(value, declared));
        found.push(MistypedMember { field: at.to_owned(), expected, actual, leaves_open });
        return;
    }
    match (shape, value) {
        (Shape::Object(known), Value::Object(members)) => check_members(members, at, known, found),
        (Shape::ByType(_), Value::Object(members)) => {
            if let Some(known) = shape.members_by_type(members) {
                check_members(members, at, known, found);
            }
        }
        (Shape::Map(shape), Value::Object(members)) => {
            for (name, value) in members {
                check(value, &below(at, name), shape, leaves_open, found);
            }
        }
        (Shape::List(_) | Shape::Value(MemberType::Texts), Value::Array(items)) => {
            let item = match shape {
                Shape::List(item) => item,
                _ => &Shape::Value(MemberType::Text),
            };
            for (index, value) in items.iter().enumerate() {
                check(value, &below(at, &index.to_string()), item, leaves_open, found);
            }
        }
        _ => {}
    }
}

impl MemberType {
    fn name(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Text => "a text",
            Self::Timestamp => "a time",
            Self::Count => "a whole number from zero",
            Self::Int => "a whole number",
            Self::Amount => "a number",
            Self::Flag => "true or false",
            Self::List => "a list",
            Self::Texts => "a list of texts",
            Self::Map => "an object",
        }
    }

    /// Whether a value reads as this type. The items of a list are not examined.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Text => value.is_string(),
            Self::Timestamp => value.as_str().and_then(Time::parse_iso).is_some(),
            Self::Count => wire::count_of(value).is_some(),
            Self::Int => wire::integer_of(value).is_some(),
            Self::Amount => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::List | Self::Texts => value.is_array(),
            Self::Map => value.is_object(),
        }
    }
}

fn actual(value: &Value, declared: MemberType) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) if declared == MemberType::Timestamp => "a text that is not a time".into(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
