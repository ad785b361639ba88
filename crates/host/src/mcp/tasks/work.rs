//! Claims, heartbeats, and giving a task back.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};

use super::super::{Answer, Argument, Ask, Effect, Output, Tool, ToolResult};
use super::read::budget;
use super::{ACTOR, CHANGE, PROJECT, RUN, TASK, acting, renamed, result_of, taken, tasks, verb};

/// The budget of a claim.
const BUDGET: Argument = Argument::integer(
    "max_tokens",
    500,
    1_000_000,
    "The most tokens of the answer. What does not fit is counted.",
)
.default_number(4_000);

pub(super) const CLAIM: Tool = Tool {
    name: "aof_claim",
    title: "Claim a task",
    description: "Gives you the next ready task that fits you, the most urgent first, or the one \
        that taskId names: it is yours until your heartbeats stop. No other agent gets it. A \
        briefing in Markdown comes with it: instructions, why it was sent back, inputs, what the \
        tasks before it left, the work log, where to write and how to report. If claimed is \
        false, reason says why.",
    arguments: &[
        PROJECT,
        Argument::text("taskId", "A certain task, instead of the next one."),
        Argument::texts("roles", "Your roles: tasks for one of them fit, too."),
        Argument::texts("teams", "Your teams: tasks for one of them fit, too."),
        Argument::texts("tags", "Only tasks with all of these tags."),
        Argument::flag("onlyMine", "Only tasks that are assigned to you by name."),
        ACTOR,
        BUDGET,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::flag("claimed"),
        Output::text("taskId").optional(),
        Output::text("runId").optional(),
        Output::text("heartbeatBefore").optional(),
        Output::text("directory").optional(),
        Output::text("reason").optional(),
        Output::count("ready").optional(),
    ]),
    ask: |call| {
        let ask = match call.text("taskId").filter(|task| !task.is_empty()) {
            Some(task) => Ask::post(&tasks(call, &[task, "claim"])?, Object::new()),
            None => {
                let names = [
                    ("roles", "roles"),
                    ("teams", "teams"),
                    ("tags", "tags"),
                    ("onlyMine", "only_mine"),
                ];
                Ask::post(&tasks(call, &["claim-next"])?, renamed(call, &names))
            }
        };
        // The receipt takes some of the budget.
        let briefing = budget(call).saturating_sub(RECEIPT_TOKENS);
        Ok(acting(call, ask)?.query("briefing_tokens", Some(briefing)))
    },
    answer: |_, answer| claimed(answer),
    null_on: None,
};

/// What the receipt of a claim costs at most.
const RECEIPT_TOKENS: usize = 200;

/// The receipt of a claim, with the briefing as a text of its own.
fn claimed(answer: &Answer) -> Result<ToolResult, Failure> {
    let mut result = result_of(answer)?;
    let is_next = result.contains_key("ready");
    let mut members = Object::new();
    if is_next {
        for name in ["reason", "ready"] {
            members.extend(result.remove(name).map(|value| (name.to_owned(), value)));
        }
    }
    let claim = match is_next {
        true => result.remove("claimed").and_then(|claim| claim.as_object().cloned()),
        false => Some(result),
    };
    let is_claimed = claim.is_some();
    for (name, from) in
        [("runId", "run_id"), ("heartbeatBefore", "alive_until"), ("directory", "directory")]
    {
        let value = claim.as_ref().and_then(|claim| claim.get(from)).cloned();
        members.extend(value.map(|value| (name.to_owned(), value)));
    }
    let task = claim.as_ref().and_then(|claim| claim.get("task")?.get("id")).cloned();
    members.extend(task.map(|task| ("taskId".to_owned(), task)));
    members.insert("claimed".into(), is_claimed.into());
    let receipt = ToolResult::receipt(members);
    Ok(match answer.object()?.remove("briefing") {
        Some(Value::String(briefing)) => receipt.noting(briefing),
        _ => receipt,
    })
}

pub(super) const HEARTBEAT: Tool = Tool {
    name: "aof_heartbeat",
    title: "Keep a task",
    description: "Says that you are still at work: your lease and your heartbeat are extended. \
        Call it before heartbeatBefore, or the task is given to another agent.",
    arguments: &[PROJECT, TASK, RUN, ACTOR],
    effect: Effect::AddsOnce,
    output: Some(&[
        Output::text("taskId"),
        Output::text("runId"),
        Output::text("leaseUntil"),
        Output::text("heartbeatBefore"),
    ]),
    ask: |call| verb(call, "heartbeat", renamed(call, &[("runId", "run_id")])),
    answer: |_, answer| {
        let members = taken(
            &mut result_of(answer)?,
            &[
                ("taskId", "task_id"),
                ("runId", "run_id"),
                ("leaseUntil", "lease_until"),
                ("heartbeatBefore", "alive_until"),
            ],
        );
        Ok(ToolResult::receipt(members))
    },
    null_on: None,
};

pub(super) const RELEASE: Tool = Tool {
    name: "aof_release",
    title: "Give a task back",
    description: "Ends your lease without a report: the task is ready again, for any agent that \
        fits. What you wrote in its folder stays.",
    arguments: &[
        PROJECT,
        TASK,
        RUN,
        Argument::text("reason", "Why you give it back, for the next agent."),
        ACTOR,
    ],
    effect: Effect::Ends,
    ask: |call| verb(call, "release", renamed(call, &[("reason", "reason"), ("runId", "run_id")])),
    ..CHANGE
};
