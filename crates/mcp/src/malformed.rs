//! What a request gets that no method of MCP fits: an unknown method, or params of another form.
//!
//! Invariant: the message says what is wrong and what is expected, never the method's name alone.

use accord_contract::{Value, closest::closest};
use rmcp::model::{ErrorCode, ErrorData};

struct Member {
    name: &'static str,
    kind: Kind,
    required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
}

const NAME: Member = Member { name: "name", kind: Kind::Text, required: true };
const ARGUMENTS: Member = Member { name: "arguments", kind: Kind::Object, required: false };
const URI: Member = Member { name: "uri", kind: Kind::Text, required: true };
const META: Member = Member { name: "_meta", kind: Kind::Object, required: false };

/// The methods that a server of tools, resources and prompts answers, with their params.
const METHODS: &[(&str, &[Member])] = &[
    (
        "initialize",
        &[
            Member { name: "protocolVersion", kind: Kind::Text, required: true },
            Member { name: "capabilities", kind: Kind::Object, required: true },
            Member { name: "clientInfo", kind: Kind::Object, required: true },
        ],
    ),
    ("ping", &[]),
    ("server/discover", &[]),
    ("tools/list", &[]),
    ("tools/call", &[NAME, ARGUMENTS]),
    ("resources/list", &[]),
    ("resources/templates/list", &[]),
    ("resources/read", &[URI]),
    ("prompts/list", &[]),
    ("prompts/get", &[NAME, ARGUMENTS]),
];

/// The error for a request that fits no method: -32602 if its method is known, else -32601.
pub(crate) fn error(method: &str, params: Option<&Value>) -> ErrorData {
    let Some((_, members)) = METHODS.iter().find(|(name, _)| *name == method) else {
        return no_method(method);
    };
    let what = problem(members, params).unwrap_or_else(|| "they do not match its schema".into());
    ErrorData::invalid_params(format!("the params of {method} are not valid: {what}"), None)
}

/// The error, with a message that says more than the name of a method.
pub(crate) fn explained(error: ErrorData) -> ErrorData {
    let is_bare = error.code == ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ');
    if is_bare { no_method(&error.message) } else { error }
}

pub(crate) fn no_method(method: &str) -> ErrorData {
    let method: String = method.chars().take(100).collect();
    let known = || METHODS.iter().map(|(name, _)| *name);
    let hint = match closest(&method, known()) {
        Some(meant) if meant == method => "it belongs to another revision or set of tools".into(),
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("the methods are {}", known().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("this server does not offer the method {method:?}; {hint}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn problem(members: &[Member], params: Option<&Value>) -> Option<String> {
    let params = match params {
        None | Some(Value::Null) => None,
        Some(Value::Object(params)) => Some(params),
        Some(other) => return Some(format!("they must be an object, not {}", kind_of(other))),
    };
    for Member { name, kind, required } in members.iter().chain([&META]) {
        let value = params.and_then(|params| params.get(*name));
        let (expected, is_sound): (_, fn(&Value) -> bool) = match kind {
            Kind::Text => ("a string", Value::is_string),
            Kind::Object => ("an object", Value::is_object),
        };
        match value {
            None if *required => return Some(format!("{name} is missing ({expected})")),
            Some(value) if !is_sound(value) => {
                return Some(format!("{name} must be {expected}, not {}", kind_of(value)));
            }
            _ => {}
        }
    }
    None
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_names_the_member_and_what_is_expected() {
        for (method, params, code, words) in [
            ("tools/call", Some(json!({})), -32_602, "name is missing (a string)"),
            ("tools/call", None, -32_602, "name is missing"),
            ("tools/call", Some(json!([1])), -32_602, "must be an object, not a list"),
            (
                "tools/call",
                Some(json!({"name": "a", "arguments": []})),
                -32_602,
                "arguments must be an object, not a list",
            ),
            ("prompts/get", Some(json!({"name": 1})), -32_602, "name must be a string"),
            ("tools/list", Some(json!({"_meta": 1})), -32_602, "_meta must be an object"),
            ("tools/calls", None, -32_601, "did you mean tools/call?"),
            ("zebra", None, -32_601, "the methods are initialize"),
        ] {
            let error = error(method, params.as_ref());
            assert_eq!(error.code.0, code, "{method}");
            assert!(error.message.contains(words), "{}", error.message);
        }
        let bare = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "logging/setLevel", None);
        let explained = explained(bare).message;
        assert!(explained.contains("does not offer the method \"logging/setLevel\""));
    }
}
