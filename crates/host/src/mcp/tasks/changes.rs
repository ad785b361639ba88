//! Changes of tasks: create, edit, block, dependencies.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};

use super::super::{Argument, Ask, Call, Effect, Output, Tool, ToolResult};
use super::{
    ACTOR, CHANGE, PROJECT, TASK, acting, renamed, result_of, taken, task_of, tasks, verb,
};

const PRIORITY: Argument = Argument::word(
    "priority",
    &["critical", "high", "normal", "medium", "low"],
    "How urgent it is; medium means normal.",
);

pub(super) const DISPATCH: Tool = Tool {
    name: "aof_dispatch",
    title: "Create a task",
    description: "Creates a task for an agent, a role, a team, or any agent. It can be claimed at \
        once, or when the tasks in dependsOn are done. Say in brief what is to be done and \
        how one sees that it is done: the agent that gets it knows nothing else.",
    arguments: &[
        PROJECT,
        Argument::text("title", "What is to be done, in one line.").required(),
        Argument::text("brief", "The instructions, in Markdown.").required(),
        Argument::text("type", "A word for the kind of work."),
        PRIORITY,
        Argument::text("assignedAgent", "The agent that is to do it."),
        Argument::text("ownerTeam", "The team that is to do it."),
        Argument::text("role", "The role that is to do it."),
        Argument::texts("inputs", "What the agent needs: files, links, facts."),
        Argument::texts("checklist", "What must hold when it is done."),
        Argument::texts("dependsOn", "The ids of tasks that must be done first."),
        Argument::text("parentId", "The task that it is a part of."),
        Argument::texts("tags", "Labels."),
        ACTOR,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::text("taskId"),
        Output::text("status"),
        Output::text("assignedAgent").or_null(),
        Output::text("filePath"),
    ]),
    ask: |call| {
        let mut body = Object::new();
        body.insert("title".into(), call.required("title")?.into());
        body.insert("body".into(), brief(call)?.into());
        body.extend(renamed(
            call,
            &[
                ("assignedAgent", "agent"),
                ("ownerTeam", "team"),
                ("role", "role"),
                ("dependsOn", "depends_on"),
                ("parentId", "parent"),
                ("tags", "tags"),
            ],
        ));
        priority(call, &mut body);
        if let Some(kind) = call.text("type") {
            body.insert("metadata".into(), serde_json::json!({"type": kind}));
        }
        // One that waits for others becomes ready when they are done.
        body.insert("ready".into(), true.into());
        acting(call, Ask::post(&tasks(call, &[])?, body))
    },
    answer: |_, answer| {
        let members = taken(
            &mut task_of(&mut result_of(answer)?)?,
            &[
                ("taskId", "id"),
                ("status", "status"),
                ("assignedAgent", "agent"),
                ("filePath", "path"),
            ],
        );
        Ok(ToolResult::receipt(members))
    },
    null_on: None,
};

/// The body of a new task: the brief, with sections for inputs and checklist.
fn brief(call: &Call<'_>) -> Result<String, Failure> {
    let mut body = format!("## Instructions\n\n{}\n", call.required("brief")?.trim());
    for (name, heading, mark) in [("inputs", "Inputs", "-"), ("checklist", "Checklist", "- [ ]")] {
        let Some(items) = call.value(name).and_then(Value::as_array) else { continue };
        let items: Vec<String> = items
            .iter()
            .filter_map(Value::as_str)
            .map(|item| {
                format!("{mark} {}\n", item.split_whitespace().collect::<Vec<_>>().join(" "))
            })
            .collect();
        if !items.is_empty() {
            body.push_str(&format!("\n## {heading}\n\n{}", items.concat()));
        }
    }
    Ok(body)
}

fn priority(call: &Call<'_>, body: &mut Object) {
    if let Some(priority) = call.text("priority") {
        let priority = if priority == "medium" { "normal" } else { priority };
        body.insert("priority".into(), priority.into());
    }
}

pub(super) const EDIT: Tool = Tool {
    name: "aof_task_edit",
    title: "Edit a task",
    description: "Changes what a task says: title, body, priority, and who may do it. Its status \
        stays. An agent can edit a task that it holds, that is assigned to it, or that it created.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::text("title", "The new title."),
        Argument::text("description", "The new body, in Markdown."),
        PRIORITY,
        Argument::object("routing", routing, "Who may do it: agent, role, team, tags."),
        ACTOR,
    ],
    ask: |call| {
        let mut body = renamed(call, &[("title", "title"), ("description", "body")]);
        if let Some(routing) = call.value("routing").and_then(Value::as_object) {
            // The host refuses what it does not know.
            body.extend(routing.clone());
        }
        priority(call, &mut body);
        acting(call, Ask::patch(&tasks(call, &[call.required("taskId")?])?, body))
    },
    ..CHANGE
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
    title: "Block a task",
    description: "Says that a task cannot go on, and why. Your lease ends; people are notified.",
    arguments: &[
        PROJECT,
        TASK,
        Argument::text("reason", "What is in the way, and who can do something about it.")
            .required(),
        ACTOR,
    ],
    effect: Effect::Ends,
    ask: |call| verb(call, "block", call.members(&["reason"])),
    ..CHANGE
};

pub(super) const UNBLOCK: Tool = Tool {
    name: "aof_task_unblock",
    title: "Unblock a task",
    description: "Says that a blocked task can go on: it is ready for a claim.",
    arguments: &[PROJECT, TASK, Argument::text("reason", "What changed."), ACTOR],
    ask: |call| verb(call, "unblock", call.members(&["reason"])),
    ..CHANGE
};

pub(super) const CANCEL: Tool = Tool {
    name: "aof_task_cancel",
    title: "Give a task up",
    description: "Gives a task up for good. A person decides this: an agent is refused.",
    arguments: &[PROJECT, TASK, Argument::text("reason", "Why."), ACTOR],
    effect: Effect::Ends,
    ask: |call| verb(call, "cancel", call.members(&["reason"])),
    ..CHANGE
};

const BLOCKER: Argument =
    Argument::text("blockerId", "The task that must be done first.").required();

pub(super) const ADD_DEPENDENCY: Tool = Tool {
    name: "aof_task_dep_add",
    title: "Add a dependency",
    description: "Makes a task wait until another one is done. A cycle is refused.",
    arguments: &[PROJECT, TASK, BLOCKER, ACTOR],
    ask: |call| {
        call.required("blockerId")?;
        verb(call, "dependencies", renamed(call, &[("blockerId", "blocker")]))
    },
    ..CHANGE
};

pub(super) const REMOVE_DEPENDENCY: Tool = Tool {
    name: "aof_task_dep_remove",
    title: "Remove a dependency",
    description: "Ends that a task waits for another one.",
    arguments: &[PROJECT, TASK, BLOCKER, ACTOR],
    effect: Effect::Ends,
    ask: |call| {
        let (task, blocker) = (call.required("taskId")?, call.required("blockerId")?);
        acting(call, Ask::delete(&tasks(call, &[task, "dependencies", blocker])?))
    },
    ..CHANGE
};
