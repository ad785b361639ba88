//! The attributes of a canonical member that is there on both sides.

use std::collections::BTreeSet;

use super::changes::Changes;
use super::snapshot::{Direction, FieldEntry};
use super::{Rule, contractual};
use crate::wire::Value;

pub(super) fn compare(
    path: &str,
    direction: Direction,
    old: &FieldEntry,
    new: &FieldEntry,
    changes: &mut Changes<'_>,
) {
    if let (Some(was), Some(is)) = (&old.types, &new.types)
        && was != is
    {
        let note = format!("the type was {} and is {}", was.in_words(), is.in_words());
        changes.changed(path, Rule::TypeChanged, note);
    }
    let (was, is) = (old.semantics.as_deref(), new.semantics.as_deref());
    changes.meaning(path, was, is, Rule::SemanticsChanged);
    presence(path, direction, old, new, changes);
    nullability(path, direction, old, new, changes);
    values(path, direction, old, new, changes);

    let names: BTreeSet<_> = contractual(&old.extra)
        .chain(contractual(&new.extra))
        .collect();
    for name in names {
        if old.extra.get(name) != new.extra.get(name) {
            let note = format!("the attribute {name} is different");
            changes.changed(path, Rule::AttributeChanged, note);
        }
    }
}

fn presence(
    path: &str,
    direction: Direction,
    old: &FieldEntry,
    new: &FieldEntry,
    changes: &mut Changes<'_>,
) {
    let (rule, note) = match (old.is_required(), new.is_required(), direction) {
        (false, true, _) => (Rule::FieldBecameRequired, "the member must be there now"),
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

fn nullability(
    path: &str,
    direction: Direction,
    old: &FieldEntry,
    new: &FieldEntry,
    changes: &mut Changes<'_>,
) {
    let (was, is) = (old.nullable.unwrap_or(false), new.nullable.unwrap_or(false));
    let rule = match (was, is, direction) {
        (false, true, Direction::Response) => Rule::BecameNullable,
        (false, true, Direction::Request) => Rule::RequestBecameNullable,
        (true, false, Direction::Response) => Rule::NoLongerNullable,
        (true, false, Direction::Request) => Rule::RequestNoLongerNullable,
        _ => return,
    };
    let note = if is {
        "the member may be null now"
    } else {
        "the member is never null now"
    };
    changes.changed(path, rule, note);
}

fn values(
    path: &str,
    direction: Direction,
    old: &FieldEntry,
    new: &FieldEntry,
    changes: &mut Changes<'_>,
) {
    // A member without a list may have any value, like one with an open list.
    let (was_open, is_open) = (is_open(old), is_open(new));
    match (was_open, is_open, direction) {
        (false, true, Direction::Response) => {
            changes.changed(path, Rule::ResponseEnumOpened, "other values may come now");
        }
        (false, true, Direction::Request) => {
            changes.changed(
                path,
                Rule::RequestEnumOpened,
                "other values may be sent now",
            );
        }
        (true, false, Direction::Response) => {
            changes.changed(
                path,
                Rule::ResponseEnumClosed,
                "only the listed values come now",
            );
        }
        (true, false, Direction::Request) => {
            let note = "only the listed values may be sent now";
            changes.changed(path, Rule::RequestEnumClosed, note);
        }
        _ => {}
    }
    let (Some(was), Some(is)) = (texts(old), texts(new)) else {
        return;
    };
    for value in was.difference(&is) {
        let note = format!("the value {value} is gone");
        changes.changed(path, Rule::EnumValueRemoved, note);
    }
    for value in is.difference(&was) {
        let rule = match (was_open && is_open, direction) {
            (true, _) => Rule::OpenEnumValueAdded,
            (false, Direction::Response) => Rule::EnumValueAdded,
            (false, Direction::Request) => Rule::RequestEnumValueAdded,
        };
        changes.changed(path, rule, format!("the value {value} is new"));
    }
}

fn is_open(entry: &FieldEntry) -> bool {
    entry.values.is_none() || entry.open_enum == Some(true)
}

/// The listed values as JSON text, where there is a list.
fn texts(entry: &FieldEntry) -> Option<BTreeSet<String>> {
    let values = entry.values.as_ref()?;
    Some(values.iter().map(Value::to_string).collect())
}
