//! Whole projects out, and in again.

use accord_base::{KeyScope, Verb};
use serde_json::{Value, json};

use crate::support::{Answer, Asker, World, actor_key, each, package_with, project_id};

pub(crate) const EXPORT: &str = "/v1/projects/atlas/export";

pub(crate) async fn export(asker: &Asker) -> String {
    let answer = asker.get(EXPORT).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.text
}

pub(crate) async fn import(asker: &Asker, lines: &str) -> Answer {
    let headers = [("content-type", "application/x-ndjson")];
    asker.ask("POST", "/v1/projects/atlas/import", &headers, lines).await
}

/// What an import comes to that refuses nothing.
pub(crate) async fn imported(asker: &Asker, lines: &str) -> Value {
    let summary = import(asker, lines).await.expect(200);
    assert_eq!(
        (&summary["refused"], &summary["refused_count"]),
        (&json!([]), &json!(0)),
        "{summary}"
    );
    summary
}

pub(crate) fn counts(projects: u64, sessions: u64, packages: u64, facts: u64) -> Value {
    json!({"projects": projects, "sessions": sessions, "packages": packages, "facts": facts})
}

/// Fills a project with everything that there is.
pub(crate) async fn live(asker: &Asker) {
    let created = json!({
        "project_id": "atlas", "name": "Atlas", "description": "Maps.",
        "x-team": {"a": [1, null]},
    });
    asker.post("/v1/projects", &created).await.expect(201);
    let session = json!({"actor_id": "ada", "actor_type": "agent", "x-tool": "editor"});
    let session = asker.post("/v1/projects/atlas/sessions", &session).await.expect(201);
    let session = session["session_id"].as_str().unwrap();
    let by = json!({"id": "ada", "type": "agent", "session_id": session, "git": "abc"});
    let future = json!({"created_by": by, "future": {"z": 1e-7, "l": [null, []]}, "x-score": 0.9});
    asker.deposit(&package_with("pkg_1", future)).await;
    let early =
        json!({"created_by": by, "status": "draft", "created_at": "2026-04-17T20:00:00.5Z"});
    asker.deposit(&package_with("pkg_2", early)).await;
    asker
        .deposit(&package_with(
            "pkg_3",
            json!({"status": "draft", "parent_package_id": "pkg_gone"}),
        ))
        .await;
    asker
        .deposit(&package_with(
            "pkg/4 ü",
            json!({"status": "draft", "description": "e\u{301} \u{1f600}"}),
        ))
        .await;
    for (path, body) in [
        ("/v1/packages/pkg_2/flag", json!({"review_type": "human", "note": "please\nlook"})),
        ("/v1/packages/pkg_2/review", json!({"outcome": "revision_requested"})),
        ("/v1/packages/pkg_2/resubmit", json!({})),
        ("/v1/packages/pkg_2/review", json!({"outcome": "complete", "note": "fine"})),
        ("/v1/packages/pkg_3/flag", json!({"review_type": "agent"})),
    ] {
        asker.post(path, &body).await.expect(200);
    }
    for (subject, value, from) in [
        ("build", "red", "2026-04-10T12:00:00Z"),
        ("build", "green", "2026-04-12T12:00:00.5+00:00"),
        ("build", "blue", "2026-04-12T12:00:00.5Z"),
        ("build", "amber", "2026-04-11T12:00:00Z"),
        ("meta:a/b?", "é", "2026-01-01T00:00:00Z"),
    ] {
        let fact = json!({
            "subject": subject, "predicate": "status", "value": value, "valid_from": from,
            "x-own": 1.5,
        });
        asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    asker.delete("/v1/projects/atlas/facts?subject=build&predicate=status").await.expect(200);
    let back = json!({"subject": "build", "predicate": "status", "value": "back"});
    asker.post("/v1/projects/atlas/facts", &back).await.expect(201);
    asker.patch(&format!("/v1/sessions/{session}"), &json!({})).await.expect(200);
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn export_import_export_gives_the_same_lines() {
    let (world, other, third) = (World::new(), World::new(), World::new());
    live(&world.owner()).await;
    let first = export(&world.owner()).await;
    let kinds: Vec<Value> = first
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    let expected = "project session package package package package fact fact fact fact fact fact";
    assert_eq!(kinds, expected.split(' ').collect::<Vec<_>>());
    let summary = imported(&other.owner(), &first).await;
    assert_eq!(summary["added"], counts(1, 1, 4, 6), "{summary}");
    assert_eq!(export(&other.owner()).await, first);
    // What is there stays as it is, and is counted so.
    let again = imported(&other.owner(), &first).await;
    assert_eq!(again["unchanged"], counts(1, 1, 4, 6), "{again}");
    assert_eq!(again["added"], counts(0, 0, 0, 0), "{again}");
    assert_eq!(export(&other.owner()).await, first);
    // Backwards, too.
    let backwards: Vec<_> = first.lines().rev().collect();
    let summary = imported(&third.owner(), &backwards.join("\n")).await;
    assert_eq!(summary["added"], counts(1, 1, 4, 6), "{summary}");
    assert_eq!(sorted(&export(&third.owner()).await), sorted(&first));
}

#[tokio::test]
async fn packages_of_one_instant_stay_in_the_order_of_their_deposit() {
    let (world, other) = (World::new(), World::new());
    let ids = ["pkg_b", "pkg_c", "pkg_a"];
    for id in ids {
        world.owner().deposit(&package_with(id, json!({}))).await;
    }
    let lines = export(&world.owner()).await;
    imported(&other.owner(), &lines).await;
    assert_eq!(export(&other.owner()).await, lines);
    // So that what is newest stays newest wherever the lines go.
    let latest = "/v1/projects/atlas/packages?limit=50";
    for owner in [world.owner(), other.owner()] {
        let list = owner.get(latest).await.expect(200);
        assert_eq!(each(&list["packages"], "package_id"), ["pkg_a", "pkg_c", "pkg_b"]);
    }
    let exported = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    let exported: Vec<Value> = exported.filter(|line: &Value| line["kind"] == "package").collect();
    let exported: Vec<_> = exported.iter().map(|line| &line["data"]["package_id"]).collect();
    assert_eq!(exported, ids);
}

#[tokio::test]
async fn an_archived_project_comes_back_archived() {
    let (world, other) = (World::new(), World::new());
    live(&world.owner()).await;
    world.owner().post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    let first = export(&world.owner()).await;
    let owner = other.owner();
    imported(&owner, &first).await;
    assert_eq!(export(&owner).await, first);
    // It takes no more writes, also not by an import; what is there is found.
    let more = package_with("pkg_9", json!({}));
    let again = import(&owner, &format!("{first}{more}\n")).await.expect(200);
    assert_eq!(again["unchanged"], counts(1, 1, 4, 6), "{again}");
    assert_eq!(
        (&again["refused_count"], &again["refused"][0]["code"]),
        (&json!(1), &json!("project_archived"))
    );
    assert_eq!(export(&owner).await, first);
}

#[tokio::test]
async fn the_answer_says_how_long_it_is_and_what_it_is() {
    let world = World::new();
    live(&world.owner()).await;
    let answer = world.owner().get(EXPORT).await;
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    assert_eq!(answer.header("content-length"), answer.text.len().to_string());
    assert_eq!(answer.header("x-integrity-warnings"), "");
    let unknown = world.owner().get("/v1/projects/nowhere/export").await;
    unknown.refused(404, "project_not_found");
}

#[tokio::test]
async fn drafts_are_for_their_author_and_for_administrators() {
    let world = World::new();
    let owner = world.owner();
    let session = json!({"actor_id": "eve", "actor_type": "agent"});
    let session = owner.post("/v1/projects/atlas/sessions", &session).await.expect(201);
    let eve = json!({"id": "eve", "type": "agent", "session_id": session["session_id"]});
    owner.deposit(&package_with("pkg_eve", json!({"status": "draft", "created_by": eve}))).await;
    owner.deposit(&package_with("pkg_ada", json!({"status": "draft"}))).await;
    owner.deposit(&package_with("pkg_done", json!({"created_by": eve}))).await;
    let scope = |verb, project: &str| KeyScope::new(vec![verb], Some(vec![project_id(project)]));
    let reader = scope(Verb::Read, "atlas").bound_to(actor_key("ada"), false);
    let seen = export(&world.key(&reader)).await;
    assert!(!seen.contains("pkg_eve"), "neither the draft nor its id: {seen}");
    assert!(seen.contains("pkg_ada") && seen.contains("pkg_done"), "{seen}");
    assert!(export(&world.key_of("ada")).await.contains("pkg_eve"));
    let stranger = world.key(&scope(Verb::Admin, "borealis"));
    stranger.get(EXPORT).await.refused(403, "unauthorized");
}

#[tokio::test]
async fn a_damaged_package_is_left_out_and_counted() {
    let (world, other) = (World::new(), World::new());
    live(&world.owner()).await;
    let whole = export(&world.owner()).await;
    damage(&world, "pkg_1");
    let answer = world.owner().get(EXPORT).await;
    assert_eq!(answer.header("x-integrity-warnings"), "1");
    assert_eq!(answer.text.lines().count(), whole.lines().count() - 1);
    assert!(!answer.text.contains("\"package_id\":\"pkg_1\""));
    imported(&other.owner(), &answer.text).await;
}

/// Changes a byte of a stored package, below everything that would notice.
pub(crate) fn damage(world: &World, package: &str) {
    let statement =
        "UPDATE package SET text = replace(text, 'Indexes', 'indexes') WHERE package_id = ?1";
    assert_eq!(tamper(world, statement, package), 1);
}

pub(crate) fn tamper(world: &World, statement: &str, parameter: &str) -> usize {
    let file = world.host.folder().join("accord.db");
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection.execute(statement, [parameter]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_one_moment_while_others_write() {
    let world = World::new();
    let fact =
        |value: u32| json!({"subject": "count", "predicate": "is", "value": value.to_string()});
    let owner = world.owner();
    for value in 0..20 {
        owner.post("/v1/projects/atlas/facts", &fact(value)).await.expect(201);
    }
    let writer = owner.clone();
    let writing = tokio::spawn(async move {
        for value in 20..120 {
            writer.post("/v1/projects/atlas/facts", &fact(value)).await.expect(201);
        }
    });
    let mut taken = 0;
    while taken == 0 || (!writing.is_finished() && taken < 10) {
        let lines = export(&owner).await;
        imported(&World::new().owner(), &lines).await;
        taken += 1;
    }
    writing.await.unwrap();
    assert_eq!(export(&owner).await.lines().count(), 121);
}
