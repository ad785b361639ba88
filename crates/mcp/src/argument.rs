//! The arguments of a tool as data. One list gives both the JSON Schema that a model reads and the
//! check of what it sends.
//!
//! Invariants:
//! - An unknown argument is refused, with the most similar name as a suggestion.
//! - `null` means the same as a missing argument, since models send both. Only an argument of any
//!   value can be `null`.
//! - A checked argument has the type in the schema.

use accord_contract::{Code, Failure, Object, Value, closest::closest};
use serde_json::json;

#[derive(Clone, Copy, Debug)]
pub struct Argument {
    name: &'static str,
    kind: Kind,
    about: &'static str,
    need: Need,
    default: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Word(Words),
    /// A number from the first to the second.
    Integer(i64, i64),
    /// A number from 0 to 1.
    Ratio,
    Flag,
    Texts,
    /// A list of objects with this schema.
    Objects(fn() -> Value),
    /// An object with this schema.
    Object(fn() -> Value),
    /// An object whose members have names that begin with `x-`.
    Members,
    /// Any value, `null` too.
    Any,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Need {
    Optional,
    Required,
    /// The project; required unless the server has a default.
    Project,
}

type Words = &'static [&'static str];

/// Ranges up to this number are in the schema. Models seldom come near the end of others, whose
/// refusal names it.
const LARGEST_RANGE: i64 = 100;

impl Argument {
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Text, about)
    }

    pub const fn word(name: &'static str, words: Words, about: &'static str) -> Self {
        Self::new(name, Kind::Word(words), about)
    }

    pub const fn integer(name: &'static str, least: i64, most: i64, about: &'static str) -> Self {
        Self::new(name, Kind::Integer(least, most), about)
    }

    pub const fn ratio(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Ratio, about)
    }

    /// A boolean; false by default.
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Flag, about)
    }

    pub const fn texts(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Texts, about)
    }

    pub const fn objects(name: &'static str, items: fn() -> Value, about: &'static str) -> Self {
        Self::new(name, Kind::Objects(items), about)
    }

    pub const fn object(name: &'static str, schema: fn() -> Value, about: &'static str) -> Self {
        Self::new(name, Kind::Object(schema), about)
    }

    pub const fn members(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Members, about)
    }

    pub const fn any(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Any, about)
    }

    /// The project, for a tool that starts to work on one; required unless the server has a
    /// default.
    pub const fn project(about: &'static str) -> Self {
        let mut argument = Self::text("project_id", about);
        argument.need = Need::Project;
        argument
    }

    #[must_use]
    pub const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    #[must_use]
    pub const fn default_word(mut self, word: &'static str) -> Self {
        self.default = Some(word);
        self
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub const fn about(&self) -> &'static str {
        self.about
    }

    const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about, need: Need::Optional, default: None }
    }

    fn is_required(&self, default_project: Option<&str>) -> bool {
        self.need == Need::Required || (self.need == Need::Project && default_project.is_none())
    }

    /// Every token of a schema is read by models, so it says only what they need.
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Integer(from, to) if to <= LARGEST_RANGE => {
                json!({"type": "integer", "minimum": from, "maximum": to})
            }
            Kind::Integer(..) => json!({"type": "integer"}),
            Kind::Ratio => json!({"type": "number", "minimum": 0, "maximum": 1}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Objects(items) => json!({"type": "array", "items": items()}),
            Kind::Object(schema) => schema(),
            Kind::Members => json!({"type": "object"}),
            Kind::Any => json!({}),
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        if let Some(word) = self.default {
            schema["default"] = word.into();
        }
        schema
    }

    fn check(&self, value: &Value) -> Result<(), Failure> {
        let (sound, expected) = match self.kind {
            Kind::Text => (value.is_string(), "a string".to_owned()),
            Kind::Word(words) => (
                value.as_str().is_some_and(|word| words.contains(&word)),
                format!("one of {}", words.join(", ")),
            ),
            Kind::Integer(least, most) => (
                whole_number(value).is_some_and(|number| (least..=most).contains(&number)),
                format!("a whole number from {least} to {most}"),
            ),
            Kind::Ratio => (
                value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)),
                "a number from 0 to 1".to_owned(),
            ),
            Kind::Flag => (value.is_boolean(), "true or false".to_owned()),
            Kind::Texts => (
                value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
                "a list of strings, such as [\"one\", \"two\"]".to_owned(),
            ),
            Kind::Objects(_) => (
                value.as_array().is_some_and(|items| items.iter().all(Value::is_object)),
                "a list of objects".to_owned(),
            ),
            Kind::Object(_) => (value.is_object(), "an object".to_owned()),
            Kind::Members => (
                value
                    .as_object()
                    .is_some_and(|members| members.keys().all(|name| name.starts_with("x-"))),
                "an object whose members all have names that begin with x-".to_owned(),
            ),
            Kind::Any => (true, String::new()),
        };
        if sound {
            return Ok(());
        }
        let found = shortened(&value.to_string());
        let message = format!("{} must be {expected}, not {found}", self.name);
        Err(Failure::new(Code::McpArgumentInvalid, message).at(format!("/{}", self.name)))
    }
}

pub(crate) fn schema(arguments: &[Argument], default_project: Option<&str>) -> Object {
    let property = |one: &Argument| (one.name.to_owned(), one.schema());
    let properties: Object = arguments.iter().map(property).collect();
    let required = arguments.iter().filter(|argument| argument.is_required(default_project));
    let required: Vec<&str> = required.map(Argument::name).collect();
    let mut schema = Object::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}

/// Checks the arguments that were sent, and removes those that are `null`.
pub(crate) fn check(
    sent: Object,
    arguments: &[Argument],
    default_project: Option<&str>,
) -> Result<Object, Failure> {
    let mut checked = Object::new();
    for (name, value) in with_integers(sent, arguments) {
        let Some(argument) = arguments.iter().find(|argument| argument.name == name) else {
            return Err(unknown(&name, arguments));
        };
        if value.is_null() && !matches!(argument.kind, Kind::Any) {
            continue;
        }
        argument.check(&value)?;
        let number = matches!(argument.kind, Kind::Integer(..)).then(|| whole_number(&value));
        checked.insert(name, number.flatten().map_or(value, Value::from));
    }
    for argument in arguments.iter().filter(|argument| argument.is_required(default_project)) {
        let is_any = matches!(argument.kind, Kind::Any);
        let blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        if checked.get(argument.name).is_none_or(|value| !is_any && blank(value)) {
            let about = [": ", argument.about];
            let about = if argument.about.is_empty() { String::new() } else { about.concat() };
            let message = format!("{} is missing{about}", argument.name);
            let failure = Failure::new(Code::McpArgumentMissing, message);
            return Err(failure.at(format!("/{}", argument.name)));
        }
    }
    Ok(checked)
}

/// The arguments of a prompt, which clients send as texts. An empty one counts as missing.
pub(crate) fn from_texts(mut sent: Object, arguments: &[Argument]) -> Object {
    for argument in arguments.iter().filter(|item| matches!(item.kind, Kind::Integer(..))) {
        let Some(value) = sent.get_mut(argument.name) else { continue };
        match value.as_str().map(str::trim) {
            Some("") => *value = Value::Null,
            Some(text) => *value = text.into(),
            None => {}
        }
    }
    sent
}

/// The arguments, in which texts such as `"8"` are integers where the schema has integers: some
/// models write them so.
pub(crate) fn with_integers(mut sent: Object, arguments: &[Argument]) -> Object {
    for argument in arguments {
        if let Some(value) = sent.get_mut(argument.name) {
            as_declared(value, &argument.schema());
        }
    }
    sent
}

fn as_declared(value: &mut Value, schema: &Value) {
    match value {
        Value::String(text) if schema["type"] == "integer" => {
            if let Some(number) = digits(text) {
                *value = number.into();
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| as_declared(item, &schema["items"]));
        }
        Value::Object(members) => {
            for (name, member) in members {
                as_declared(member, &schema["properties"][name.as_str()]);
            }
        }
        _ => {}
    }
}

/// An integer in a text of digits alone, after a minus sign perhaps.
fn digits(text: &str) -> Option<i64> {
    let number = text.strip_prefix('-').unwrap_or(text);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A value as a whole number, such as `5` or `5.0`.
fn whole_number(value: &Value) -> Option<i64> {
    let rounded = || {
        let number = value.as_f64()?;
        // Doubles are exact up to this number.
        (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
    };
    value.as_i64().or_else(rounded)
}

fn unknown(name: &str, arguments: &[Argument]) -> Failure {
    let known = || arguments.iter().map(Argument::name);
    let name = shortened(name);
    let message = format!("there is no argument {name:?}");
    let failure = Failure::new(Code::McpArgumentUnknown, message).at(format!("/{name}"));
    match closest(&name, known()) {
        Some(meant) => failure.suggesting(format!("Did you mean {meant}?")),
        None if arguments.is_empty() => failure.suggesting("The tool takes no arguments."),
        None => {
            let known = known().collect::<Vec<_>>().join(", ");
            failure.suggesting(format!("The tool takes {known}."))
        }
    }
}

/// A text as a message shows it, shortened because it may have megabytes.
fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
