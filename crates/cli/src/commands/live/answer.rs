//! `accord live answer`: an action of a person, from a terminal.
//!
//! The data comes from `--payload` or `--field`; on a terminal, without either, each member of the
//! schema is asked for. The contract of the session decides whether it is accepted: nothing is
//! checked here that the channel would not check.

use std::path::Path;

use accord_api::parameter::Acting;
use accord_api::{Call, Json, NoParams};
use accord_base::Door;
use accord_contract::{Code, Object, Wire as _};
use accord_live_core::operations::answer::{AnswerLiveSession, LiveAnswerRequest};
use accord_live_core::operations::questions::ShowLiveSession;
use accord_live_core::schema::Question;
use accord_live_core::violation::ViolationDetails;

use super::place::PlaceArgs;
use super::prompt;
use crate::host::{ActorArg, print_answer};
use crate::input::read_file;
use crate::render::{self, clean};
use crate::terminal::can_ask;
use crate::{CliError, Exit, Result};

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

    /// The digest of what you saw, which `accord inbox show` prints; refused if the agent changed
    /// the question since [default: what the session shows now]
    #[arg(long, value_name = "DIGEST")]
    expect: Option<String>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  accord live answer live_1a2b approve --field version=3 --field note='looks right'
  accord live answer live_1a2b approve --payload '{\"version\":3}'

Without --payload and --field, a terminal asks for each value.";

impl AnswerArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let path = place.session(&self.session)?;
        let shown = place.host.ask::<ShowLiveSession>(path.clone(), NoParams)?.answer.0.result;
        let actions = shown.session.actions();
        let is_asked = self.payload.is_none() && self.fields.is_empty() && can_ask();
        if is_asked {
            prompt::show(&shown);
        }
        let name = match self.action {
            Some(name) => name,
            None => prompt::action(&actions, is_asked)?,
        };
        let action = actions.into_iter().find(|action| action.name == name);
        let mut request = LiveAnswerRequest {
            action: name,
            data: None,
            client_id: None,
            client_seq: None,
            expect: self.expect.or(shown.digest),
        };
        match (self.payload, action, is_asked) {
            (Some(text), _, _) => add_payload(&mut request, &text)?,
            (None, Some(action), true) => prompt::add_data(&mut request, &action)?,
            (None, None, true) => {}
            (None, action, false) => {
                let question = action.and_then(|action| action.question);
                add_fields(&mut request, &self.fields, &question.unwrap_or_default())?;
            }
        }
        let who = Acting { actor: None, door: Some(Door::Cli) };
        let call = Call::<AnswerLiveSession>::new(path, who, Json(request));
        let answered = place.host.call_by(&actor, &call).map_err(explain)?;
        print_answer(place.json, &answered, |page, ack| render::live_ack(page, &ack.0.result))
    }
}

/// Adds the members of the data that flags give.
fn add_fields(
    request: &mut LiveAnswerRequest,
    fields: &[(String, String)],
    question: &Question,
) -> Result<()> {
    let mut members = Object::new();
    for (name, text) in fields {
        let value = question
            .member(name)
            .read(text)
            .map_err(|reason| CliError::usage(format!("--field {}: {reason}", clean(name))))?;
        if members.insert(name.clone(), value).is_some() {
            let message = format!("--field {} is given twice", clean(name));
            return Err(CliError::usage(message));
        }
    }
    request.data = (!members.is_empty()).then(|| members.into());
    Ok(())
}

fn add_payload(request: &mut LiveAnswerRequest, text: &str) -> Result<()> {
    let bytes = match text.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None => text.as_bytes().to_vec(),
    };
    request.data = serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        CliError::new(Code::CanonInvalidJson, format!("--payload is not JSON: {error}"))
            .help("quote it for the shell, or give members with --field NAME=VALUE")
    })?;
    Ok(())
}

/// Names everything that the contract found, below the refusal.
fn explain(refused: CliError) -> CliError {
    let details = ViolationDetails::from_answer(refused.details().clone().into());
    let Ok(ViolationDetails { violations, .. }) = details else { return refused };
    if violations.len() <= 1 {
        // The message has it.
        return refused.help("in a terminal, `accord live answer` asks for each value");
    }
    let lines = violations.iter().map(|it| format!("{}: {}", clean(&it.field), clean(&it.message)));
    refused.long_help(lines.collect::<Vec<_>>().join("\n"))
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
