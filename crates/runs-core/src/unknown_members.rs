//! Members of a document that decide nothing: those that are kept for others, and those that
//! are unknown and most likely misspelled.
//!
//! Invariants:
//! - an extension (`x-…`, `x_…`, `$…`) is never reported, nor is anything below a member
//!   whose content is free;
//! - members below an unknown member are not reported.

use accord_contract::closest::closest;
use accord_contract::wire::{Object, Value};

use crate::members::text;

/// What a known member is to a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// It decides something.
    Decides,
    /// It keeps something shut that is open without it.
    Guards,
    /// It feeds features of other runners.
    Kept,
}

/// A member that a document may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownMember {
    name: &'static str,
    part: Part,
    shape: Shape,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Nothing: its members, where it has any, are free.
    Free,
    /// An object with these members.
    Object(&'static [KnownMember]),
    /// An object whose members depend on its `type`; one of another type is not looked at.
    ByType(&'static [(&'static str, &'static [KnownMember])]),
    /// An object with members of any name and one shape.
    Map(&'static Self),
    /// A list of values of one shape.
    List(&'static Self),
}

/// A member that decides something.
pub(crate) const fn decides(name: &'static str) -> KnownMember {
    known(name, Part::Decides)
}

/// A member without which something is more open.
pub(crate) const fn guards(name: &'static str) -> KnownMember {
    known(name, Part::Guards)
}

/// A member that feeds features of other runners.
pub(crate) const fn kept(name: &'static str) -> KnownMember {
    known(name, Part::Kept)
}

const fn known(name: &'static str, part: Part) -> KnownMember {
    KnownMember {
        name,
        part,
        shape: Shape::Free,
    }
}

impl KnownMember {
    /// The same, with something known of its value.
    pub(crate) const fn of(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }
}

/// A member that decides nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct UnknownMember {
    /// Where it is, as a dotted name.
    pub field: String,
    /// What is the matter with it.
    pub kind: UnknownMemberKind,
}

/// What is the matter with a member that decides nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UnknownMemberKind {
    /// It is kept for other runners.
    Kept,
    /// It is unknown.
    Unknown {
        /// The member that was most likely meant.
        meant: Option<&'static str>,
        /// Whether the absence of that one disables a protection.
        leaves_open: bool,
    },
}

/// Every member of a document that decides nothing, in the document's order.
pub(crate) fn unknown_members(
    document: &Object,
    known: &'static [KnownMember],
) -> Vec<UnknownMember> {
    let mut found = Vec::new();
    collect(document, "", known, &mut found);
    found
}

fn collect(
    members: &Object,
    at: &str,
    known: &'static [KnownMember],
    found: &mut Vec<UnknownMember>,
) {
    for (name, value) in members {
        if is_for_others(name) {
            continue;
        }
        let field = below(at, name);
        let kind = match known.iter().find(|known| known.name == name) {
            Some(known) if known.part != Part::Kept => {
                descend(value, &field, &known.shape, found);
                continue;
            }
            Some(_) => UnknownMemberKind::Kept,
            None => {
                let names = known.iter().map(|known| known.name);
                let meant = closest(name, names);
                let meant = known.iter().find(|known| Some(known.name) == meant);
                UnknownMemberKind::Unknown {
                    meant: meant.map(|known| known.name),
                    leaves_open: meant.is_some_and(|known| known.part == Part::Guards),
                }
            }
        };
        found.push(UnknownMember { field, kind });
    }
}

fn descend(value: &Value, at: &str, shape: &'static Shape, found: &mut Vec<UnknownMember>) {
    match (shape, value) {
        (Shape::Object(known), Value::Object(members)) => collect(members, at, known, found),
        (Shape::ByType(types), Value::Object(members)) => {
            let kind = text(members, "type");
            let known = types.iter().find(|(name, _)| Some(*name) == kind);
            if let Some((_, known)) = known {
                collect(members, at, known, found);
            }
        }
        (Shape::Map(shape), Value::Object(members)) => {
            for (name, value) in members {
                descend(value, &below(at, name), shape, found);
            }
        }
        (Shape::List(shape), Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                descend(value, &below(at, &index.to_string()), shape, found);
            }
        }
        _ => {}
    }
}

/// Such a prefix marks a member as an extension.
fn is_for_others(name: &str) -> bool {
    ["x-", "x_", "$"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn below(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}
