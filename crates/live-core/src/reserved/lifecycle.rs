//! The payloads of `_ggui:lifecycle`: a closed union on `kind`.

use accord_contract::{Object, Value, rule};

use crate::violation::{Violation, show, type_name};

enum Rule {
    Text,
    Flag,
    OneOf(&'static [&'static str]),
}

/// The kinds, with their members. Other members are allowed.
const KINDS: [(&str, &[(&str, Rule)]); 4] = [
    ("handshake_started", &[("handshakeId", Rule::Text), ("intent", Rule::Text)]),
    (
        "handshake_completed",
        &[
            ("handshakeId", Rule::Text),
            ("outcome", Rule::OneOf(&["accepted", "amended", "declined", "cached"])),
            ("genExpected", Rule::Flag),
        ],
    ),
    ("render_started", &[("sessionId", Rule::Text), ("intent", Rule::Text)]),
    ("consume_polling", &[("sessionId", Rule::Text), ("state", Rule::OneOf(&["open"]))]),
];

/// Clauses: GGUI-RESERVED-LIFECYCLE.
pub(super) fn check(payload: &Value) -> Vec<Violation> {
    let Value::Object(members) = payload else {
        let violation = Violation::new("payload", "a payload of _ggui:lifecycle is an object");
        return vec![violation.expecting("object", type_name(payload))];
    };
    let kind = members.get("kind").and_then(Value::as_str);
    let Some((_, rules)) = KINDS.iter().find(|(known, _)| Some(*known) == kind) else {
        let kinds: Vec<_> = KINDS.iter().map(|(kind, _)| *kind).collect();
        let expected = kinds.join(" | ");
        let violation = Violation::new("kind", format!("must be one of {expected}"));
        let violation = violation.expecting(expected, found(members, "kind"));
        return rule!(vec![violation]; AnyLifecycle => Vec::new());
    };
    rules.iter().filter_map(|(name, rule)| broken(members, name, rule)).collect()
}

fn broken(members: &Object, name: &str, rule: &Rule) -> Option<Violation> {
    let value = members.get(name);
    let (holds, expected) = match rule {
        Rule::Text => (value.is_some_and(Value::is_string), "string".to_owned()),
        Rule::Flag => (value.is_some_and(Value::is_boolean), "boolean".to_owned()),
        Rule::OneOf(names) => {
            let text = value.and_then(Value::as_str);
            (text.is_some_and(|text| names.contains(&text)), names.join(" | "))
        }
    };
    if holds {
        return None;
    }
    let violation = Violation::new(name, format!("must be {expected}"));
    Some(violation.expecting(expected, found(members, name)))
}

fn found(members: &Object, name: &str) -> String {
    members.get(name).map_or_else(|| "undefined".to_owned(), show)
}
