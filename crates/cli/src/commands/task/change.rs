//! The commands that move tasks, except for the decisions about a review.

use accord_contract::wire::Value;
use accord_tasks_core::briefing::Audience;
use hyper::Method;
use serde_json::json;

use super::acting::{ActorArgs, AgentArgs};
use super::briefing::BriefingArgs;
use super::place::{Place, PlaceArgs, result};
use crate::commands::{document, words};
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Acting, Answer, setting};
use crate::output::print_note;
use crate::render::{self, clean};

/// Claim a task for an agent, by its id or the next that fits, and print its briefing
#[derive(Debug, clap::Args)]
pub(super) struct ClaimArgs {
    /// The task [default: the next ready one that fits]
    id: Option<String>,

    #[command(flatten)]
    fits: FitsArgs,

    #[command(flatten)]
    agent: AgentArgs,

    #[command(flatten)]
    briefing: BriefingArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Which ready tasks fit an agent.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FitsArgs {
    /// A role of the agent; can be repeated
    #[arg(long = "role", value_name = "NAME")]
    roles: Vec<String>,

    /// A team of the agent; can be repeated
    #[arg(long = "team", value_name = "NAME")]
    teams: Vec<String>,

    /// A tag that the task must have; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Only tasks that are routed to the agent itself
    #[arg(long)]
    only_mine: bool,
}

/// Give a claimed task back
#[derive(Debug, clap::Args)]
pub(super) struct ReleaseArgs {
    /// The task [default: ACCORD_TASK_ID]
    id: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: Option<String>,

    #[command(flatten)]
    run: RunOfArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Renew the lease and the heartbeat of a claimed task
#[derive(Debug, clap::Args)]
pub(super) struct HeartbeatArgs {
    /// The task [default: ACCORD_TASK_ID]
    id: Option<String>,

    #[command(flatten)]
    run: RunOfArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// The run of an agent.
#[derive(Debug, clap::Args)]
struct RunOfArgs {
    /// The run, which `claim` printed [default: ACCORD_TASK_RUN_ID]
    #[arg(long = "run", value_name = "RUN")]
    run: Option<String>,

    #[command(flatten)]
    agent: AgentArgs,
}

/// Say that a task cannot go on
#[derive(Debug, clap::Args)]
pub(super) struct BlockArgs {
    /// The task
    id: String,

    /// Why
    #[arg(value_parser = words)]
    reason: String,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

// A verb with a reason. The verb says what the command does.
#[derive(Debug, clap::Args)]
pub(super) struct ReasonArgs {
    /// The task
    id: String,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: Option<String>,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Make a task of the backlog ready
#[derive(Debug, clap::Args)]
pub(super) struct PromoteArgs {
    /// The task
    id: String,

    /// Also if it waits for other tasks; only a person can do that
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Make a task wait for another one, or end that
#[derive(Debug, clap::Args)]
pub(super) struct DepArgs {
    #[command(subcommand)]
    command: DepCommand,
}

#[derive(Debug, clap::Subcommand)]
enum DepCommand {
    /// Make a task wait for another one
    Add(DepPairArgs),
    /// End that a task waits for another one
    Remove(DepPairArgs),
}

#[derive(Debug, clap::Args)]
struct DepPairArgs {
    /// The task that waits
    id: String,

    /// The task that must be done first
    blocker: String,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Say that the session of an agent is over, so that recorded results are applied
#[derive(Debug, clap::Args)]
pub(super) struct SessionEndArgs {
    /// Only this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Only the tasks of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Do what is due: promote, recover, requeue, alert
#[derive(Debug, clap::Args)]
pub(super) struct PollArgs {
    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

impl ClaimArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let agent = self.agent.required()?;
        let place = self.place.open()?;
        let answer = match &self.id {
            Some(id) => {
                let body = json!({"agent": agent});
                place.change(Method::POST, &[id, "claim"], &body, &as_agent(&agent))?
            }
            None => self.fits.claim_next(&place, &agent)?,
        };
        let result = result(&answer)?;
        let claim = if self.id.is_some() { &result } else { &result["claimed"] };
        let briefing = match claim {
            Value::Null => None,
            _ if place.json => None,
            claim => self.briefing(&place, claim),
        };
        answer.print(place.json, |page, _| match claim {
            Value::Null => render::nothing_claimed(page, &result),
            claim => {
                render::claim(page, claim, &|words: &str| place.command(words));
                for line in briefing.iter().flat_map(|text| text.lines()) {
                    page.line(clean(line));
                }
            }
        })?;
        Ok(Exit::from_answer(!claim.is_null()))
    }

    /// The briefing of a claimed task, after an empty line. The claim holds, also if the briefing
    /// cannot be read.
    fn briefing(&self, place: &Place, claim: &Value) -> Option<String> {
        let id = render::member(&claim["task"], "id");
        match self.briefing.text(place, &id, Audience::Command(place.options())) {
            Ok(text) => Some(format!("\n{text}")),
            Err(error) => {
                print_note(format!("the briefing cannot be read: {error}"));
                None
            }
        }
    }
}

impl FitsArgs {
    /// Claims the next ready task that fits.
    pub(super) fn claim_next(&self, place: &Place, agent: &str) -> Result<Answer, CliError> {
        let mut body = json!({"agent": agent});
        for (name, values) in [("roles", &self.roles), ("teams", &self.teams), ("tags", &self.tags)]
        {
            if !values.is_empty() {
                body[name] = values.clone().into();
            }
        }
        if self.only_mine {
            body["only_mine"] = true.into();
        }
        place.change(Method::POST, &["claim-next"], &body, &as_agent(agent))
    }
}

fn as_agent(agent: &str) -> Acting {
    Acting::Named(format!("agent:{agent}"))
}

impl RunOfArgs {
    /// The task, the members that name the run, and who acts.
    fn of(&self, id: Option<String>) -> Result<(String, Value, Acting), CliError> {
        let agent = self.agent.required()?;
        let id = id.or_else(|| setting("ACCORD_TASK_ID")).ok_or_else(|| {
            CliError::new(accord_contract::codes::Code::Usage, "no task given")
                .help("give its id, or set ACCORD_TASK_ID")
        })?;
        let run = self.run.clone().or_else(|| setting("ACCORD_TASK_RUN_ID"));
        let body = document([("agent", agent.as_str().into()), ("run_id", run.into())]);
        Ok((id, body, as_agent(&agent)))
    }
}

impl ReleaseArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let (id, mut body, actor) = self.run.of(self.id)?;
        if let Some(reason) = self.reason {
            body["reason"] = reason.into();
        }
        let place = self.place.open()?;
        let answer = place.change(Method::POST, &[&id, "release"], &body, &actor)?;
        place.show(&answer, render::changed_task)
    }
}

impl HeartbeatArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let (id, body, actor) = self.run.of(self.id)?;
        let place = self.place.open()?;
        let answer = place.change(Method::POST, &[&id, "heartbeat"], &body, &actor)?;
        place.show(&answer, render::heartbeat)
    }
}

impl BlockArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let body = json!({"reason": self.reason});
        verb(&self.place, &self.actor, &self.id, "block", &body)
    }
}

impl ReasonArgs {
    pub(super) fn run(self, name: &str) -> Result<Exit, CliError> {
        let body = document([("reason", self.reason.into())]);
        verb(&self.place, &self.actor, &self.id, name, &body)
    }
}

impl PromoteArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let body = document([("force", self.force.then_some(true).into())]);
        verb(&self.place, &self.actor, &self.id, "promote", &body)
    }
}

impl DepArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            DepCommand::Add(pair) => {
                let body = json!({"blocker": pair.blocker});
                verb(&pair.place, &pair.actor, &pair.id, "dependencies", &body)
            }
            DepCommand::Remove(pair) => {
                let actor = pair.actor.acting()?;
                let place = pair.place.open()?;
                let below = [pair.id.as_str(), "dependencies", pair.blocker.as_str()];
                let answer = place.change(Method::DELETE, &below, &Value::Null, &actor)?;
                place.show(&answer, render::changed_task)
            }
        }
    }
}

impl SessionEndArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let body = document([("task_id", self.task.into()), ("agent", self.agent.into())]);
        let answer = place.change(Method::POST, &["session-end"], &body, &actor)?;
        place.show(&answer, render::session_end)
    }
}

impl PollArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let answer = place.change(Method::POST, &["poll"], &json!({}), &actor)?;
        place.show(&answer, render::poll)
    }
}

/// Sends a verb, and prints the task.
fn verb(
    place: &PlaceArgs,
    actor: &ActorArgs,
    id: &str,
    verb: &str,
    body: &Value,
) -> Result<Exit, CliError> {
    let actor = actor.acting()?;
    let place = place.open()?;
    let answer = place.change(Method::POST, &[id, verb], body, &actor)?;
    place.show(&answer, render::changed_task)
}
