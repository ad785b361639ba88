//! A message's entry in a contract snapshot: every place that it can have, with its attributes.
//!
//! A place is a dotted path (`error.code`). `*` is every element of a list and every member of a
//! map; the empty path is the message itself. Lengths, patterns and formats are not in it: a later
//! version may accept more.

use serde_json::json;

use super::{MessageShape, Object, Presence, Shape, Wire};

/// The snapshot entry of a message: place to attributes.
pub fn snapshot_fields<T: Wire>() -> Object {
    let mut entries = Object::new();
    let whole = Presence { required: true, nullable: false };
    describe("", &T::shape(), whole, "message", &mut Vec::new(), &mut entries);
    entries
}

fn describe(
    place: &str,
    shape: &Shape,
    presence: Presence,
    semantics: &str,
    above: &mut Vec<&'static str>,
    entries: &mut Object,
) {
    let mut entry = json!({
        "kind": "canonical",
        "presence": if presence.required { "required" } else { "optional" },
        "type": shape.json_type(),
        "nullable": presence.nullable,
        "semantics": semantics,
    });
    match shape {
        Shape::Constant(value) => entry["enum"] = json!([value]),
        Shape::Integer { minimum: Some(least), .. } => entry["minimum"] = json!(least),
        Shape::Number { range: Some((least, most)) } => {
            entry["minimum"] = json!(least);
            entry["maximum"] = json!(most);
        }
        Shape::Enum(names) => {
            entry["enum"] = json!(names.members);
            entry["openEnum"] = names.open.into();
        }
        Shape::Message(message) => {
            entry["unknownMembers"] = if message.open { "kept" } else { "refused" }.into();
        }
        _ => {}
    }
    entries.insert(place.into(), entry);
    match shape {
        Shape::List { item, .. } | Shape::Map(item) if !matches!(**item, Shape::Any) => {
            let each = Presence { required: true, nullable: false };
            let place = below(place, "*");
            describe(&place, item, each, "element", above, entries);
        }
        Shape::Message(message) => describe_members(place, message, above, entries),
        _ => {}
    }
}

fn describe_members(
    place: &str,
    message: &MessageShape,
    above: &mut Vec<&'static str>,
    entries: &mut Object,
) {
    // A message inside itself is described once, at the outermost place.
    if above.contains(&message.name) {
        return;
    }
    above.push(message.name);
    for field in (message.fields)() {
        let place = below(place, field.name);
        describe(&place, &field.shape, field.presence, field.semantics, above, entries);
    }
    // After the members, because an alias copies the entry of its canonical member.
    for alias in message.aliases {
        let mirrors = below(place, alias.mirrors);
        // An alias has the type and the meaning of its canonical member.
        let canonical = entries.get(&mirrors).cloned();
        let mut entry = canonical.expect("an alias repeats a member that its message declares");
        entry["kind"] = "alias".into();
        entry["presence"] = "optional".into();
        entry["mirrors"] = mirrors.into();
        entries.insert(below(place, alias.name), entry);
    }
    above.pop();
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.into() } else { format!("{place}.{name}") }
}
