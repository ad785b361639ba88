//! Packages that no longer are what they were, and clocks that go back.

use accord_contract::Timestamp;
use accord_memory_core::{FactId, PackageId};
use accord_store::{EventEntry, PackageState, RevisionRow, StoreError, StoreExt as _};
use serde_json::{Value, json};

use crate::support::{World, each, package, package_with, project_id, wait_until};

/// Changes the stored text of a package behind everybody's back.
fn damage(world: &World, id: &str) {
    let (project, package) = (project_id("atlas"), PackageId::new(id).unwrap());
    let outcome: Result<(), StoreError> = world.host.engine().write(move |unit| {
        let row = unit.package(&project, &package)?.unwrap();
        let state = PackageState {
            revision: row.state.revision + 1,
            text: row.state.text.replace("Indexes rebuilt", "Indexes dropped"),
            ..row.state
        };
        let log = [RevisionRow { seq: state.revision, text: "{}".into() }];
        unit.move_package(&project, &package, &state, &log)
    });
    outcome.unwrap();
}

fn is_quarantined(world: &World, id: &str) -> bool {
    let (project, package) = (project_id("atlas"), PackageId::new(id).unwrap());
    let row = world.host.engine().read(|unit| unit.package(&project, &package));
    row.unwrap().unwrap().quarantine.is_some()
}

async fn until_quarantined(world: &World, id: &str) {
    let what = format!("{id} to be in quarantine");
    wait_until(&what, || is_quarantined(world, id)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_package_is_reported_and_set_aside() {
    let reads = [
        "/v1/projects/atlas/packages?limit=2",
        "/v1/projects/atlas/packages?mode=relevant&query=indexes",
        "/v1/projects/atlas/orient?window_days=3660",
    ];
    for (n, path) in reads.into_iter().enumerate() {
        let world = World::new();
        let asker = world.owner();
        for id in ["pkg_1", "pkg_2", "pkg_3"] {
            asker.deposit(&package(id)).await;
        }
        damage(&world, "pkg_2");
        let answer = asker.get(path).await.expect(200);
        let member = if n == 2 { "recent_packages" } else { "packages" };
        let mut sound = each(&answer[member], "package_id");
        sound.sort_unstable();
        assert_eq!(sound, ["pkg_1", "pkg_3"], "{path}");
        assert_eq!(answer["x-integrity_warnings"], json!(["pkg_2"]), "{path}");
        until_quarantined(&world, "pkg_2").await;
        assert!(!is_quarantined(&world, "pkg_1"));
        // From then on lists still say what is missing from them.
        let list = asker.get("/v1/projects/atlas/packages").await.expect(200);
        assert_eq!(list["x-integrity_warnings"], json!(["pkg_2"]));
        assert_eq!(list["next_cursor"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_package_is_never_handed_out() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    damage(&world, "pkg_1");
    let flag = json!({"review_type": "agent"});
    asker.post("/v1/packages/pkg_1/flag", &flag).await.refused(500, "integrity_error");
    until_quarantined(&world, "pkg_1").await;
    let again = package_with("pkg_1", json!({"status": "draft"}));
    for answer in [
        asker.get("/v1/packages/pkg_1").await,
        asker.get("/v1/projects/atlas/packages?mode=specific&package_id=pkg_1").await,
        asker.post("/v1/projects/atlas/packages", &again).await,
        asker.post("/v1/packages/pkg_1/flag", &flag).await,
    ] {
        let error = answer.refused(500, "integrity_error");
        assert_eq!(error["package_id"], "pkg_1");
        assert!(!answer.text.contains("Indexes dropped"));
    }
    let digest = asker.get("/v1/orchestrate?window_days=3660&focus=indexes").await.expect(200);
    assert_eq!(digest["snippets"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_that_differs_from_its_row_is_left_out_of_orient() {
    let texts = [
        ("\"one\"", "\"two\""),
        ("\"valid_to\":null", "\"valid_to\":\"2026-01-01T00:00:00Z\""),
        ("}", ""),
    ];
    for (sound, damaged) in texts {
        let world = World::new();
        let asker = world.owner();
        let fact = json!({"subject": "a", "predicate": "b", "value": "one"});
        let asserted = asker.post("/v1/projects/atlas/facts", &fact).await;
        asserted.expect(201);
        let orient = "/v1/projects/atlas/orient";
        let given = asker.get(orient).await.expect(200);
        assert_eq!(each(&given["active_facts"], "value"), ["one"]);
        let project = project_id("atlas");
        let outcome: Result<u64, StoreError> = world.host.engine().write(move |unit| {
            let mut row = unit.newest_facts(&project, 1)?.remove(0);
            let other = FactId::new("fact_other").unwrap();
            row.text = row.text.replace(row.fact_id.as_str(), other.as_str());
            assert!(row.text.contains(sound), "{}", row.text);
            row.text = row.text.replace(sound, damaged);
            (row.fact_id, row.predicate) = (other, "c".to_owned());
            row.text = row.text.replace("\"b\"", "\"c\"");
            unit.insert_fact(&row)
        });
        outcome.unwrap();
        let given = asker.get(orient).await.expect(200);
        assert_eq!(each(&given["active_facts"], "value"), ["one"]);
        assert_eq!(given["x-integrity_warnings"], json!(["fact_other"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_sets_aside_what_is_damaged() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    damage(&world, "pkg_1");
    let digest = asker.get("/v1/orchestrate?window_days=3660&focus=indexes").await.expect(200);
    assert_eq!(digest["summary"]["highlights"], json!([]));
    assert_eq!(digest["snippets"], json!([]));
    until_quarantined(&world, "pkg_1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_project_never_goes_back() {
    let world = World::new();
    let asker = world.owner();
    let fact = |value: &str| json!({"subject": "a", "predicate": "b", "value": value});
    asker.post("/v1/projects/atlas/facts", &fact("one")).await.expect(201);
    // A clock that was ahead wrote this.
    let future = "2090-01-01T00:00:00.000Z";
    let outcome: Result<u64, StoreError> = world.host.engine().write(move |unit| {
        let entry = EventEntry {
            at: Timestamp::parse(future).unwrap(),
            kind: "fact.asserted".into(),
            only_for: None,
            text: "{}".into(),
        };
        unit.append_event(&project_id("atlas"), &entry)
    });
    outcome.unwrap();
    let two = asker.post("/v1/projects/atlas/facts", &fact("two")).await.expect(201);
    assert_eq!((&two["valid_from"], &two["created_at"]), (&json!(future), &json!(future)));
    let three = asker.post("/v1/projects/atlas/facts", &fact("three")).await.expect(201);
    let history = asker.get("/v1/projects/atlas/facts?history=true").await.expect(200);
    assert_eq!(each(&history["facts"], "value"), ["one", "two", "three"]);
    let current = asker.get("/v1/projects/atlas/facts").await.expect(200);
    assert_eq!(current["facts"], json!([three]));
    // Other projects go by their own time.
    let other = asker.post("/v1/projects/borealis/facts", &fact("one")).await.expect(201);
    assert!(other["created_at"].as_str().unwrap() < future);
}
