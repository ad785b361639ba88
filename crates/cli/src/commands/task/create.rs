//! `accord task create` and `edit`: what a task says.

use std::path::{Path, PathBuf};

use accord_api::Json;
use accord_contract::{Code, Field};
use accord_tasks_core::operations::{
    CreateManyRequest, CreateRequest, CreateTask, CreateTasks, EditRequest, EditTask, ReviewBy,
    TaskDetails,
};
use accord_tasks_core::plan::read_plan;
use accord_tasks_core::task::{OnViolation, Priority};
use clap::builder::PossibleValuesParser;

use super::names::name_parser;
use super::place::PlaceArgs;
use crate::commands::words;
use crate::host::{Acting, ActorArg};
use crate::input::read_file;
use crate::render;
use crate::{CliError, Exit, Result};

/// Create a task
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "accord task create [OPTIONS] <TITLE>\n       accord task create [OPTIONS] \
                      --from <FILE>",
    after_help = "Example:\n  accord task create \"Write the parser\" --project shop \\\n      \
                        --instructions \"Read every line\" --after TASK-2026-02-09-001\n  accord \
                        task create --from plan.md --dry-run"
)]
pub(super) struct CreateArgs {
    /// What is to be done, in one line
    #[arg(value_parser = words, required_unless_present = "from")]
    title: Option<String>,

    /// Create all tasks of this file, or none: JSON or Markdown; - is standard input. Tasks that
    /// it created before are left as they are
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["title", "SaysArgs", "after", "parent", "id_only"])]
    from: Option<PathBuf>,

    /// Only say what would be created
    #[arg(long, requires = "from")]
    dry_run: bool,

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
    actor: ActorArg,
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

    /// Take a member away: agent, role, team, resource, time-limit, checks or due; can be repeated
    #[arg(long, value_name = "MEMBER", value_parser = PossibleValuesParser::new(
        ["agent", "role", "team", "resource", "time-limit", "checks", "due"]))]
    clear: Vec<String>,

    /// Refuse if the task is not the one with this digest, which `accord task show` shows
    #[arg(long, value_name = "DIGEST")]
    expect: Option<String>,

    #[command(flatten)]
    actor: ActorArg,
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
    #[arg(long, value_name = "PRIORITY", value_parser = name_parser::<Priority>())]
    priority: Option<Priority>,

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

    /// When it should be done: a day of UTC, as 2026-01-31, or a time
    #[arg(long, value_name = "DATE")]
    due: Option<String>,

    /// What it needs for itself alone while it is in progress
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// The longest time in progress, in seconds
    #[arg(long, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=9_007_199_254_740))]
    time_limit: Option<u64>,

    /// What happens after that [default of a new task: alert]
    #[arg(long, value_name = "ACTION", value_parser = name_parser::<OnViolation>())]
    on_violation: Option<OnViolation>,

    /// A command that Accord runs after the report, without a shell; its result is shown in the
    /// review; can be repeated
    #[arg(long = "check", value_name = "COMMAND", value_parser = argv)]
    checks: Vec<Argv>,

    /// Finished work is done without a review
    #[arg(long)]
    no_review: bool,

    /// An agent may end the review, too
    #[arg(long, conflicts_with = "no_review")]
    agent_review: bool,
}

impl CreateArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        if let Some(file) = &self.from {
            return self.create_all(file, &actor);
        }
        let place = self.place.open_or_create()?;
        let says = self.says;
        let body = CreateRequest {
            title: self.title.unwrap_or_default(),
            body: says.text()?,
            instructions: says.instructions,
            guidance: says.guidance,
            priority: says.priority,
            agent: says.agent,
            role: says.role,
            team: says.team,
            tags: given(says.tags),
            depends_on: given(self.after),
            parent: self.parent,
            resource: says.resource,
            max_in_progress_ms: says.time_limit.map(|seconds| seconds * 1_000),
            on_violation: says.on_violation,
            checks: lists(says.checks),
            review_required: says.no_review.then_some(false),
            review_by: says.agent_review.then_some(ReviewBy::Agent),
            ready: self.ready.then_some(true),
            due: says.due,
            ..CreateRequest::default()
        };
        let answer = place.change::<CreateTask>(place.tasks()?, Json(body), &actor)?;
        let work = |task: &TaskDetails| place.command(&work_on(task));
        let promote = |id: &str| place.command(&format!("promote {id}"));
        place.print(answer, |page, answer| {
            if self.id_only {
                page.line(answer.task.id.to_string());
            } else {
                render::created_task(page, answer, work, promote);
            }
        })
    }
}

/// The command of a worker that gets a task.
fn work_on(task: &TaskDetails) -> String {
    let option = |name: &str, value: &Option<String>| {
        let value = value.as_deref().map(shell_words::quote);
        value.map(|value| format!(" {name} {value}")).unwrap_or_default()
    };
    match &task.agent {
        Some(agent) => format!("work --agent AGENT --as {}", shell_words::quote(agent)),
        None => {
            let (role, team) = (option("--role", &task.role), option("--team", &task.team));
            format!("work --agent AGENT --as NAME{role}{team}")
        }
    }
}

impl CreateArgs {
    fn create_all(&self, file: &Path, by: &Acting) -> Result<Exit> {
        let text = String::from_utf8(read_file(file)?);
        let text =
            text.map_err(|_| CliError::new(Code::InputUnreadable, "the file is not UTF-8 text"))?;
        let mut tasks = read_plan(&text)?;
        for task in &mut tasks {
            task.ready = task.ready.or(self.ready.then_some(true));
        }
        let is_trial = self.dry_run;
        let place = if is_trial { self.place.open()? } else { self.place.open_or_create()? };
        let body = Json(CreateManyRequest { tasks, dry_run: is_trial.then_some(true) });
        let answer = place.change::<CreateTasks>(place.tasks()?, body, by)?;
        place.print(answer, |page, answer| render::created_tasks(page, answer, is_trial))
    }
}

impl EditArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let says = self.says;
        let mut body = EditRequest {
            title: self.title,
            body: says.text()?,
            instructions: says.instructions,
            guidance: says.guidance,
            priority: says.priority,
            agent: says.agent.into(),
            role: says.role.into(),
            team: says.team.into(),
            tags: given(says.tags),
            resource: says.resource.into(),
            max_in_progress_ms: says.time_limit.map(|seconds| seconds * 1_000).into(),
            on_violation: says.on_violation.into(),
            checks: lists(says.checks).into(),
            review_required: says.no_review.then_some(false).into(),
            review_by: says.agent_review.then_some(ReviewBy::Agent).into(),
            due: says.due.into(),
            expect: self.expect,
        };
        for member in self.clear {
            match member.as_str() {
                "agent" => body.agent = Field::Null,
                "role" => body.role = Field::Null,
                "team" => body.team = Field::Null,
                "resource" => body.resource = Field::Null,
                "checks" => body.checks = Field::Null,
                "due" => body.due = Field::Null,
                _ => body.max_in_progress_ms = Field::Null,
            }
        }
        let answer = place.change::<EditTask>(place.task(&self.id)?, Json(body), &actor)?;
        place.print(answer, render::changed_task)
    }
}

impl SaysArgs {
    /// The text of the file with the body.
    fn text(&self) -> Result<Option<String>> {
        let text = self.body.as_deref().map(read_file).transpose()?;
        let text = text.map(String::from_utf8).transpose();
        text.map_err(|_| CliError::new(Code::InputUnreadable, "the body is not UTF-8 text"))
    }
}

/// The words of a check.
#[derive(Clone, Debug)]
struct Argv(Vec<String>);

/// Reads the words of a check as a shell does. No shell runs them.
fn argv(text: &str) -> Result<Argv, String> {
    let words = shell_words::split(text).map_err(|error| error.to_string())?;
    if words.is_empty() { Err("a check names a program".to_owned()) } else { Ok(Argv(words)) }
}

fn lists(checks: Vec<Argv>) -> Option<Vec<Vec<String>>> {
    (!checks.is_empty()).then(|| checks.into_iter().map(|check| check.0).collect())
}

fn given(list: Vec<String>) -> Option<Vec<String>> {
    Some(list).filter(|list| !list.is_empty())
}
