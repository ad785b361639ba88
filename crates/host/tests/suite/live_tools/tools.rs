//! Every tool: its side, its arguments, its answers and its refusals.

use std::collections::BTreeSet;

use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use accord_host::settings::Settings;
use accord_live_core::tools::TOOLS;
use serde_json::{Value, json};

use super::{action, agent, contract, render, session, structured};
use crate::mcp::client::Client;
use crate::support::World;

#[tokio::test]
async fn the_tools_of_pages_are_visible_to_pages_alone() {
    let world = World::new();
    // A client that shows no pages does not get their tools, but can call them.
    let mut builder = agent(&world, "builder").await;
    let listed = builder.ask("tools/list", json!({})).await["result"]["tools"].clone();
    for tool in listed.as_array().unwrap() {
        assert!(!tool["name"].as_str().unwrap().starts_with("ggui_runtime_"), "{tool}");
    }
    let called = builder.call("ggui_runtime_telemetry", json!({"events": []})).await;
    assert_eq!(structured(&called)["ok"], true);
    let standing = CallContext { project: Some("atlas".into()), ..CallContext::default() };
    let mut host = Client::with_pages("live", local_api(&world.host), standing).await;
    let listed = host.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let listed = listed.as_array().unwrap();
    let names: BTreeSet<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let of_ggui = TOOLS.iter().map(|tool| tool.name);
    assert_eq!(names, of_ggui.chain(["ask_person"]).collect());
    for tool in listed {
        let name = tool["name"].as_str().unwrap();
        let shell = "ui://ggui/render";
        let expected = match name {
            "ggui_render" | "ggui_render_blueprint" => json!({
                "ui": {"resourceUri": shell, "visibility": ["model"]}, "ui/resourceUri": shell,
            }),
            _ if name.contains("_runtime_") => json!({"ui": {"visibility": ["app"]}}),
            _ => Value::Null,
        };
        assert_eq!(tool["_meta"], expected, "{name}");
    }
}

#[tokio::test]
async fn every_tool_answers_as_it_declares() {
    let world = World::new();
    world.host.set_url("http://127.0.0.1:7171");
    let mut builder = agent(&world, "builder").await;
    let code = "export default () => null";
    let rendered = render(&mut builder, json!({"x-componentCode": code, "themeId": "dark"})).await;
    // What a host mounts is beside the result.
    let slice = &rendered["_meta"]["ai.ggui/render"];
    assert_eq!(slice["appId"], "atlas");
    assert_eq!(slice["propsJson"], r#"{"text":"Notes"}"#);
    assert!(slice["codeUrl"].as_str().unwrap().starts_with("http://127.0.0.1:7171/code/"));
    let receipt = structured(&rendered).clone();
    let id = receipt["sessionId"].clone();
    let blueprint = receipt["blueprintId"].clone();
    let app = json!("atlas");
    let calls = [
        ("ggui_update", json!({"sessionId": id, "kind": "merge", "patch": {"text": "More"}})),
        ("ggui_amend", json!({"sessionId": id, "kind": "replace", "props": {"text": "Most"}})),
        ("ggui_emit", json!({"sessionId": id, "channel": "progress", "payload": 10})),
        ("ggui_consume", json!({"sessionId": id})),
        ("ggui_get_session", json!({"sessionId": id})),
        ("ggui_get_render_source", json!({"sessionId": id})),
        ("ggui_list_sessions", json!({})),
        ("ggui_list_gadgets", json!({})),
        ("ggui_list_themes", json!({})),
        ("ggui_search_blueprints", json!({"query": "notes APPROVE"})),
        ("ggui_list_featured_blueprints", json!({})),
        ("ggui_render_blueprint", json!({"blueprintId": blueprint, "props": {"text": "Other"}})),
        ("ggui_runtime_submit_action", action(id.as_str().unwrap(), "a1", "approve", json!(null))),
        ("ggui_runtime_sync_context", json!({"sessionId": id, "appId": app, "snapshot": {}})),
        ("ggui_runtime_pull", json!({"sessionId": id, "sinceSequence": 0})),
        ("accord_runtime_page", json!({"sessionId": id})),
        ("ggui_runtime_refresh_ws_token", json!({"envelope": "an.old-one"})),
        ("ggui_runtime_telemetry", json!({"events": [{"name": "mounted"}]})),
        ("ggui_runtime_declare_tool_catalog", json!({"toolCatalog": {}, "x-newer": 1})),
    ];
    let mut answers = std::collections::BTreeMap::new();
    for (name, arguments) in calls {
        let result = builder.call(name, arguments).await;
        answers.insert(name, structured(&result).clone());
    }
    assert_eq!(
        (&answers["ggui_update"]["updated"], &answers["ggui_update"]["epoch"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(answers["ggui_amend"]["epoch"], Value::Null);
    assert_eq!(answers["ggui_get_session"]["props"], json!({"text": "Most"}));
    let source = &answers["ggui_get_render_source"];
    assert_eq!((&source["componentCode"], &source["contract"]), (&json!(code), &contract()));
    let first = &answers["ggui_list_sessions"]["sessions"][0];
    assert_eq!((&first["sessionId"], &first["prompt"]), (&id, &json!("Approve the notes")));
    assert_eq!(first["componentCode"], Value::Null);
    for name in ["createdAt", "lastActivityAt"] {
        assert!(first[name].as_str().unwrap().ends_with('Z'), "{first}");
    }
    assert_eq!(source["blueprint"]["source"], json!(code));
    assert_eq!(source["blueprint"]["contract"], contract());
    assert_eq!(answers["ggui_search_blueprints"]["results"][0]["blueprintId"], blueprint);
    assert_eq!(answers["ggui_render_blueprint"]["action"], "reuse");
    assert_eq!(answers["ggui_search_blueprints"]["query"], "notes APPROVE");
    assert_eq!(answers["ggui_search_blueprints"]["total"], 1);
    assert_eq!(answers["ggui_list_featured_blueprints"]["total"], 1);
    let dark = &answers["ggui_list_themes"]["themes"][1];
    assert_eq!((&dark["id"], &dark["modes"]), (&json!("dark"), &json!(["dark"])));
    let refused = &answers["ggui_runtime_refresh_ws_token"];
    assert_eq!(refused["ok"], false, "{refused}");
    assert_eq!(answers["ggui_runtime_sync_context"], json!({"ok": true}));
    let seen: BTreeSet<_> =
        answers.keys().copied().chain(["ggui_handshake", "ggui_render"]).collect();
    assert_eq!(seen, TOOLS.iter().map(|tool| tool.name).collect(), "every tool was tried");
}

#[tokio::test]
async fn a_refusal_has_its_code_and_says_what_to_do() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let reserved = json!({"actionSpec": {"_ggui:preview": {"label": "No"}}});
    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": reserved}});
    let refused = builder.refused("ggui_handshake", draft).await;
    assert_eq!(refused["code"], "name_invariant_violation", "{refused}");
    assert_eq!(refused["violations"][0]["code"], "CTR_RESERVED_NAME");

    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": contract()}});
    let made = builder.call("ggui_handshake", draft).await;
    let handshake = structured(&made)["handshakeId"].clone();
    let wrong = json!({"handshakeId": handshake, "props": {"text": 7}});
    let refused = builder.refused("ggui_render", wrong).await;
    assert_eq!(refused["code"], "contract_violation");
    assert_eq!(refused["violations"][0]["keyword"], "type");
    assert!(refused["what_to_do"].as_str().unwrap().contains("same handshakeId"), "{refused}");
    let theme = json!({"handshakeId": handshake, "props": {"text": "T"}, "themeId": "neon"});
    let refused = builder.refused("ggui_render", theme).await;
    assert_eq!(refused["violations"][0]["code"], "CTR_RENDER_UNKNOWN_THEME_ID", "{refused}");
    // The handshake is still usable, and then used up.
    let right = json!({"handshakeId": handshake, "props": {"text": "T"}});
    let rendered = builder.call("ggui_render", right.clone()).await;
    let id = structured(&rendered)["sessionId"].clone();
    assert_eq!(builder.refused("ggui_render", right).await["code"], "handshake_not_found");

    for (tool, arguments, code) in [
        (
            "ggui_emit",
            json!({"sessionId": id, "channel": "other", "payload": 1}),
            "contract_violation",
        ),
        (
            "ggui_emit",
            json!({"sessionId": id, "channel": "progress", "payload": null}),
            "contract_violation",
        ),
        ("ggui_update", json!({"sessionId": id, "kind": "merge"}), "contract_violation"),
        ("ggui_consume", json!({"sessionId": "live_none"}), "session_not_found"),
        ("ggui_consume", json!({"sessionId": id, "timeout": 26}), "MCP_ARGUMENT_INVALID"),
        ("ggui_get_session", json!({"sessionId": "live_none"}), "session_not_found"),
    ] {
        let refused = builder.refused(tool, arguments).await;
        assert_eq!(refused["code"], code, "{tool}: {refused}");
        assert!(refused["what_to_do"].is_string(), "{tool}: {refused}");
    }
    let unknown = format!("bp_{0}_{0}", "0".repeat(16));
    for blueprint in ["bp_none", &unknown] {
        let arguments = json!({"blueprintId": blueprint, "props": {}});
        let refused = builder.refused("ggui_render_blueprint", arguments).await;
        assert_eq!(refused["code"], "blueprint_not_found", "{refused}");
        let advice = refused["what_to_do"].as_str().unwrap();
        assert!(advice.contains("ggui_search_blueprints"), "{refused}");
    }
    // The tools of pages answer a refusal as a result.
    for (tool, arguments, code) in [
        (
            "ggui_runtime_submit_action",
            action("live_none", "a1", "approve", json!(null)),
            "PIPE_NOT_FOUND",
        ),
        (
            "ggui_runtime_submit_action",
            action(id.as_str().unwrap(), "a1", "reject", json!({"reason": 7})),
            "CONTRACT_VIOLATION",
        ),
        (
            "ggui_runtime_submit_action",
            action(id.as_str().unwrap(), "a2", "no_such_action", json!(null)),
            "CONTRACT_VIOLATION",
        ),
        (
            "ggui_runtime_sync_context",
            json!({"sessionId": "live_none", "appId": "atlas", "snapshot": {}}),
            "SESSION_NOT_FOUND",
        ),
        (
            "ggui_runtime_sync_context",
            json!({"sessionId": id, "appId": "atlas", "snapshot": {"slot": 1}}),
            "CONTEXT_SCHEMA_VIOLATION",
        ),
    ] {
        let refused = builder.call(tool, arguments).await;
        let refused = structured(&refused);
        assert_eq!(
            (&refused["ok"], &refused["code"]),
            (&json!(false), &json!(code)),
            "{tool}: {refused}"
        );
    }
    let mut other = action(id.as_str().unwrap(), "a1", "approve", json!(null));
    other["kind"] = "shout".into();
    let refused = builder.call("ggui_runtime_submit_action", other).await;
    assert_eq!(structured(&refused)["code"], "INVALID_ACTION_KIND");
    let events = builder.call("ggui_consume", json!({"sessionId": id})).await;
    assert_eq!(structured(&events)["events"], json!([]), "a refused action is not appended");
}

/// The key of a contract with a tool of a server.
async fn key_of(builder: &mut Client, server: Value) -> String {
    let mut tool = json!({"toolInfo": {"inputSchema": {"type": "object"}}});
    if !server.is_null() {
        tool["serverInfo"] = server;
    }
    let contract = json!({
        "actionSpec": {"save_it": {"label": "Save", "nextStep": "save"}},
        "agentCapabilities": {"tools": {"save": tool}},
    });
    let draft = json!({"intent": "Save it", "blueprintDraft": {"contract": contract}});
    let made = builder.call("ggui_handshake", draft).await;
    let meta = &structured(&made)["suggestion"]["blueprintMeta"];
    meta["contractHash"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_runtime_declares_the_servers_of_its_tools_as_ggui_does() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let (config_name, real) = (json!({"name": "my-files"}), json!({"name": "files"}));
    let plain = key_of(&mut builder, Value::Null).await;
    assert_ne!(key_of(&mut builder, config_name.clone()).await, plain);
    let declared = json!({"toolCatalog": {"save": {"name": "files", "version": "2.1"}}});
    let declared = builder.call("ggui_runtime_declare_tool_catalog", declared).await;
    assert_eq!(*structured(&declared), json!({"saved": true, "appId": "atlas"}));
    // Whatever an agent calls the server, the UI is the same.
    let known = key_of(&mut builder, real).await;
    assert_eq!(key_of(&mut builder, config_name.clone()).await, known);
    assert_eq!(key_of(&mut builder, Value::Null).await, known);
    for wrong in [json!({"save": {}}), json!({"save": {"name": "files", "x": 1}}), json!({"a": 1})]
    {
        let wrong = json!({"toolCatalog": wrong});
        let refused = builder.refused("ggui_runtime_declare_tool_catalog", wrong).await;
        assert_eq!(refused["code"], "INVALID_MESSAGE", "{refused}");
    }
    // A catalog replaces the one before.
    let none = json!({"toolCatalog": {}});
    structured(&builder.call("ggui_runtime_declare_tool_catalog", none).await);
    assert_eq!(key_of(&mut builder, Value::Null).await, plain);
}

#[tokio::test]
async fn a_host_finds_the_sessions_of_a_conversation() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let host = json!({"hostName": "desk", "hostSessionId": "thread-7"});
    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": contract()}});
    let mut ids = Vec::new();
    for _ in 0..2 {
        let made = builder.call("ggui_handshake", draft.clone()).await;
        let handshake = structured(&made)["handshakeId"].clone();
        let arguments = json!({"handshakeId": handshake, "props": {"text": "Notes"}});
        let call = json!({"name": "ggui_render", "arguments": arguments,
            "_meta": {"ai.ggui/host-session": host}});
        let rendered = builder.ask("tools/call", call).await["result"].clone();
        ids.push(structured(&rendered)["sessionId"].clone());
        // One of another conversation.
        session(&mut builder).await;
    }
    let listed = builder.call("ggui_list_sessions", host.clone()).await;
    let sessions = structured(&listed)["sessions"].as_array().unwrap();
    let listed: Vec<_> = sessions.iter().map(|session| session["sessionId"].clone()).collect();
    let created: Vec<_> = sessions.iter().map(|session| session["createdAt"].as_str()).collect();
    assert!(created.is_sorted(), "the newest last: {created:?}");
    assert!(listed.len() == 2 && ids.iter().all(|id| listed.contains(id)), "{sessions:?}");
    assert_eq!(sessions[0]["hostSessionId"], "thread-7");
    let id = &ids[0];
    let shown = builder.call("ggui_get_session", json!({"sessionId": id})).await;
    assert_eq!(structured(&shown)["hostSession"], host);
    let other = json!({"hostName": "desk", "hostSessionId": "thread-8"});
    let listed = builder.call("ggui_list_sessions", other).await;
    assert_eq!(structured(&listed)["sessions"], json!([]));
}

#[tokio::test]
async fn a_spec_under_a_wrong_name_is_reported() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let asked = |contract: Value| json!({"intent": "x", "blueprintDraft": {"contract": contract}});
    let wrong = json!({"actions": {"approve": {"label": "Approve"}}});
    let made = builder.call("ggui_handshake", asked(wrong)).await;
    let made = structured(&made);
    let finding = &made["suggestion"]["validationFindings"][0];
    assert_eq!(finding["path"], "actions", "{made}");
    assert_eq!(finding["severity"], "warn", "{made}");
    // The model reads it without looking for it.
    let note = made["x-note"].as_str().unwrap();
    assert!(note.contains("did you mean 'actionSpec'?"), "{note}");
    assert!(note.contains("call ggui_handshake again"), "{note}");
    // Other members pass through, so it can be rendered.
    let render = json!({"handshakeId": made["handshakeId"], "props": {}});
    structured(&builder.call("ggui_render", render).await);
    let made = builder.call("ggui_handshake", asked(contract())).await;
    assert!(structured(&made).get("x-note").is_none(), "{made}");
}

#[tokio::test]
async fn a_project_that_renders_too_often_waits_and_keeps_its_handshake() {
    let mut settings = Settings::default();
    settings.limits.live_renders = 1;
    let world = World::with(settings);
    let mut builder = agent(&world, "builder").await;
    // A minute of the clock can end between two of them, but not between all.
    let mut refused = Value::Null;
    for _ in 0..10 {
        let rendered = render(&mut builder, json!({})).await;
        if rendered["isError"] == true {
            refused = rendered["structuredContent"]["error"].clone();
            break;
        }
    }
    assert_eq!(refused["code"], "RATE_LIMIT_EXCEEDED", "{refused}");
    assert!(refused["what_to_do"].as_str().unwrap().contains("same handshakeId"), "{refused}");
}
