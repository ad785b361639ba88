//! Calls MCP tools of the server under test over streamable HTTP, with the session that it gives.

use std::time::Duration;

use accord_contract::{Object, Value};
use serde_json::json;

use super::super::http::Client;
use crate::case::Credential;
use crate::corpus::{AnswerForm, Method};
use crate::exchange::answer::Answer;
use crate::exchange::compose::{Body, Outgoing};
use crate::exchange::{ExchangeError, Transport as _, events};

/// The tools of a server, for one case and one key.
pub(super) struct Tools<'a> {
    client: &'a Client,
    path: &'a str,
    credential: Credential,
    /// The headers of a session, if the server has one for this client.
    session: Vec<(String, String)>,
    count: u64,
}

#[derive(Debug)]
pub(super) enum Called {
    Outcome {
        /// `refused` and `output`.
        document: Value,
        answer: Answer,
    },
    /// The server has no such tool, or no tools.
    Missing,
}

impl<'a> Tools<'a> {
    /// Begins a session, if the server has sessions.
    pub(super) fn begin(
        client: &'a Client,
        path: &'a str,
        credential: Credential,
        limit: Duration,
    ) -> Result<Self, ExchangeError> {
        let mut tools = Self { client, path, credential, session: Vec::new(), count: 0 };
        let info = json!({"name": "accord-check", "version": env!("CARGO_PKG_VERSION")});
        let params =
            json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": info});
        let answer = tools.request("initialize", params, limit)?;
        if !answer.is_success() {
            return Ok(tools);
        }
        let agreed = reply(&answer).and_then(|reply| {
            let version = reply.pointer("/result/protocolVersion")?;
            version.as_str().map(str::to_owned)
        });
        tools.session.extend(agreed.map(|agreed| ("mcp-protocol-version".to_owned(), agreed)));
        if let Some(id) = answer.headers.get(SESSION) {
            tools.session.push((SESSION.to_owned(), id.clone()));
        }
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        tools.send(&told, limit)?;
        Ok(tools)
    }

    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: Object,
        limit: Duration,
    ) -> Result<Called, ExchangeError> {
        let params = json!({"name": name, "arguments": arguments});
        self.ask("tools/call", params, Some(name), limit)
    }

    pub(super) fn read(&mut self, uri: &str, limit: Duration) -> Result<Called, ExchangeError> {
        self.ask("resources/read", json!({"uri": uri}), None, limit)
    }

    fn ask(
        &mut self,
        method: &str,
        params: Value,
        tool: Option<&str>,
        limit: Duration,
    ) -> Result<Called, ExchangeError> {
        let answer = self.request(method, params, limit)?;
        if matches!(answer.status, 404 | 405 | 501) {
            return Ok(Called::Missing);
        }
        let reply = reply(&answer).unwrap_or_default();
        let code = reply.pointer("/error/code").and_then(Value::as_i64);
        let is_unknown = match (code, tool) {
            (Some(NO_METHOD), _) => true,
            // Unknown tools and bad arguments have the same code.
            (Some(BAD_PARAMS), Some(name)) => !self.lists(name, limit)?,
            _ => false,
        };
        if is_unknown {
            return Ok(Called::Missing);
        }
        Ok(Called::Outcome { document: outcome(&reply), answer })
    }

    fn lists(&mut self, name: &str, limit: Duration) -> Result<bool, ExchangeError> {
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
            let answer = self.request("tools/list", params, limit)?;
            let page = reply(&answer).unwrap_or_default();
            let tools = page.pointer("/result/tools").and_then(Value::as_array);
            if tools.into_iter().flatten().any(|tool| tool["name"] == name) {
                return Ok(true);
            }
            match page.pointer("/result/nextCursor") {
                Some(next) if next.is_string() => cursor = Some(next.clone()),
                _ => break,
            }
        }
        Ok(false)
    }

    fn request(
        &mut self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Answer, ExchangeError> {
        self.count += 1;
        let id = self.count;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), limit)
    }

    fn send(&self, message: &Value, limit: Duration) -> Result<Answer, ExchangeError> {
        let accept = "application/json, text/event-stream".to_owned();
        let mut headers = vec![("accept".to_owned(), accept)];
        headers.extend(self.session.iter().cloned());
        let content_type = "application/json".to_owned();
        let request = Outgoing {
            method: Method::Post,
            target: self.path.to_owned(),
            headers,
            credential: self.credential,
            body: Some(Body { content_type, text: message.to_string() }),
            answer: AnswerForm::Json,
            events: 0,
        };
        self.client.send(&request, limit)
    }
}

/// The JSON-RPC reply in an answer, which is a document or the last event of a stream.
fn reply(answer: &Answer) -> Option<Value> {
    let content = answer.headers.get("content-type").map(String::as_str).unwrap_or_default();
    if !content.starts_with("text/event-stream") {
        return serde_json::from_str(&answer.text).ok();
    }
    let is_reply = |data: &Value| data.get("result").is_some() || data.get("error").is_some();
    let events = events::read(&answer.text).into_iter();
    events.map(|event| event["data"].clone()).rfind(is_reply)
}

/// Whether a call was refused, and its structured result.
fn outcome(reply: &Value) -> Value {
    let result = &reply["result"];
    let is_refused = !result.is_object() || result["isError"] == json!(true);
    let structured = result.get("structuredContent").cloned().or_else(|| {
        // Older servers have the document only as text.
        let text = result.pointer("/content/0/text").and_then(Value::as_str)?;
        serde_json::from_str(text).ok()
    });
    json!({
        "refused": is_refused,
        "output": structured,
        "contents": result.get("contents"),
        "meta": result.get("_meta"),
        "error": reply.get("error"),
    })
}

const PROTOCOL_VERSION: &str = "2025-06-18";
const SESSION: &str = "mcp-session-id";
const NO_METHOD: i64 = -32601;
const BAD_PARAMS: i64 = -32602;
const PAGES: usize = 20;
