//! The work of agents: claim, heartbeat, the end of a session.

use accord_base::Need;
use accord_contract::codes::{Code, Failure};
use accord_memory_core::query::{MAX_TOKENS, Number, Params};
use accord_tasks::Tree;
use accord_tasks::answers::{ClaimAnswer, ClaimNextAnswer};
use accord_tasks::requests::{ClaimNextRequest, ClaimRequest, PollRequest};
use accord_tasks_core::By;
use accord_tasks_core::briefing::Audience;

use super::OF_TASK;
use super::answers::Briefed;
use super::ask::DOOR;
use super::changes::verb;
use super::operation::{Operation, on_task, on_tree};
use super::read::{LEAST, audience};
use crate::http::table::Route;
use crate::tasks::service;

/// How long a briefing is wanted.
const BRIEFING: Number = Number::new("briefing_tokens", LEAST, MAX_TOKENS);

const ABOUT_BRIEFING: &str = "Adds a briefing in Markdown of at most so many tokens.";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Operation::new(
            Need::Write,
            |asked| Ok((asked.body::<ClaimRequest>()?, Wanted::of(asked.params)?)),
            |tree, target, (asked, wanted), by| {
                let answer = tree.claim(&target.task, asked, by)?;
                let briefing = wanted.map(|wanted| wanted.briefing(tree, &answer, by));
                Ok(Briefed { answer, briefing })
            },
        )
        .takes::<ClaimRequest>()
        .acting_as(|(asked, _)| asked.agent.as_deref())
        .post(
            "claim_task",
            verb!("claim"),
            "Claims a ready task for an agent: the agent gets a lease, and the task is in \
             progress.",
        )
        .query(BRIEFING, ABOUT_BRIEFING)
        .refuses(&[
            Code::AofTaskNotReady,
            Code::AofUnauthorizedAgent,
            Code::AofDependencyUnmet,
            Code::AofResourceBusy,
        ]),
        Operation::new(
            Need::Write,
            |asked| {
                Ok(ClaimNext {
                    request: asked.body()?,
                    wanted: Wanted::of(asked.params)?,
                    has_scheduler: asked.host.has_store(),
                })
            },
            |tree, _, asked, by| asked.claim(tree, by),
        )
        .takes::<ClaimNextRequest>()
        .acting_as(|asked| asked.request.agent.as_deref())
        .post(
            "claim_next_task",
            "/accord/v1/projects/{project_id}/tasks/claim-next",
            "Claims the next ready task that fits an agent: the most urgent, then the oldest. Two \
             callers never get the same task. If none fits, the answer says why.",
        )
        .query(BRIEFING, ABOUT_BRIEFING)
        .refuses(&[Code::AofUnauthorizedAgent]),
        on_task(Need::Write, Tree::heartbeat)
            .acting_as(|asked| asked.agent.as_deref())
            .post(
                "task_heartbeat",
                verb!("heartbeat"),
                "A sign of life of a run: its lease and its heartbeat are extended.",
            )
            .refuses(&[Code::AofUnassignedTask, Code::AofUnauthorizedAgent, Code::AofStaleRun]),
        on_tree(Need::Write, Tree::session_end)
            .acting_as(|asked| asked.agent.as_deref())
            .post(
                "end_task_session",
                "/accord/v1/projects/{project_id}/tasks/session-end",
                "The session of an agent ended: recorded results that were not applied are \
                 applied.",
            )
            .refuses(OF_TASK)
            .refuses(&[Code::AofUnauthorizedAgent]),
    ]
}

/// A claim of the next task.
struct ClaimNext {
    request: ClaimNextRequest,
    wanted: Option<Wanted>,
    has_scheduler: bool,
}

impl ClaimNext {
    fn claim(&self, tree: &Tree, by: &By) -> Result<Briefed<ClaimNextAnswer>, Failure> {
        if !self.has_scheduler {
            // No scheduler makes tasks ready whose dependencies are done.
            tree.poll(&PollRequest::default(), &service(by.door))?;
        }
        let answer = tree.claim_next(&self.request, by)?;
        let briefing = (self.wanted.zip(answer.claimed.as_ref()))
            .map(|(wanted, claimed)| wanted.briefing(tree, claimed, by));
        Ok(Briefed { answer, briefing })
    }
}

/// The briefing that a claim asks for: who reads it, and how many tokens it may have.
#[derive(Clone, Copy)]
struct Wanted {
    audience: Audience<'static>,
    most: usize,
}

impl Wanted {
    /// What a request asks for; `None` for no briefing.
    fn of(params: &Params<'_>) -> Result<Option<Self>, Failure> {
        let audience = audience(DOOR.read(params)?);
        let most = BRIEFING.read(params)?;
        Ok(most.map(|most| Self { audience, most: usize::try_from(most).unwrap_or(usize::MAX) }))
    }

    /// The briefing of a claimed task. The claim holds, also if the briefing cannot be read.
    fn briefing(self, tree: &Tree, claimed: &ClaimAnswer, by: &By) -> String {
        match tree.briefing(&claimed.task.id.to_string(), by) {
            Ok(briefing) => briefing.text(self.audience, None, self.most),
            Err(failure) => format!("The briefing cannot be read: {failure}\n"),
        }
    }
}
