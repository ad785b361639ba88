//! Packages as resources: lists of pages, contents, and who may see which.

use std::collections::BTreeSet;

use accord_base::{Caller, KeyScope, Verb};
use accord_host::http::{api_as, local_api};
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::client::Client;
use super::fake::{Fake, unreachable};
use crate::support::{World, actor_key, package_with, project_id};

/// All pages of a list: its resources, and how many pages there were.
async fn all(client: &mut Client) -> (Vec<Value>, usize) {
    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let answer = client.ask("resources/list", params).await;
        assert!(answer["error"].is_null(), "{answer}");
        let page = &answer["result"];
        found.extend(page["resources"].as_array().unwrap().iter().cloned());
        pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return (found, pages);
        }
    }
}

fn uris(resources: &[Value]) -> BTreeSet<&str> {
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

async fn filled() -> World {
    let world = World::new();
    let owner = world.owner();
    for (project, count) in [("atlas", 61), ("borealis", 7), ("a/b", 1)] {
        for number in 0..count {
            let id = format!("{project} {number}");
            let members = json!({"project_id": project, "title": format!("Title {number}")});
            let path = format!("/v1/projects/{}/packages", project.replace('/', "%2F"));
            owner.post(&path, &package_with(&id, members)).await.expect(201);
        }
        owner.post("/v1/projects", &json!({"project_id": format!("empty-{count}")})).await;
    }
    world
}

#[tokio::test]
async fn every_package_is_listed_once_and_can_be_read() {
    let world = filled().await;
    let mut client = Client::begin(local_api(&world.host)).await;
    assert_eq!(client.welcome["capabilities"]["resources"], json!({}));
    let (listed, pages) = all(&mut client).await;
    assert_eq!((listed.len(), uris(&listed).len()), (69, 69));
    assert!(pages >= 2, "{pages}");
    let uri = "accord://projects/a%2Fb/packages/a%2Fb%200";
    let one = listed.iter().find(|resource| resource["uri"] == uri).expect("the package");
    assert_eq!((&one["name"], &one["title"]), (&json!("a/b 0"), &json!("Title 0")));
    assert_eq!(one["mimeType"], "application/json");
    let read = client.ask("resources/read", json!({"uri": uri})).await["result"].clone();
    let contents = &read["contents"][0];
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&one["uri"], &one["mimeType"]));
    let text = contents["text"].as_str().unwrap();
    let package: Value = serde_json::from_str(text).unwrap();
    let path = "/v1/packages/a%2Fb%200?project_id=a%2Fb";
    assert_eq!(package, world.owner().get(path).await.expect(200));

    let templates = client.ask("resources/templates/list", json!({})).await["result"].clone();
    let template = &templates["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "accord://projects/{project_id}/packages/{package_id}");

    // A server for one project lists that one.
    let standing = CallContext { project: Some("borealis".into()), ..CallContext::default() };
    let mut client = Client::with(local_api(&world.host), standing).await;
    let (listed, _) = all(&mut client).await;
    assert_eq!(listed.len(), 7);
}

#[tokio::test]
async fn only_what_the_caller_may_read_is_there() {
    let world = filled().await;
    let by = json!({"id": "bob", "type": "agent"});
    let draft = json!({"project_id": "borealis", "status": "draft", "created_by": by});
    let path = "/v1/projects/borealis/packages";
    world.owner().post(path, &package_with("draft", draft)).await.expect(201);
    let scope = |who: &str| {
        KeyScope::new(vec![Verb::Read], Some(vec![project_id("borealis")]))
            .bound_to(actor_key(who), false)
    };
    for (who, count) in [("ada", 7), ("bob", 8)] {
        let api = api_as(&world.host, Caller::key(who, &scope(who)));
        let mut client = Client::begin(api).await;
        let (listed, _) = all(&mut client).await;
        assert_eq!(listed.len(), count, "{who}");
        assert!(uris(&listed).iter().all(|uri| uri.starts_with("accord://projects/borealis/")));
        let draft = json!({"uri": "accord://projects/borealis/packages/draft"});
        let read = client.ask("resources/read", draft).await;
        assert_eq!(read["error"].is_null(), who == "bob", "{read}");
        let other = json!({"uri": "accord://projects/atlas/packages/atlas%200"});
        let error = client.error("resources/read", other).await;
        assert!(error["data"]["error"]["code"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn a_page_is_bounded_however_large_packages_are() {
    let world = World::new();
    for number in 0..24 {
        let members = json!({"content_md": "x".repeat(1 << 20)});
        world.owner().deposit(&package_with(&format!("p{number}"), members)).await;
    }
    let mut client = Client::begin(local_api(&world.host)).await;
    let (listed, pages) = all(&mut client).await;
    assert_eq!(uris(&listed).len(), 24);
    assert_eq!(pages, 3, "ten packages are read at once");
    assert!(listed[0]["size"].as_u64().unwrap() > 1 << 20);
}

#[tokio::test]
async fn what_is_no_resource_is_an_error_that_says_so() {
    let world = World::new();
    let mut client = Client::begin(local_api(&world.host)).await;
    for uri in ["accord://projects/atlas/packages/none", "file:///etc/passwd", ""] {
        let error = client.error("resources/read", json!({"uri": uri})).await;
        assert_eq!(error["code"], -32_002, "{uri} {error}");
        assert_eq!(error["data"]["uri"], uri, "{error}");
    }
    let error = client.error("resources/read", json!({})).await;
    assert_eq!(error["code"], -32_602, "{error}");
    let error = client.error("resources/list", json!({"cursor": "made up"})).await;
    assert_eq!(error["code"], -32_602, "{error}");
    assert!(error["message"].as_str().unwrap().contains("cursor"), "{error}");
    // A host that is away is no missing resource.
    let mut client = Client::begin(Fake::new(|_| unreachable())).await;
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "accord://projects/p/packages/k"})),
    ] {
        let error = client.error(method, params).await;
        assert_eq!(error["code"], -32_000, "{error}");
        assert_eq!(error["data"]["error"]["code"], "HOST_TIMEOUT", "{error}");
    }
}

#[tokio::test]
async fn resources_and_prompts_come_with_a_whole_set() {
    for tools in ["memory_pull,memory_deposit", "relay"] {
        let mut client = Client::of(tools, Fake::echoing(), CallContext::default()).await;
        let capabilities = client.welcome["capabilities"].as_object().unwrap();
        assert_eq!(capabilities.keys().collect::<Vec<_>>(), ["tools"]);
        for (method, params) in [
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "a:b"})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "brief_me"})),
        ] {
            let error = client.error(method, params).await;
            assert_eq!(error["code"], -32_601, "{method} {error}");
        }
    }
}
