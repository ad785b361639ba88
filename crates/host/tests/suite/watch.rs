//! Watching all projects as they change.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_base::{Caller, KeyScope, Verb};
use accord_host::Api;
use accord_host::http::api_as;
use serde_json::{Value, json};

use crate::events::Listener;
use crate::support::{Asker, World, actor_key, encoded, package_with, project_id};

const WATCH: &str = "/accord/v1/events";

struct Watched {
    id: Option<String>,
    project: String,
    seq: u64,
    kind: String,
    data: Value,
}

struct Watch(Listener);

impl Watch {
    async fn new(api: &Arc<dyn Api>, path: &str, last: Option<&str>) -> Self {
        Self(Listener::new(api, path, last).await)
    }

    async fn next(&mut self) -> Watched {
        loop {
            let block = self.0.block().await.expect("the stream goes on");
            let field = |name: &str| {
                let mut lines = block.lines().filter_map(|line| line.split_once(": "));
                lines.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
            };
            let Some(data) = field("data") else { continue };
            let data: Value = serde_json::from_str(&data).unwrap();
            return Watched {
                id: field("id"),
                project: data["project_id"].as_str().unwrap().to_owned(),
                seq: data["seq"].as_u64().unwrap(),
                kind: field("event").unwrap(),
                data,
            };
        }
    }

    /// The place at which the stream begins.
    async fn opening(&mut self) -> String {
        let block = self.0.block().await.expect("an opening");
        let id = block.lines().find_map(|line| line.strip_prefix("id: "));
        id.expect("a place").to_owned()
    }
}

async fn deposit(asker: &Asker, project: &str, id: &str, members: Value) {
    let mut package = package_with(id, members);
    package["project_id"] = project.into();
    let path = format!("/v1/projects/{}/packages", encoded(project));
    asker.post(&path, &package).await.expect(201);
}

fn owner(world: &World) -> Arc<dyn Api> {
    api_as(&world.host, Caller::owner())
}

#[tokio::test]
async fn each_event_of_each_project_comes_once_and_in_order() {
    let world = World::new();
    let asker = world.owner();
    let projects = ["atlas", "borealis", "cygnus"];
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut watch = Watch::new(&owner(&world), WATCH, None).await;
    let mut place = watch.opening().await;
    // More than a page of one project, and a stream that is cut at any place.
    for number in 0..90 {
        deposit(&asker, "atlas", &format!("pkg_a{number}"), json!({})).await;
        if number % 30 == 0 {
            deposit(&asker, "borealis", &format!("pkg_b{number}"), json!({})).await;
            deposit(&asker, "cygnus", &format!("pkg_c{number}"), json!({})).await;
        }
    }
    let expected = [91, 4, 4];
    let is_all = |seen: &BTreeMap<String, u64>| {
        projects.iter().zip(expected).all(|(project, last)| seen.get(*project) == Some(&last))
    };
    let mut cuts = 0;
    while !is_all(&seen) {
        let event = watch.next().await;
        let known = seen.get(&event.project).copied().unwrap_or(0);
        // What was sent after the last place is sent again after a cut.
        assert!(event.seq <= known + 1, "{} {}: {known}", event.project, event.seq);
        assert!(cuts > 0 || event.seq == known + 1, "{} {}", event.project, event.seq);
        seen.insert(event.project, known.max(event.seq));
        if let Some(id) = event.id {
            place = id;
            if cuts < 2 {
                cuts += 1;
                watch = Watch::new(&owner(&world), WATCH, Some(&place)).await;
            }
        }
    }
    assert!(cuts > 0);
    // From the beginning, and of one project.
    let all = accord_base::cursor::StreamPosition::default().encode();
    let mut all = Watch::new(&owner(&world), &format!("{WATCH}?after={all}"), None).await;
    let mut count = 0;
    while count < 99 {
        assert!(all.next().await.kind.contains('.'));
        count += 1;
    }
    let path = format!("{WATCH}?project=borealis");
    let mut one = Watch::new(&owner(&world), &path, Some(&place)).await;
    deposit(&asker, "atlas", "pkg_more", json!({})).await;
    deposit(&asker, "borealis", "pkg_more_b", json!({})).await;
    let event = one.next().await;
    assert_eq!((event.project.as_str(), event.seq), ("borealis", 5));
}

#[tokio::test]
async fn a_key_watches_its_projects_and_sees_no_drafts_of_others() {
    let world = World::new();
    let asker = world.owner();
    let scope = KeyScope::new(vec![Verb::Read], Some(vec![project_id("atlas")]));
    let scope = scope.bound_to(actor_key("eve"), false);
    deposit(&asker, "atlas", "pkg_1", json!({})).await;
    let all = accord_base::cursor::StreamPosition::default().encode();
    let path = format!("{WATCH}?project=nowhere");
    asker.get(&path).await.refused(404, "project_not_found");
    asker.get(&format!("{WATCH}?after=nonsense")).await.refused(400, "invalid_cursor");
    let stranger = KeyScope::new(vec![Verb::Read], Some(vec![project_id("borealis")]));
    world.key(&stranger).get(&format!("{WATCH}?project=atlas")).await.refused(403, "unauthorized");

    let made = crate::events::request(&scope);
    let made = world.host.keys().create(&Caller::owner(), made).await.unwrap();
    let caller = world.host.keys().authenticate(&made.secret).await.unwrap();
    let eve = api_as(&world.host, caller);
    let mut watch = Watch::new(&eve, WATCH, Some(&all)).await;
    assert_eq!(watch.next().await.kind, "project.created");
    assert_eq!(watch.next().await.data["data"]["package_id"], "pkg_1");
    deposit(&asker, "borealis", "pkg_2", json!({})).await;
    deposit(&asker, "atlas", "pkg_3", json!({"status": "draft", "title": "Not yet"})).await;
    deposit(&asker, "atlas", "pkg_4", json!({})).await;
    let event = watch.next().await;
    assert_eq!((event.seq, &event.data["data"]["package_id"]), (4, &json!("pkg_4")));
    world.host.keys().revoke(&Caller::owner(), &made.key.key_id).await.unwrap();
    deposit(&asker, "atlas", "pkg_5", json!({})).await;
    loop {
        let Some(block) = watch.0.block().await else { break };
        assert!(!block.contains("pkg_5"), "{block}");
    }
}

#[tokio::test]
async fn a_project_can_go_and_come_back() {
    let world = World::new();
    let asker = world.owner();
    let test = json!({"project_id": "atlas", "x-conformance": true});
    asker.post("/v1/projects", &test).await.expect(201);
    deposit(&asker, "borealis", "pkg_2", json!({})).await;
    let mut first = Watch::new(&owner(&world), WATCH, None).await;
    let place = first.opening().await;
    asker.delete("/accord/v1/projects/atlas").await.expect(200);
    let event = first.next().await;
    assert_eq!((event.project.as_str(), event.kind.as_str()), ("atlas", "project.removed"));
    let removed = event.seq;
    deposit(&asker, "atlas", "pkg_3", json!({})).await;
    let event = first.next().await;
    assert_eq!((event.kind.as_str(), event.seq), ("project.created", removed + 1));

    // A client that was away while the project went and came back.
    let mut late = Watch::new(&owner(&world), WATCH, Some(&place)).await;
    let kinds = [late.next().await.kind, late.next().await.kind, late.next().await.kind];
    assert_eq!(kinds, ["project.removed", "project.created", "package.deposited"]);
}
