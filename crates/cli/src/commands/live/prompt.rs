//! Questions on the terminal, made from the schema of an action.

use std::io::{self, IsTerminal as _, Write as _};

use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};

use crate::error::CliError;
use crate::output::print_note;
use crate::render::{Page, clean, one_line};

/// The longest text of a prop that is shown.
const MOST: usize = 400;

/// Whether a person can be asked.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows what is asked, before the questions.
pub(super) fn show(session: &Value, ask: &Value) {
    let mut page = Page::for_stderr();
    let intent = ask["intent"].as_str().or_else(|| session["prompt"].as_str());
    page.heading(intent.unwrap_or("no intent"));
    for (name, value) in session["props"].as_object().into_iter().flatten() {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        page.labelled_whole(&clean(name), &one_line(&text, MOST));
    }
    print_note(page.as_str().trim_end());
}

/// The action: the only one, or the one that a person chooses.
pub(super) fn action(actions: &Object, may_ask: bool) -> Result<String, CliError> {
    let names: Vec<&String> = actions.keys().collect();
    match names.as_slice() {
        [only] => return Ok((*only).clone()),
        [] => {
            let message = "the contract of the session has no actions; name one";
            return Err(CliError::new(Code::Usage, message));
        }
        _ if !may_ask => {
            let listed: Vec<String> = names.iter().map(|name| clean(name)).collect();
            let message = "the session has several actions; name one";
            return Err(CliError::new(Code::Usage, message)
                .help(format!("its actions are {}", listed.join(", "))));
        }
        _ => {}
    }
    for (number, (name, action)) in actions.iter().enumerate() {
        let label = action["label"].as_str().unwrap_or(name);
        print_note(format!("  {}  {} ({})", number + 1, clean(label), clean(name)));
    }
    loop {
        let typed = line("action: ")?;
        let chosen = match typed.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|place| names.get(place).copied()),
            Err(_) => names.iter().find(|name| ***name == typed).copied(),
        };
        match chosen {
            Some(name) => return Ok(name.clone()),
            None => print_note(format!("type a number from 1 to {}, or a name", names.len())),
        }
    }
}

/// The data of an action, asked for member by member. An action without a schema has none.
pub(super) fn data(name: &str, action: &Value) -> Result<Option<Value>, CliError> {
    let schema = &action["schema"];
    let data = match schema {
        Value::Object(_) if is_object(schema) => Some(Value::Object(object(schema)?)),
        Value::Object(_) => {
            let label = format!("{}{}", clean(name), kind(schema));
            required(&label, schema)?.into()
        }
        _ => None,
    };
    let confirm = match &action["confirm"] {
        Value::String(text) => Some(clean(text)),
        Value::Bool(true) => Some(format!("{}?", clean(name))),
        Value::Object(confirm) => {
            let text = confirm.get("message").or_else(|| confirm.get("title"));
            Some(clean(text.and_then(Value::as_str).unwrap_or(name)))
        }
        _ => None,
    };
    if let Some(question) = confirm
        && !matches!(line(&format!("{question} [y/N] "))?.to_lowercase().as_str(), "y" | "yes")
    {
        let message = format!("{}: no; nothing was sent", clean(name));
        return Err(CliError::new(Code::XchainGivenUp, message));
    }
    Ok(data)
}

/// A value from its text, as a schema says. A text needs no quotes; anything else is JSON.
pub(super) fn value(text: &str, schema: &Value) -> Result<Value, String> {
    let types = types(schema);
    if types.is_empty() || types.contains(&"string") {
        return Ok(text.into());
    }
    serde_json::from_str(text).map_err(|_| format!("expected {} as JSON", types.join(" or ")))
}

fn object(schema: &Value) -> Result<Object, CliError> {
    let mut members = Object::new();
    let needed: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(about) = property["description"].as_str() {
            print_note(format!("  {}", clean(about)));
        }
        let label = format!("{}{}", clean(name), kind(property));
        let given = match needed.contains(&name.as_str()) {
            true => Some(required(&label, property)?),
            false => optional(&format!("{label}, empty for none"), property)?,
        };
        members.extend(given.map(|given| (name.clone(), given)));
    }
    Ok(members)
}

fn required(label: &str, schema: &Value) -> Result<Value, CliError> {
    loop {
        if let Some(value) = optional(label, schema)? {
            return Ok(value);
        }
        print_note("a value is needed");
    }
}

fn optional(label: &str, schema: &Value) -> Result<Option<Value>, CliError> {
    loop {
        let typed = line(&format!("{label}: "))?;
        if typed.is_empty() {
            return Ok(None);
        }
        match value(&typed, schema) {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => print_note(reason),
        }
    }
}

/// What a value must be, in parentheses.
fn kind(schema: &Value) -> String {
    let choices = schema["enum"].as_array().map(|choices| {
        let texts = choices.iter().map(|choice| match choice {
            Value::String(text) => clean(text),
            other => other.to_string(),
        });
        texts.collect::<Vec<_>>().join(" | ")
    });
    match choices.unwrap_or_else(|| types(schema).join(" or ")) {
        none if none.is_empty() => none,
        kind => format!(" ({kind})"),
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_object(schema: &Value) -> bool {
    types(schema).contains(&"object") || schema["properties"].is_object()
}

/// A line that a person types, without the spaces around it.
fn line(question: &str) -> Result<String, CliError> {
    let failed = |error: io::Error| {
        CliError::new(Code::InputUnreadable, format!("the terminal cannot be read: {error}"))
    };
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question}").and_then(|()| terminal.flush()).map_err(failed)?;
    drop(terminal);
    let mut typed = String::new();
    if io::stdin().read_line(&mut typed).map_err(failed)? == 0 {
        // The end of input leaves the cursor behind the question.
        print_note("");
        let message = "the input ended; nothing was sent";
        return Err(CliError::new(Code::XchainGivenUp, message));
    }
    Ok(typed.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_says_whether_a_text_is_json() {
        assert_eq!(value("3", &json!({"type": "integer"})), Ok(json!(3)));
        assert_eq!(value("3", &json!({"type": "string"})), Ok(json!("3")));
        assert_eq!(value("[1]", &json!({"type": ["array", "null"]})), Ok(json!([1])));
        assert_eq!(value("true", &Value::Null), Ok(json!("true")));
        let refused = value("three", &json!({"type": "number"})).unwrap_err();
        assert_eq!(refused, "expected number as JSON");
    }

    #[test]
    fn a_question_says_what_a_value_must_be() {
        assert_eq!(kind(&json!({"enum": ["a", 2]})), " (a | 2)");
        assert_eq!(kind(&json!({"type": ["string", "null"]})), " (string or null)");
        assert_eq!(kind(&json!({})), "");
    }
}
