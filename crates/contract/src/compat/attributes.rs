//! The attributes of a canonical member that exists on both sides.

use std::collections::BTreeMap;

use super::changes::Changes;
use super::snapshot::{Direction, FieldEntry};
use super::{Rule, differing};

/// A member in the old and in the new snapshot.
type Sides<'a> = [&'a FieldEntry; 2];

/// Clauses: ALX-SERVER-2, ALX-MAJOR-3, ALX-V2, ALX-COMPAT-09, ALX-CANONICAL-STABLE, ALX-WG-06.
pub(super) fn compare(
    path: &str,
    message: Direction,
    [old, new]: Sides<'_>,
    changes: &mut Changes<'_>,
) {
    // A canonical member always has its types; `Snapshot::parse` has checked that.
    if let (Some(was), Some(is)) = (&old.types, &new.types)
        && was != is
    {
        let note = format!("the type was {} and is {}", was.in_words(), is.in_words());
        changes.changed(path, Rule::TypeChanged, note);
    }
    let meanings = [old, new].map(|side| side.semantics.as_deref());
    changes.meaning(path, meanings, Rule::SemanticsChanged);
    presence(path, message, [old, new], changes);
    nullability(path, message, [old, new], changes);
    values(path, message, [old, new], changes);
    if old.mirrored() != new.mirrored() {
        let note = "the attribute mirrors is different, which only an alias has";
        changes.changed(path, Rule::AttributeChanged, note);
    }
    for name in differing(&old.extra, &new.extra) {
        changes.changed(path, Rule::AttributeChanged, format!("the attribute {name} is different"));
    }
}

/// Clauses: ALX-SERVER-5, ALX-MAJOR-4, ALX-V5, ALX-COMPAT-10, ALX-COMPAT-20, ALX-COMPAT-21.
fn presence(path: &str, message: Direction, [old, new]: Sides<'_>, changes: &mut Changes<'_>) {
    let (rule, note) = match (old.is_required(), new.is_required(), message) {
        (false, true, _) => (Rule::FieldBecameRequired, "the member is required now"),
        (true, false, Direction::Response) => {
            (Rule::ResponseFieldRelaxed, "the member may be missing now")
        }
        (true, false, Direction::Request) => {
            (Rule::RequestFieldRelaxed, "the member may be left out now")
        }
        _ => return,
    };
    changes.changed(path, rule, note);
}

/// Clauses: ALX-COMPAT-22.
fn nullability(path: &str, message: Direction, [old, new]: Sides<'_>, changes: &mut Changes<'_>) {
    let (was, is) = (old.is_nullable(), new.is_nullable());
    let rule = match (was, is, message) {
        (false, true, Direction::Response) => Rule::BecameNullable,
        (false, true, Direction::Request) => Rule::RequestBecameNullable,
        (true, false, Direction::Response) => Rule::NoLongerNullable,
        (true, false, Direction::Request) => Rule::RequestNoLongerNullable,
        _ => return,
    };
    let note = if is { "the member may be null now" } else { "the member is never null now" };
    changes.changed(path, rule, note);
}

/// Clauses: ALX-COMPAT-23.
fn values(path: &str, message: Direction, [old, new]: Sides<'_>, changes: &mut Changes<'_>) {
    let (was_open, is_open) = (old.is_open(), new.is_open());
    match (was_open, is_open, message) {
        (false, true, Direction::Response) => {
            changes.changed(path, Rule::ResponseEnumOpened, "other values may come now");
        }
        (false, true, Direction::Request) => {
            changes.changed(path, Rule::RequestEnumOpened, "other values may be sent now");
        }
        (true, false, Direction::Response) => {
            changes.changed(path, Rule::ResponseEnumClosed, "only the listed values come now");
        }
        (true, false, Direction::Request) => {
            changes.changed(
                path,
                Rule::RequestEnumClosed,
                "only the listed values may be sent now",
            );
        }
        _ => {}
    }
    // Next to an open list, an absent list is an empty one.
    let empty = (was_open && is_open).then(BTreeMap::new);
    let was = old.listed().or_else(|| empty.clone());
    let (Some(was), Some(is)) = (was, new.listed().or(empty)) else { return };
    if old.values.is_none() && new.values.is_none() && old.says_open() != new.says_open() {
        let note = "the attribute openEnum is different, without a list that it is about";
        changes.changed(path, Rule::AttributeChanged, note);
    }
    for (_, value) in was.iter().filter(|(key, _)| !is.contains_key(*key)) {
        changes.changed(path, Rule::EnumValueRemoved, format!("the value {value} is gone"));
    }
    for (_, value) in is.iter().filter(|(key, _)| !was.contains_key(*key)) {
        // A reader of the open list had to accept the value before it was listed.
        let rule = match message {
            Direction::Response if was_open => Rule::OpenEnumValueAdded,
            Direction::Response => Rule::EnumValueAdded,
            Direction::Request if was_open && is_open => Rule::OpenEnumValueAdded,
            Direction::Request => Rule::RequestEnumValueAdded,
        };
        changes.changed(path, rule, format!("the value {value} is new"));
    }
}
