//! The terminal of a person who answers: what is asked, which action, and [`questions`] for its
//! data.

use std::io::{self, Write as _};

use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};

use super::questions::{self, Person};
use crate::error::CliError;
use crate::output::print_note;
use crate::render::{Page, clean, one_line};

/// The longest text of a prop that is shown.
const MOST: usize = 400;

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
    let mut person = AtTerminal;
    let label = clean(action["label"].as_str().unwrap_or(name));
    if let Some(about) = action["description"].as_str() {
        print_note(format!("  {}", one_line(&clean(about), MOST)));
    }
    let schema = &action["schema"];
    let data = match schema {
        Value::Object(_) if questions::is_object(schema) => {
            Some(Value::Object(questions::members(&mut person, schema)?))
        }
        Value::Object(_) => Some(questions::required(&mut person, name, schema)?),
        _ => None,
    };
    let confirm = match &action["confirm"] {
        Value::String(text) => Some(clean(text)),
        Value::Bool(true) => Some(format!("{label}?")),
        Value::Object(confirm) => {
            let text = confirm.get("message").or_else(|| confirm.get("title"));
            Some(text.and_then(Value::as_str).map_or(label, clean))
        }
        _ => None,
    };
    if let Some(question) = confirm
        && !questions::is_yes(&line(&format!("{question} [y/N] "))?)
    {
        return Err(given_up(format!("{}: no; nothing was sent", clean(name))));
    }
    Ok(data)
}

/// The person at this terminal.
struct AtTerminal;

impl Person for AtTerminal {
    fn line(&mut self, question: &str) -> Result<String, CliError> {
        line(question)
    }

    fn note(&mut self, text: &str) {
        print_note(text);
    }
}

fn given_up(message: impl Into<String>) -> CliError {
    CliError::new(Code::XchainGivenUp, message).help("run it again to answer")
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
        return Err(given_up("the input ended; nothing was sent"));
    }
    Ok(typed.trim().to_owned())
}
