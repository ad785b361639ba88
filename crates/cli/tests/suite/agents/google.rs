//! The Gemini API of Google, as far as Gemini CLI uses it.

use std::path::Path;

use serde_json::{Value, json};

use super::script::{Action, Task, list};

/// The event that answers a request.
pub(super) fn answer(request: &Value, root: &Path) -> Value {
    let parts: Vec<&Value> =
        list(&request["contents"]).flat_map(|content| list(&content["parts"])).collect();
    let prompt: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let done = parts.iter().filter(|part| part["functionCall"].is_object()).count();
    // Requests without tools are the client's own, such as the choice of a model.
    let task = Task::read(&prompt).filter(|_| list(&request["tools"]).next().is_some());
    let action = task.map_or(Action::End, |task| task.action(done));
    let part = match action {
        Action::End => json!({"text": "The turn is done."}),
        Action::Shell(command) => call("run_shell_command", &json!({"command": command})),
        Action::Write { path, text } => {
            call("write_file", &json!({"file_path": root.join(path), "content": text}))
        }
        Action::Memory { tool, arguments } => call(&format!("mcp_accord_{tool}"), &arguments),
    };
    json!({
        "candidates": [{"index": 0, "finishReason": "STOP",
            "content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5,
            "totalTokenCount": 15},
    })
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"functionCall": {"name": name, "args": arguments}})
}
