//! `accord live answer`: an action of a person, from a terminal.
//!
//! The data comes from `--payload` or `--field`; on a terminal, without either, each member of the
//! schema is asked for. The contract of the session decides whether it is accepted: nothing is
//! checked here that the channel would not check.

use std::path::Path;

use accord_base::{Decision, Need};
use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};
use hyper::Method;

use super::place::PlaceArgs;
use super::{prompt, questions};
use crate::commands::document;
use crate::commands::task::acting::ActorArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input::read_file;
use crate::render::{self, clean};
use crate::terminal::can_ask;

/// Answer what a live session asks, as its page would
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnswerArgs {
    /// The session id, or its beginning
    session: String,

    /// The action; a terminal asks for it [default: the only action of the session]
    action: Option<String>,

    /// The data, as JSON; @FILE reads a file, @- standard input
    #[arg(long, value_name = "JSON", conflicts_with = "fields")]
    payload: Option<String>,

    /// A member of the data; can be repeated. The schema says whether the value is a text or JSON
    #[arg(long = "field", id = "fields", value_name = "NAME=VALUE", value_parser = pair)]
    fields: Vec<(String, String)>,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  accord live answer live_1a2b approve --field version=3 --field note='looks right'
  accord live answer live_1a2b approve --payload '{\"version\":3}'

Without --payload and --field, a terminal asks for each value.";

impl AnswerArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let id = place.session_id(&self.session)?;
        let found = place.ask(place.get(&["sessions", &id]))?;
        let session = &found["session"];
        let actions = session["actionSpec"].as_object().cloned().unwrap_or_default();
        let is_asked = self.payload.is_none() && self.fields.is_empty() && can_ask();
        if is_asked {
            prompt::show(session, &found["ask"]);
        }
        let name = match self.action {
            Some(name) => name,
            None => prompt::action(&actions, is_asked)?,
        };
        let action = actions.get(&name).unwrap_or(&Value::Null);
        let schema = &action["schema"];
        let data = match (self.payload, is_asked) {
            (Some(text), _) => Some(json(&text)?),
            (None, true) => prompt::data(&name, action)?,
            (None, false) => members(&self.fields, schema)?,
        };
        let body = document([("action", name.into()), ("data", data.into())]);
        let answer = place.host.send_by(&actor, Need::Decide(Decision::Answer), || {
            place
                .request(Method::POST, &["sessions", &id, "actions"])
                .with("door", Some("cli"))
                .document(body.to_string())
        });
        let answer = answer.map_err(explain)?;
        answer.print(place.json, |page, document| render::live_ack(page, &document["result"]))?;
        Ok(Exit::Yes)
    }
}

/// The members of the data that flags give.
fn members(fields: &[(String, String)], schema: &Value) -> Result<Option<Value>, CliError> {
    if fields.is_empty() {
        return Ok(None);
    }
    let mut members = Object::new();
    for (name, text) in fields {
        let value = questions::value(text, &schema["properties"][name]).map_err(|reason| {
            CliError::new(Code::Usage, format!("--field {}: {reason}", clean(name)))
        })?;
        if members.insert(name.clone(), value).is_some() {
            let message = format!("--field {} is given twice", clean(name));
            return Err(CliError::new(Code::Usage, message));
        }
    }
    Ok(Some(Value::Object(members)))
}

fn json(text: &str) -> Result<Value, CliError> {
    let bytes = match text.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None => text.as_bytes().to_vec(),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        CliError::new(Code::CanonInvalidJson, format!("--payload is not JSON: {error}"))
            .help("quote it for the shell, or give members with --field NAME=VALUE")
    })
}

/// Names everything that the contract found, below the refusal.
fn explain(refused: CliError) -> CliError {
    let violations = refused.details().get("violations").and_then(Value::as_array);
    let Some(violations) = violations else { return refused };
    let lines = violations.iter().map(|violation| {
        let text = |name: &str| clean(violation[name].as_str().unwrap_or_default());
        format!("{}: {}", text("field"), text("message"))
    });
    let lines: Vec<String> = lines.collect();
    match lines.len() {
        // The message has it.
        0 | 1 => refused.help("in a terminal, `accord live answer` asks for each value"),
        _ => refused.long_help(lines.join("\n")),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
