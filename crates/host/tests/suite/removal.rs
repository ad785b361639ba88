//! Removing projects.

use accord_base::{Caller, KeyScope, Verb};
use accord_canon::sha256;
use accord_memory::{FollowEnd, Since};
use serde_json::{Value, json};

use crate::support::{Asker, World, package, package_with, project_id, soon};

const ATLAS: &str = "/accord/v1/projects/atlas";

async fn create(asker: &Asker, members: Value) -> Value {
    asker.post("/v1/projects", &members).await.expect(201)
}

/// A project of a conformance run, with one of everything.
async fn filled(asker: &Asker) {
    create(asker, json!({"project_id": "atlas", "x-conformance": true})).await;
    asker.deposit(&package_with("pkg_1", json!({"open_questions": ["Who?"]}))).await;
    asker.deposit(&package_with("pkg_2", json!({"status": "draft"}))).await;
    let fact = json!({"fact_id": "fact_1", "subject": "a", "predicate": "b", "value": "c"});
    asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    let session = json!({"actor_id": "ada", "actor_type": "agent"});
    asker.post("/v1/projects/atlas/sessions", &session).await.expect(201);
    for content in ["shared", "own"] {
        put(asker, content, "atlas").await;
    }
}

fn blob(content: &str) -> String {
    format!("/v1/blobs/sha256:{}", sha256(content.as_bytes()).hex())
}

async fn put(asker: &Asker, content: &str, project: &str) {
    let path = format!("{}?project_id={project}", blob(content));
    asker.ask("PUT", &path, &[], content).await.expect(201);
}

async fn sound(asker: &Asker) {
    let report = asker.post("/accord/v1/verify", &json!({})).await.expect(200);
    assert_eq!(report["report"]["problem_count"], 0, "{report}");
}

#[tokio::test]
async fn a_project_of_a_conformance_run_goes_with_everything_in_it() {
    let world = World::new();
    let owner = world.owner();
    filled(&owner).await;
    owner.deposit(&package_with("pkg_b", json!({"project_id": "borealis"}))).await;
    put(&owner, "shared", "borealis").await;
    let removed = owner.delete(ATLAS).await.expect(200);
    assert_eq!(removed["project_id"], "atlas");
    let contents = json!({"packages": 2, "facts": 1, "sessions": 1, "blobs": 2});
    assert_eq!(removed["removed"], contents);
    assert_eq!(removed["last_event"], 6);
    for path in [
        "/v1/projects/atlas",
        "/v1/projects/atlas/packages",
        "/v1/projects/atlas/packages?mode=relevant&query=indexes",
        "/v1/projects/atlas/orient",
        "/v1/projects/atlas/facts",
        "/v1/projects/atlas/sessions",
        "/v1/projects/atlas/events",
        "/v1/projects/atlas/export",
    ] {
        owner.get(path).await.refused(404, "project_not_found");
    }
    owner.get("/v1/packages/pkg_1").await.refused(404, "package_not_found");
    owner.get("/v1/facts/fact_1").await.refused(404, "fact_not_found");
    owner.delete(ATLAS).await.refused(404, "project_not_found");
    let listed = owner.get("/v1/projects?include_archived=true").await.expect(200);
    assert_eq!(listed["projects"].as_array().unwrap().len(), 1);
    // A content that another project has stays; the other is deleted.
    assert_eq!(owner.get(&blob("shared")).await.status, 200);
    owner.get(&blob("own")).await.refused(404, "blob_not_found");
    let digits = sha256(b"own").hex();
    let file = world.host.folder().join("blobs").join(&digits[..2]).join(&digits);
    assert!(!file.exists());
    owner.get("/v1/packages/pkg_b").await.expect(200);
    sound(&owner).await;
}

#[tokio::test]
async fn a_project_with_contents_stays_whatever_it_says_later() {
    let world = World::new();
    let owner = world.owner();
    // Created by its first deposit, by a request, and with a mark that is none.
    owner.deposit(&package("pkg_1")).await;
    create(&owner, json!({"project_id": "plain"})).await;
    create(&owner, json!({"project_id": "text", "x-conformance": "true"})).await;
    for id in ["plain", "text"] {
        let fact = json!({"subject": "a", "predicate": "b", "value": "c"});
        owner.post(&format!("/v1/projects/{id}/facts"), &fact).await.expect(201);
    }
    for id in ["atlas", "plain", "text"] {
        let marked = json!({"x-conformance": true});
        let path = format!("/v1/projects/{id}");
        assert_eq!(owner.patch(&path, &marked).await.expect(200)["x-conformance"], true);
        let path = format!("/accord/v1/projects/{id}");
        let refused = owner.delete(&path).await.refused(409, "project_not_empty");
        let message = refused["message"].as_str().unwrap();
        let (packages, facts) = if id == "atlas" { (1, 0) } else { (0, 1) };
        let contents = json!({"packages": packages, "facts": facts, "sessions": 0, "blobs": 0});
        assert_eq!(refused["contents"], contents, "{refused}");
        assert!(
            message.contains(if id == "atlas" { "1 package," } else { "1 fact," }),
            "{message}"
        );
    }
    // One that holds nothing goes, also when it is archived.
    create(&owner, json!({"project_id": "empty"})).await;
    owner.post("/v1/projects/empty/archive", &json!({})).await.expect(200);
    owner.delete("/accord/v1/projects/empty").await.expect(200);
    // Taking the mark away changes nothing, either.
    create(&owner, json!({"project_id": "run", "x-conformance": true})).await;
    let fact = json!({"subject": "a", "predicate": "b", "value": "c"});
    owner.post("/v1/projects/run/facts", &fact).await.expect(201);
    owner.patch("/v1/projects/run", &json!({"x-conformance": null})).await.expect(200);
    owner.delete("/accord/v1/projects/run").await.expect(200);
    sound(&owner).await;
}

#[tokio::test]
async fn only_an_administrator_of_all_projects_removes_one() {
    let world = World::new();
    filled(&world.owner()).await;
    let some = || Some(vec![project_id("atlas")]);
    for scope in [
        KeyScope::new(vec![Verb::Read, Verb::Write, Verb::Review], None),
        KeyScope::new(vec![Verb::Admin], some()),
        KeyScope::new(vec![Verb::Write], some()),
    ] {
        world.key(&scope).delete(ATLAS).await.refused(403, "unauthorized");
    }
    world.owner().get("/v1/projects/atlas").await.expect(200);
    let admin = world.key(&KeyScope::new(vec![Verb::Admin], None));
    admin.delete(ATLAS).await.expect(200);
    // A key of the project finds nothing now, and may use the id again.
    let key = world.key(&KeyScope::new(vec![Verb::Write, Verb::Read], some()));
    key.get("/v1/projects/atlas").await.refused(404, "project_not_found");
    key.deposit(&package("pkg_1")).await;
    key.get("/v1/projects/atlas").await.expect(200);
}

#[tokio::test]
async fn the_numbers_of_events_go_on_and_followers_hear_of_the_end() {
    let world = World::new();
    let owner = world.owner();
    filled(&owner).await;
    let memory = world.host.memory();
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    let mut now = memory.follow(&caller, &atlas, Since::Now).await.unwrap();
    let mut late = memory.follow(&caller, &atlas, Since::After(0)).await.unwrap();
    owner.delete(ATLAS).await.expect(200);
    for follower in [&mut now, &mut late] {
        let events = soon("the removal", follower.next()).await.unwrap();
        let seen: Vec<_> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seen, [6]);
        let event = events[0].event.as_ref().unwrap();
        assert_eq!(event.kind.as_str(), "project.removed");
        assert_eq!(event.data["project_id"], "atlas");
        let end = soon("the end", follower.next()).await;
        assert_eq!(end, Err(FollowEnd::Removed));
    }
    // The project comes again: its first event follows the removal.
    owner.deposit(&package("pkg_1")).await;
    let mut again = memory.follow(&caller, &atlas, Since::After(6)).await.unwrap();
    let events = soon("the new project", again.next()).await.unwrap();
    let seen: Vec<_> = events
        .iter()
        .map(|event| (event.seq, event.event.as_ref().unwrap().kind.as_str().to_owned()))
        .collect();
    assert_eq!(seen, [(7, "project.created".into()), (8, "package.deposited".into())]);
    for after in [0, 5] {
        let path = format!("/v1/projects/atlas/events?after={after}");
        let refused = owner.get(&path).await.refused(410, "event_cursor_too_old");
        assert_eq!(refused["oldest"], 7);
    }
    // It was created by a deposit, so it stays.
    owner.delete(ATLAS).await.refused(409, "project_not_empty");
    sound(&owner).await;
}

/// A follower that sleeps through a removal and a new creation is informed, too.
#[tokio::test]
async fn a_follower_does_not_mistake_the_next_project_for_its_own() {
    let world = World::new();
    let owner = world.owner();
    filled(&owner).await;
    let memory = world.host.memory();
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    let mut follower = memory.follow(&caller, &atlas, Since::Now).await.unwrap();
    owner.delete(ATLAS).await.expect(200);
    owner.deposit(&package("pkg_1")).await;
    let events = soon("the removal", follower.next()).await.unwrap();
    assert_eq!(events[0].event.as_ref().unwrap().kind.as_str(), "project.removed");
    assert_eq!(soon("the end", follower.next()).await, Err(FollowEnd::Removed));
}

#[tokio::test(flavor = "multi_thread")]
async fn deposits_and_blobs_in_flight_are_whole_or_gone() {
    let world = World::new();
    let owner = world.owner();
    for round in 0..8 {
        create(&owner, json!({"project_id": "atlas", "x-conformance": true})).await;
        let mut writes = tokio::task::JoinSet::new();
        for number in 0..12 {
            let owner = owner.clone();
            writes.spawn(async move {
                let id = format!("pkg_{number}");
                let content = format!("content {number}");
                let deposited = package_with(&id, json!({"open_questions": ["Who?"]}));
                let path = "/v1/projects/atlas/packages";
                assert_eq!(owner.post(path, &deposited).await.status, 201);
                let path = format!("{}?project_id=atlas", blob(&content));
                let stored = owner.ask("PUT", &path, &[], &content).await;
                assert!([200, 201].contains(&stored.status), "{}", stored.text);
            });
        }
        let removal = owner.delete(ATLAS).await;
        assert_eq!(removal.status, 200, "round {round}: {}", removal.text);
        while let Some(written) = writes.join_next().await {
            written.unwrap();
        }
        // What came after the removal made the project anew; every blob that it has can be read.
        sound(&owner).await;
        if owner.get("/v1/projects/atlas").await.status == 200 {
            let refused = owner.delete(ATLAS).await.refused(409, "project_not_empty");
            assert!(refused["contents"]["packages"].as_u64().is_some());
            return;
        }
    }
}
