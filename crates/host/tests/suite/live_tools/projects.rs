//! To which project a call belongs, and who sees a session.

use accord_base::{Caller, KeyScope, Verb};
use accord_host::http::{api_as, local_api};
use accord_host::mcp::CallContext;
use accord_host::settings::Settings;
use serde_json::{Value, json};

use super::{agent, contract, session, structured};
use crate::mcp::client::Client;
use crate::support::{World, project_id};

const TOOLS: &str = "/accord/v1/live/tools";

fn scope(projects: &[&str]) -> KeyScope {
    let projects = projects.iter().map(|name| project_id(name)).collect();
    KeyScope::new(vec![Verb::Read, Verb::Write], Some(projects))
}

async fn with_key(world: &World, projects: &[&str]) -> Client {
    let caller = Caller::key("key_1", &scope(projects));
    Client::of("live", api_as(&world.host, caller), CallContext::default()).await
}

fn draft() -> Value {
    json!({"intent": "Ask", "blueprintDraft": {"contract": contract()}})
}

#[tokio::test]
async fn a_call_without_a_project_is_about_the_only_one_of_its_key() {
    let world = World::new();
    let mut one = with_key(&world, &["atlas"]).await;
    let made = one.call("ggui_handshake", draft()).await;
    // The project is new, and the result says so.
    assert!(made["content"][1]["text"].as_str().unwrap().contains("\"atlas\" is new"), "{made}");
    let handshake = structured(&made)["handshakeId"].clone();
    let mut two = with_key(&world, &["atlas", "shop"]).await;
    let refused = two.refused("ggui_handshake", draft()).await;
    assert_eq!(refused["code"], "APP_MISMATCH");
    assert_eq!(refused["what_to_do"], "Pass project_id, one of: atlas, shop.");
    // The handshake has a project, so the render needs none.
    let asked = json!({"handshakeId": handshake, "props": {"text": "T"}});
    let rendered = two.call("ggui_render", asked).await;
    let id = structured(&rendered)["sessionId"].clone();
    structured(&two.call("ggui_get_session", json!({"sessionId": id})).await);
    let mut named = draft();
    named["project_id"] = "shop".into();
    structured(&two.call("ggui_handshake", named.clone()).await);
    let refused = one.refused("ggui_handshake", named).await;
    assert_eq!(refused["code"], "APP_MISMATCH", "{refused}");
}

#[tokio::test]
async fn a_host_without_keys_names_its_projects() {
    let world = World::new();
    let api = || local_api(&world.host);
    let mut client = Client::of("live", api(), CallContext::default()).await;
    let refused = client.refused("ggui_handshake", draft()).await;
    assert_eq!(refused["code"], "APP_MISMATCH");
    let none = "Pass project_id; a project that does not exist is created.";
    assert_eq!(refused["what_to_do"], none, "{refused}");
    for project in ["shop", "atlas"] {
        let mut named = draft();
        named["project_id"] = project.into();
        structured(&client.call("ggui_handshake", named).await);
    }
    let refused = client.refused("ggui_handshake", draft()).await;
    assert_eq!(refused["what_to_do"], "Pass project_id, one of: atlas, shop.");
}

#[tokio::test]
async fn a_session_of_another_project_is_none() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let id = session(&mut builder).await;
    let mut other = with_key(&world, &["shop"]).await;
    for tool in ["ggui_get_session", "ggui_consume", "ggui_get_render_source"] {
        let theirs = other.refused(tool, json!({"sessionId": id})).await;
        let nobodys = other.refused(tool, json!({"sessionId": "live_none"})).await;
        assert_eq!(theirs, nobodys, "{tool}");
        assert_eq!(theirs["code"], "session_not_found");
    }
}

#[tokio::test]
async fn a_strict_server_creates_no_project() {
    let mut settings = Settings::default();
    settings.strict_projects = true;
    let world = World::with(settings);
    let mut builder = agent(&world, "builder").await;
    let refused = builder.refused("ggui_handshake", draft()).await;
    assert_eq!(refused["code"], "project_not_found", "{refused}");
}

#[tokio::test]
async fn a_key_that_may_only_read_changes_nothing() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let id = session(&mut builder).await;
    let reads = KeyScope::new(vec![Verb::Read], Some(vec![project_id("atlas")]));
    let reader = world.key(&reads);
    let session = json!({"sessionId": id});
    reader.post(&format!("{TOOLS}/ggui_get_session"), &session).await.expect(200);
    let refused = reader.post(&format!("{TOOLS}/ggui_consume"), &session).await;
    refused.refused(403, "unauthorized");
}

#[tokio::test]
async fn the_tools_are_offered_beside_those_of_the_memory() {
    let world = World::new();
    let standing = CallContext { project: Some("atlas".into()), ..CallContext::default() };
    let mut both = Client::of("memory,live", local_api(&world.host), standing).await;
    let id = session(&mut both).await;
    both.call("memory_session_start", json!({"actor": "agent:ada"})).await;
    both.call("memory_deposit", json!({"title": "T"})).await;
    let listed = both.ask("resources/list", json!({})).await["result"]["resources"].clone();
    let uris: Vec<_> =
        listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    // With the shell that shows any session.
    assert_eq!(uris.len(), 3, "{listed}");
    assert!(uris.contains(&"ui://ggui/render"), "{listed}");
    assert!(uris.contains(&format!("ui://ggui/render/{id}").as_str()), "{listed}");
}

#[tokio::test]
async fn an_archived_project_is_read_and_not_changed() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let id = session(&mut builder).await;
    let made = builder.call("ggui_handshake", draft()).await;
    let handshake = structured(&made)["handshakeId"].clone();
    let found = builder.call("ggui_search_blueprints", json!({})).await;
    let blueprint = structured(&found)["results"][0]["blueprintId"].clone();
    world.owner().post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    let (props, app) = (json!({"text": "T"}), "atlas");
    let replace = json!({"sessionId": id, "kind": "replace", "props": props});
    let emit = json!({"sessionId": id, "channel": "progress", "payload": 1});
    for (tool, arguments) in [
        ("ggui_handshake", draft()),
        ("ggui_render", json!({"handshakeId": handshake, "props": props})),
        ("ggui_render_blueprint", json!({"blueprintId": blueprint, "props": props})),
        ("ggui_update", replace.clone()),
        ("ggui_amend", replace),
        ("ggui_emit", emit),
        ("ggui_consume", json!({"sessionId": id})),
        ("ggui_runtime_submit_action", super::action(&id, "a1", "approve", json!(null))),
        ("ggui_runtime_sync_context", json!({"sessionId": id, "appId": app, "snapshot": {}})),
        ("ggui_runtime_declare_tool_catalog", json!({"toolCatalog": {}})),
    ] {
        let refused = builder.refused(tool, arguments).await;
        assert_eq!(refused["code"], "project_archived", "{tool}: {refused}");
    }
    for tool in ["ggui_get_session", "ggui_get_render_source", "ggui_runtime_pull"] {
        structured(&builder.call(tool, json!({"sessionId": id})).await);
    }
    let listed = builder.call("ggui_list_sessions", json!({})).await;
    assert_eq!(structured(&listed)["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_refused_handshake_creates_no_project() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let contract = json!({"actionSpec": {"approve": {}}});
    let wrong = json!({"intent": "Ask", "blueprintDraft": {"contract": contract}});
    let refused = builder.refused("ggui_handshake", wrong).await;
    assert_eq!(refused["code"], "contract_validation_failed", "{refused}");
    world.owner().get("/v1/projects/atlas").await.refused(404, "project_not_found");
}
