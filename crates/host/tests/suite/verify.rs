//! Looking through a store.

use accord_base::{KeyScope, Verb};
use accord_canon::sha256;
use serde_json::{Value, json};

use crate::export::{damage, live, tamper};
use crate::support::{Asker, World, each, package_with, project_id};

const VERIFY: &str = "/accord/v1/verify";

async fn verify(asker: &Asker, body: &Value) -> Value {
    let answer = asker.post(VERIFY, body).await.expect(200);
    assert_eq!(answer["ok"], true, "{answer}");
    answer["report"].clone()
}

#[tokio::test]
async fn a_sound_store_has_no_problems() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    owner.deposit(&package_with("pkg_b", json!({"project_id": "borealis"}))).await;
    let blob = format!("/v1/blobs/sha256:{}?project_id=atlas", sha256(b"hello").hex());
    owner.ask("PUT", &blob, &[], "hello").await.expect(201);
    let report = verify(&owner, &json!({})).await;
    assert_eq!(
        (&report["problem_count"], &report["problems"]),
        (&json!(0), &json!([])),
        "{report}"
    );
    let counted = ["projects", "sessions", "packages", "facts", "blobs"]
        .map(|name| report[name].as_u64().unwrap());
    assert_eq!(counted, [2, 1, 5, 6, 1]);
    assert!(report["events"].as_u64().unwrap() > 15, "{report}");
    let one = verify(&owner, &json!({"project_id": "borealis"})).await;
    assert_eq!((&one["projects"], &one["packages"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_project_that_is_null_is_not_the_whole_store() {
    let world = World::new();
    let refused = world.owner().post(VERIFY, &json!({"project_id": null})).await;
    let error = refused.refused(422, "WIRE_FIELD_TYPE");
    assert_eq!(error["pointer"], "/project_id", "{error}");
}

#[tokio::test]
async fn damage_is_found_and_quarantined() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    damage(&world, "pkg_1");
    assert_eq!(
        tamper(
            &world,
            "UPDATE revision SET text = replace(text, ?1, 'human') WHERE seq = 2",
            "agent"
        ),
        2
    );
    let look = json!({"quarantine": false});
    let report = verify(&owner, &look).await;
    assert_eq!(
        (&report["problem_count"], &report["quarantined"]),
        (&json!(2), &json!(0)),
        "{report}"
    );
    let report = verify(&owner, &json!({})).await;
    assert_eq!(each(&report["problems"], "suspect"), ["package", "package"]);
    let mut ids = each(&report["problems"], "id");
    ids.sort_unstable();
    assert_eq!(ids, ["pkg_1", "pkg_3"]);
    assert_eq!(each(&report["problems"], "code"), ["integrity_error"; 2]);
    assert_eq!(report["quarantined"], 2);
    let listed = owner.get("/v1/projects/atlas/packages?limit=50").await.expect(200);
    let mut listed = each(&listed["packages"], "package_id");
    listed.sort_unstable();
    assert_eq!(listed, ["pkg/4 ü", "pkg_2"]);
    // A second look finds them still, and has nothing to do. Repaired, they are let out.
    let report = verify(&owner, &json!({})).await;
    assert_eq!((&report["problem_count"], &report["quarantined"]), (&json!(2), &json!(0)));
    tamper(
        &world,
        "UPDATE package SET text = replace(text, 'indexes', 'Indexes') WHERE package_id = ?1",
        "pkg_1",
    );
    tamper(
        &world,
        "UPDATE revision SET text = replace(text, 'human', ?1) \
         WHERE seq = 2 AND package = (SELECT pk FROM package WHERE package_id = 'pkg_3')",
        "agent",
    );
    let report = verify(&owner, &json!({})).await;
    assert_eq!((&report["problem_count"], &report["released"]), (&json!(0), &json!(2)), "{report}");
    owner.get("/v1/packages/pkg_1").await.expect(200);
}

#[tokio::test]
async fn facts_events_sessions_projects_and_blobs_are_looked_at() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    let digests = [b"hello", b"hallo"].map(|content| sha256(content).hex());
    for (digest, content) in digests.iter().zip(["hello", "hallo"]) {
        let path = format!("/v1/blobs/sha256:{digest}?project_id=atlas");
        owner.ask("PUT", &path, &[], content).await.expect(201);
    }
    let file = |digest: &str| world.host.folder().join("blobs").join(&digest[..2]).join(digest);
    std::fs::write(file(&digests[0]), "HELLO").unwrap();
    std::fs::remove_file(file(&digests[1])).unwrap();
    // A fact lasts longer than it did, one says another value than its row, an event is missing,
    // one is no event.
    for (statement, parameter) in [
        (
            "UPDATE fact SET to_key = '2026-04-12T12:00:00', \
             text = replace(text, '2026-04-11T12:00:00Z', '2026-04-12T12:00:00Z'), \
             valid_to = '2026-04-12T12:00:00Z' WHERE value = ?1",
            "red",
        ),
        ("UPDATE fact SET value = 'x' WHERE value = ?1", "é"),
        ("DELETE FROM event WHERE seq = ?1", "7"),
        ("UPDATE event SET kind = 'No kind' WHERE seq = ?1", "9"),
        ("UPDATE session SET actor_id = 'eve' WHERE actor_id = ?1", "ada"),
        (
            "UPDATE project SET text = replace(text, ?1, '2020-01-01T00:00:00.000Z')",
            "archived_at\":null",
        ),
    ] {
        assert_eq!(tamper(&world, statement, parameter), 1, "{statement}");
    }
    let report = verify(&owner, &json!({})).await;
    let mut suspects = each(&report["problems"], "suspect");
    suspects.sort_unstable();
    assert_eq!(
        suspects,
        ["blob", "blob", "chain", "event", "event", "fact", "project", "session"],
        "{report:#}"
    );
    assert_eq!(report["quarantined"], 0);
}

#[tokio::test]
async fn only_administrators_look_and_only_into_their_projects() {
    let world = World::new();
    live(&world.owner()).await;
    world.owner().deposit(&package_with("pkg_b", json!({"project_id": "borealis"}))).await;
    let reader = world.key(&KeyScope::new(vec![Verb::Read, Verb::Write], None));
    reader.post(VERIFY, &json!({})).await.refused(403, "unauthorized");
    let admin = world.key(&KeyScope::new(vec![Verb::Admin], Some(vec![project_id("borealis")])));
    let report = verify(&admin, &json!({})).await;
    assert_eq!((&report["projects"], &report["packages"]), (&json!(1), &json!(1)));
    admin.post(VERIFY, &json!({"project_id": "atlas"})).await.refused(403, "unauthorized");
    let unknown = world.owner().post(VERIFY, &json!({"project_id": "nowhere"})).await;
    unknown.refused(404, "project_not_found");
}

#[tokio::test]
async fn lines_say_how_it_goes() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    damage(&world, "pkg_1");
    let headers = [("accept", "application/x-ndjson"), ("content-type", "application/json")];
    let answer = owner.ask("POST", VERIFY, &headers, "{}").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
    let lines: Vec<Value> =
        answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    assert!(!of_kind("progress").is_empty());
    assert_eq!(of_kind("problem")[0]["id"], "pkg_1");
    assert_eq!(lines.last().unwrap()["kind"], "summary");
    assert_eq!(lines.last().unwrap()["problem_count"], 1);
    let unknown = owner.ask("POST", VERIFY, &headers, "{\"project_id\":\"nowhere\"}").await;
    assert_eq!(unknown.text.lines().count(), 1, "{}", unknown.text);
    assert!(unknown.text.contains("project_not_found"));
}
