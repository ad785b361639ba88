//! Following a project as it changes.

use std::sync::Arc;
use std::time::Duration;

use accord_api::operations::keys::KeyRequest;
use accord_base::{Caller, KeyScope, Verb};
use accord_contract::Wire as _;
use accord_host::Api;
use accord_host::http::api_as;
use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use hyper::Request;
use serde_json::{Value, json};

use crate::export::tamper;
use crate::support::{Asker, World, actor_key, package, package_with, project_id, soon};

const EVENTS: &str = "/v1/projects/atlas/events";

/// A client of a stream.
pub(crate) struct Listener {
    body: BodyDataStream,
    text: String,
}

/// An event as a client sees it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Listener {
    pub(crate) async fn new(api: &Arc<dyn Api>, path: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = api.call(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { body: answer.into_body().into_data_stream(), text: String::new() }
    }

    /// The next block; `None` when the stream has ended.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let piece = soon("more of the stream", self.body.next()).await?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                let mut lines = block.lines().filter_map(|line| line.split_once(": "));
                lines.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
            };
            if let Some(data) = field("data") {
                return Some(Heard {
                    id: field("id").unwrap().parse().unwrap(),
                    name: field("event").unwrap(),
                    data: serde_json::from_str(&data).unwrap(),
                });
            }
        }
    }

    pub(crate) async fn take(&mut self, count: usize) -> Vec<Heard> {
        let mut heard = Vec::new();
        for _ in 0..count {
            heard.push(self.next().await.unwrap());
        }
        heard
    }
}

fn owner(world: &World) -> Arc<dyn Api> {
    api_as(&world.host, Caller::owner())
}

async fn deposit(asker: &Asker, count: usize) {
    for number in 0..count {
        asker.deposit(&package(&format!("pkg_{number}"))).await;
    }
}

#[tokio::test]
async fn events_come_in_order_from_the_first_from_a_number_or_from_now() {
    let world = World::new();
    let asker = world.owner();
    deposit(&asker, 3).await;
    let mut all = Listener::new(&owner(&world), EVENTS, Some("0")).await;
    let heard = all.take(4).await;
    let ids: Vec<_> = heard.iter().map(|event| event.id).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(heard[0].name, "project.created");
    assert_eq!(heard[3].name, "package.deposited");
    assert_eq!(heard[3].data["data"]["package_id"], "pkg_2");
    assert_eq!(heard[3].data["seq"], 4);
    let mut some = Listener::new(&owner(&world), EVENTS, Some("2")).await;
    assert_eq!(some.next().await.unwrap().id, 3);
    let mut asked = Listener::new(&owner(&world), &format!("{EVENTS}?after=3"), None).await;
    assert_eq!(asked.next().await.unwrap().id, 4);
    // A client that comes back keeps its path, and says where it is in the header.
    let mut again = Listener::new(&owner(&world), &format!("{EVENTS}?after=1"), Some("3")).await;
    assert_eq!(again.next().await.unwrap().id, 4);
    let mut now = Listener::new(&owner(&world), EVENTS, None).await;
    let opening = now.block().await.unwrap();
    assert!(opening.contains("id: 4"), "it says where it begins: {opening}");
    let fact = json!({"subject": "build", "predicate": "status", "value": "green"});
    asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    for listener in [&mut all, &mut now] {
        let event = listener.next().await.unwrap();
        assert_eq!((event.id, event.name.as_str()), (5, "fact.asserted"));
    }
}

#[tokio::test]
async fn a_client_that_lags_behind_misses_nothing() {
    let world = World::new();
    let asker = world.owner();
    deposit(&asker, 1).await;
    let mut slow = Listener::new(&owner(&world), EVENTS, Some("0")).await;
    slow.take(2).await;
    for number in 0..300 {
        let fact = json!({"subject": "count", "predicate": "is", "value": number.to_string()});
        asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    let ids: Vec<_> = slow.take(300).await.iter().map(|event| event.id).collect();
    assert_eq!(ids, (3..=302).collect::<Vec<_>>());
}

#[tokio::test]
async fn cursors_that_lead_nowhere_are_refused() {
    let world = World::new();
    let asker = world.owner();
    asker.get(EVENTS).await.refused(404, "project_not_found");
    deposit(&asker, 5).await;
    let refused = asker.get(&format!("{EVENTS}?after=7")).await.refused(400, "invalid_cursor");
    assert_eq!(refused["newest"], 6);
    for wrong in ["x", "-1", "1.5"] {
        asker.get(&format!("{EVENTS}?after={wrong}")).await.refused(400, "invalid_cursor");
    }
    let trim = |unit: &mut dyn accord_store::WriteUnit| unit.trim_events(&project_id("atlas"), 3);
    let store = world.host.memory().store().clone();
    tokio::task::spawn_blocking(move || accord_store::StoreExt::write(&*store, trim))
        .await
        .unwrap()
        .unwrap();
    let refused =
        asker.get(&format!("{EVENTS}?after=2")).await.refused(410, "event_cursor_too_old");
    assert_eq!((&refused["oldest"], &refused["newest"]), (&json!(4), &json!(6)));
    let mut listener = Listener::new(&owner(&world), EVENTS, Some("3")).await;
    assert_eq!(listener.next().await.unwrap().id, 4);
}

#[tokio::test]
async fn what_may_not_be_seen_keeps_its_number_alone() {
    let world = World::new();
    let asker = world.owner();
    asker
        .deposit(&package_with("pkg_secret", json!({"status": "draft", "title": "Not yet"})))
        .await;
    asker.deposit(&package("pkg_1")).await;
    let scope = KeyScope::new(vec![Verb::Read], None).bound_to(actor_key("eve"), false);
    let made = world.host.keys().create(&Caller::owner(), request(&scope)).await.unwrap();
    let caller = world.host.keys().authenticate(&made.secret).await.unwrap();
    let mut eve = Listener::new(&api_as(&world.host, caller), EVENTS, Some("0")).await;
    let heard = eve.take(3).await;
    assert_eq!((heard[1].id, heard[1].name.as_str()), (2, "hidden"));
    assert_eq!(heard[1].data, json!({"type": "hidden"}));
    assert_eq!(heard[2].data["data"]["package_id"], "pkg_1");
    let stranger = KeyScope::new(vec![Verb::Admin], Some(vec![project_id("borealis")]));
    world.key(&stranger).get(EVENTS).await.refused(403, "unauthorized");
}

pub(crate) fn request(scope: &KeyScope) -> KeyRequest {
    let mut document = scope.encode();
    document["label"] = json!("of a test");
    KeyRequest::from_document(document).unwrap()
}

#[tokio::test]
async fn a_key_that_is_revoked_loses_its_stream() {
    let world = World::new();
    let asker = world.owner();
    deposit(&asker, 1).await;
    let keys = world.host.keys().clone();
    let scope = KeyScope::new(vec![Verb::Read], None);
    let made = keys.create(&Caller::owner(), request(&scope)).await.unwrap();
    let caller = keys.authenticate(&made.secret).await.unwrap();
    let mut listener = Listener::new(&api_as(&world.host, caller), EVENTS, Some("0")).await;
    listener.take(2).await;
    keys.revoke(&Caller::owner(), &made.key.key_id).await.unwrap();
    asker.deposit(&package("pkg_more")).await;
    assert!(listener.next().await.is_none(), "no event comes after the key is revoked");
}

/// The next keep-alive would come after 15 seconds.
#[tokio::test]
async fn the_stream_of_a_revoked_key_ends_without_an_event() {
    let world = World::new();
    deposit(&world.owner(), 1).await;
    let keys = world.host.keys().clone();
    let scope = KeyScope::new(vec![Verb::Read], None);
    let made = keys.create(&Caller::owner(), request(&scope)).await.unwrap();
    let caller = keys.authenticate(&made.secret).await.unwrap();
    let mut listener = Listener::new(&api_as(&world.host, caller), EVENTS, Some("0")).await;
    listener.take(2).await;
    keys.revoke(&Caller::owner(), &made.key.key_id).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), listener.next()).await;
    assert!(ended.expect("the stream ends before a keep-alive").is_none());
}

#[tokio::test]
async fn clients_without_a_key_are_disconnected_when_the_first_key_is_made() {
    let world = World::new();
    let asker = world.owner();
    deposit(&asker, 1).await;
    let mut listener =
        Listener::new(&api_as(&world.host, Caller::local()), EVENTS, Some("0")).await;
    listener.take(2).await;
    let scope = KeyScope::new(vec![Verb::Read], None);
    world.host.keys().create(&Caller::owner(), request(&scope)).await.unwrap();
    asker.deposit(&package("pkg_more")).await;
    assert!(listener.next().await.is_none());
}

#[tokio::test]
async fn a_host_that_closes_ends_its_streams() {
    let world = World::new();
    deposit(&world.owner(), 1).await;
    let mut listener = Listener::new(&owner(&world), EVENTS, Some("0")).await;
    listener.take(2).await;
    assert_eq!(world.host.streams().open(), 1);
    world.host.streams().close();
    assert!(listener.next().await.is_none());
    drop(listener);
    assert_eq!(world.host.streams().open(), 0);
    world.owner().get(EVENTS).await.refused(503, "HOST_CLOSING");
}

#[tokio::test]
async fn projects_are_followed_apart() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package_with("pkg_0", json!({"project_id": "borealis"}))).await;
    deposit(&asker, 1).await;
    let mut listener = Listener::new(&owner(&world), EVENTS, None).await;
    asker.deposit(&package_with("pkg_1", json!({"project_id": "borealis"}))).await;
    asker.deposit(&package("pkg_9")).await;
    let event = listener.next().await.unwrap();
    assert_eq!((event.id, &event.data["data"]["package_id"]), (3, &json!("pkg_9")));
}

#[tokio::test]
async fn a_damaged_event_keeps_its_id_and_the_stream_goes_on() {
    let world = World::new();
    let asker = world.owner();
    deposit(&asker, 5).await;
    for statement in [
        "UPDATE event SET at = ?1 WHERE seq = 2",
        "UPDATE event SET text = ?1 WHERE seq = 3",
        "UPDATE event SET kind = ?1 WHERE seq = 4",
        "DELETE FROM event WHERE seq = 6 AND ?1 <> ''",
    ] {
        assert_eq!(tamper(&world, statement, "garbage"), 1, "{statement}");
    }
    let mut all = Listener::new(&owner(&world), EVENTS, Some("0")).await;
    let heard = all.take(6).await;
    let heard: Vec<_> = heard
        .iter()
        .map(|event| (event.id, event.name.as_str(), event.data["type"].as_str()))
        .collect();
    let damaged = |id| (id, "damaged", Some("damaged"));
    let sound = |id, name| (id, name, Some(name));
    assert_eq!(
        heard,
        [
            sound(1, "project.created"),
            damaged(2),
            damaged(3),
            damaged(4),
            sound(5, "package.deposited"),
            damaged(6),
        ]
    );
    asker.deposit(&package("pkg_9")).await;
    let next = all.next().await.unwrap();
    assert_eq!((next.id, next.name.as_str()), (7, "package.deposited"));
}
