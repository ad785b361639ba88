//! A message's entry in a contract snapshot: every place that it can have, with its attributes.
//!
//! A place is a dotted path, as compatibility policies write them (`error.code`). `*` is every
//! element of a list and every member of a map; the empty path is the message itself. JSON pointers
//! name places in documents, dotted paths name places in contracts.
//!
//! Lengths, patterns and formats are not in it: a later version may accept more, and what a reader
//! refuses is in the JSON Schema.

use serde_json::json;

use super::{MessageShape, Object, Presence, Shape, Value, Wire};

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
    let mut entry = Object::new();
    entry.insert("kind".into(), "canonical".into());
    let presence_word = if presence.required { "required" } else { "optional" };
    entry.insert("presence".into(), presence_word.into());
    entry.insert("type".into(), shape.json_type().into());
    entry.insert("nullable".into(), presence.nullable.into());
    entry.insert("semantics".into(), semantics.into());
    match shape {
        Shape::Constant(value) => {
            entry.insert("enum".into(), json!([value]));
        }
        Shape::Integer { minimum: Some(least), .. } => {
            entry.insert("minimum".into(), json!(least));
        }
        Shape::Number { range: Some((least, most)) } => {
            entry.insert("minimum".into(), json!(least));
            entry.insert("maximum".into(), json!(most));
        }
        Shape::Enum(names) => {
            entry.insert("enum".into(), json!(names.members));
            entry.insert("openEnum".into(), names.open.into());
        }
        Shape::Message(message) => {
            let unknown = if message.open { "kept" } else { "refused" };
            entry.insert("unknownMembers".into(), unknown.into());
        }
        _ => {}
    }
    entries.insert(place.into(), Value::Object(entry));

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
        let mut entry = (entries.get(&mirrors).and_then(Value::as_object).cloned())
            .expect("an alias repeats a member that its message declares");
        entry.insert("kind".into(), "alias".into());
        entry.insert("presence".into(), "optional".into());
        entry.insert("mirrors".into(), mirrors.into());
        entries.insert(below(place, alias.name), Value::Object(entry));
    }
    above.pop();
}

fn below(place: &str, name: &str) -> String {
    match place {
        "" => name.into(),
        _ => format!("{place}.{name}"),
    }
}
