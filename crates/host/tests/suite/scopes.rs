//! Projects and sessions.

use accord_store::StoreExt as _;
use serde_json::{Value, json};

use crate::support::{World, each, encoded, package_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_created_once_and_renamed() {
    let world = World::new();
    let asker = world.owner();
    let asked = json!({"project_id": "a/b", "name": "Both", "x-team": "blue"});
    let created = asker.post("/v1/projects", &asked).await.expect(201);
    assert_eq!(created["x-team"], "blue");
    assert_eq!(asker.post("/v1/projects", &asked).await.expect(200), created);
    let other = json!({"project_id": "a/b", "name": "Another"});
    asker.post("/v1/projects", &other).await.refused(409, "duplicate_project_id");
    let path = format!("/v1/projects/{}", encoded("a/b"));
    let renamed =
        asker.patch(&path, &json!({"name": "New", "description": "Words"})).await.expect(200);
    assert_eq!((&renamed["name"], &renamed["description"]), (&json!("New"), &json!("Words")));
    assert_eq!(renamed["created_at"], created["created_at"]);
    assert_eq!(asker.get(&path).await.expect(200), renamed);
    asker.patch(&path, &json!({"project_id": "c"})).await.refused(400, "invalid_schema");
    let minted = asker.post("/v1/projects", &json!({})).await.expect(201);
    assert_ne!(minted["project_id"], Value::Null);
    asker.get("/v1/projects/nowhere").await.refused(404, "project_not_found");
    asker
        .patch("/v1/projects/nowhere", &json!({"name": "x"}))
        .await
        .refused(404, "project_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_and_ends() {
    let world = World::new();
    let asker = world.owner();
    let sessions = "/v1/projects/atlas/sessions";
    asker.post(sessions, &json!({})).await.refused(400, "invalid_schema");
    let started =
        asker.post(sessions, &json!({"actor_id": "ada", "actor_type": "agent"})).await.expect(201);
    let (id, callsign) =
        (started["session_id"].as_str().unwrap(), started["callsign"].as_str().unwrap());
    let named = json!({"actor_id": "bob", "actor_type": "human", "callsign": "brave-otter"});
    asker.post(sessions, &named).await.expect(201);
    let by = json!({"id": "ada", "type": "agent", "session_id": id});
    asker.deposit(&package_with("pkg_1", json!({"created_by": by}))).await;
    let found = asker.get(&format!("{sessions}?callsign={callsign}")).await.expect(200);
    assert_eq!(each(&found["sessions"], "session_id"), [id]);
    assert_eq!(found["sessions"][0]["packages_deposited"], json!(["pkg_1"]));
    let path = format!("/v1/sessions/{id}");
    asker.patch(&path, &json!({"callsign": "other"})).await.refused(400, "invalid_schema");
    let ended = asker.patch(&path, &json!({"ended_at": "2090-01-01T00:00:00Z"})).await.expect(200);
    let at = ended["ended_at"].as_str().unwrap();
    assert!(at >= started["started_at"].as_str().unwrap() && at < "2090", "{at}");
    assert_eq!(asker.patch(&path, &json!({})).await.expect(200), ended);
    assert_eq!(asker.get(&path).await.expect(200), ended);
    let active = asker.get(&format!("{sessions}?active=true")).await.expect(200);
    assert_eq!(each(&active["sessions"], "callsign"), ["brave-otter"]);
    asker.get("/v1/sessions/sess_9").await.refused(404, "session_not_found");
    // A key that names an actor starts sessions of that actor.
    let ada = world.key_of("ada");
    let own = ada.ask("POST", sessions, &[], "").await.expect(201);
    assert_eq!((&own["actor_id"], &own["actor_type"]), (&json!("ada"), &json!("agent")));
    let of_bob = json!({"actor_id": "bob", "actor_type": "human"});
    ada.post(sessions, &of_bob).await.refused(403, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_has_its_event() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    asker.post("/v1/packages/pkg_1/flag", &json!({"review_type": "agent"})).await.expect(200);
    asker.post("/v1/packages/pkg_1/flag", &json!({"review_type": "agent"})).await.expect(200);
    let fact = json!({"subject": "a", "predicate": "b", "value": "c"});
    asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    asker.post("/v1/projects/atlas/facts?if_changed=1", &fact).await.expect(200);
    asker.delete("/v1/projects/atlas/facts?subject=a&predicate=b").await.expect(200);
    let started = asker
        .post("/v1/projects/atlas/sessions", &json!({"actor_id": "ada", "actor_type": "agent"}))
        .await
        .expect(201);
    asker
        .patch(&format!("/v1/sessions/{}", started["session_id"].as_str().unwrap()), &json!({}))
        .await
        .expect(200);
    asker.patch("/v1/projects/atlas", &json!({"name": "Atlas"})).await.expect(200);
    asker.post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    asker.post("/v1/projects/atlas/unarchive", &json!({})).await.expect(200);
    let events = world
        .host
        .engine()
        .read(|unit| unit.events(&crate::support::project_id("atlas"), 0, 100))
        .unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.entry.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "project.created",
            "package.deposited",
            "package.transitioned",
            "fact.asserted",
            "fact.invalidated",
            "session.started",
            "session.ended",
            "project.updated",
            "project.archived",
            "project.restored",
        ]
    );
    assert!(events[1].entry.only_for.is_some(), "a draft is its author's");
    assert!(events.iter().enumerate().all(|(n, event)| event.seq == n as u64 + 1));
}
