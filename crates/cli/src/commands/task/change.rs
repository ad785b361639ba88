//! The commands that move tasks, except for the decisions about a review.

use accord_api::{Answered, Call, Json, NoBody, Operation};
use accord_base::Door;
use accord_tasks_core::briefing::Audience;
use accord_tasks_core::operations as ops;

use super::acting::AgentArgs;
use super::briefing::{BriefingArgs, briefing_of};
use super::place::{Place, PlaceArgs};
use crate::commands::person::DespiteArgs;
use crate::commands::words;
use crate::host::{Acting, Actor, ActorArg, print_document, setting};
use crate::render::{self, clean};
use crate::{CliError, Exit, Result, print_note};

/// Claim a task for an agent, by its id or the next that fits, and print its briefing
#[derive(Debug, clap::Args)]
pub(super) struct ClaimArgs {
    /// The task [default: the next ready one that fits]
    id: Option<String>,

    /// Also if it waits for other tasks; only a person can do that
    #[arg(long, requires = "id")]
    force: bool,

    #[command(flatten)]
    fits: FitsArgs,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    actor: ActorArg,
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

/// Give a claimed task back; its agent can do it, and a person for it
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
    actor: ActorArg,
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
    actor: ActorArg,
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
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

// A decision of a person without a question. The verb says what the command does.
#[derive(Debug, clap::Args)]
pub(super) struct DecisionArgs {
    #[command(flatten)]
    of: ReasonArgs,

    /// Refuse if the task is not the one with this digest, which `accord task show` shows
    #[arg(long, value_name = "DIGEST")]
    expect: Option<String>,

    #[command(flatten)]
    despite: DespiteArgs,
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
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

subcommands! {
    /// Make a task wait for another one, or end that
    pub(super) DepArgs, DepCommand {
        /// Make a task wait for another one
        Add(DepPairArgs) => DepPairArgs::add,
        /// End that a task waits for another one
        Remove(DepPairArgs) => DepPairArgs::remove,
    }
}

#[derive(Debug, clap::Args)]
struct DepPairArgs {
    /// The task that waits
    id: String,

    /// The task that must be done first
    blocker: String,

    #[command(flatten)]
    actor: ActorArg,
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
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Do what is due: promote, recover, requeue, alert
#[derive(Debug, clap::Args)]
pub(super) struct PollArgs {
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl ClaimArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let agent = self.agent.required()?;
        let place = self.place.open()?;
        let (text, claim, none) = match &self.id {
            Some(id) => {
                let body = ops::ClaimRequest {
                    agent: Some(agent.clone()),
                    force: self.force.then_some(true),
                    ..ops::ClaimRequest::default()
                };
                // A person lets the agent have a task that waits for others.
                let by = if self.force { self.actor.acting()? } else { as_agent(&agent)? };
                let call = Call::<ops::ClaimTask>::new(place.task(id)?, claiming(), Json(body));
                let Answered { text, answer } = place.host.call_by(&by, &call)?;
                (text, Some(answer.0.result), None)
            }
            None => {
                let Answered { text, answer } =
                    self.fits.claim_next(&place, &agent, None, false)?;
                let mut next = answer.0.result;
                (text, next.claimed.take(), Some(next))
            }
        };
        let told = claim.as_ref().filter(|_| !place.json);
        let briefing = told.and_then(|claim| self.briefing(&place, claim));
        print_document(place.json, &text, |page| {
            if let Some(claim) = &claim {
                render::claim(page, claim, &|words: &str| place.command(words));
                for line in briefing.iter().flat_map(|text| text.lines()) {
                    page.line(clean(line));
                }
            } else if let Some(none) = &none {
                render::nothing_claimed(page, none);
            }
        })?;
        Ok(Exit::from_answer(claim.is_some()))
    }

    /// The briefing of a claimed task, after an empty line. The claim holds, also if the briefing
    /// cannot be read.
    fn briefing(&self, place: &Place, claim: &ops::ClaimAnswer) -> Option<String> {
        match briefing_of(place, claim.task.id) {
            Ok(briefing) => {
                let audience = Audience::Command(place.options());
                Some(format!("\n{}", self.briefing.text(place, &briefing, audience)))
            }
            Err(error) => {
                print_note(format!("the briefing cannot be read: {error}"));
                None
            }
        }
    }
}

impl FitsArgs {
    pub(super) fn claim_next(
        &self,
        place: &Place,
        agent: &str,
        run_id: Option<&str>,
        leaves_failed: bool,
    ) -> Result<Answered<Json<ops::TaskClaimNextEnvelope>>> {
        let given = |names: &[String]| (!names.is_empty()).then(|| names.to_vec());
        let body = ops::ClaimNextRequest {
            agent: Some(agent.to_owned()),
            roles: given(&self.roles),
            teams: given(&self.teams),
            tags: given(&self.tags),
            only_mine: self.only_mine.then_some(true),
            leave_failed: leaves_failed.then_some(true),
            run_id: run_id.map(str::to_owned),
            ..ops::ClaimNextRequest::default()
        };
        let call = Call::<ops::ClaimNextTask>::new(place.tasks()?, claiming(), Json(body));
        place.host.call_by(&as_agent(agent)?, &call)
    }
}

/// The query of a claim. The briefing is asked for by itself.
fn claiming() -> ops::ClaimQuery {
    ops::ClaimQuery { door: Some(Door::Cli), ..ops::ClaimQuery::default() }
}

fn as_agent(agent: &str) -> Result<Acting> {
    let actor = Actor::parse(&format!("agent:{agent}"));
    actor.map(Acting::Named).map_err(|error| CliError::usage(format!("--as: {error}")))
}

/// A run of an agent on a task.
struct RunOf {
    task: String,
    agent: String,
    run_id: Option<String>,
}

impl RunOfArgs {
    fn of(&self, id: Option<String>) -> Result<RunOf> {
        let agent = self.agent.required()?;
        let task = self.task(id)?;
        let run_id = self.run.clone().or_else(|| setting("ACCORD_TASK_RUN_ID"));
        Ok(RunOf { task, agent, run_id })
    }

    fn task(&self, id: Option<String>) -> Result<String> {
        let none = || CliError::usage("no task given").help("give its id, or set ACCORD_TASK_ID");
        id.or_else(|| setting("ACCORD_TASK_ID")).ok_or_else(none)
    }
}

impl ReleaseArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let reason = self.reason;
        let is_agent = self.actor.actor.is_none() && self.run.agent.name().is_some();
        let (task, by, body) = if is_agent {
            let RunOf { task, agent, run_id } = self.run.of(self.id)?;
            let by = as_agent(&agent)?;
            (task, by, ops::ReleaseRequest { agent: Some(agent), run_id, reason })
        } else {
            // A person takes the task from the agent that has it.
            let (task, agent) = (self.run.task(self.id)?, self.run.agent.agent.clone());
            let body = ops::ReleaseRequest { agent, run_id: self.run.run, reason };
            (task, self.actor.acting()?, body)
        };
        let place = self.place.open()?;
        let answer = place.change::<ops::ReleaseTask>(place.task(&task)?, Json(body), &by)?;
        place.print(answer, render::changed_task)
    }
}

impl HeartbeatArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let RunOf { task, agent, run_id } = self.run.of(self.id)?;
        let by = as_agent(&agent)?;
        let body = ops::HeartbeatRequest {
            agent: Some(agent),
            run_id,
            ..ops::HeartbeatRequest::default()
        };
        let place = self.place.open()?;
        let answer = place.change::<ops::Heartbeat>(place.task(&task)?, Json(body), &by)?;
        place.print(answer, render::heartbeat)
    }
}

impl BlockArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let body = ops::BlockRequest { reason: self.reason };
        verb::<ops::BlockTask>(&self.place, &self.actor, &self.id, Json(body))
    }
}

impl ReasonArgs {
    pub(super) fn unblock(self) -> Result<Exit> {
        let Self { id, reason, actor, place } = self;
        verb::<ops::UnblockTask>(&place, &actor, &id, Json(ops::UnblockRequest { reason }))
    }

    pub(super) fn undelete(self) -> Result<Exit> {
        let place = self.place.open()?;
        let (path, body) = (place.task(&self.id)?, ops::UndeleteRequest { reason: self.reason });
        let answer = place.change::<ops::UndeleteTask>(path, Json(body), &self.actor.acting()?)?;
        place.print(answer, render::undeleted_task)
    }
}

impl DecisionArgs {
    pub(super) fn run(self, name: &str) -> Result<Exit> {
        let Self { of: ReasonArgs { id, reason, actor, place }, expect, despite } = self;
        let despite_leftovers = despite.despite_leftovers.then_some(true);
        match name {
            "cancel" => {
                let body = Json(ops::CancelRequest { reason, expect, despite_leftovers });
                verb::<ops::CancelTask>(&place, &actor, &id, body)
            }
            _ => verb::<ops::ResurrectTask>(
                &place,
                &actor,
                &id,
                Json(ops::ResurrectRequest { reason, expect, despite_leftovers }),
            ),
        }
    }
}

impl PromoteArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let body = ops::PromoteRequest { force: self.force.then_some(true) };
        verb::<ops::PromoteTask>(&self.place, &self.actor, &self.id, Json(body))
    }
}

impl DepPairArgs {
    fn add(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let body = Json(ops::DependencyRequest { blocker: self.blocker });
        let answer = place.change::<ops::AddDependency>(place.task(&self.id)?, body, &actor)?;
        place.print(answer, render::dependency_added)
    }

    fn remove(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let (task, blocker) = (self.id, self.blocker);
        let path = ops::OfDependency { project: place.project_id()?, task, blocker };
        let answer = place.change::<ops::RemoveDependency>(path, NoBody, &actor)?;
        place.print(answer, render::dependency_removed)
    }
}

impl SessionEndArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let body = ops::SessionEndRequest { task: self.task, agent: self.agent };
        let answer = place.change::<ops::EndSession>(place.tasks()?, Json(body), &actor)?;
        place.print(answer, render::session_end)
    }
}

impl PollArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let body = Json(ops::PollRequest::default());
        let answer = place.change::<ops::PollTasks>(place.tasks()?, body, &actor)?;
        place.print(answer, render::poll)
    }
}

fn verb<O>(place: &PlaceArgs, actor: &ActorArg, id: &str, body: O::Body) -> Result<Exit>
where
    O: Operation<Path = ops::OfTask, Query = ops::Acting, Answer = Json<ops::TaskEnvelope>>,
{
    let actor = actor.acting()?;
    let place = place.open()?;
    let answer = place.change::<O>(place.task(id)?, body, &actor)?;
    place.print(answer, render::changed_task)
}
