//! The Responses API of OpenAI, as far as Codex uses it.

use serde_json::{Value, json};

use super::script::{Action, Task, list};

/// The events that answer a request.
pub(super) fn answer(request: &Value, number: usize) -> Vec<Value> {
    let items: Vec<&Value> = list(&request["input"]).collect();
    let contents = items.iter().flat_map(|item| list(&item["content"]));
    let prompt: String = contents.filter_map(|part| part["text"].as_str()).collect();
    let done = items.iter().filter(|item| item["type"] == "function_call").count();
    let action = Task::read(&prompt).map_or(Action::End, |task| task.action(done));
    let item = match action {
        Action::End => json!({"type": "message", "id": format!("msg_{number}"),
            "role": "assistant", "content": [{"type": "output_text",
                "text": "The turn is done.", "annotations": []}]}),
        Action::Shell(command) => call(number, "exec_command", None, &json!({"cmd": command})),
        // The client has no tool that writes a whole file.
        Action::Write { path, text } => {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let command = format!("mkdir -p {folder} && cat > {path} <<'END'\n{text}\nEND\n");
            call(number, "exec_command", None, &json!({"cmd": command}))
        }
        Action::Memory { tool, arguments } => call(number, tool, Some("mcp__accord"), &arguments),
    };
    let usage = json!({"input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
        "output_tokens_details": null, "total_tokens": 15});
    vec![
        json!({"type": "response.created", "response": {"id": format!("resp_{number}")}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": format!("resp_{number}"),
            "usage": usage}}),
    ]
}

fn call(number: usize, name: &str, namespace: Option<&str>, arguments: &Value) -> Value {
    let mut call = json!({"type": "function_call", "id": format!("fc_{number}"),
        "call_id": format!("call_{number}"), "name": name, "arguments": arguments.to_string()});
    if let Some(namespace) = namespace {
        call["namespace"] = json!(namespace);
    }
    call
}
