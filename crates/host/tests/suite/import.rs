//! Lines in.

use accord_base::{KeyScope, Verb};
use accord_host::settings::Settings;
use serde_json::{Value, json};

use crate::export::{counts, export, import, imported, live};
use crate::support::{Asker, World, package_with, project_id};

fn fact(id: &str, value: &str, from: &str, to: Option<&str>) -> Value {
    json!({
        "fact_id": id, "project_id": "atlas", "subject": "build", "predicate": "status",
        "value": value,
        "valid_from": from, "valid_to": to, "created_at": "2026-04-10T12:00:00Z",
    })
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

async fn facts(asker: &Asker, query: &str) -> Vec<String> {
    let list = asker.get(&format!("/v1/projects/atlas/facts?{query}")).await.expect(200);
    let facts = list["facts"].as_array().unwrap();
    facts.iter().map(|fact| fact["value"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn documents_of_others_come_in_any_order() {
    let world = World::new();
    let owner = world.owner();
    let child = package_with(
        "pkg_child",
        json!({"parent_package_id": "pkg_parent", "x-n": {"b": 1.0, "a": null}}),
    );
    let documents = [
        child,
        fact("f2", "new", "2026-04-12T12:00:00Z", None),
        package_with("pkg_parent", json!({})),
        fact("f1", "old", "2026-04-10T12:00:00Z", Some("2026-04-12T12:00:00Z")),
    ];
    let text = format!("\u{feff}\n  {}\r\n\r\n", lines(&documents));
    let summary = imported(&owner, &text).await;
    assert_eq!(summary["added"], counts(0, 0, 2, 2), "{summary}");
    assert_eq!(summary["lines"], 4);
    assert_eq!(facts(&owner, "as_of=2026-04-11T00:00:00Z").await, ["old"]);
    assert_eq!(facts(&owner, "").await, ["new"]);
    let project = owner.get("/v1/projects/atlas").await.expect(200);
    assert_eq!(project["name"], "atlas");
}

#[tokio::test]
async fn a_line_that_is_refused_keeps_no_other_out() {
    let world = World::new();
    let owner = world.owner();
    let text = [
        package_with("pkg_1", json!({})).to_string(),
        "no json".into(),
        package_with("pkg_2", json!({"title": ""})).to_string(),
        package_with("pkg_3", json!({"project_id": "borealis"})).to_string(),
        package_with("pkg_1", json!({"title": "Another"})).to_string(),
        json!({"kind": "blob", "data": {}}).to_string(),
        package_with("pkg_4", json!({})).to_string(),
        json!({
            "kind": "package", "content_hash": "sha256:00",
            "data": package_with("pkg_5", json!({})),
        })
        .to_string(),
    ];
    let summary = import(&owner, &text.join("\n")).await.expect(200);
    assert_eq!(summary["added"], counts(0, 0, 2, 0), "{summary}");
    assert_eq!(summary["refused_count"], 6);
    let refused: Vec<_> = summary["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let field = line["field"].as_str().unwrap_or_default();
            (line["line"].as_u64().unwrap(), line["code"].as_str().unwrap(), field)
        })
        .collect();
    let invalid = "invalid_schema";
    let expected = [
        (2, invalid, ""),
        (3, invalid, "/title"),
        (4, invalid, "/project_id"),
        (5, "duplicate_package_id", "/package_id"),
        (6, invalid, "/kind"),
        (8, "hash_mismatch", "/content_hash"),
    ];
    assert_eq!(refused, expected);
    owner.get("/v1/packages/pkg_1").await.expect(200);
    owner.get("/v1/packages/pkg_5").await.refused(404, "package_not_found");
}

#[tokio::test]
async fn what_is_there_goes_on_and_never_back() {
    let (world, copy) = (World::new(), World::new());
    let (owner, copied) = (world.owner(), copy.owner());
    let session = json!({"actor_id": "ada", "actor_type": "agent"});
    let session = owner.post("/v1/projects/atlas/sessions", &session).await.expect(201);
    owner.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    let red = json!({"subject": "build", "predicate": "status", "value": "red"});
    owner.post("/v1/projects/atlas/facts", &red).await.expect(201);
    let early = export(&owner).await;
    imported(&copied, &early).await;
    owner.post("/v1/packages/pkg_1/flag", &json!({"review_type": "human"})).await.expect(200);
    owner.post("/v1/packages/pkg_1/review", &json!({"outcome": "complete"})).await.expect(200);
    let green = json!({"subject": "build", "predicate": "status", "value": "green"});
    owner.post("/v1/projects/atlas/facts", &green).await.expect(201);
    let path = format!("/v1/sessions/{}", session["session_id"].as_str().unwrap());
    owner.patch(&path, &json!({})).await.expect(200);
    let late = export(&owner).await;
    // The new fact comes before the line that ends the one in its way.
    let backwards: Vec<_> = late.lines().rev().collect();
    let summary = imported(&copied, &backwards.join("\n")).await;
    assert_eq!(summary["advanced"], counts(0, 1, 1, 1), "{summary}");
    assert_eq!(summary["added"], counts(0, 0, 0, 1), "{summary}");
    assert_eq!(export(&copied).await, late);
    let revisions = copied.get("/v1/packages/pkg_1/revisions").await.expect(200);
    assert_eq!(revisions["revisions"].as_array().unwrap().len(), 3);
    // An older copy says nothing new.
    let summary = imported(&copied, &early).await;
    assert_eq!(summary["unchanged"], counts(1, 1, 1, 1), "{summary}");
    assert_eq!(export(&copied).await, late);
}

#[tokio::test]
async fn facts_that_hold_at_once_are_refused() {
    let world = World::new();
    let owner = world.owner();
    let documents = [
        fact("f1", "a", "2026-04-10T12:00:00Z", None),
        fact("f2", "b", "2026-04-11T12:00:00Z", None),
        fact("f1", "other", "2026-04-10T12:00:00Z", None),
        fact("f3", "c", "2026-04-01T12:00:00Z", Some("2026-04-10T12:00:00Z")),
    ];
    let summary = import(&owner, &lines(&documents)).await.expect(200);
    assert_eq!(summary["added"], counts(0, 0, 0, 2), "{summary}");
    let codes = [&summary["refused"][0]["code"], &summary["refused"][1]["code"]];
    assert_eq!(codes, ["fact_overlap", "duplicate_fact_id"], "{summary}");
    assert_eq!(facts(&owner, "history=true").await, ["c", "a"]);
}

#[tokio::test]
async fn lines_of_a_later_version_are_put_aside() {
    let world = World::new();
    let owner = world.owner();
    let later =
        package_with("pkg_2", json!({"relay_version": "0.2", "package_type": "of the future"}));
    let enveloped = json!({"kind": "package", "data": later});
    let text = lines(&[package_with("pkg_1", json!({})), later.clone(), enveloped.clone()]);
    let summary = imported(&owner, &text).await;
    assert_eq!(summary["quarantined_count"], 2, "{summary}");
    assert_eq!(summary["added"]["packages"], 1);
    let file = summary["quarantine_file"].as_str().unwrap();
    let kept = std::fs::read_to_string(world.host.folder().join(file)).unwrap();
    assert_eq!(kept, lines(&[later, enveloped]));
    assert!(file.starts_with("quarantine/"), "{file}");
    let summary = imported(&owner, text.lines().next().unwrap()).await;
    assert_eq!(summary["quarantine_file"], json!(null));
}

#[tokio::test]
async fn the_words_about_a_project_come_in_where_there_are_none() {
    let (world, other) = (World::new(), World::new());
    live(&world.owner()).await;
    let text = export(&world.owner()).await;
    let owner = other.owner();
    owner.deposit(&package_with("pkg_0", json!({}))).await;
    let summary = imported(&owner, &text).await;
    assert_eq!(summary["advanced"]["projects"], 1, "{summary}");
    assert_eq!(owner.get("/v1/projects/atlas").await.expect(200)["name"], "Atlas");
    owner.patch("/v1/projects/atlas", &json!({"name": "Ours"})).await.expect(200);
    let summary = import(&owner, &text).await.expect(200);
    assert_eq!(summary["refused"][0]["code"], "duplicate_project_id", "{summary}");
    assert_eq!(owner.get("/v1/projects/atlas").await.expect(200)["name"], "Ours");
}

#[tokio::test]
async fn strict_hosts_create_described_projects_alone() {
    let mut settings = Settings::default();
    settings.strict_projects = true;
    let (world, source) = (World::with(settings), World::new());
    let owner = world.owner();
    let text = lines(&[package_with("pkg_1", json!({}))]);
    import(&owner, &text).await.refused(404, "project_not_found");
    live(&source.owner()).await;
    imported(&owner, &export(&source.owner()).await).await;
}

#[tokio::test]
async fn only_administrators_import_and_only_lines() {
    let world = World::new();
    let text = lines(&[package_with("pkg_1", json!({}))]);
    for scope in [
        KeyScope::new(vec![Verb::Read, Verb::Write, Verb::Review], None),
        KeyScope::new(vec![Verb::Admin], Some(vec![project_id("borealis")])),
    ] {
        import(&world.key(&scope), &text).await.refused(403, "unauthorized");
    }
    let path = "/v1/projects/atlas/import";
    let form = [("content-type", "multipart/form-data; boundary=x")];
    world.owner().ask("POST", path, &form, &text).await.refused(415, "HTTP_MEDIA_TYPE");
    // Nothing comes of nothing.
    let summary = imported(&world.owner(), "\n\n").await;
    assert_eq!(summary["lines"], 0);
    world.owner().get("/v1/projects/atlas").await.refused(404, "project_not_found");
}

#[tokio::test]
async fn an_import_larger_than_the_limit_changes_nothing() {
    let mut settings = Settings::default();
    settings.limits.import_bytes.0 = 1_000;
    let world = World::with(settings);
    let text = lines(&[package_with("pkg_1", json!({"x": "y".repeat(2_000)}))]);
    import(&world.owner(), &text).await.refused(413, "payload_too_large");
    world.owner().get("/v1/projects/atlas").await.refused(404, "project_not_found");
}

#[tokio::test]
async fn imports_are_events_and_are_found_by_search() {
    let (world, other) = (World::new(), World::new());
    live(&world.owner()).await;
    let owner = other.owner();
    imported(&owner, &export(&world.owner()).await).await;
    let found =
        owner.get("/v1/projects/atlas/packages?mode=relevant&query=indexes").await.expect(200);
    assert!(!found["packages"].as_array().unwrap().is_empty(), "{found}");
    let kept = accord_store::StoreExt::read(&**other.host.memory().store(), |unit| {
        unit.event_range(&project_id("atlas"))
    });
    // The project, the session's start and end, four packages and six facts.
    assert_eq!(kept.unwrap().newest, 13);
}

#[tokio::test]
async fn many_lines_go_in_batches() {
    let world = World::new();
    let owner = world.owner();
    let documents: Vec<_> =
        (0..1_050).map(|number| package_with(&format!("pkg_{number:04}"), json!({}))).collect();
    let summary = imported(&owner, &lines(&documents)).await;
    assert_eq!(summary["added"]["packages"], 1_050);
    // Of one moment, they stand in the order in which they came.
    let again = export(&owner).await;
    let ids: Vec<_> = again
        .lines()
        .skip(1)
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["data"]["package_id"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
}

#[tokio::test]
async fn lines_say_how_it_goes() {
    let world = World::new();
    let owner = world.owner();
    let documents: Vec<_> =
        (0..1_050).map(|number| package_with(&format!("pkg_{number}"), json!({}))).collect();
    let headers = [("accept", "application/x-ndjson")];
    let text = lines(&documents);
    let answer = owner.ask("POST", "/v1/projects/atlas/import", &headers, &text).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
    let reported: Vec<Value> =
        answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reported[0]["kind"], "progress");
    assert_eq!(reported[0]["total"], text.len());
    let (last, before) = reported.split_last().unwrap();
    assert!(before.iter().all(|line| line["kind"] == "progress"), "{}", answer.text);
    assert_eq!((&last["kind"], &last["added"]["packages"]), (&json!("summary"), &json!(1_050)));
    // What is refused before the work begins is an error as always.
    let key = world.key(&KeyScope::new(vec![Verb::Write], None));
    let refused = key.ask("POST", "/v1/projects/atlas/import", &headers, &text).await;
    refused.refused(403, "unauthorized");
}
