//! `ui://` resources: a mountable result, or one typed error.

use accord_base::{Caller, KeyScope, Verb};
use accord_host::http::{api_as, local_api};
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::{agent, render, session, structured};
use crate::mcp::client::Client;
use crate::support::{World, project_id};

async fn read(client: &mut Client, uri: &str) -> Value {
    client.ask("resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn a_read_gives_what_a_host_mounts() {
    let world = World::new();
    world.host.set_url("https://accord.example.org");
    let mut builder = agent(&world, "builder").await;
    let code = "export default () => null";
    let rendered = render(&mut builder, json!({"x-componentCode": code})).await;
    let receipt = structured(&rendered).clone();
    let (id, uri) =
        (receipt["sessionId"].as_str().unwrap(), receipt["resourceUri"].as_str().unwrap());
    let contents = read(&mut builder, uri).await["result"]["contents"][0].clone();
    assert_eq!(contents["mimeType"], "text/html;profile=mcp-app");
    let slice = &contents["_meta"]["ai.ggui/render"];
    // ggui's hosts load this module, and its runtime reads the slice in the document.
    let module = slice["runtimeUrl"].as_str().unwrap();
    assert!(module.starts_with("https://accord.example.org/assets/"), "{module}");
    let text = contents["text"].as_str().unwrap();
    assert!(text.contains("globalThis.__GGUI_META__ = {\"ai.ggui/render\":"), "{text:.300}");
    assert_eq!(
        contents["_meta"]["ui"]["csp"],
        json!({
            "connectDomains": ["https://accord.example.org", "wss://accord.example.org"],
            "resourceDomains": ["https://accord.example.org"],
        })
    );
    assert_eq!((&slice["sessionId"], &slice["appId"]), (&json!(id), &json!("atlas")));
    assert_eq!(slice["propsJson"], r#"{"text":"Notes"}"#);
    // An epoch is pinned; the head moves.
    let patch = json!({"sessionId": id, "kind": "merge", "patch": {"text": "More"}});
    let updated = builder.call("ggui_update", patch).await;
    assert_eq!(structured(&updated)["resourceUri"], format!("ui://ggui/render/{id}#1"));
    for (suffix, props) in [("#0", "Notes"), ("#1", "More"), ("", "More")] {
        let contents = read(&mut builder, &format!("ui://ggui/render/{id}{suffix}")).await;
        let slice = contents["result"]["contents"][0]["_meta"]["ai.ggui/render"].clone();
        assert_eq!(slice["propsJson"], json!({"text": props}).to_string(), "{suffix}");
    }
    let past = read(&mut builder, &format!("ui://ggui/render/{id}#7")).await;
    assert_eq!(past["error"]["data"], json!({"code": "NOT_FOUND"}));
    // The list of tools names a shell, the result the session. A host that shows pages and does
    // not say so needs the name of the shell, too.
    let meta = |listed: &Value| {
        let mut tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == "ggui_render").unwrap()["_meta"].clone()
    };
    let shell = "ui://ggui/render";
    let undeclared = meta(&builder.ask("tools/list", json!({})).await);
    assert_eq!(undeclared, json!({"ui": {"resourceUri": shell}}));
    let standing = CallContext { project: Some("atlas".into()), ..CallContext::default() };
    let mut frames = Client::with_pages("live", local_api(&world.host), standing).await;
    let meta = meta(&frames.ask("tools/list", json!({})).await);
    assert_eq!(meta["ui"], json!({"resourceUri": shell, "visibility": ["model"]}));
    assert_eq!(meta["ui/resourceUri"], shell);
    assert_eq!(rendered["_meta"]["ui"]["resourceUri"], uri);
    let contents = read(&mut builder, shell).await["result"]["contents"][0].clone();
    assert_eq!(contents["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(contents["_meta"].get("ai.ggui/render"), None);
    assert!(contents["_meta"]["ui"]["csp"].is_object(), "{contents:.300}");
    assert!(!contents["text"].as_str().unwrap().contains("__GGUI_META__ ="), "{contents:.300}");
    let templates = builder.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "ui://ggui/render/{sessionId}"
    );
}

#[tokio::test]
async fn a_refused_read_is_a_miss_byte_for_byte() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let id = session(&mut builder).await;
    let shop = KeyScope::new(vec![Verb::Read], Some(vec![project_id("shop")]));
    let caller = Caller::key("key_1", &shop);
    let mut other = Client::of("live", api_as(&world.host, caller), CallContext::default()).await;
    let theirs = read(&mut other, &format!("ui://ggui/render/{id}")).await["error"].to_string();
    let nobodys = read(&mut other, "ui://ggui/render/live_none").await["error"].to_string();
    assert_eq!(theirs, nobodys);
    let expected = json!({
        "code": -32002, "message": "there is no such resource", "data": {"code": "NOT_FOUND"},
    });
    assert_eq!(serde_json::from_str::<Value>(&theirs).unwrap(), expected);
    assert!(!theirs.contains(&id));
}

#[tokio::test]
async fn what_cannot_be_mounted_or_named_is_refused() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    // Neither code nor a channel.
    let id = session(&mut builder).await;
    let refused = read(&mut builder, &format!("ui://ggui/render/{id}")).await["error"].clone();
    assert_eq!(
        (&refused["code"], &refused["data"]),
        (&json!(-32006), &json!({"code": "NOT_MOUNTABLE"}))
    );
    // Code is inline where no server serves it.
    let rendered = render(&mut builder, json!({"x-componentCode": "export {}"})).await;
    let uri = structured(&rendered)["resourceUri"].as_str().unwrap().to_owned();
    let contents = read(&mut builder, &uri).await["result"]["contents"][0].clone();
    assert_eq!(contents["_meta"]["ai.ggui/render"]["codeB64"], "ZXhwb3J0IHt9");
    for uri in
        ["ui://ggui/render/", "ui://ggui/render//key", "ui://ggui/render/a#01", "ui://other/1"]
    {
        let error = read(&mut builder, uri).await["error"].clone();
        assert!(error.is_object(), "{uri}");
        assert!(error["data"]["code"].is_null(), "{uri}: {error}");
    }
}
