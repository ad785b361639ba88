//! The Messages API of Anthropic, as far as Claude Code uses it.

use std::path::Path;

use serde_json::{Value, json};

use super::script::{Action, Task, list};

/// The tool that loads the schema of another tool.
const SEARCH: &str = "ToolSearch";

/// The events that answer a request.
pub(super) fn answer(request: &Value, root: &Path, number: usize) -> Vec<Value> {
    let blocks: Vec<&Value> = list(&request["messages"])
        .flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.iter().collect(),
            text => vec![text],
        })
        .collect();
    let text =
        |block: &&Value| block.as_str().or_else(|| block["text"].as_str()).map(str::to_owned);
    let prompt: String = blocks.iter().filter_map(text).collect();
    let called: Vec<&str> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .filter_map(|block| block["name"].as_str())
        .collect();
    let offered: Vec<&str> =
        list(&request["tools"]).filter_map(|tool| tool["name"].as_str()).collect();
    // Requests without tools are the client's own, for a title and the like.
    let task = Task::read(&prompt).filter(|_| !offered.is_empty());
    let done = called.iter().filter(|name| **name != SEARCH).count();
    let action = task.map_or(Action::End, |task| task.action(done));
    match call(action, root, &offered, called.last().copied()) {
        Some((name, input)) => {
            let block = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name,
                "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            events(request, number, &block, &delta, "tool_use")
        }
        None => {
            let delta = json!({"type": "text_delta", "text": "The turn is done."});
            events(request, number, &json!({"type": "text", "text": ""}), &delta, "end_turn")
        }
    }
}

fn call(
    action: Action,
    root: &Path,
    offered: &[&str],
    last: Option<&str>,
) -> Option<(String, Value)> {
    Some(match action {
        Action::End => return None,
        Action::Shell(command) => ("Bash".to_owned(), json!({"command": command})),
        Action::Write { path, text } => {
            ("Write".to_owned(), json!({"file_path": root.join(path), "content": text}))
        }
        Action::Memory { tool, arguments } => {
            let name = format!("mcp__accord__{tool}");
            if !offered.contains(&name.as_str()) && last != Some(SEARCH) {
                return Some((SEARCH.to_owned(), json!({"query": format!("select:{name}")})));
            }
            (name, arguments)
        }
    })
}

fn events(
    request: &Value,
    number: usize,
    block: &Value,
    delta: &Value,
    reason: &str,
) -> Vec<Value> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0});
    vec![
        json!({"type": "message_start", "message": {"id": format!("msg_{number}"),
            "type": "message", "role": "assistant", "model": request["model"], "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]
}
