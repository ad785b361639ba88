//! An agent: an MCP client over HTTP.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::world::{release, release_props};
use crate::server::Server;

/// An agent with an MCP session.
pub(super) struct Agent<'s> {
    server: &'s Server,
    headers: String,
    last_id: AtomicU64,
}

impl<'s> Agent<'s> {
    pub(super) fn begin(server: &'s Server, key: Option<&str>) -> Self {
        let bearer = key.map(|key| format!("Authorization: Bearer {key}\r\n"));
        let mut headers = "Accept: application/json, text/event-stream\r\n".to_owned();
        headers.push_str(&bearer.unwrap_or_default());
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "painter", "version": "1"}}});
        let (status, head, body) =
            server.ask_with(&headers, "POST", "/mcp/live", &begin.to_string());
        assert_eq!(status, 200, "{body}");
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        headers.push_str(&format!("Mcp-Session-Id: {}\r\n", session.expect("a session")));
        Self { server, headers, last_id: AtomicU64::new(0) }
    }

    /// The result of a request.
    pub(super) fn request(&self, method: &str, params: &Value) -> Value {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let (status, _, mut answer) =
            self.server.ask_with(&self.headers, "POST", "/mcp/live", &request.to_string());
        assert_eq!(status, 200, "{method}: {answer}");
        answer["result"].take()
    }

    /// Calls a tool, which must succeed.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        serde_json::from_str(text).expect("a document")
    }

    /// Asks a person: a handshake and a render. Returns the session.
    pub(super) fn ask(&self, intent: &str, contract: &Value, props: &Value) -> String {
        self.ask_with(intent, contract, json!({"props": props}))
    }

    /// Asks with more arguments of the render.
    pub(super) fn ask_with(&self, intent: &str, contract: &Value, mut render: Value) -> String {
        let draft = json!({"intent": intent, "blueprintDraft": {"contract": contract},
            "project_id": "shop"});
        let made = self.call("ggui_handshake", &draft);
        render["handshakeId"] = made["handshakeId"].clone();
        let rendered = self.call("ggui_render", &render);
        rendered["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Asks to approve a release.
    pub(super) fn ask_for_release(&self) -> String {
        self.ask("Release 2.1.0?", &release(), &release_props())
    }

    /// What a person did since the last call: the names of actions and their data.
    pub(super) fn consume(&self, session: &str) -> Vec<(String, Value)> {
        let consumed = self.call("ggui_consume", &json!({"sessionId": session}));
        let events = consumed["events"].as_array().expect("events").iter();
        let answer = |event: &Value| {
            let action = event["intent"].as_str().unwrap_or_else(|| panic!("{event}"));
            (action.to_owned(), event["actionData"].clone())
        };
        events.map(answer).collect()
    }

    /// The answers that the ledger has.
    pub(super) fn answers(&self, session: &str) -> Vec<Value> {
        let asked = json!({"sessionId": session, "sinceSequence": 0, "limit": 100});
        let pulled = self.call("ggui_runtime_pull", &asked);
        let events = pulled["events"].as_array().expect("events").iter();
        let answers = events.filter(|event| event["type"] == "user.submitted");
        answers.map(|event| event["data"]["payload"].clone()).collect()
    }

    pub(super) fn emit(&self, session: &str, text: &str) {
        let emitted = json!({"sessionId": session, "channel": "log", "payload": text});
        self.call("ggui_emit", &emitted);
    }
}
