//! `accord fact`: facts and the time for which they are valid.

use accord_contract::time::Timestamp;

use super::{document, texts};
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{HostArgs, HostRequest, ProjectArg, WriteArgs};
use crate::output::print_note;
use crate::render;

/// Assert, invalidate and list facts
#[derive(Debug, clap::Args)]
pub(crate) struct FactArgs {
    #[command(subcommand)]
    command: FactCommand,
}

subcommands! {
    FactArgs, FactCommand {
        Assert(AssertArgs),
        Invalidate(InvalidateArgs),
        List(ListArgs),
    }
}

/// Assert a fact; it replaces the current value
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  accord fact assert api version 2.1 --project shop \\\n      \
                  --source pkg_1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d")]
struct AssertArgs {
    /// The subject
    subject: String,

    /// The predicate: a property of the subject
    predicate: String,

    /// The value
    value: String,

    /// The start of its validity, in UTC [default: now]
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    valid_from: Option<String>,

    /// The package that the fact comes from, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    source: Option<String>,

    /// The confidence, from 0 to 1
    #[arg(long, value_name = "N")]
    confidence: Option<f64>,

    /// A tag; can be repeated
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,

    /// Do nothing if the value is already the current one
    #[arg(long)]
    if_changed: bool,

    /// Refuse a fact that starts before a known one, instead of inserting it
    #[arg(long)]
    in_order: bool,

    #[command(flatten)]
    to: WriteArgs,
}

/// End the validity of a fact
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 a fact was invalidated; 1 there was no current fact; 2 error."
)]
struct InvalidateArgs {
    /// The subject
    subject: String,

    /// The predicate: a property of the subject
    predicate: String,

    /// Only if this is the current value
    #[arg(long, value_name = "TEXT")]
    value: Option<String>,

    #[command(flatten)]
    to: WriteArgs,
}

/// List facts: the current ones, those at a given time, or all
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only facts with this subject
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Only facts with this predicate
    #[arg(long, value_name = "TEXT")]
    predicate: Option<String>,

    /// Facts at this time, for example 2026-04-18T20:00:00Z or 2026-04-18
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,

    /// All facts, with those that are no longer valid
    #[arg(long, conflicts_with = "as_of")]
    history: bool,

    /// The maximum number of entries [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

impl AssertArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.to.host.connect_or_create()?;
        let project = self.to.project(&host)?;
        let source = self.source.map(|id| host.package_id(&id, Some(&project))).transpose()?;
        let body = document([
            ("subject", self.subject.into()),
            ("predicate", self.predicate.into()),
            ("value", self.value.into()),
            ("valid_from", self.valid_from.into()),
            ("source_package_id", source.into()),
            ("confidence", self.confidence.into()),
            ("tags", texts(&self.tags)),
            ("asserted_by", self.to.author(&host)?.into()),
        ]);
        let request = HostRequest::post(&["v1", "projects", &project, "facts"], &body)
            .with_flag("if_changed", self.if_changed)
            .with("if_out_of_order", self.in_order.then_some("reject"));
        let answer = host.send_to_project(&project, request)?;
        answer.print(self.to.host.json, render::fact)?;
        Ok(Exit::Yes)
    }
}

impl InvalidateArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.to.host.connect()?;
        let project = self.to.project(&host)?;
        let (actor, session) = (host.actor(&self.to.actor)?, self.to.session.get());
        let request =
            HostRequest::new(hyper::Method::DELETE, &["v1", "projects", &project, "facts"])
                .with("subject", Some(&self.subject))
                .with("predicate", Some(&self.predicate))
                .with("value", self.value.as_ref())
                .with("actor", actor.as_ref().map(ToString::to_string))
                // A session is that of an actor, and means nothing without one.
                .with("session_id", session.filter(|_| actor.is_some()));
        let answer = host.send(request)?;
        let ended = answer.value()?["invalidated"].as_u64().unwrap_or(0);
        let name = render::clean(&format!("{} {}", self.subject, self.predicate));
        answer.print(self.to.host.json, |page, _| {
            if ended > 0 {
                page.line(format!("invalidated {name}"));
            }
        })?;
        if ended == 0 && !self.to.host.json {
            print_note(format!("no current fact {name}"));
        }
        Ok(Exit::from_answer(ended > 0))
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let request = HostRequest::get(&["v1", "projects", &project, "facts"])
            .with("subject", self.subject.as_ref())
            .with("predicate", self.predicate.as_ref())
            .with("as_of", self.as_of.as_ref())
            .with_flag("history", self.history)
            .with_number("limit", self.limit)
            .with("cursor", self.cursor.as_ref());
        let answer = host.send(request)?;
        let is_narrowed = self.subject.is_some() || self.predicate.is_some();
        answer.print_list(
            self.host.json,
            |page, list| render::facts(page, &list["facts"]),
            || match (is_narrowed || self.as_of.is_some(), self.history) {
                (true, _) => format!("no matching fact in {project}"),
                (false, true) => {
                    format!("{project} has no facts; `accord fact assert` adds one")
                }
                (false, false) => {
                    format!("{project} has no current facts; `accord fact assert` adds one")
                }
            },
        )?;
        Ok(Exit::Yes)
    }
}

fn timestamp(text: &str) -> Result<String, String> {
    match Timestamp::parse(text) {
        Ok(time) => Ok(time.as_str().to_owned()),
        Err(_) => Err("expected a time in UTC, for example 2026-04-18T20:00:00Z".to_owned()),
    }
}
