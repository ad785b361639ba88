//! The work of agents: claim, heartbeat, the end of a run or a session.

use accord_api::{Call, Envelope as _, Json};
use accord_base::By;
use accord_contract::Failure;
use accord_tasks::Tree;
use accord_tasks_core::operations::{
    Briefed, ClaimAnswer, ClaimNextTask, ClaimQuery, ClaimTask, EndRun, EndSession, Heartbeat,
    PollRequest, TaskClaimEnvelope, TaskClaimNextEnvelope,
};

use super::operation::{Scene, bind, on_task, on_tree};
use super::read::audience;
use crate::Route;
use accord_serving::acting::service;

pub(super) fn routes() -> Vec<Route> {
    vec![
        bind(|scene, call: &Call<ClaimTask>| {
            let tree = scene.tree()?;
            let answer = tree.claim(&call.path.task, &call.body.0, scene.by)?;
            let briefing = briefing(&call.query, &tree, &answer, scene.by);
            let claim = Briefed { answer, briefing };
            Ok(Json(TaskClaimEnvelope::wrap(claim, scene.correlation)))
        })
        .acting_as(|call| call.body.0.agent.as_deref())
        .route(),
        bind(claim_next).acting_as(|call| call.body.0.agent.as_deref()).route(),
        on_task::<Heartbeat, _, _>(Tree::heartbeat)
            .acting_as(|call| call.body.0.agent.as_deref())
            .route(),
        on_task::<EndRun, _, _>(Tree::end_run)
            .acting_as(|call| call.body.0.agent.as_deref())
            // The process that watches an agent says what it saw, and not the agent.
            .not_for_workers(|call| call.body.0.observed.is_some())
            .route(),
        on_tree::<EndSession, _, _>(Tree::session_end)
            .acting_as(|call| call.body.0.agent.as_deref())
            .route(),
    ]
}

fn claim_next(
    scene: &Scene<'_>,
    call: &Call<ClaimNextTask>,
) -> Result<Json<TaskClaimNextEnvelope>, Failure> {
    let tree = scene.tree()?;
    if !scene.has_scheduler {
        // No scheduler makes tasks ready whose dependencies are done.
        tree.poll(&PollRequest::default(), &service(scene.by.door))?;
    }
    let answer = tree.claim_next(&call.body.0, scene.by)?;
    let claimed = answer.claimed.as_ref();
    let briefing = claimed.and_then(|claim| briefing(&call.query, &tree, claim, scene.by));
    Ok(Json(TaskClaimNextEnvelope::wrap(Briefed { answer, briefing }, scene.correlation)))
}

/// The briefing of a claimed task, if the request asks for one. The claim holds, also if the
/// briefing cannot be read.
fn briefing(asked: &ClaimQuery, tree: &Tree, claimed: &ClaimAnswer, by: &By) -> Option<String> {
    let most = usize::try_from(asked.briefing_tokens?).unwrap_or(usize::MAX);
    Some(match tree.briefing(&claimed.task.id.to_string(), by) {
        Ok(briefing) => briefing.text(audience(asked.door), None, most),
        Err(failure) => format!("The briefing cannot be read: {failure}\n"),
    })
}
