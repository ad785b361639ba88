//! Members of a document that have no effect: those that only other runners use, and unknown ones,
//! which are probably misspelled.
//!
//! Invariants:
//! - extensions (`x-…`, `x_…`, `$…`) and members of free-form values are never reported;
//! - members below an unknown member are not reported.

use accord_contract::closest::closest;
use accord_contract::{Object, Value};

use crate::members::text;
use crate::mistyped_members::MemberType;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// It affects the run.
    Decides,
    /// It restricts something that is allowed without it.
    Guards,
    /// Only other runners use it.
    Kept,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownMember {
    pub(crate) name: &'static str,
    pub(crate) part: Part,
    pub(crate) shape: Shape,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Free,
    Value(MemberType),
    Object(&'static [KnownMember]),
    /// An object whose members depend on its `type`. Other types are not checked.
    ByType(&'static [(&'static str, &'static [KnownMember])]),
    /// An object with arbitrary names and values of one shape.
    Map(&'static Self),
    List(&'static Self),
}

pub(crate) const fn decides(name: &'static str) -> KnownMember {
    known(name, Part::Decides)
}

/// A member whose absence allows more.
pub(crate) const fn guards(name: &'static str) -> KnownMember {
    known(name, Part::Guards)
}

/// A member that only other runners use.
pub(crate) const fn kept(name: &'static str) -> KnownMember {
    known(name, Part::Kept)
}

const fn known(name: &'static str, part: Part) -> KnownMember {
    KnownMember { name, part, shape: Shape::Free }
}

impl KnownMember {
    pub(crate) const fn of(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    pub(crate) const fn is(self, declared: MemberType) -> Self {
        self.of(Shape::Value(declared))
    }
}

impl Shape {
    /// The known members of an object of a [`ByType`](Self::ByType).
    pub(crate) fn members_by_type(&self, members: &Object) -> Option<&'static [KnownMember]> {
        let Self::ByType(types) = self else { return None };
        let kind = text(members, "type");
        types.iter().find(|(name, _)| Some(*name) == kind).map(|(_, known)| *known)
    }
}

/// A member without effect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownMember {
    /// Its path, joined by dots.
    pub field: String,
    pub kind: UnknownMemberKind,
}

/// Why a member has no effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnknownMemberKind {
    /// Only other runners use it.
    Kept,
    Unknown {
        meant: Option<&'static str>,
        /// Whether the absence of that member disables a protection.
        leaves_open: bool,
    },
}

/// Every member of a document without effect, in document order.
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
                let closest = closest(name, known.iter().map(|known| known.name));
                let meant = known.iter().find(|known| Some(known.name) == closest);
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
        (Shape::ByType(_), Value::Object(members)) => {
            if let Some(known) = shape.members_by_type(members) {
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

/// Whether the prefix marks the member as an extension.
fn is_for_others(name: &str) -> bool {
    ["x-", "x_", "$"].iter().any(|prefix| name.starts_with(prefix))
}

pub(crate) fn below(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}
