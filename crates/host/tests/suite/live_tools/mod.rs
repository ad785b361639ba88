//! The tools of live sessions, over MCP and over HTTP.

mod asking;
mod cancelling;
mod hanging_up;
mod projects;
mod resources;
mod stream;
mod tools;

use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::support::{World, actor_key};

/// An agent with the tools of live sessions, in the project atlas.
async fn agent(world: &World, name: &str) -> Client {
    let actor = Some(actor_key(name));
    let standing = CallContext { project: Some("atlas".into()), actor, ..CallContext::default() };
    Client::of("live", local_api(&world.host), standing).await
}

/// The structured content of a result.
#[track_caller]
fn structured(result: &Value) -> &Value {
    assert_eq!(result["isError"], false, "{result}");
    let structured = &result["structuredContent"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    let mut same = structured.clone();
    let note = same.as_object_mut().and_then(|members| members.remove("x-note"));
    assert_eq!(text, same, "the text is the same document");
    // A note is in both places, too: some clients show their models one of them alone.
    assert_eq!(note.as_ref(), result["content"].get(1).map(|block| &block["text"]), "{result}");
    structured
}

/// A contract with a form, a button, a channel and a text.
fn contract() -> Value {
    let reason = json!({"type": "object", "properties": {"reason": {"type": "string"}},
        "required": ["reason"]});
    json!({
        "propsSpec": {"properties": {"text": {"schema": {"type": "string"}, "required": true}}},
        "actionSpec": {
            "approve": {"label": "Approve"},
            "reject": {"label": "Reject", "schema": reason},
        },
        "streamSpec": {"progress": {"schema": {"type": "integer"}, "replay": "all"}},
    })
}

/// Makes a handshake and renders it. Returns the result of the render.
async fn render(agent: &mut Client, more: Value) -> Value {
    let draft = json!({"contract": contract()});
    let made = json!({"intent": "Approve the notes", "blueprintDraft": draft});
    let made = agent.call("ggui_handshake", made).await;
    let handshake = structured(&made)["handshakeId"].clone();
    let mut asked = json!({"handshakeId": handshake, "props": {"text": "Notes"}});
    asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    agent.call("ggui_render", asked).await
}

/// Renders the UI. Returns the id of the session.
async fn session(agent: &mut Client) -> String {
    let rendered = render(agent, json!({})).await;
    structured(&rendered)["sessionId"].as_str().unwrap().to_owned()
}

/// The arguments of an action of a person.
fn action(session: &str, id: &str, intent: &str, data: Value) -> Value {
    json!({
        "kind": "dispatch",
        "payload": {"intent": intent, "actionData": data, "uiContext": {"tab": 1}},
        "sessionId": session,
        "appId": "atlas",
        "actionId": id,
        "firedAt": "2026-11-15T10:00:00Z",
    })
}
