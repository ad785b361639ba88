//! The output of workers for people: `--verbose`.
//!
//! Coding agents print one JSON event per line. Of these, only what the agent says, what it calls
//! and what fails is shown, each on a line; everything is in a log. Other output is
//! shown as it is, line by line.

use std::collections::BTreeMap;

use accord_contract::{Object, Value};

use crate::render::clean;

/// The longest line that is shown, in characters.
const MAX_CHARS: usize = 240;
/// The longest line that is collected, in bytes. What follows begins a new one.
const MAX_LINE: usize = 1024 * 1024;

/// Collects chunks of output to lines. Several workers can be at work.
#[derive(Debug, Default)]
pub(crate) struct WorkerOutput {
    /// The beginnings of lines, by worker and whether it is standard error.
    begun: BTreeMap<(String, bool), Vec<u8>>,
}

impl WorkerOutput {
    /// The lines to show after a chunk.
    pub(crate) fn add(&mut self, worker: &str, error: bool, chunk: &[u8]) -> Vec<String> {
        let line = self.begun.entry((worker.to_owned(), error)).or_default();
        let mut shown = Vec::new();
        for byte in chunk {
            if *byte != b'\n' && line.len() < MAX_LINE {
                line.push(*byte);
                continue;
            }
            shown.extend(show(&std::mem::take(line)));
            if *byte != b'\n' {
                line.push(*byte);
            }
        }
        shown
    }

    /// The lines without an end, after the worker has ended.
    pub(crate) fn finish(&mut self, worker: &str) -> Vec<String> {
        let rest = [false, true].map(|error| self.begun.remove(&(worker.to_owned(), error)));
        let rest = rest.into_iter().flatten().filter(|line| !line.is_empty());
        rest.flat_map(|line| show(&line)).collect()
    }
}

/// The lines that a line of a worker is shown as.
fn show(line: &[u8]) -> Vec<String> {
    let texts = match serde_json::from_slice(line) {
        Ok(Value::Object(event)) if event.get("type").is_some_and(Value::is_string) => {
            event_texts(&event)
        }
        _ => vec![String::from_utf8_lossy(line).into_owned()],
    };
    texts.iter().map(|text| shortened(text)).collect()
}

/// What an event says, calls, or reports as a failure.
fn event_texts(event: &Object) -> Vec<String> {
    let kind = text(event, "type").unwrap_or_default();
    let empty = Object::new();
    let member = |name: &str| event.get(name).and_then(Value::as_object).unwrap_or(&empty);
    match kind {
        // Claude Code. The contents of other messages are the answers of its tools.
        "assistant" | "user" => {
            let contents = member("message").get("content").and_then(Value::as_array);
            let blocks = contents.into_iter().flatten().filter_map(Value::as_object);
            blocks.filter_map(block_text).collect()
        }
        // Codex.
        "item.completed" => item_text(member("item")).into_iter().collect(),
        "turn.failed" => failure(text(member("error"), "message")),
        // Gemini CLI.
        "message" if text(event, "role") == Some("assistant") => {
            text(event, "content").map(str::to_owned).into_iter().collect()
        }
        "tool_use" if event.contains_key("tool_name") => {
            vec![call(text(event, "tool_name"), event.get("parameters"))]
        }
        "tool_result" if text(event, "status") == Some("error") => failure(text(event, "output")),
        // opencode.
        "text" => text(member("part"), "text").map(str::to_owned).into_iter().collect(),
        "tool_use" => {
            let part = member("part");
            let input = part.get("state").and_then(|state| state.get("input"));
            vec![call(text(part, "tool"), input)]
        }
        "error" => failure(text(event, "message").or_else(|| text(member("error"), "name"))),
        _ => Vec::new(),
    }
}

fn block_text(block: &Object) -> Option<String> {
    match text(block, "type")? {
        "text" => text(block, "text").map(str::to_owned),
        "tool_use" => Some(call(text(block, "name"), block.get("input"))),
        "tool_result" if block.get("is_error") == Some(&Value::Bool(true)) => {
            failure(text(block, "content")).pop()
        }
        _ => None,
    }
}

fn item_text(item: &Object) -> Option<String> {
    match text(item, "type")? {
        "agent_message" => text(item, "text").map(str::to_owned),
        "command_execution" => Some(format!("$ {}", text(item, "command")?)),
        "mcp_tool_call" => Some(call(text(item, "tool"), item.get("arguments"))),
        "file_change" => Some(call(Some("file_change"), item.get("changes"))),
        "error" => failure(text(item, "message")).pop(),
        _ => None,
    }
}

/// A call of a tool: a command as a shell shows it, else the name and the arguments.
fn call(name: Option<&str>, input: Option<&Value>) -> String {
    if let Some(command) = input.and_then(|input| input.get("command")).and_then(Value::as_str) {
        return format!("$ {command}");
    }
    let arguments = input.map(Value::to_string).unwrap_or_default();
    format!("{} {arguments}", name.unwrap_or("a tool"))
}

fn failure(message: Option<&str>) -> Vec<String> {
    vec![format!("failed: {}", message.unwrap_or("no reason was given"))]
}

fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// A text on one line of bounded length.
fn shortened(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(MAX_CHARS) {
        None => clean(&joined),
        Some((end, _)) => format!("{}…", clean(&joined[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerOutput;

    fn shown(lines: &str) -> Vec<String> {
        WorkerOutput::default().add("turn_1", false, lines.as_bytes())
    }

    #[test]
    fn events_of_agents_become_short_lines() {
        let claude = concat!(
            r#"{"type":"system","subtype":"init","tools":["Bash"]}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I begin."},"#,
            r#"{"type":"tool_use","name":"Bash","input":{"command":"ls -a\nls"}}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"#,
            r#""content":"not granted"}]}}"#,
            "\n",
        );
        assert_eq!(shown(claude), ["I begin.", "$ ls -a ls", "failed: not granted"]);
        let codex = concat!(
            r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"type":"mcp_tool_call","tool":"memory_orient","#,
            r#""arguments":{}}}"#,
            "\n",
            r#"{"type":"turn.failed","error":{"message":"no quota"}}"#,
            "\n",
        );
        assert_eq!(shown(codex), ["$ ls", "memory_orient {}", "failed: no quota"]);
        let gemini = concat!(
            r#"{"type":"message","role":"user","content":"the whole prompt"}"#,
            "\n",
            r#"{"type":"message","role":"assistant","content":"Done.","delta":true}"#,
            "\n",
            r#"{"type":"tool_use","tool_name":"write_file","parameters":{"file_path":"a"}}"#,
            "\n",
        );
        assert_eq!(shown(gemini), ["Done.", r#"write_file {"file_path":"a"}"#]);
        let opencode = concat!(
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"ls"}}}}"#,
            "\n",
            r#"{"type":"text","part":{"text":"Done."}}"#,
            "\n",
        );
        assert_eq!(shown(opencode), ["$ ls", "Done."]);
    }

    #[test]
    fn events_of_another_form_hide_nothing_else() {
        let odd = concat!(
            r#"{"type":"user","message":{"content":"a prompt"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"type":"todo_list"}}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"thinking"},7,"#,
            r#"{"type":"text","text":"On."}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"#,
            r#""content":[{"type":"text"}]}]}}"#,
            "\n",
            r#"{"type":"error","error":{"name":"Overloaded"}}"#,
            "\n",
            r#"{"type":7}"#,
            "\n",
        );
        let expected =
            ["On.", "failed: no reason was given", "failed: Overloaded", r#"{"type":7}"#];
        assert_eq!(shown(odd), expected);
    }

    #[test]
    fn other_output_is_shown_line_by_line() {
        let mut output = WorkerOutput::default();
        let (one, two) = ("turn_1", "turn_2");
        assert_eq!(output.add(one, false, b"one\ntw"), ["one"]);
        assert_eq!(output.add(one, true, b"a warning\n"), ["a warning"]);
        assert_eq!(output.add(two, false, b"of another turn\n"), ["of another turn"]);
        let plain = b"o\n{\"no\": \"event\"}\n";
        assert_eq!(output.add(one, false, plain), ["two", "{\"no\": \"event\"}"]);
        assert_eq!(output.add(one, false, "x".repeat(1000).as_bytes()), [""; 0]);
        assert_eq!(output.finish(two), [""; 0]);
        assert_eq!(output.finish(one), [format!("{}…", "x".repeat(240))]);
    }
}
