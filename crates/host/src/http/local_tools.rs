//! The tools of this host that channels of live sessions may poll: those that only read.
//!
//! A contract is an agent's, and the subscriber of a channel may be a browser with a token. So a
//! poll has the right to read in the project of the session, and no other right.

use std::collections::BTreeSet;

use accord_base::{Caller, KeyScope, ProjectId, Verb};
use accord_contract::{Failure, Object, Value};
use accord_live::{LocalTools, ToolCall, ToolError};
use accord_live_core::AppId;
use axum::body::Body;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use serde_json::json;

use crate::Request;
use crate::http::body::read_body;
use crate::http::{WeakHost, api_as};
use crate::mcp::{Effect, TOOLSETS, Tool, Toolset};

/// The version of MCP in which a call needs no session.
const STATELESS: &str = "2026-07-28";
/// The largest answer of a tool.
const ANSWER_BYTES: u64 = 1024 * 1024;

pub(crate) struct HostTools(pub(crate) WeakHost);

impl LocalTools for HostTools {
    fn names(&self) -> BTreeSet<String> {
        readers().map(|(_, tool)| tool.name.to_owned()).collect()
    }

    fn call(&self, app: &AppId, tool: &str, arguments: Object) -> ToolCall {
        let (host, app, tool) = (self.0.clone(), app.clone(), tool.to_owned());
        Box::pin(async move {
            let called = call(&host, &app, &tool, arguments).await;
            called.map_err(|failure| ToolError { message: failure.message, stack: None })?
        })
    }
}

/// The tools that only read, with their sets.
fn readers() -> impl Iterator<Item = (&'static Toolset, &'static Tool)> {
    let tools = TOOLSETS.iter().flat_map(|set| set.tools.iter().map(|tool| (*set, tool)));
    tools.filter(|(_, tool)| tool.effect == Effect::Reads)
}

/// Calls a tool as a client of MCP does.
async fn call(
    host: &WeakHost,
    app: &AppId,
    tool: &str,
    mut arguments: Object,
) -> Result<Result<Value, ToolError>, Failure> {
    let failed = |message: &str| Ok(Err(ToolError { message: message.to_owned(), stack: None }));
    let Some(host) = host.upgrade() else { return failed("the server is closing") };
    let Some((set, described)) = readers().find(|(_, known)| known.name == tool) else {
        return failed("there is no such tool");
    };
    let Ok(project) = ProjectId::new(app.as_str()) else { return failed("there is no such app") };
    if described.arguments.iter().any(|argument| argument.name() == "project_id") {
        arguments.entry("project_id").or_insert_with(|| project.as_str().into());
    }
    let caller = Caller::key("live", &KeyScope::new(vec![Verb::Read], Some(vec![project])));
    let api = api_as(&host, caller);
    let answer = api.call(request(set, tool, arguments)).await?;
    let body = read_body(answer.into_body(), ANSWER_BYTES).await?;
    Ok(result(&String::from_utf8_lossy(&body)))
}

fn request(set: &Toolset, tool: &str, arguments: Object) -> Request {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "accord-live", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    hyper::Request::post(format!("/mcp/{}", set.name))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", STATELESS)
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(Body::from(message.to_string()))
        .expect("names of tools and sets are plain")
}

/// The result of a call in the answer to it: a document, or one event of a stream.
fn result(text: &str) -> Result<Value, ToolError> {
    let mut events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let message = events.next_back().unwrap_or(text).trim();
    let message: Value = serde_json::from_str(message).unwrap_or_default();
    let result = &message["result"];
    let content = &result["content"][0]["text"];
    let structured = &result["structuredContent"];
    let text_of = |place: &Value| place.as_str().map(str::to_owned);
    if !result.is_object() || result["isError"] == true {
        let message = text_of(&structured["error"]["message"])
            .or_else(|| text_of(&message["error"]["message"]))
            .or_else(|| text_of(content))
            .unwrap_or_else(|| "the tool gave no result".to_owned());
        return Err(ToolError { message, stack: None });
    }
    if structured.is_object() {
        return Ok(structured.clone());
    }
    let text = content.as_str().unwrap_or_default();
    // A tool that reads gives its document as a text.
    Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_call_is_found_in_its_answer() {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let message = |result: Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let plain = message(text("{\"count\": 3}")).to_string();
        assert_eq!(result(&plain).unwrap(), json!({"count": 3}));
        let event = format!("event: message\ndata: {plain}\n\n");
        assert_eq!(result(&event).unwrap(), json!({"count": 3}));
        assert_eq!(result(&message(text("two words")).to_string()).unwrap(), "two words");
        let mut refused = text("no");
        refused["isError"] = true.into();
        refused["structuredContent"] = json!({"error": {"message": "unknown project"}});
        let refused = result(&message(refused).to_string()).unwrap_err();
        assert_eq!(refused.message, "unknown project");
        assert!(result("").is_err());
    }
}
