//! The Chat Completions API of OpenAI, as far as opencode uses it.

use std::path::Path;

use serde_json::{Value, json};

use super::script::{Action, Task, list};

/// The events that answer a request.
pub(super) fn answer(request: &Value, root: &Path, number: usize) -> Vec<Value> {
    let messages: Vec<&Value> = list(&request["messages"]).collect();
    let texts = messages.iter().flat_map(|message| match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        text => Vec::from_iter(text.as_str()),
    });
    let prompt: String = texts.collect();
    let done = messages.iter().flat_map(|message| list(&message["tool_calls"])).count();
    // Requests without tools are the client's own, for a title and the like.
    let task = Task::read(&prompt).filter(|_| list(&request["tools"]).next().is_some());
    let action = task.map_or(Action::End, |task| task.action(done));
    let (name, arguments) = match action {
        Action::End => {
            let delta = json!({"role": "assistant", "content": "The turn is done."});
            return events(request, number, &delta, "stop");
        }
        Action::Shell(command) => {
            ("bash".to_owned(), json!({"command": command, "description": "One step"}))
        }
        Action::Write { path, text } => {
            ("write".to_owned(), json!({"filePath": root.join(path), "content": text}))
        }
        Action::Memory { tool, arguments } => (format!("accord_{tool}"), arguments),
    };
    let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()}});
    events(request, number, &json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
}

fn events(request: &Value, number: usize, delta: &Value, reason: &str) -> Vec<Value> {
    let chunk = |delta: &Value, reason: Option<&str>| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk",
            "created": 1, "model": request["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let mut last = chunk(&json!({}), Some(reason));
    last["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    vec![chunk(delta, None), last]
}
