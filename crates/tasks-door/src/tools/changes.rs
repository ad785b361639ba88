//! Changes of tasks: create, edit, block, dependencies.

use accord_api::{Json, NoBody};
use accord_contract::{Failure, Field, Value, Wire as _};
use accord_tasks_core::operations::{
    AddDependency, BlockRequest, BlockTask, CancelRequest, CancelTask, CommentOnTask,
    CommentRequest, CreateRequest, CreateTask, DependencyRequest, EditRequest, EditTask,
    OfDependency, OfTask, RemoveDependency, TaskEnvelope, UnblockRequest, UnblockTask,
};
use accord_tasks_core::task::Priority;

use super::{
    ACTOR, PROJECT, TASK, acting, change, changing, in_project, members, of_task, request, text,
    texts,
};
use accord_mcp::{Argument, Call, Effect, Tool, ToolResult};

const PRIORITY: Argument =
    Argument::word("priority", &["critical", "high", "normal", "medium", "low"], "");

const CHECKS: Argument = Argument::any("checks", "");

fn checks(call: &Call<'_>) -> Result<Field<Vec<Vec<String>>>, Failure> {
    let Some(checks) = call.value("checks") else { return Ok(Field::Absent) };
    let only = serde_json::json!({"checks": checks});
    Ok(EditRequest::from_document(only)?.checks)
}

pub(super) const DISPATCH: Tool = Tool {
    name: "aof_dispatch",
    description: "Creates a task for an agent, role, team or anyone, ready once dependsOn are \
        done. brief: what to do and how one sees that it is done; the agent knows nothing else. \
        checks run after the report: lists of a program and its arguments.",
    arguments: &[
        PROJECT,
        Argument::text("title", "").required(),
        Argument::text("brief", "").required(),
        Argument::text("type", ""),
        PRIORITY,
        Argument::text("assignedAgent", ""),
        Argument::text("ownerTeam", ""),
        Argument::text("role", ""),
        Argument::texts("inputs", ""),
        Argument::texts("checklist", ""),
        Argument::texts("dependsOn", "Task ids."),
        Argument::text("parentId", ""),
        Argument::texts("tags", ""),
        CHECKS,
        ACTOR,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let kind = call.text("type");
        let body = CreateRequest {
            title: call.required("title")?.to_owned(),
            body: Some(brief(call)?),
            agent: text(call, "assignedAgent"),
            team: text(call, "ownerTeam"),
            role: text(call, "role"),
            depends_on: texts(call, "dependsOn"),
            parent: text(call, "parentId"),
            tags: texts(call, "tags"),
            checks: checks(call)?.value().cloned(),
            priority: priority(call),
            metadata: kind.map(|kind| members([("type", kind.into())])),
            // One that waits for others becomes ready when they are done.
            ready: Some(true),
            ..CreateRequest::default()
        };
        Ok(request::<CreateTask>(in_project(call)?, acting(call)?, Json(body)))
    },
    answer: |_, answer| {
        let task = answer.read::<Json<TaskEnvelope>>()?.0.result.task;
        Ok(ToolResult::receipt(members([
            ("taskId", task.id.to_string().into()),
            ("status", task.status.as_str().into()),
            ("assignedAgent", task.agent.into()),
            ("filePath", task.path.into()),
        ])))
    },
    null_on: None,
};

/// The body of a new task: the brief, with sections for inputs and checklist.
fn brief(call: &Call<'_>) -> Result<String, Failure> {
    let mut body = format!("## Instructions\n\n{}\n", call.required("brief")?.trim());
    for (name, heading, mark) in [("inputs", "Inputs", "-"), ("checklist", "Checklist", "- [ ]")] {
        let Some(items) = call.value(name).and_then(Value::as_array) else { continue };
        let one_line = |item: &str| item.split_whitespace().collect::<Vec<_>>().join(" ");
        let items = items.iter().filter_map(Value::as_str);
        let items: Vec<String> = items.map(|item| format!("{mark} {}\n", one_line(item))).collect();
        if !items.is_empty() {
            body.push_str(&format!("\n## {heading}\n\n{}", items.concat()));
        }
    }
    Ok(body)
}

fn priority(call: &Call<'_>) -> Option<Priority> {
    match call.text("priority")? {
        "medium" => Some(Priority::Normal),
        priority => Priority::parse(priority),
    }
}

pub(super) const EDIT: Tool = Tool {
    name: "aof_task_edit",
    description: "Changes title, body, priority or routing of a task that you hold, were \
        assigned or created.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::text("title", ""),
        Argument::text("description", "The new body."),
        PRIORITY,
        Argument::object("routing", routing, ""),
        CHECKS,
        ACTOR,
    ],
    ..changing(|call| {
        // The members of the routing are those of the request; others are refused.
        let routing = call.value("routing").filter(|routing| routing.is_object());
        let mut body = match routing {
            Some(routing) => EditRequest::from_document(routing.clone())?,
            None => EditRequest::default(),
        };
        body.title = text(call, "title").or(body.title);
        body.body = text(call, "description").or(body.body);
        body.priority = priority(call).or(body.priority);
        body.checks = checks(call)?;
        change::<EditTask, _>(call, body)
    })
};

/// The schema of who may do a task.
fn routing() -> Value {
    let text = serde_json::json!({"type": "string"});
    serde_json::json!({
        "type": "object",
        "properties": {
            "agent": text,
            "role": text,
            "team": text,
            "tags": {"type": "array", "items": text},
        },
        "additionalProperties": false,
    })
}

pub(super) const BLOCK: Tool = Tool {
    name: "aof_task_block",
    description: "Says that your task cannot go on; notifies people.",
    arguments: &[PROJECT, TASK, Argument::text("reason", "What is in the way.").required(), ACTOR],
    effect: Effect::Ends,
    ..changing(|call| {
        let reason = call.required("reason")?.to_owned();
        change::<BlockTask, _>(call, BlockRequest { reason })
    })
};

pub(super) const UNBLOCK: Tool = Tool {
    name: "aof_task_unblock",
    description: "Makes a blocked task ready.",
    arguments: &[PROJECT, TASK, Argument::text("reason", ""), ACTOR],
    ..changing(|call| {
        change::<UnblockTask, _>(call, UnblockRequest { reason: text(call, "reason") })
    })
};

pub(super) const CANCEL: Tool = Tool {
    name: "aof_task_cancel",
    description: "Gives a task up. Persons only.",
    arguments: &[PROJECT, TASK, Argument::text("reason", ""), Argument::text("expect", ""), ACTOR],
    effect: Effect::Ends,
    ..changing(|call| {
        let (reason, expect) = (text(call, "reason"), text(call, "expect"));
        change::<CancelTask, _>(call, CancelRequest { reason, expect, despite_leftovers: None })
    })
};

pub(super) const COMMENT: Tool = Tool {
    name: "aof_comment",
    description: "Adds a comment for those who read the task next.",
    arguments: &[PROJECT, TASK, Argument::text("text", "").required(), ACTOR],
    effect: Effect::Adds,
    ..changing(|call| {
        let text = call.required("text")?.to_owned();
        change::<CommentOnTask, _>(call, CommentRequest { text })
    })
};

const BLOCKER: Argument = Argument::text("blockerId", "").required();

pub(super) const ADD_DEPENDENCY: Tool = Tool {
    name: "aof_task_dep_add",
    description: "Makes a task wait until blockerId is done.",
    arguments: &[PROJECT, TASK, BLOCKER, ACTOR],
    ..changing(|call| {
        let blocker = call.required("blockerId")?.to_owned();
        change::<AddDependency, _>(call, DependencyRequest { blocker })
    })
};

pub(super) const REMOVE_DEPENDENCY: Tool = Tool {
    name: "aof_task_dep_remove",
    description: "Ends that a task waits for blockerId.",
    arguments: &[PROJECT, TASK, BLOCKER, ACTOR],
    effect: Effect::Ends,
    ..changing(|call| {
        let OfTask { project, task } = of_task(call)?;
        let blocker = call.required("blockerId")?.to_owned();
        let path = OfDependency { project, task, blocker };
        Ok(request::<RemoveDependency>(path, acting(call)?, NoBody))
    })
};
