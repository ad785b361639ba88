//! Violations: the places where a contract, or data under a contract, is not as it must be.
//!
//! A validator reports every violation, up to [`MOST_VIOLATIONS`]: an agent corrects them in one
//! round, and a hostile value cannot fill the memory with messages.

use std::borrow::Cow;

use accord_contract::{
    Code, Extensible, Failure, Limits, Object, Value, Wire, WireCode, message, wire_enum,
};
use accord_contract::{text::excerpt, wire::Pointer};

/// The most violations of one check. What comes after them is not reported.
pub const MOST_VIOLATIONS: usize = 100;

/// The most characters of a name in a field path, and of a value in a message.
const MOST_CHARS: usize = 120;

message! {
    /// One place that is not as it must be.
    pub struct Violation("GguiViolation", open) {
        /// The place, as `title`, `items[0].done` or `submit.data.id`; empty for the whole value.
        required field: String = "field", "field-path";
        /// What is wrong, for people.
        required message: String = "message", "text";
        /// What must be there.
        optional expected: String = "expected", "text";
        /// What was found there.
        optional received: String = "received", "text";
        /// The keyword of JSON Schema that the value does not satisfy. Absent where no schema
        /// decided.
        optional keyword: String = "keyword", "json-schema-keyword";
        /// Why a contract is refused there.
        optional code: WireCode = "code", "code";
    }
}

/// Every violation that a check has found.
pub type Violations = Vec<Violation>;

impl Violation {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
            expected: None,
            received: None,
            keyword: None,
            code: None,
            extra: Object::new(),
        }
    }

    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>, received: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.received = Some(received.into());
        self
    }

    #[must_use]
    pub fn of_keyword(mut self, keyword: &str) -> Self {
        self.keyword = Some(keyword.to_owned());
        self
    }

    #[must_use]
    pub fn of_code(mut self, code: Code) -> Self {
        self.code = Some(Extensible::Known(code));
        self
    }

    pub fn known_code(&self) -> Option<Code> {
        self.code.as_ref().and_then(WireCode::known)
    }
}

wire_enum! {
    /// What the data came through.
    pub enum Source("GguiViolationSource", closed) {
        /// The props of a render.
        Render = "ggui_render",
        /// The props of an update.
        Update = "ggui_update",
        /// The props of an amendment.
        Amend = "ggui_amend",
        /// A payload for a channel.
        Emit = "ggui_emit",
        /// An action of a person.
        Event = "ggui_event",
    }
}

message! {
    /// The details of a contract violation: of the error frame, and of the error of a tool.
    pub struct ViolationDetails("GguiContractViolation", open) {
        /// Always `contract_violation`.
        required error: String = "error", "constant";
        /// The tool that got the data; `ggui_event` for an action of a person.
        required tool: Source = "tool", "tool-name";
        /// Every place that is wrong.
        required violations: Vec<Violation> = "violations", "list", Limits::not_empty();
        /// What to do.
        required hint: String = "hint", "text";
        /// The hash of the props schema that was enforced, where props were checked.
        optional props_schema_hash: String = "propsSchemaHash", "sha256";
    }
}

impl ViolationDetails {
    /// Clauses: GGUI-VIOLATION-DETAILS.
    pub fn new(source: Source, violations: Vec<Violation>) -> Self {
        let hint = match source {
            Source::Event => {
                "The action does not match the actionSpec of the session. Correct what the page \
                 sends, or let the agent render a page whose actionSpec allows it."
            }
            _ => {
                "Correct the data at each of the violations, or call ggui_render with a contract \
                 that allows it."
            }
        };
        Self {
            error: "contract_violation".into(),
            tool: source,
            violations,
            hint: hint.into(),
            props_schema_hash: None,
            extra: Object::new(),
        }
    }

    #[must_use]
    pub fn under(mut self, props_schema_hash: &str) -> Self {
        self.props_schema_hash = Some(props_schema_hash.to_owned());
        self
    }

    /// The failure that carries these details, under the code of the door: `CONTRACT_VIOLATION` on
    /// the channel, `contract_violation` from a tool.
    pub fn into_failure(self, code: Code) -> Failure {
        let mut failure = Failure::new(code, summary(&self.violations));
        if let Value::Object(details) = self.encode() {
            failure.details = Some(Box::new(details));
        }
        failure
    }
}

pub(crate) fn refuse(code: Code, violations: &[Violation]) -> Failure {
    let list: Vec<Value> = violations.iter().map(Wire::encode).collect();
    Failure::new(code, summary(violations)).with("violations", Value::Array(list))
}

/// The violations in one sentence, for a message.
pub fn summary(violations: &[Violation]) -> String {
    let Some(first) = violations.first() else { return "the contract is violated".to_owned() };
    let place = if first.field.is_empty() { "the value" } else { first.field.as_str() };
    let more = match violations.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more violation)".to_owned(),
        others => format!(" (and {others} more violations)"),
    };
    format!("{place}: {}{more}", first.message)
}

/// The path of a place below `prefix`, as violations write it.
///
/// Clauses: GGUI-VIOLATION-FIELD.
pub fn field_path(prefix: &str, at: &Pointer<'_>) -> String {
    match at {
        Pointer::Root | Pointer::Answer => prefix.to_owned(),
        Pointer::Member(above, name) => {
            let above = field_path(prefix, above);
            let dot = if above.is_empty() { "" } else { "." };
            format!("{above}{dot}{}", shorten(name))
        }
        Pointer::Index(above, index) => format!("{}[{index}]", field_path(prefix, above)),
    }
}

pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The beginning of a value, for a message.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => type_name(value).to_owned(),
        scalar => excerpt(&scalar.to_string(), MOST_CHARS),
    }
}

pub(crate) fn shorten(name: &str) -> Cow<'_, str> {
    if name.len() <= MOST_CHARS { name.into() } else { excerpt(name, MOST_CHARS).into() }
}

/// The first names, for a message. A hostile contract has thousands of them.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 20;
    let mut names = names.into_iter();
    let mut shown: Vec<_> = names.by_ref().take(MOST).map(shorten).collect();
    match (shown.is_empty(), names.next()) {
        (true, _) => return "(none)".to_owned(),
        (false, Some(_)) => shown.push("…".into()),
        (false, None) => {}
    }
    shown.join(", ")
}
