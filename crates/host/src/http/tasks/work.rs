//! The work of agents: claim, heartbeat, the end of a session.

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Wire as _;
use accord_memory_core::query::{MAX_TOKENS, Number, Params};
use accord_tasks::Tree;
use accord_tasks::answers::ClaimAnswer;
use accord_tasks::requests::{
    ClaimNextRequest, ClaimRequest, HeartbeatRequest, PollRequest, SessionEndRequest,
};
use accord_tasks_core::By;
use accord_tasks_core::briefing::Audience;
use axum::Extension;
use axum::extract::State;
use hyper::StatusCode;

use super::answers::{
    TaskClaimEnvelope, TaskClaimNextEnvelope, TaskHeartbeatEnvelope, TaskSessionEndEnvelope,
    respond,
};
use super::ask::{
    ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, InTask, Who, check_project, in_tree, request,
};
use super::changes::verb;
use super::read::{LEAST, audience};
use super::{OF_CHANGES, OF_TASK};
use crate::http::body::Document;
use crate::http::reply::json;
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Correlation, Host, Reply};
use crate::tasks::{Needs, service};

/// How long a briefing is wanted.
const BRIEFING: Number = Number::new("briefing_tokens", LEAST, MAX_TOKENS);

const ABOUT_BRIEFING: &str = "Adds a briefing in Markdown of at most so many tokens.";

/// The failure codes of claims.
const OF_CLAIMS: &[Code] = &[
    Code::AofTaskNotReady,
    Code::AofUnauthorizedAgent,
    Code::AofDependencyUnmet,
    Code::AofResourceBusy,
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "claim_task",
            verb!("claim"),
            "Claims a ready task for an agent: the agent gets a lease, and the task is in \
             progress.",
            claim,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .query(BRIEFING, ABOUT_BRIEFING)
        .may_take(Content::json::<ClaimRequest>())
        .answers(200, "The task, its run and its folder.", Content::json::<TaskClaimEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(OF_TASK)
        .refuses(OF_CLAIMS),
        Route::post(
            "claim_next_task",
            "/accord/v1/projects/{project_id}/tasks/claim-next",
            "Claims the next ready task that fits an agent: the most urgent, then the oldest. Two \
             callers never get the same task. If none fits, the answer says why.",
            claim_next,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .query(BRIEFING, ABOUT_BRIEFING)
        .may_take(Content::json::<ClaimNextRequest>())
        .answers(200, "The claim, or why there is none.", Content::json::<TaskClaimNextEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(&[Code::AofNoTaskTree, Code::AofUnauthorizedAgent]),
        Route::post(
            "task_heartbeat",
            verb!("heartbeat"),
            "A sign of life of a run: its lease and its heartbeat are extended.",
            heartbeat,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .may_take(Content::json::<HeartbeatRequest>())
        .answers(200, "Until when.", Content::json::<TaskHeartbeatEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(OF_TASK)
        .refuses(&[Code::AofUnassignedTask, Code::AofUnauthorizedAgent, Code::AofStaleRun]),
        Route::post(
            "end_task_session",
            "/accord/v1/projects/{project_id}/tasks/session-end",
            "The session of an agent ended: recorded results that were not applied are applied.",
            session_end,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .may_take(Content::json::<SessionEndRequest>())
        .answers(200, "What moved.", Content::json::<TaskSessionEndEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(OF_TASK)
        .refuses(&[Code::AofUnauthorizedAgent]),
    ]
}

async fn claim(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    at: InTask,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: ClaimRequest = request(&document)?;
    let wanted = Wanted::of(&query.params()?)?;
    let agent = asked.agent.as_deref();
    let by = who.acting(&caller, &at.project, Needs::Write, agent)?;
    check_project(&host, &at.project).await?;
    let claim = move |tree: &Tree| {
        let claimed = tree.claim(&at.task, &asked, &by)?;
        let text = wanted.map(|wanted| wanted.briefing(tree, &claimed, &by));
        Ok((claimed, text))
    };
    let (claimed, text) = in_tree(&host, &at.project, claim).await?;
    let envelope = TaskClaimEnvelope::new(&correlation, claimed, text);
    Ok(json(StatusCode::OK, envelope.encode().to_string()))
}

/// The briefing that a claim asks for: who reads it, and how many tokens it may have.
#[derive(Clone, Copy)]
struct Wanted {
    audience: Audience,
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

async fn claim_next(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: ClaimNextRequest = request(&document)?;
    let wanted = Wanted::of(&query.params()?)?;
    let agent = asked.agent.as_deref();
    let by = who.acting(&caller, &project, Needs::Write, agent)?;
    check_project(&host, &project).await?;
    let is_alone = !host.has_store();
    let claim = move |tree: &Tree| {
        if is_alone {
            // No scheduler makes tasks ready whose dependencies are done.
            tree.poll(&PollRequest::default(), &service(by.door))?;
        }
        let answer = tree.claim_next(&asked, &by)?;
        let text = (wanted.zip(answer.claimed.as_ref()))
            .map(|(wanted, claimed)| wanted.briefing(tree, claimed, &by));
        Ok((answer, text))
    };
    let (answer, text) = in_tree(&host, &project, claim).await?;
    let envelope = TaskClaimNextEnvelope::new(&correlation, answer, text);
    Ok(json(StatusCode::OK, envelope.encode().to_string()))
}

async fn heartbeat(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    at: InTask,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: HeartbeatRequest = request(&document)?;
    let agent = asked.agent.as_deref();
    let by = who.acting(&caller, &at.project, Needs::Write, agent)?;
    check_project(&host, &at.project).await?;
    let beat = move |tree: &Tree| tree.heartbeat(&at.task, &asked, &by);
    let answer = in_tree(&host, &at.project, beat).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn session_end(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: SessionEndRequest = request(&document)?;
    let agent = asked.agent.as_deref();
    let by = who.acting(&caller, &project, Needs::Write, agent)?;
    check_project(&host, &project).await?;
    let answer = in_tree(&host, &project, move |tree| tree.session_end(&asked, &by)).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}
