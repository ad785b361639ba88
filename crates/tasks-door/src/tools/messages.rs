//! What an agent says about its work: messages of AOF/1.

use accord_api::{Json, Verbatim};
use accord_contract::{Code, Failure, Object};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    AofMessageEnvelope, EditRequest, EditTask, MessageQuery, OfTask, SendMessage, TaskEnvelope,
};
use accord_tasks_core::task::comments_text;
use serde_json::json;

use super::{
    ACTOR, PROJECT, RUN, TASK, acting, in_project, members, name_of, of_task, receipt, request,
    texts,
};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult};

pub(super) const UPDATE: Tool = Tool {
    name: "aof_task_update",
    description: "Reports on your task: workLog, status, or what blocks it. success false: \
        reason says why. body alone replaces its body.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::word(
            "status",
            &["backlog", "ready", "in-progress", "blocked", "review", "done"],
            "",
        ),
        Argument::text("workLog", "One sentence."),
        Argument::texts("outputs", "Paths in the task's folder."),
        Argument::text("blockedReason", ""),
        Argument::text("body", ""),
        RUN,
        ACTOR,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let (task, actor) = (call.required("taskId")?.trim(), name_of(&call.agent()?));
        if let Some(body) = call.text("body") {
            return edit_body(call, task, body);
        }
        let mut payload = Object::new();
        payload.insert("taskId".into(), task.into());
        payload.insert("agentId".into(), actor.as_str().into());
        payload.extend(call.text("status").map(|status| ("status".to_owned(), status.into())));
        payload.extend(call.text("workLog").map(|said| ("progress".to_owned(), said.into())));
        let outputs =
            texts(call, "outputs").map(|outputs| format!("Outputs: {}", outputs.join(", ")));
        payload.extend(outputs.map(|outputs| ("notes".to_owned(), outputs.into())));
        payload.extend(call.text("blockedReason").map(|why| ("blockers".to_owned(), json!([why]))));
        message(call, "status.update", task, &actor, payload)
    },
    answer: |call, answer| {
        if call.text("body").is_some() {
            return Ok(receipt(&answer.read::<Json<TaskEnvelope>>()?.0.result));
        }
        said(call, answer, "newStatus")
    },
    null_on: None,
};

pub(super) const COMPLETE: Tool = Tool {
    name: "aof_task_complete",
    description: "Ends your work on a task: it waits for review, or is done. outcome partial: \
        another run goes on. A longer summary: outputs/summary.md in its folder.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::text("summary", "").required(),
        Argument::texts("outputs", "Paths in the task's folder."),
        Argument::word("outcome", &["done", "needs_review", "partial", "blocked"], "")
            .default_word("done"),
        Argument::texts("blockers", ""),
        Argument::text("summaryRef", ""),
        Argument::integer("testsTotal", 0, 1_000_000, ""),
        Argument::integer("testsPassed", 0, 1_000_000, ""),
        Argument::integer("testsFailed", 0, 1_000_000, ""),
        Argument::flag("skipReview", "No effect."),
        RUN,
        ACTOR,
    ],
    effect: Effect::Ends,
    ask: |call| {
        let (task, actor) = (call.required("taskId")?.trim(), name_of(&call.agent()?));
        let number = |name: &str| call.number(name).unwrap_or(0);
        let (passed, failed) = (number("testsPassed"), number("testsFailed"));
        let total = call.number("testsTotal").unwrap_or(passed + failed);
        let list = |name: &str| call.value(name).cloned().unwrap_or_else(|| json!([]));
        let payload = json!({
            "outcome": call.text("outcome").unwrap_or("done"),
            "summaryRef": call.text("summaryRef").unwrap_or_default(),
            "deliverables": list("outputs"),
            "tests": {"total": total, "passed": passed, "failed": failed},
            "blockers": list("blockers"),
            "notes": call.required("summary")?,
        });
        let payload = payload.as_object().cloned().unwrap_or_default();
        message(call, "completion.report", task, &actor, payload)
    },
    answer: |call, answer| said(call, answer, "finalStatus"),
    null_on: None,
};

pub(super) const MESSAGE: Tool = Tool {
    name: "aof_message",
    description: "Sends an AOF/1 message, such as a handoff. The envelope is written for you.",
    arguments: &[
        PROJECT,
        Argument::word(
            "type",
            &[
                "completion.report",
                "status.update",
                "handoff.request",
                "handoff.accepted",
                "handoff.rejected",
            ],
            "",
        )
        .required(),
        TASK,
        Argument::text(
            "payload",
            "JSON object as a string. handoff.request: taskId, parentTaskId, fromAgent, toAgent, \
             dueBy, lists acceptanceCriteria, expectedOutputs, contextRefs, constraints. \
             accepted, rejected: taskId, accepted, reason.",
        )
        .required(),
        Argument::text("toAgent", ""),
        RUN,
        ACTOR,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let (task, actor) = (call.required("taskId")?.trim(), name_of(&call.agent()?));
        let payload = serde_json::from_str(call.required("payload")?).map_err(|error| {
            let message = format!("payload must be a JSON object in a string: {error}");
            Failure::new(Code::McpArgumentInvalid, message).at("/payload")
        })?;
        message(call, call.required("type")?, task, &actor, payload)
    },
    answer: |call, answer| said(call, answer, "status"),
    null_on: None,
};

/// The request that sends a message.
fn message(
    call: &Call<'_>,
    kind: &str,
    task: &str,
    from: &str,
    payload: Object,
) -> Result<HostRequest, Failure> {
    let project = call.project()?;
    let mut envelope = json!({
        "protocol": "aof",
        "version": 1,
        "type": kind,
        "projectId": project,
        "taskId": task,
        "fromAgent": from,
        "toAgent": call.text("toAgent").unwrap_or("accord"),
        "sentAt": call.now().to_string(),
        "payload": payload,
    });
    if let Some(run) = call.text("runId").filter(|run| !run.is_empty()) {
        envelope["runId"] = run.into();
    }
    let (query, body) = (MessageQuery { short_ids: true }, Verbatim::json(envelope.to_string()));
    Ok(request::<SendMessage>(in_project(call)?, query, body))
}

/// The request that replaces the body of a task.
fn edit_body(call: &Call<'_>, task: &str, body: &str) -> Result<HostRequest, Failure> {
    let others = ["status", "workLog", "outputs", "blockedReason"];
    if let Some(other) = others.into_iter().find(|name| call.value(name).is_some()) {
        let message = format!("body and {other} are two changes; make two calls");
        return Err(Failure::new(Code::McpArgumentInvalid, message).at("/body"));
    }
    let edit = EditRequest { body: Some(body.to_owned()), ..EditRequest::default() };
    let path = OfTask { task: task.to_owned(), ..of_task(call)? };
    Ok(request::<EditTask>(path, acting(call)?, Json(edit)))
}

/// What a message did, in the names of the reference.
fn said(call: &Call<'_>, answer: &Answer, status: &str) -> Result<ToolResult, Failure> {
    let said = answer.read::<Json<AofMessageEnvelope>>()?.0.result;
    let mut receipt = members([
        ("success", said.applied.into()),
        ("taskId", said.task_id.map(|id| id.to_string()).into()),
        (status, said.status.map(Status::as_str).into()),
    ]);
    let time = match status {
        "finalStatus" => Some("completedAt"),
        "newStatus" => Some("updatedAt"),
        _ => None,
    };
    receipt.extend(time.map(|time| (time.to_owned(), call.now().to_string().into())));
    receipt.extend(said.reason.map(|reason| ("reason".to_owned(), reason.into())));
    if !said.warnings.is_empty() {
        receipt.insert("warnings".into(), said.warnings.into());
    }
    let receipt = ToolResult::receipt(receipt);
    Ok(match said.comments {
        Some(comments) => receipt.noting(comments_text(&comments)),
        None => receipt,
    })
}
