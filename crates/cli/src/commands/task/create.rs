//! `accord task create` and `edit`: what a task says.

use std::path::PathBuf;

use accord_contract::codes::Code;
use accord_contract::wire::Value;
use clap::builder::PossibleValuesParser;
use hyper::Method;

use super::acting::ActorArgs;
use super::place::PlaceArgs;
use crate::commands::{document, texts, words};
use crate::error::CliError;
use crate::exit::Exit;
use crate::input::read_file;
use crate::render;

const PRIORITIES: [&str; 4] = ["critical", "high", "normal", "low"];

/// Create a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  accord task create \"Write the parser\" --project shop \\\n      \
                        --instructions \"Read every line\" --after TASK-2026-02-09-001"
)]
pub(super) struct CreateArgs {
    /// What is to be done, in one line
    #[arg(value_parser = words)]
    title: String,

    #[command(flatten)]
    says: SaysArgs,

    /// A task that must be done first; can be repeated
    #[arg(long = "after", value_name = "ID")]
    after: Vec<String>,

    /// The task that it is a part of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,

    /// Make it ready at once; it is also ready as soon as the tasks before it are done
    #[arg(long)]
    ready: bool,

    /// Print only the id of the task
    #[arg(long, conflicts_with = "json")]
    id_only: bool,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Change what a task says
#[derive(Debug, clap::Args)]
pub(super) struct EditArgs {
    /// The task
    id: String,

    /// What is to be done, in one line
    #[arg(long, value_name = "TEXT", value_parser = words)]
    title: Option<String>,

    #[command(flatten)]
    says: SaysArgs,

    /// Take a member away: agent, role, team, resource or time-limit; can be repeated
    #[arg(long, value_name = "MEMBER", value_parser = PossibleValuesParser::new(
        ["agent", "role", "team", "resource", "time-limit"]))]
    clear: Vec<String>,

    /// Refuse if the task is not the one with this digest, which `accord task show` shows
    #[arg(long, value_name = "DIGEST")]
    expect: Option<String>,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// What a task says, except for its title.
#[derive(Debug, clap::Args)]
struct SaysArgs {
    /// What the agent does
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,

    /// How the agent does it
    #[arg(long, value_name = "TEXT")]
    guidance: Option<String>,

    /// A file with the whole body, in Markdown; - is standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// How urgent it is [default of a new task: normal]
    #[arg(long, value_name = "PRIORITY", value_parser = PossibleValuesParser::new(PRIORITIES))]
    priority: Option<String>,

    /// The agent that may do it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// The role that may do it
    #[arg(long, value_name = "NAME")]
    role: Option<String>,

    /// The team that may do it
    #[arg(long, value_name = "NAME")]
    team: Option<String>,

    /// A tag; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// What it needs for itself alone while it is in progress
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// The longest time in progress, in seconds
    #[arg(long, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=9_007_199_254_740))]
    time_limit: Option<u64>,

    /// What happens after that [default of a new task: alert]
    #[arg(long, value_name = "ACTION",
          value_parser = PossibleValuesParser::new(["alert", "block", "deadletter"]))]
    on_violation: Option<String>,

    /// Finished work is done without a review
    #[arg(long)]
    no_review: bool,

    /// An agent may end the review, too
    #[arg(long, conflicts_with = "no_review")]
    agent_review: bool,
}

impl CreateArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open_or_create()?;
        let mut body = self.says.members()?;
        body["title"] = self.title.into();
        set(&mut body, "parent", self.parent);
        set(&mut body, "ready", self.ready.then_some(true));
        if !self.after.is_empty() {
            body["depends_on"] = self.after.into();
        }
        let answer = place.change(Method::POST, &[], &body, &actor)?;
        let work = place.command("work --agent AGENT --as NAME");
        let promote = |id: &str| place.command(&format!("promote {id}"));
        place.show(&answer, |page, answer| {
            if self.id_only {
                page.line(render::member(&answer["task"], "id"));
            } else {
                render::created_task(page, answer, &work, promote);
            }
        })
    }
}

impl EditArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let mut body = self.says.members()?;
        set(&mut body, "title", self.title);
        set(&mut body, "expect", self.expect);
        for member in self.clear {
            let name = match member.as_str() {
                "time-limit" => "max_in_progress_ms",
                other => other,
            };
            body[name] = Value::Null;
        }
        let answer = place.change(Method::PATCH, &[&self.id], &body, &actor)?;
        place.show(&answer, render::changed_task)
    }
}

impl SaysArgs {
    /// The members of a request.
    fn members(&self) -> Result<Value, CliError> {
        let text = self.body.as_deref().map(read_file).transpose()?;
        let text = text.map(String::from_utf8).transpose();
        let text =
            text.map_err(|_| CliError::new(Code::InputUnreadable, "the body is not UTF-8 text"))?;
        let milliseconds = self.time_limit.map(|seconds| seconds * 1_000);
        Ok(document([
            ("instructions", self.instructions.clone().into()),
            ("guidance", self.guidance.clone().into()),
            ("body", text.into()),
            ("priority", self.priority.clone().into()),
            ("agent", self.agent.clone().into()),
            ("role", self.role.clone().into()),
            ("team", self.team.clone().into()),
            ("resource", self.resource.clone().into()),
            ("on_violation", self.on_violation.clone().into()),
            ("tags", texts(&self.tags)),
            ("max_in_progress_ms", milliseconds.into()),
            ("review_required", self.no_review.then_some(false).into()),
            ("review_by", self.agent_review.then_some("agent").into()),
        ]))
    }
}

fn set(body: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}
