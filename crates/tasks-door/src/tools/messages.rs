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
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Output, Tool, ToolResult};

pub(super) const UPDATE: Tool = Tool {
    name: "aof_task_update",
    title: "Report progress",
    description: "Says how your work on a task is going: a line for its work log, another status, \
        or what blocks it. Only the agent that holds the task can do it. A status that the task \
        cannot get now is not set: success is false, and reason says why. With body alone, \
        replaces the body of the task.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::word(
            "status",
            &["backlog", "ready", "in-progress", "blocked", "review", "done"],
            "The new status. A review is ended by a person.",
        ),
        Argument::text("workLog", "What you did, in a sentence, for the work log."),
        Argument::texts("outputs", "Files that you made, by their paths in the task's folder."),
        Argument::text("blockedReason", "What blocks the task."),
        Argument::text("body", "The new body of the task, in Markdown; in a call of its own."),
        RUN,
        ACTOR,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::flag("success"),
        Output::text("taskId"),
        Output::text("newStatus"),
        Output::text("updatedAt").optional(),
        Output::text("reason").optional(),
        Output::list("warnings").optional(),
    ]),
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
    title: "Report that a task is over",
    description: "Reports that your work on a task is over, which ends your lease. The task then \
        waits for a person's review, or is done if it needs none. outcome says how it ended; \
        partial gives it back for another run. Write a longer summary to outputs/summary.md in the \
        task's folder.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::text("summary", "What was done and decided, and what is left, in a few lines.")
            .required(),
        Argument::texts("outputs", "Files that you made, by their paths in the task's folder.")
            .example("outputs/report.md"),
        Argument::word(
            "outcome",
            &["done", "needs_review", "partial", "blocked"],
            "How the work ended.",
        )
        .default_word("done"),
        Argument::texts("blockers", "With outcome blocked: what is in the way."),
        Argument::text("summaryRef", "The file with the whole summary, in the task's folder.")
            .example("outputs/summary.md"),
        Argument::integer("testsTotal", 0, 1_000_000, "How many tests were run."),
        Argument::integer("testsPassed", 0, 1_000_000, "How many of them passed."),
        Argument::integer("testsFailed", 0, 1_000_000, "How many of them failed."),
        Argument::flag("skipReview", "Has no effect: whether a review is needed is not yours."),
        RUN,
        ACTOR,
    ],
    effect: Effect::Ends,
    output: Some(&[
        Output::flag("success"),
        Output::text("taskId"),
        Output::text("finalStatus"),
        Output::text("completedAt").optional(),
        Output::text("reason").optional(),
        Output::list("warnings").optional(),
    ]),
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
    title: "Send a message",
    description: "Sends any AOF/1 message: completion.report, status.update, handoff.request, \
        handoff.accepted or handoff.rejected. The envelope is written for you: give its type, the \
        task and the payload, as JSON. aof_task_update and aof_task_complete are shorter for the \
        first two.",
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
            "The type.",
        )
        .required(),
        TASK,
        Argument::text(
            "payload",
            "The payload as a JSON object in a string. handoff.request: taskId, parentTaskId, \
             fromAgent, toAgent, dueBy, and lists acceptanceCriteria, expectedOutputs, \
             contextRefs, constraints. handoff.accepted and handoff.rejected: taskId, accepted, \
             reason.",
        )
        .required(),
        Argument::text("toAgent", "The agent that the message is for."),
        RUN,
        ACTOR,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::flag("success"),
        Output::text("taskId"),
        Output::text("status").optional(),
        Output::text("reason").optional(),
        Output::list("warnings").optional(),
    ]),
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
