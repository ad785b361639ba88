//! The fields of a JSON Schema.

use accord_contract::{Object, Value};

use super::hint::hint;
use super::{Choice, Field, Input};
use crate::markdown::markdown;
use crate::text::{AgentText, hidden_in};
use crate::value::label;

/// The most fields of a form. What comes after them is entered as JSON.
const MOST_FIELDS: usize = 200;

/// How deep objects can be nested in a form. What is deeper is entered as JSON.
const MOST_DEPTH: usize = 5;

/// The longest text that is entered in one line.
const LINE_CHARS: u64 = 80;

/// Keywords that a form cannot follow.
const COMPOSED: [&str; 6] = ["oneOf", "anyOf", "allOf", "not", "patternProperties", "$ref"];

/// The field for the whole data of an action.
pub(crate) fn read(schema: &Value) -> Field {
    let mut reader = Reader { fields: 0 };
    reader.field(schema, "", "Data", true, 0)
}

struct Reader {
    fields: usize,
}

impl Reader {
    fn field(
        &mut self,
        schema: &Value,
        path: &str,
        name: &str,
        required: bool,
        depth: usize,
    ) -> Field {
        self.fields += 1;
        let either = without_null(schema);
        let schema = either.as_ref().unwrap_or(schema);
        let title = text(schema, "title").map_or_else(|| label(name), str::to_owned);
        let mut field = Field {
            path: path.to_owned(),
            name: name.to_owned(),
            label: AgentText::new(title),
            description: text(schema, "description").map(markdown),
            hint: String::new(),
            pattern: text(schema, "pattern").map(AgentText::from),
            required,
            nullable: is_nullable(schema),
            input: self.input(schema, path, name, depth),
        };
        field.hint = match &field.input {
            Input::Group(_) | Input::Fixed(_) => String::new(),
            _ => hint(schema, field.kind(), required),
        };
        // An input shows what it proposes as it is. Choices are shown with every character.
        let is_choice = matches!(field.input, Input::Choice(_) | Input::Several(_));
        if let Some(concealed) = concealed(schema).filter(|_| !is_choice) {
            let before = if field.hint.is_empty() { "" } else { ". " };
            field.hint += &format!("{before}{concealed}");
        }
        field
    }

    fn input(&mut self, schema: &Value, path: &str, name: &str, depth: usize) -> Input {
        let default = schema.get("default");
        if let Some(constant) = schema.get("const") {
            return Input::Fixed(AgentText::new(constant.to_string()));
        }
        if let Some(choices) = choices(schema, default) {
            return Input::Choice(choices);
        }
        let is_composed = COMPOSED.iter().any(|keyword| schema.get(keyword).is_some());
        let is_full = depth > MOST_DEPTH || self.fields > MOST_FIELDS;
        let kind = only_type(schema).filter(|_| !is_composed && !is_full);
        let input = match kind {
            Some("string") => Some(text_input(schema, name, default.and_then(Value::as_str))),
            Some("integer") => Some(number_input(schema, true, default)),
            Some("number") => Some(number_input(schema, false, default)),
            Some("boolean") => Some(Input::YesNo(default.and_then(Value::as_bool))),
            Some("null") => Some(Input::Fixed("null".into())),
            Some("array") => self.list(schema, default, depth),
            Some("object") => self.group(schema, path, depth),
            _ => None,
        };
        input.unwrap_or_else(|| Input::Json {
            value: default.map(Value::to_string),
            schema: AgentText::new(schema.to_string()),
        })
    }

    /// The members of an object that has no others.
    fn group(&mut self, schema: &Value, path: &str, depth: usize) -> Option<Input> {
        let none = Object::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(properties) => properties.as_object()?,
        };
        if !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false))) {
            return None;
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let fields = properties.iter().map(|(name, schema)| {
            let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.field(schema, &place, name, required.contains(&name.as_str()), depth + 1)
        });
        // An object without members has nothing to enter.
        let is_asked = |field: &Field| field.required || !field.is_empty_group();
        Some(Input::Group(fields.filter(is_asked).collect()))
    }

    /// A list of texts, numbers, choices, yes and no, or of objects of these.
    fn list(&mut self, schema: &Value, default: Option<&Value>, depth: usize) -> Option<Input> {
        let items = schema.get("items")?;
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        if let Some(choices) = choices(items, None).filter(|_| is_unique) {
            let chosen = default.and_then(Value::as_array);
            let chosen: Vec<_> = chosen.into_iter().flatten().map(Value::to_string).collect();
            let choose = |it: Choice| Choice { chosen: chosen.contains(&it.json), ..it };
            return Some(Input::Several(choices.into_iter().map(choose).collect()));
        }
        let mut entry = self.field(items, "[]", "Entry", true, depth + 1);
        let is_list = matches!(entry.input, Input::List { .. } | Input::Several(_));
        if is_list || entry.is_empty_group() || !is_simple(&entry) {
            return None;
        }
        entry.label = AgentText::new("Entry");
        let values = default.filter(|value| value.is_array());
        let count = |name: &str| schema.get(name).and_then(Value::as_u64);
        Some(Input::List {
            entry: Box::new(entry),
            least: count("minItems"),
            most: count("maxItems"),
            values: values.map_or_else(|| "[]".to_owned(), Value::to_string),
        })
    }
}

/// Whether a field, or every field of a group, can be part of an entry of a list.
fn is_simple(field: &Field) -> bool {
    match &field.input {
        Input::Group(fields) => fields.iter().all(is_simple),
        Input::List { .. } | Input::Json { .. } => false,
        _ => true,
    }
}

/// A schema that is another one or null, as libraries write an optional value, as that other one
/// that can be null.
fn without_null(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let keyword = ["anyOf", "oneOf"].into_iter().find(|keyword| members.contains_key(*keyword))?;
    let branches = members[keyword].as_array()?;
    let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
    let mut others = branches.iter().filter(|branch| !is_null(branch));
    let (Some(other), None) = (others.next()?.as_object(), others.next()) else { return None };
    if !branches.iter().any(|branch| is_null(&branch)) {
        return None;
    }
    // What stands beside the branches is about the whole, so it counts first.
    let mut joined = other.clone();
    let beside = members.iter().filter(|(name, _)| *name != keyword);
    joined.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
    joined.insert("nullable".to_owned(), Value::Bool(true));
    Some(Value::Object(joined))
}

/// Names the characters of a proposed value that an input does not show.
fn concealed(schema: &Value) -> Option<String> {
    let found = match schema.get("default")? {
        Value::String(text) => hidden_in(text),
        other => hidden_in(&other.to_string()),
    };
    let words = "The proposed value has characters that cannot be seen";
    (!found.is_empty()).then(|| format!("{words}: {}", found.join(", ")))
}

/// Names of texts that are more than a line.
const LONG: &[&str] = &[
    "body",
    "comment",
    "comments",
    "content",
    "description",
    "details",
    "explanation",
    "feedback",
    "instructions",
    "message",
    "note",
    "notes",
    "reason",
    "rationale",
    "remarks",
    "summary",
    "text",
    "why",
];

/// Whether a text is one of several lines: it may be long, or its name says so. What an agent
/// proposes does not count, so that no text changes the elements of a page.
fn is_long(schema: &Value, name: &str) -> bool {
    let count = |name: &str| schema.get(name).and_then(Value::as_u64);
    if let Some(most) = count("maxLength") {
        return most > LINE_CHARS;
    }
    let last = label(name).to_lowercase();
    let last = last.rsplit(' ').next().unwrap_or_default();
    LONG.contains(&last)
        || count("minLength").is_some_and(|least| least > LINE_CHARS)
        || schema.get("contentMediaType").is_some()
}

fn text_input(schema: &Value, name: &str, default: Option<&str>) -> Input {
    let value = default.map(str::to_owned);
    let line = match text(schema, "format") {
        Some("date") => "date",
        // Its value has no offset, so that a default cannot be put into it.
        Some("date-time") => return Input::Line("datetime-local", None),
        Some("email") => "email",
        Some("uri" | "url") => "url",
        Some("password") => "password",
        Some(_) => "text",
        // A pattern is for a word, not for paragraphs.
        None if schema.get("pattern").is_none() && is_long(schema, name) => {
            return Input::Lines(value);
        }
        None => "text",
    };
    Input::Line(line, value)
}

fn number_input(schema: &Value, whole: bool, default: Option<&Value>) -> Input {
    let number =
        |value: Option<&Value>| value.filter(|value| value.is_number()).map(Value::to_string);
    let bounds = (number(schema.get("minimum")), number(schema.get("maximum")));
    Input::Number { whole, bounds, value: number(default) }
}

/// The values of an `enum`, or of a `oneOf` or `anyOf` of constants.
fn choices(schema: &Value, default: Option<&Value>) -> Option<Vec<Choice>> {
    let choice = |value: &Value, title: Option<&str>| Choice {
        json: value.to_string(),
        label: AgentText::new(title.map_or_else(|| words(value), str::to_owned)),
        chosen: default == Some(value),
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().map(|value| choice(value, None)).collect());
    }
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let constant = |branch| Some(choice(Value::get(branch, "const")?, text(branch, "title")));
    branches.iter().map(constant).collect()
}

/// A value of a list of choices, for people.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

/// The type of a schema, if there is one besides null.
fn only_type(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let first = names.next();
            if names.next().is_some() { None } else { first.or(Some("null")) }
        }
        None if schema.get("properties").is_some() => Some("object"),
        _ => None,
    }
}

fn is_nullable(schema: &Value) -> bool {
    let has_null = |names: &Vec<Value>| names.iter().any(|name| name == "null");
    schema.get("nullable") == Some(&Value::Bool(true))
        || schema.get("type").and_then(Value::as_array).is_some_and(has_null)
}

fn text<'s>(schema: &'s Value, name: &str) -> Option<&'s str> {
    schema.get(name).and_then(Value::as_str)
}
