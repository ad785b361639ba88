//! The decisions of a person about a task: approve, send back, close, adopt.

use accord_base::evidence::EvidenceDigest;
use accord_contract::codes::Code;
use accord_contract::wire::Value;
use hyper::Method;
use serde_json::json;

use super::acting::check_person;
use super::place::{Place, PlaceArgs};
use crate::commands::person::{Decision, PersonArgs, Question};
use crate::commands::words;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::setting;
use crate::render;

/// The command that shows the evidence.
const SHOWN_BY: &str = "`accord task show`";

/// End a review: the task is done
#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// The task
    id: String,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// End a review: the task is ready again, and the next agent reads why
#[derive(Debug, clap::Args)]
pub(super) struct SendBackArgs {
    /// The task
    id: String,

    /// Why
    #[arg(value_parser = words)]
    reason: String,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// End a task as done, whatever its status is
#[derive(Debug, clap::Args)]
pub(super) struct CloseArgs {
    /// The task
    id: String,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Take over what a file says, where Accord refused it
#[derive(Debug, clap::Args)]
pub(super) struct AdoptArgs {
    /// The task; project for the settings in project.yaml
    id: String,

    #[command(flatten)]
    person: PersonArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

impl ApproveArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let (decision, id) = decide(&place, &self.id, self.person, "approve it")?;
        let body = body(&decision);
        let request =
            place.change(Method::POST, &[&id, "approve"], &body, Some(&decision.by.actor));
        place.print(request, render::changed_task)
    }
}

impl SendBackArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let (decision, id) = decide(&place, &self.id, self.person, "send it back")?;
        let mut body = body(&decision);
        // The reason is the note.
        body["reason"] = match body["note"].take() {
            Value::String(note) => format!("{} ({note})", self.reason).into(),
            _ => self.reason.into(),
        };
        if let Some(members) = body.as_object_mut() {
            members.remove("note");
        }
        let request =
            place.change(Method::POST, &[&id, "send-back"], &body, Some(&decision.by.actor));
        place.print(request, render::changed_task)
    }
}

impl CloseArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let (decision, id) = decide(&place, &self.id, self.person, "close it as done")?;
        let body = body(&decision);
        let request = place.change(Method::POST, &[&id, "close"], &body, Some(&decision.by.actor));
        place.print(request, render::changed_task)
    }
}

impl AdoptArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let (decision, id) = decide(&place, &self.id, self.person, "adopt what its file says")?;
        let body = body(&decision);
        let request = place.change(Method::POST, &[&id, "adopt"], &body, Some(&decision.by.actor));
        place.print(request, render::adopted)
    }
}

/// Asks the person about a task, which is shown first. Answers with the task's whole id.
fn decide(
    place: &Place,
    id: &str,
    person: PersonArgs,
    verb: &str,
) -> Result<(Decision, String), CliError> {
    // Before the question: a worker must not be asked at all.
    check_person()?;
    let shown = place.ask(place.get(&[id]).with_flag("without_body", true))?;
    let evidence = shown["evidence"].as_str().and_then(EvidenceDigest::parse);
    let evidence = evidence.ok_or_else(|| {
        CliError::new(Code::HostProtocol, "the answer has no digest of the evidence")
    })?;
    let whole = render::member(&shown["task"], "id");
    let question = Question {
        verb,
        evidence: &evidence,
        shown_by: SHOWN_BY,
        otherwise: "`accord task show` shows the task and what else you can do",
    };
    let named = setting("ACCORD_ACTOR").filter(|actor| actor.starts_with("human:"));
    let decision = person.or_actor(named).decide(&question, |page| render::task(page, &shown))?;
    Ok((decision, whole))
}

fn body(decision: &Decision) -> Value {
    let mut body = json!({});
    if let Some(note) = &decision.note {
        body["note"] = note.as_str().into();
    }
    if let Some(expect) = &decision.expect {
        body["expect"] = expect.as_str().into();
    }
    body
}
