//! `accord live ask`: a question to a person, from a script or an agent, in one command.
//!
//! The command asks again and again for the same question ([`AskPerson`]), so that it survives a
//! host that ends, and a command that is repeated goes on waiting. The answer is confirmed after it
//! was printed: one that was not printed is given to the next command.

use std::path::PathBuf;
use std::time::Duration;

use accord_api::{Answered, Call, Json, NoParams, Verbatim};
use accord_contract::{Code, Object};
use accord_live_core::limits::ASK_WAIT_SECONDS;
use accord_live_core::operations::ask_person::{
    AskPerson, AskPersonAnswer, AskPersonEnvelope, AskPersonQuery, AskPersonRequest, AskState,
};
use accord_live_core::operations::tools::{Consume, ConsumeQuery};
use serde_json::json;

use super::place::{Place, PlaceArgs};
use crate::arguments::duration;
use crate::host::{Actor, ActorArg, print_document, project_id, work};
use crate::input::read_file;
use crate::interrupt::on_signal;
use crate::render::{Times, actor_key, clean};
use crate::{CliError, Exit, Result, print_note};

/// The pause after a host did not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// The refusals of a host that is closing, starts again, or is gone for a while.
const PASSING: [Code; 4] =
    [Code::HostUnreachable, Code::HostClosing, Code::HostTimeout, Code::StoreUnavailable];

/// Ask a person, wait, and print the answer
///
/// The person answers in a browser or with `accord live answer`. The same command again goes on
/// waiting for the same question, also after Ctrl-C; once its answer was printed, it asks again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AskArgs {
    /// The question. The first line is its title; what follows is shown as Markdown
    question: String,

    /// An answer to choose from; can be repeated. The first one is yes [default: yes and no]
    #[arg(long = "option", id = "options", value_name = "TEXT")]
    options: Vec<String>,

    /// A form: a file with the JSON Schema of an object
    #[arg(long, value_name = "FILE")]
    form: Option<PathBuf>,

    /// Whom the question is for, as a hint: human:NAME
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse)]
    to: Option<Actor>,

    /// How long it takes answers, for example 10m, 1h or 2d [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    within: Option<Duration>,

    /// Names the question: with the same id, the answer is given again after it was printed
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    // The schema of a form that this program chooses.
    #[arg(skip)]
    schema: Option<Object>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

const EXAMPLES: &str = "\
Exit codes: 0 the first option, or the form; 1 another option, or refused; 2 error; 3 nobody
answered in time.

Examples:
  accord live ask 'Deploy 3.0?' --option yes --option no --within 1h && ./deploy
  accord live ask 'Which region?' --form region.schema.json --to human:lead";

/// A question of another command.
pub(crate) struct Asked {
    pub(crate) question: String,
    /// Without any, the person writes a text.
    pub(crate) options: Vec<String>,
    pub(crate) to: Option<Actor>,
    pub(crate) within: Option<Duration>,
}

/// What is asked, and where.
struct Asking {
    place: Place,
    actor: Option<String>,
    request: AskPersonRequest,
}

impl AskArgs {
    pub(crate) fn about(asked: Asked, actor: ActorArg, place: PlaceArgs) -> Self {
        let Asked { question, options, to, within } = asked;
        let text = json!({
            "type": "object",
            "required": ["answer"],
            "properties": {"answer": {"type": "string", "minLength": 1}},
        });
        let schema = text.as_object().filter(|_| options.is_empty()).cloned();
        Self { question, options, form: None, to, within, id: None, schema, actor, place }
    }

    pub(crate) fn run(self) -> Result<Exit> {
        let form = self.form.map(|path| read_file(&path)).transpose()?;
        let form = form.map(|bytes| serde_json::from_slice::<Object>(&bytes)).transpose();
        let form = form.map_err(|error| {
            let message = format!("--form is not a JSON object: {error}");
            CliError::new(Code::CanonInvalidJson, message).help("give the JSON Schema of an object")
        })?;
        let actor = self.actor.named()?.map(|actor| actor.to_string());
        let place = self.place.open_to_wait()?;
        let options = self.place.options(&place.project);
        let request = AskPersonRequest {
            question: self.question,
            options: (!self.options.is_empty()).then_some(self.options),
            form: form.or(self.schema),
            to: self.to.map(|to| to.to_string()),
            within_seconds: self.within.map(|within| within.as_millis().div_ceil(1000) as u64),
            id: self.id,
            work: work(),
            since: None,
            wait_seconds: None,
            keep: Some(true),
        };
        let mut asking = Asking { place, actor, request };
        let mut given = asking.ask(0)?;
        if given.answer.0.result.state == AskState::Expired && asking.request.id.is_none() {
            print_note("nobody answered an earlier command in time; the question is asked again");
            given = asking.ask(0)?;
        }
        if given.answer.0.result.state == AskState::Waiting {
            say_how(&given.answer.0.result, &options)?;
            asking.request.since = Some(given.answer.0.result.since.clone());
        }
        while given.answer.0.result.state == AskState::Waiting {
            given = asking.wait()?;
        }
        asking.print(&given)
    }
}

impl Asking {
    fn ask(&mut self, seconds: u64) -> Result<Answered<Json<AskPersonEnvelope>>> {
        self.request.wait_seconds = Some(seconds);
        let query = AskPersonQuery { actor: self.actor.clone() };
        let path = self.place.sessions()?;
        let call = Call::<AskPerson>::new(path, query, Json(self.request.clone()));
        Ok(self.place.host.write_to(&call, &NoParams)?.0)
    }

    /// Waits for the answer. A host that does not answer for a while is asked again.
    fn wait(&mut self) -> Result<Answered<Json<AskPersonEnvelope>>> {
        let mut is_said = false;
        loop {
            let refused = match self.ask(ASK_WAIT_SECONDS) {
                Err(refused) if refused.code().is_some_and(|it| PASSING.contains(&it)) => refused,
                asked => return asked,
            };
            if !is_said {
                print_note(format!("{refused}; trying again, the question stays open"));
                is_said = true;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Prints the answer, and then confirms it.
    fn print(&self, given: &Answered<Json<AskPersonEnvelope>>) -> Result<Exit> {
        let result = &given.answer.0.result;
        if result.state == AskState::Expired {
            let until = Times::default().at(Some(&result.until));
            print_note(format!("nobody answered until {until}"));
            if self.place.json {
                print_document(true, &given.text, |_| {})?;
            }
            return Ok(Exit::Unanswered);
        }
        if let Some(by) = &result.by {
            print_note(format!("{} answered", clean(&actor_key(by))));
        }
        print_document(self.place.json, &given.text, |page| {
            match (&result.option, &result.data) {
                (Some(option), _) => page.line(clean(option)),
                (None, data) => page.line(json!(data).to_string()),
            }
        })?;
        if let Err(unconfirmed) = self.confirm(result) {
            print_note(format!("warning: the next command gets this answer again: {unconfirmed}"));
        }
        Ok(Exit::from_answer(result.accepted == Some(true)))
    }

    fn confirm(&self, result: &AskPersonAnswer) -> Result<()> {
        let project = project_id(&self.place.project)?;
        let query = ConsumeQuery { confirm: true, project: Some(project), ..Default::default() };
        let sequence = result.sequence.unwrap_or(0);
        let members = json!({"sessionId": result.session_id.as_str(), "x-after": sequence});
        let body = Verbatim::json(members.to_string());
        self.place.host.call(&Call::<Consume>::new(NoParams, query, body)).map(drop)
    }
}

/// Says how the question is answered, and what happens when this command ends before.
fn say_how(asked: &AskPersonAnswer, options: &str) -> Result<()> {
    let session = clean(asked.session_id.as_str());
    let until = Times::default().at(Some(&asked.until));
    if let Some(url) = &asked.page_url {
        print_note(format!("answer on the page: {}", clean(url)));
    }
    let command = clean(&format!("accord live answer {session} {options}"));
    print_note(format!("answer in a terminal: {command}"));
    print_note(format!("waiting until {until}"));
    on_signal(move || {
        print_note(format!(
            "\nthe question stays open until {until}: the same command again goes on waiting"
        ));
    })
}
