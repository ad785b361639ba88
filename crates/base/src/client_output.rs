//! What the clients of coding agents print while they work: cost, tokens, their last message, and
//! signs that they cannot go on.
//!
//! Claude Code, Codex, Gemini CLI and opencode print one JSON document a line. Any other line is a
//! text.

use std::fmt;

use accord_contract::{Failure, Object, Value};

/// A longer line is not read.
const MAX_LINE: usize = 1024 * 1024;
const MAX_MESSAGE: usize = 2000;

#[derive(Clone, Debug, Default)]
pub struct ClientOutput {
    /// The line that is not complete yet, of standard output and of standard error.
    lines: [Vec<u8>; 2],
    cost: ClientCost,
    message: Option<String>,
    /// Whether the next piece continues the message.
    joins: bool,
    /// The last error that the client reported.
    error: Option<String>,
    /// The last line that is a text.
    text: Option<String>,
}

/// What a client says that its work cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientCost {
    pub usd: Option<f64>,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Why a client does not go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    NotAuthenticated,
    NoNetwork,
    AsksQuestion,
}

const AUTHENTICATION: [&str; 8] = [
    "invalid api key",
    "/login",
    "not logged in",
    "unauthorized",
    "authentication",
    "oauth token",
    "no api key",
    "api key not",
];

const NETWORK: [&str; 9] = [
    "econnrefused",
    "enotfound",
    "etimedout",
    "connection error",
    "connection refused",
    "could not resolve",
    "stream disconnected",
    "fetch failed",
    "reconnecting",
];

impl Trouble {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAuthenticated => "it is not logged in",
            Self::NoNetwork => "it does not reach its network",
            Self::AsksQuestion => "it asks a question",
        }
    }
}

impl ClientCost {
    /// Reads what [`ClientCost::document`] wrote.
    pub fn read(document: &Object) -> Self {
        let tokens = |name: &str| document.get(name).and_then(Value::as_u64).unwrap_or(0);
        let usd = document.get("usd").and_then(Value::as_f64);
        Self {
            usd: usd.filter(|usd| *usd >= 0.0),
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
        }
    }

    pub fn document(self) -> Object {
        Object::from_iter([
            ("usd".to_owned(), self.usd.into()),
            ("input_tokens".to_owned(), self.input_tokens.into()),
            ("output_tokens".to_owned(), self.output_tokens.into()),
        ])
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let usd = self.usd.unwrap_or(0.0) + other.usd.unwrap_or(0.0);
        Self {
            usd: self.usd.or(other.usd).map(|_| usd),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

/// Names the source: an agent can print what its client would. Empty if nothing is known.
impl fmt::Display for ClientCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SOURCE: &str = "by the output of the clients";
        let tokens = self.input_tokens.saturating_add(self.output_tokens);
        let usd = self.usd.map(|usd| format!("{usd:.2} USD {SOURCE}"));
        let tokens = (tokens > 0).then(|| format!("{tokens} tokens {SOURCE}"));
        let parts: Vec<String> = usd.into_iter().chain(tokens).collect();
        formatter.write_str(&parts.join(", "))
    }
}

impl ClientOutput {
    /// Takes the next bytes of standard output, or of standard error.
    pub fn feed(&mut self, error: bool, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = &mut self.lines[usize::from(error)];
            if line.len() + piece.len() <= MAX_LINE {
                line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(line);
                self.line(&line);
            }
        }
    }

    /// Takes the lines that no line break ended.
    pub fn finish(&mut self) {
        for line in std::mem::take(&mut self.lines) {
            self.line(&line);
        }
    }

    /// What the work cost; `None` if the client does not say it.
    pub fn cost(&self) -> Option<ClientCost> {
        (self.cost != ClientCost::default()).then_some(self.cost)
    }

    /// The last message of the agent, if its client prints messages.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The last message of the agent, else the last line that is a text.
    pub fn last_message(&self) -> Option<&str> {
        self.message.as_deref().or(self.text.as_deref())
    }

    /// Why the client does not go on, if its output shows it.
    pub fn trouble(&self) -> Option<Trouble> {
        let said = [self.error.as_deref(), self.text.as_deref()];
        let said: Vec<String> = said.into_iter().flatten().map(str::to_lowercase).collect();
        let has = |signs: &[&str]| said.iter().any(|it| signs.iter().any(|sign| it.contains(sign)));
        if has(&AUTHENTICATION) {
            return Some(Trouble::NotAuthenticated);
        }
        if has(&NETWORK) {
            return Some(Trouble::NoNetwork);
        }
        let asks = self.last_message().is_some_and(|it| it.trim_end().ends_with('?'));
        asks.then_some(Trouble::AsksQuestion)
    }

    /// The failure of a worker, with what its client said last.
    pub fn explain(&self, mut failure: Failure) -> Failure {
        let last = self.error.as_deref().or(self.last_message());
        if let Some(trouble) = self.trouble() {
            failure.message += &format!("; {}", trouble.as_str());
        }
        match last {
            Some(last) => failure.with("last_message", last),
            None => failure,
        }
    }

    fn line(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Object>(line) {
            Ok(event) => self.event(&event),
            Err(_) => {
                let text = String::from_utf8_lossy(line);
                let text = text.trim();
                if !text.is_empty() {
                    self.text = Some(shortened(text));
                }
            }
        }
    }

    fn event(&mut self, event: &Object) {
        let event = &Value::Object(event.clone());
        let joins = std::mem::take(&mut self.joins);
        match event["type"].as_str().unwrap_or_default() {
            // Claude Code and Gemini CLI: the end of the work.
            "result" => {
                let usd = event["total_cost_usd"].as_f64().filter(|usd| *usd >= 0.0);
                self.add(usd, &event["usage"]);
                self.add(None, &event["stats"]);
                let said = event["result"].as_str();
                if event["is_error"] == true {
                    self.error = said.map(shortened);
                } else {
                    self.say(said);
                }
            }
            "assistant" => {
                for item in event["message"]["content"].as_array().into_iter().flatten() {
                    self.say(item["text"].as_str());
                }
            }
            "message" if event["role"] == "assistant" => {
                let said = event["content"].as_str().unwrap_or_default();
                let before = self.message.take().filter(|_| joins).unwrap_or_default();
                self.say(Some(&(before + said)));
                self.joins = event["delta"] == true;
            }
            // Codex.
            "turn.completed" => self.add(None, &event["usage"]),
            "item.completed" if event["item"]["type"] == "agent_message" => {
                self.say(event["item"]["text"].as_str());
            }
            "error" | "turn.failed" => {
                let said = event["message"].as_str().or(event["error"]["message"].as_str());
                self.error = said.or(event["error"].as_str()).map(shortened);
            }
            // opencode.
            "text" => self.say(event["part"]["text"].as_str()),
            "step_finish" => {
                let tokens = &event["part"]["tokens"];
                self.add(event["part"]["cost"].as_f64().filter(|usd| *usd >= 0.0), &Value::Null);
                self.cost.input_tokens += tokens["input"].as_u64().unwrap_or(0);
                self.cost.output_tokens += tokens["output"].as_u64().unwrap_or(0);
            }
            _ => {}
        }
    }

    fn add(&mut self, usd: Option<f64>, usage: &Value) {
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].map(count);
        let input_tokens = count("input_tokens") + cached.iter().sum::<u64>();
        let more = ClientCost { usd, input_tokens, output_tokens: count("output_tokens") };
        self.cost = self.cost.plus(more);
    }

    fn say(&mut self, said: Option<&str>) {
        if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
            self.message = Some(shortened(said));
            // The client goes on.
            self.error = None;
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> ClientOutput {
        let mut output = ClientOutput::default();
        // In pieces, as they arrive.
        for chunk in (lines.join("\n") + "\n").as_bytes().chunks(7) {
            output.feed(false, chunk);
        }
        output.finish();
        output
    }

    #[test]
    fn cost_and_last_message_of_each_client_are_read() {
        let claude = of(&[
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."}]}}"#,
            r#"{"type":"result","result":"Done.","total_cost_usd":0.25,"is_error":false,
                "usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":5}}"#
                .replace('\n', "")
                .as_str(),
        ]);
        let cost = claude.cost().expect("it says so");
        assert_eq!((cost.usd, cost.input_tokens, cost.output_tokens), (Some(0.25), 7, 5));
        assert_eq!(claude.last_message(), Some("Done."));
        let codex = of(&[
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"Which port?"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}"#,
        ]);
        assert_eq!(codex.cost().map(|cost| (cost.usd, cost.input_tokens)), Some((None, 10)));
        assert_eq!(codex.trouble(), Some(Trouble::AsksQuestion));
        let gemini = of(&[
            r#"{"type":"message","role":"assistant","content":"All ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"done.","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"input_tokens":8,"output_tokens":1}}"#,
        ]);
        assert_eq!(gemini.last_message(), Some("All done."));
        assert_eq!(gemini.cost().map(|cost| cost.output_tokens), Some(1));
        let opencode = of(&[
            r#"{"type":"step_finish","part":{"cost":0.5,"tokens":{"input":1,"output":2}}}"#,
            r#"{"type":"step_finish","part":{"cost":0.25,"tokens":{"input":1,"output":2}}}"#,
        ]);
        assert_eq!(opencode.cost().map(|cost| cost.usd), Some(Some(0.75)));
        assert_eq!(of(&["compiling", "done"]).cost(), None);
    }

    #[test]
    fn a_client_that_cannot_go_on_is_recognised() {
        let trouble = |lines: &[&str]| of(lines).trouble();
        let login = r#"{"type":"result","is_error":true,"result":"Invalid API key. Run /login"}"#;
        assert_eq!(trouble(&[login]), Some(Trouble::NotAuthenticated));
        let retries = r#"{"type":"error","message":"Reconnecting... 2/5"}"#;
        assert_eq!(trouble(&[retries]), Some(Trouble::NoNetwork));
        let text = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Fine."}}"#;
        assert_eq!(trouble(&[retries, text]), None, "it went on");
        assert_eq!(trouble(&["connect ECONNREFUSED 127.0.0.1:9"]), Some(Trouble::NoNetwork));
        assert_eq!(trouble(&["Shall I go on?"]), Some(Trouble::AsksQuestion));
        // What an agent writes about is not its own trouble.
        let about = r#"{"type":"result","result":"I fixed the authentication of users."}"#;
        assert_eq!(trouble(&[about]), None);
    }
}
