//! The decisions of a person about a task: approve, send back, close, adopt.

use accord_api::Json;
use accord_base::evidence::EvidenceDigest;
use accord_contract::Code;
use accord_tasks_core::operations as ops;

use super::place::{Place, PlaceArgs};
use crate::commands::person::{Decision, PersonArgs, Question};
use crate::commands::words;
use crate::host::{Acting, check_person};
use crate::render::{self, clean};
use crate::{CliError, Exit, Result, print_note};

/// End a review: the task is done
#[derive(Debug, clap::Args)]
#[command(after_help = "Several tasks are decided one after the other, each by its own evidence. \
                        One that is refused is said so and does not stop the others; the exit code \
                        is 1 then.")]
pub(super) struct ApproveArgs {
    /// The tasks
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Open a task that is done or cancelled again; its next agent reads why
#[derive(Debug, clap::Args)]
pub(super) struct ReopenArgs {
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

// A task that a person ends as done.
#[derive(Debug, clap::Args)]
pub(super) struct DoneArgs {
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

/// Take over what a file says, where Accord refused it
#[derive(Debug, clap::Args)]
pub(super) struct AdoptArgs {
    /// The task
    #[arg(required_unless_present_any = ["settings", "writer"])]
    id: Option<String>,

    /// The settings apply and review in project.yaml, instead of a task
    #[arg(long, conflicts_with_all = ["id", "writer"])]
    settings: bool,

    /// Another copy of the tree: all that it signs counts from now on
    #[arg(long, value_name = "WRITER", conflicts_with = "id")]
    writer: Option<String>,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl ApproveArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let Self { ids, person, place } = self;
        let place = place.open()?;
        if let [id] = ids.as_slice() {
            return approve(&place, id, person);
        }
        if person.expected().is_some() {
            let message = "--expect is the digest of one task, and there are several";
            return Err(CliError::usage(message));
        }
        let mut refused = Vec::new();
        for id in &ids {
            // Each is shown, asked for and decided by itself.
            if let Err(error) = approve(&place, id, person.clone()) {
                print_note(format!("{} was not approved: {error}", clean(id)));
                refused.push(id.as_str());
            }
        }
        let count = ids.len() - refused.len();
        print_note(match refused.as_slice() {
            [] => format!("{count} of {} approved", ids.len()),
            refused => {
                let refused = clean(&refused.join(", "));
                format!("{count} of {} approved; not approved: {refused}", ids.len())
            }
        });
        Ok(Exit::from_answer(refused.is_empty()))
    }
}

fn approve(place: &Place, id: &str, person: PersonArgs) -> Result<Exit> {
    let decided = decide(place, id, person, "approve it")?;
    let Decided { note, expect, despite_leftovers, .. } = decided;
    let body = ops::ApproveRequest { note, expect, despite_leftovers };
    let answer = place.change::<ops::ApproveTask>(decided.task, Json(body), &decided.by)?;
    place.print(answer, render::changed_task)
}

impl ReopenArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let decided = decide(&place, &self.id, self.person, "open it again")?;
        // The reason is the note.
        let reason = match decided.note {
            Some(note) => format!("{} ({note})", self.reason),
            None => self.reason,
        };
        let Decided { expect, despite_leftovers, .. } = decided;
        let body = ops::ReopenRequest { reason, expect, despite_leftovers };
        let answer = place.change::<ops::ReopenTask>(decided.task, Json(body), &decided.by)?;
        place.print(answer, render::changed_task)
    }
}

impl DoneArgs {
    pub(super) fn close(self) -> Result<Exit> {
        let place = self.place.open()?;
        let decided = decide(&place, &self.id, self.person, "close it as done")?;
        let Decided { note, expect, despite_leftovers, .. } = decided;
        let body = ops::CloseRequest { note, expect, despite_leftovers };
        let answer = place.change::<ops::CloseTask>(decided.task, Json(body), &decided.by)?;
        place.print(answer, render::changed_task)
    }
}

impl SendBackArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let decided = decide(&place, &self.id, self.person, "send it back")?;
        // The reason is the note.
        let reason = match decided.note {
            Some(note) => format!("{} ({note})", self.reason),
            None => self.reason,
        };
        let Decided { expect, despite_leftovers, .. } = decided;
        let body = ops::SendBackRequest { reason, expect, despite_leftovers };
        let answer = place.change::<ops::SendBackTask>(decided.task, Json(body), &decided.by)?;
        place.print(answer, render::changed_task)
    }
}

impl AdoptArgs {
    pub(super) fn run(self) -> Result<Exit> {
        // Before the question: a worker must not be asked at all.
        check_person()?;
        let place = self.place.open()?;
        let person = self.person;
        if let Some(writer) = self.writer {
            return adopt_writer(&place, &writer, person);
        }
        let shown = self.id.as_deref().map(|id| show(&place, id)).transpose()?;
        let adopt = |body: ops::AdoptRequest, by: &Acting| match &shown {
            Some(shown) => {
                let path = place.task(&shown.task.id.to_string())?;
                place.change::<ops::AdoptTask>(path, Json(body), by)
            }
            None => place.change::<ops::AdoptSettings>(place.tasks()?, Json(body), by),
        };
        // What differs is shown before the person decides.
        let expect = person.expected().map(|expect| expect.as_str().to_owned());
        let trial =
            ops::AdoptRequest { dry_run: Some(true), expect, ..ops::AdoptRequest::default() };
        let would = adopt(trial, &person.acting()?)?.answer.0.result;
        let verb = if self.settings { "adopt these settings" } else { "adopt what its file says" };
        let evidence = evidence(would.evidence.as_deref())?;
        let decision = person.decide(&question(&place, verb, &evidence), |page| {
            if let Some(shown) = &shown {
                render::task(page, shown);
            }
            render::differences(page, &would);
        })?;
        let despite_leftovers = decision.despite_leftovers.then_some(true);
        let (by, note, expect) = parts(decision);
        let body = ops::AdoptRequest { note, expect, dry_run: None, despite_leftovers };
        let answer = adopt(body, &by)?;
        place.print(answer, render::adopted)
    }
}

/// Confirms another copy of the tree, which is shown first.
fn adopt_writer(place: &Place, writer: &str, person: PersonArgs) -> Result<Exit> {
    let body = |expect, dry_run, note| ops::AdoptWriterRequest {
        writer: writer.to_owned(),
        dry_run,
        note,
        expect,
    };
    let adopt = |body: ops::AdoptWriterRequest, by: &Acting| {
        place.change::<ops::AdoptWriter>(place.tasks()?, Json(body), by)
    };
    let expect = person.expected().map(|expect| expect.as_str().to_owned());
    let trial = body(expect, Some(true), None);
    let would = adopt(trial, &person.acting()?)?.answer.0.result;
    let evidence = evidence(Some(&would.evidence))?;
    let verb = "let all count that this copy of the tasks signs";
    let decision =
        person.decide(&question(place, verb, &evidence), |page| render::writer(page, &would))?;
    let (by, note, expect) = parts(decision);
    place.print(adopt(body(expect, None, note), &by)?, render::writer)
}

struct Decided {
    task: ops::OfTask,
    by: Acting,
    note: Option<String>,
    expect: Option<String>,
    despite_leftovers: Option<bool>,
}

/// Asks the person about a task, which is shown first.
fn decide(place: &Place, id: &str, person: PersonArgs, verb: &str) -> Result<Decided> {
    // Before the question: a worker must not be asked at all.
    check_person()?;
    let shown = show(place, id)?;
    let evidence = evidence(Some(&shown.evidence))?;
    let question = question(place, verb, &evidence);
    let decision = person.decide(&question, |page| render::task(page, &shown))?;
    let despite_leftovers = decision.despite_leftovers.then_some(true);
    let (by, note, expect) = parts(decision);
    let task = place.task(&shown.task.id.to_string())?;
    Ok(Decided { task, by, note, expect, despite_leftovers })
}

fn show(place: &Place, id: &str) -> Result<ops::ShowAnswer> {
    let query = ops::ShowQuery { without_body: true };
    Ok(place.host.ask::<ops::ShowTask>(place.task(id)?, query)?.answer.0.result)
}

/// The digest of what a person decides about.
fn evidence(digest: Option<&str>) -> Result<EvidenceDigest> {
    let none = || CliError::new(Code::HostProtocol, "the answer has no digest of the evidence");
    digest.and_then(EvidenceDigest::parse).ok_or_else(none)
}

fn question<'q>(place: &Place, verb: &'q str, evidence: &'q EvidenceDigest) -> Question<'q> {
    Question {
        verb,
        evidence,
        otherwise: "`accord task show` shows the task and what else you can do",
        has_key: place.host.has_key,
    }
}

/// Who decided, the note, and the digest of the evidence.
fn parts(decision: Decision) -> (Acting, Option<String>, Option<String>) {
    let expect = decision.expect.map(|expect| expect.as_str().to_owned());
    (decision.by.acting(), decision.note, expect)
}
