//! The tools of tasks, with the names and arguments of AOF's reference. What an agent says about
//! its work goes the way of the messages: `aof_task_update` is a `status.update`,
//! `aof_task_complete` a `completion.report`. So only the holder of a task's lease can report on
//! it. What an agent reads is Markdown within a budget.

mod changes;
mod messages;
mod read;
mod work;

use accord_api::{Call as OperationCall, Json, Operation};
use accord_base::refuse::schema;
use accord_base::{Actor, ActorType, Door, IdError};
use accord_contract::wire::Message;
use accord_contract::{Code, Failure, Object, Protocol, Value};
use accord_tasks_core::operations::{Acting, InProject, OfTask, TaskAnswer, TaskEnvelope};

use accord_mcp::{
    Advice, Argument, Call, Effect, HostRequest, Tool, ToolResult, Toolset, Visibility,
};

/// The tools of tasks.
pub static TOOLSET: Toolset = Toolset {
    name: "tasks",
    protocol: Protocol::Aof,
    instructions: "Tasks (aof_*): the agent that holds a task's lease does it.\n1. aof_claim: \
        the next ready task with a briefing. Keep taskId and runId; pass the same actor (your \
        name) every time.\n2. aof_heartbeat before the time that it names; aof_task_update \
        (workLog) for progress.\n3. aof_task_complete with a summary, aof_task_block with a \
        reason, or aof_release. Repeat until none is ready.\naof_dispatch makes tasks for others, \
        aof_status_report lists them.",
    details: "A taskId can be cut to the part that no other task has. A person reviews what is \
        completed, unless the task needs none. In dependsOn, aof_dispatch names what must be done \
        before. aof_board shows the tasks by status.",
    tools: &[
        work::CLAIM,
        work::HEARTBEAT,
        messages::UPDATE,
        messages::COMPLETE,
        work::RELEASE,
        changes::BLOCK,
        changes::UNBLOCK,
        changes::COMMENT,
        read::BRIEFING,
        read::BOARD,
        read::STATUS_REPORT,
        changes::DISPATCH,
        changes::EDIT,
        changes::CANCEL,
        changes::ADD_DEPENDENCY,
        changes::REMOVE_DEPENDENCY,
        messages::MESSAGE,
    ],
    prompts: &[],
    resources: None,
    advice: &[
        Advice::about(
            Code::McpArgumentMissing,
            "project_id",
            "Pass project_id: the project whose tasks you mean.",
        ),
        Advice::about(
            Code::McpArgumentMissing,
            "actor",
            "Pass actor: your name as an agent, such as swe-backend. Use the same one in every \
             call.",
        ),
        Advice::on(
            Code::McpSessionNeeded,
            "Pass actor: your name as an agent, such as swe-backend. Use the same one in every \
             call.",
        ),
        Advice::on(
            Code::AofNoTaskTree,
            "Check project_id. aof_dispatch creates the first task of a project.",
        ),
        Advice::on(
            Code::AofTaskNotFound,
            "Check taskId: aof_status_report lists the tasks with their ids.",
        ),
        Advice::on(Code::AofAmbiguousTaskId, "Write the whole id, such as TASK-2026-11-16-001."),
        Advice::on(
            Code::AofTaskNotReady,
            "Call aof_claim without taskId to get a task that is ready.",
        ),
        Advice::on(
            Code::AofUnassignedTask,
            "The task has no lease: call aof_claim with this taskId first.",
        ),
        Advice::on(
            Code::AofUnauthorizedAgent,
            "Another agent has this task. Stop working on it, and call aof_claim for another one. \
             If it is yours, pass the same actor as in aof_claim.",
        ),
        Advice::on(
            Code::AofStaleRun,
            "The task was given to a later run. Stop working on it, and call aof_claim for another \
             one.",
        ),
        Advice::on(
            Code::NotForWorkers,
            "Pass actor: your own name as an agent. Do not retry what a person must decide: tell \
             the person you work for.",
        ),
        Advice::on(
            Code::AofPersonRequired,
            "Do not retry: tell the person you work for what should be decided.",
        ),
        Advice::on(
            Code::AofDependencyNotFound,
            "Create that task with aof_dispatch first, and use the taskId that it returns.",
        ),
        Advice::on(
            Code::AofDependencyCycle,
            "Remove one of the dependencies with aof_task_dep_remove.",
        ),
        Advice::on(
            Code::AofDependencyUnmet,
            "Call aof_claim without taskId to get a task that waits for nothing.",
        ),
        Advice::on(
            Code::AofResourceBusy,
            "Call aof_claim without taskId for another task, or try again later.",
        ),
        Advice::on(Code::AofTaskFinished, "Create another task with aof_dispatch."),
        Advice::on(
            Code::AofInvalidTaskTransition,
            "aof_task_briefing shows the status of the task.",
        ),
        Advice::on(
            Code::AofInvalidEnvelope,
            "Correct the member that the message names, or call aof_task_update or \
             aof_task_complete, which write the envelope.",
        ),
        Advice::on(
            Code::AgenticProjectArchived,
            "Ask a person to restore the project; reading it still works.",
        ),
        Advice::on(Code::AccessDenied, "Do not retry; ask a person for a key that covers this."),
        Advice::on(
            Code::HostTimeout,
            "Check with aof_task_briefing whether the call succeeded before you repeat it.",
        ),
        Advice::on(
            Code::HostUnreachable,
            "Tell the person you work for that the tasks cannot be reached.",
        ),
    ],
    visibility: |_| Visibility::Model,
    is_cancellable: false,
};

const PROJECT: Argument = Argument::project("");

/// Who acts, an agent by its name alone. Default: the actor of the key, or the client.
const ACTOR: Argument = Argument::text("actor", "");

const TASK: Argument = Argument::text("taskId", "").required();

/// The run of a report; one of an earlier run is refused.
const RUN: Argument = Argument::text("runId", "");

/// A tool that changes a task, without its words.
const fn changing(ask: fn(&Call<'_>) -> Result<HostRequest, Failure>) -> Tool {
    Tool {
        name: "",
        description: "",
        arguments: &[],
        effect: Effect::Adds,
        ask,
        answer: |_, answer| Ok(receipt(&answer.read::<Json<TaskEnvelope>>()?.0.result)),
        null_on: None,
    }
}

/// A change of the task of the call.
fn change<O, R>(call: &Call<'_>, body: R) -> Result<HostRequest, Failure>
where
    O: Operation<Path = OfTask, Query = Acting, Body = Json<R>>,
    R: Message,
{
    Ok(request::<O>(of_task(call)?, acting(call)?, Json(body)))
}

fn request<O: Operation>(path: O::Path, query: O::Query, body: O::Body) -> HostRequest {
    HostRequest::operation(&OperationCall::<O>::new(path, query, body))
}

fn in_project(call: &Call<'_>) -> Result<InProject, Failure> {
    let project = call.project()?.parse();
    let wrong = |error: IdError| schema("/project_id", error.to_string());
    Ok(InProject { project: project.map_err(wrong)? })
}

fn of_task(call: &Call<'_>) -> Result<OfTask, Failure> {
    let InProject { project } = in_project(call)?;
    Ok(OfTask { project, task: call.required("taskId")?.to_owned() })
}

fn acting(call: &Call<'_>) -> Result<Acting, Failure> {
    Ok(Acting { actor: Some(name_of(&call.agent()?)), door: Some(Door::Mcp) })
}

fn text(call: &Call<'_>, name: &str) -> Option<String> {
    call.text(name).map(str::to_owned)
}

fn texts(call: &Call<'_>, name: &str) -> Option<Vec<String>> {
    let list = call.value(name)?.as_array()?.iter();
    Some(list.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The name of an actor in task files: an agent's own name, else its type and its id.
fn name_of(actor: &Actor) -> String {
    match actor.kind {
        ActorType::Agent => actor.id.to_string(),
        kind => format!("{kind}:{}", actor.id),
    }
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn receipt(answer: &TaskAnswer) -> ToolResult {
    let task = &answer.task;
    let mut members = members([
        ("success", true.into()),
        ("taskId", task.id.to_string().into()),
        ("newStatus", task.status.as_str().into()),
        ("updatedAt", task.updated_at.as_str().into()),
    ]);
    if !answer.warnings.is_empty() {
        members.insert("warnings".into(), answer.warnings.clone().into());
    }
    ToolResult::receipt(members)
}
