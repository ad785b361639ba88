//! Claims, heartbeats, and giving a task back.

use accord_api::Json;
use accord_contract::{Object, Value};
use accord_tasks_core::operations::{
    Acting, ClaimAnswer, ClaimNextRequest, ClaimNextTask, ClaimQuery, ClaimRequest, ClaimTask,
    Heartbeat, HeartbeatRequest, ReleaseRequest, ReleaseTask, TaskClaimEnvelope,
    TaskClaimNextEnvelope, TaskHeartbeatEnvelope, UnfitTasks,
};
use accord_tasks_core::task::comments_text;

use super::read::budget;
use super::{
    ACTOR, PROJECT, RUN, TASK, acting, change, changing, in_project, members, of_task, request,
    text, texts,
};
use accord_mcp::{Argument, Effect, Tool, ToolResult};

const BUDGET: Argument = Argument::integer("max_tokens", 500, 1_000_000, "");

pub(super) const CLAIM: Tool = Tool {
    name: "aof_claim",
    description: "Gives you the next ready task, or taskId, with a briefing. It is yours while \
        heartbeats come. claimed false: reason says why.",
    arguments: &[
        PROJECT,
        Argument::text("taskId", ""),
        Argument::texts("roles", ""),
        Argument::texts("teams", ""),
        Argument::texts("tags", "All of them."),
        Argument::flag("onlyMine", ""),
        ACTOR,
        BUDGET,
    ],
    effect: Effect::Adds,
    ask: |call| {
        // The receipt takes some of the budget.
        let briefing = budget(call).saturating_sub(RECEIPT_TOKENS);
        let Acting { actor, door } = acting(call)?;
        let query = ClaimQuery { actor, door, briefing_tokens: Some(briefing) };
        Ok(match call.text("taskId").filter(|task| !task.is_empty()) {
            Some(_) => request::<ClaimTask>(of_task(call)?, query, Json(ClaimRequest::default())),
            None => {
                let body = ClaimNextRequest {
                    roles: texts(call, "roles"),
                    teams: texts(call, "teams"),
                    tags: texts(call, "tags"),
                    only_mine: call.value("onlyMine").and_then(Value::as_bool),
                    ..ClaimNextRequest::default()
                };
                request::<ClaimNextTask>(in_project(call)?, query, Json(body))
            }
        })
    },
    answer: |call, answer| {
        if call.text("taskId").is_some_and(|task| !task.is_empty()) {
            let claim = answer.read::<Json<TaskClaimEnvelope>>()?.0;
            return Ok(claimed(Object::new(), Some(&claim.result), claim.briefing));
        }
        let next = answer.read::<Json<TaskClaimNextEnvelope>>()?.0;
        let mut about = Object::new();
        about.extend(next.result.reason.map(|reason| ("reason".to_owned(), reason.into())));
        about.insert("ready".into(), next.result.ready.into());
        let unfit = next.result.unfit.as_deref().map(|unfit| {
            let kinds: Vec<String> = unfit.iter().map(UnfitTasks::text).collect();
            format!("Ready, and not for you: {}.", kinds.join("; "))
        });
        Ok(claimed(about, next.result.claimed.as_ref(), next.briefing.or(unfit)))
    },
    null_on: None,
};

/// What the receipt of a claim costs at most.
const RECEIPT_TOKENS: u32 = 200;

/// The receipt of a claim, with the briefing as a text of its own.
fn claimed(mut receipt: Object, claim: Option<&ClaimAnswer>, brief: Option<String>) -> ToolResult {
    if let Some(claim) = claim {
        receipt.extend(members([
            ("runId", claim.run_id.as_str().into()),
            ("heartbeatBefore", claim.alive_until.as_str().into()),
            ("directory", claim.directory.as_str().into()),
            ("taskId", claim.task.id.to_string().into()),
        ]));
    }
    receipt.insert("claimed".into(), claim.is_some().into());
    let receipt = ToolResult::receipt(receipt);
    if let Some(brief) = brief { receipt.noting(brief) } else { receipt }
}

pub(super) const HEARTBEAT: Tool = Tool {
    name: "aof_heartbeat",
    description: "Keeps your task: call it before heartbeatBefore.",
    arguments: &[PROJECT, TASK, RUN, ACTOR],
    effect: Effect::Adds,
    ask: |call| {
        let body = HeartbeatRequest { run_id: text(call, "runId"), ..HeartbeatRequest::default() };
        change::<Heartbeat, _>(call, body)
    },
    answer: |_, answer| {
        let beat = answer.read::<Json<TaskHeartbeatEnvelope>>()?.0.result;
        let receipt = ToolResult::receipt(members([
            ("taskId", beat.task_id.to_string().into()),
            ("runId", beat.run_id.into()),
            ("leaseUntil", beat.lease_until.as_str().into()),
            ("heartbeatBefore", beat.alive_until.as_str().into()),
        ]));
        Ok(match beat.comments {
            Some(comments) => receipt.noting(comments_text(&comments)),
            None => receipt,
        })
    },
    null_on: None,
};

pub(super) const RELEASE: Tool = Tool {
    name: "aof_release",
    description: "Gives a task back without a report.",
    arguments: &[PROJECT, TASK, RUN, Argument::text("reason", ""), ACTOR],
    effect: Effect::Ends,
    ..changing(|call| {
        let (reason, run_id) = (text(call, "reason"), text(call, "runId"));
        change::<ReleaseTask, _>(call, ReleaseRequest { agent: None, run_id, reason })
    })
};
