//! The decisions of a person about a task: approve, send back, close, adopt.

use accord_base::evidence::EvidenceDigest;
use accord_contract::codes::Code;
use accord_contract::wire::Value;
use hyper::Method;
use serde_json::json;

use super::acting::check_person;
use super::place::{Place, PlaceArgs, result};
use crate::commands::person::{Decision, PersonArgs, Question};
use crate::commands::words;
use crate::error::CliError;
use crate::exit::Exit;
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
    /// The task
    #[arg(required_unless_present = "settings")]
    id: Option<String>,

    /// The settings apply and review in project.yaml, instead of a task
    #[arg(long, conflicts_with = "id")]
    settings: bool,

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
        let answer = place.change(Method::POST, &[&id, "approve"], &body, &decision.by.acting())?;
        place.show(&answer, render::changed_task)
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
        let answer =
            place.change(Method::POST, &[&id, "send-back"], &body, &decision.by.acting())?;
        place.show(&answer, render::changed_task)
    }
}

impl CloseArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let (decision, id) = decide(&place, &self.id, self.person, "close it as done")?;
        let body = body(&decision);
        let answer = place.change(Method::POST, &[&id, "close"], &body, &decision.by.acting())?;
        place.show(&answer, render::changed_task)
    }
}

impl AdoptArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        // Before the question: a worker must not be asked at all.
        check_person()?;
        let place = self.place.open()?;
        let person = self.person;
        let (shown, path) = match &self.id {
            Some(id) => {
                let shown = place.ask(place.get(&[id]).with_flag("without_body", true))?;
                let id = render::member(&shown["task"], "id");
                (Some(shown), vec![id, "adopt".to_owned()])
            }
            None => (None, vec!["adopt-settings".to_owned()]),
        };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        // What differs is shown before the person decides.
        let trial = json!({"dry_run": true});
        let would = result(&place.change(Method::POST, &path, &trial, &person.acting())?)?;
        let verb = if self.settings { "adopt these settings" } else { "adopt what its file says" };
        let decision = person.decide(&question(&place, verb, &evidence(&would)?), |page| {
            if let Some(shown) = &shown {
                render::task(page, shown);
            }
            render::differences(page, &would);
        })?;
        let body = body(&decision);
        let answer = place.change(Method::POST, &path, &body, &decision.by.acting())?;
        place.show(&answer, render::adopted)
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
    let whole = render::member(&shown["task"], "id");
    let evidence = evidence(&shown)?;
    let question = question(place, verb, &evidence);
    let decision = person.decide(&question, |page| render::task(page, &shown))?;
    Ok((decision, whole))
}

/// The digest of what a person decides about.
fn evidence(answer: &Value) -> Result<EvidenceDigest, CliError> {
    let evidence = answer["evidence"].as_str().and_then(EvidenceDigest::parse);
    evidence.ok_or_else(|| {
        CliError::new(Code::HostProtocol, "the answer has no digest of the evidence")
    })
}

fn question<'q>(place: &Place, verb: &'q str, evidence: &'q EvidenceDigest) -> Question<'q> {
    Question {
        verb,
        evidence,
        shown_by: SHOWN_BY,
        otherwise: "`accord task show` shows the task and what else you can do",
        has_key: place.host.has_key(),
    }
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
