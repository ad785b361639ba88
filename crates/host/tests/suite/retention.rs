//! Forgetting on purpose.

use accord_base::{Caller, KeyScope, Verb};
use accord_canon::sha256;
use accord_contract::{Time, Timestamp};
use accord_memory::{Retention, Sweep, Trim};
use serde_json::json;

use crate::support::{World, package, package_with, project_id};

fn instant(text: &str) -> Time {
    Timestamp::parse(text).unwrap().time()
}

/// Long after everything.
const LATER: &str = "2100-01-01T00:00:00Z";
/// Long before everything.
const EARLIER: &str = "2000-01-01T00:00:00Z";

async fn trim(world: &World, before: &str, dry_run: bool) -> accord_memory::TrimReport {
    let asked = Trim { before: instant(before), project: None, dry_run };
    world.host.memory().trim_events(&Caller::owner(), &asked).await.unwrap()
}

#[tokio::test]
async fn old_events_go_and_the_newest_stays() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..5 {
        owner.deposit(&package(&format!("pkg_{number}"))).await;
    }
    owner.deposit(&package_with("pkg_b", json!({"project_id": "borealis"}))).await;
    assert_eq!(trim(&world, EARLIER, false).await.events, 0);
    let report = trim(&world, LATER, true).await;
    assert_eq!(report.events, 6);
    assert_eq!(trim(&world, LATER, true).await.events, 6, "a dry run forgets nothing");
    let report = trim(&world, LATER, false).await;
    let trimmed: Vec<_> = (report.projects.iter())
        .map(|project| (project.project_id.as_str(), project.events, project.oldest))
        .collect();
    assert_eq!(trimmed, [("atlas", 5, 6), ("borealis", 1, 2)]);
    assert_eq!(trim(&world, LATER, false).await.events, 0);
    let refused =
        owner.get("/v1/projects/atlas/events?after=4").await.refused(410, "event_cursor_too_old");
    assert_eq!(refused["oldest"], 6);
    // Numbers go on where they were, and nothing else is missing.
    owner.deposit(&package("pkg_more")).await;
    let report = owner.post("/accord/v1/verify", &json!({})).await.expect(200);
    assert_eq!(report["report"]["problem_count"], 0, "{report}");
}

#[tokio::test]
async fn only_administrators_forget_and_only_in_their_projects() {
    let world = World::new();
    world.owner().deposit(&package("pkg_1")).await;
    world.owner().deposit(&package_with("pkg_b", json!({"project_id": "borealis"}))).await;
    let memory = world.host.memory();
    let asked = |project: Option<&str>| Trim {
        before: instant(LATER),
        project: project.map(project_id),
        dry_run: false,
    };
    let writer = Caller::key("k", &KeyScope::new(vec![Verb::Write], None));
    memory.trim_events(&writer, &asked(None)).await.unwrap_err();
    let scope = KeyScope::new(vec![Verb::Admin], Some(vec![project_id("borealis")]));
    let admin = Caller::key("k", &scope);
    memory.trim_events(&admin, &asked(Some("atlas"))).await.unwrap_err();
    let report = memory.trim_events(&admin, &asked(None)).await.unwrap();
    assert_eq!(report.projects[0].project_id.as_str(), "borealis");
    assert_eq!(report.projects.len(), 1);
    let sweep = Sweep { before: instant(LATER), dry_run: false };
    memory.sweep_blobs(&admin, sweep).await.unwrap_err();
}

#[tokio::test]
async fn blobs_that_nothing_names_go() {
    let world = World::new();
    let owner = world.owner();
    let path = |content: &str, project: &str| {
        format!("/v1/blobs/sha256:{}{project}", sha256(content.as_bytes()).hex())
    };
    for (content, project) in [
        ("named", "?project_id=atlas"),
        ("named", "?project_id=borealis"),
        ("in a fact", "?project_id=atlas"),
        ("unnamed", "?project_id=atlas"),
        ("loose", ""),
    ] {
        owner.ask("PUT", &path(content, project), &[], content).await.expect(201);
    }
    let hash = format!("sha256:{}", sha256(b"named").hex());
    let deliverables = json!([{"path": "a", "type": "md", "hash": hash}]);
    owner.deposit(&package_with("pkg_1", json!({"deliverables": deliverables}))).await;
    let value = format!("sha256:{}", sha256(b"in a fact").hex());
    let fact = json!({"subject": "build", "predicate": "artefact", "value": value});
    owner.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    let memory = world.host.memory();
    let sweep = |before: &str, dry_run| Sweep { before: instant(before), dry_run };
    let caller = Caller::owner();
    let report = memory.sweep_blobs(&caller, sweep(EARLIER, false)).await.unwrap();
    assert_eq!((report.links, report.files), (0, 0), "what is young stays");
    for dry_run in [true, false] {
        let report = memory.sweep_blobs(&caller, sweep(LATER, dry_run)).await.unwrap();
        assert_eq!((report.links, report.files, report.bytes), (2, 2, 12), "{dry_run}");
    }
    for (content, there) in [("named", 200), ("in a fact", 200), ("unnamed", 404), ("loose", 404)] {
        assert_eq!(owner.get(&path(content, "")).await.status, there, "{content}");
    }
    // The project whose package names it has it, the other no more.
    assert_eq!(owner.get(&path("named", "?project_id=atlas")).await.status, 200);
    assert_eq!(owner.get(&path("named", "?project_id=borealis")).await.status, 404);
    let report = owner.post("/accord/v1/verify", &json!({})).await.expect(200);
    assert_eq!(report["report"]["problem_count"], 0, "{report}");
}

#[tokio::test]
async fn nothing_goes_that_no_setting_says() {
    let world = World::new();
    world.owner().deposit(&package("pkg_1")).await;
    let memory = world.host.memory().clone();
    let never = std::future::pending();
    memory.retain_daily(Retention::default(), never).await;
    assert_eq!(trim(&world, LATER, true).await.events, 1);
    let all = Retention { events_days: Some(0), blobs_days: Some(0) };
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    memory.retain(all).await.unwrap();
    assert_eq!(trim(&world, LATER, true).await.events, 0);
    // It ends with the host.
    memory.retain_daily(all, async {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_has_every_blob_that_it_names_also_while_blobs_are_swept() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..150 {
        let content = format!("content {number}");
        let digest = sha256(content.as_bytes()).hex();
        let path = format!("/v1/blobs/sha256:{digest}?project_id=atlas");
        owner.ask("PUT", &path, &[], &content).await.expect(201);
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let asked = json!({"to": copy.to_str().unwrap()});
    let copying = owner.clone();
    let copying =
        tokio::spawn(
            async move { copying.post("/accord/v1/store/backup", &asked).await.expect(200) },
        );
    // As soon as the copy of the store is there, which names them all.
    let store = copy.join("accord.db.copy");
    while !store.exists() && !copying.is_finished() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let swept = owner.post("/accord/v1/store/sweep", &json!({"days": 0})).await;
    assert_eq!(swept.expect(200)["files"], 150);
    copying.await.unwrap();
    let connection = rusqlite::Connection::open(copy.join("accord.db")).unwrap();
    let mut named = connection.prepare("SELECT lower(hex(digest)) FROM blob").unwrap();
    let named = named.query_map((), |row| row.get::<_, String>(0)).unwrap();
    let mut count = 0;
    for digits in named.map(Result::unwrap) {
        let file = copy.join("blobs").join(&digits[..2]).join(&digits);
        assert!(file.is_file(), "{digits} is named, and not there");
        count += 1;
    }
    assert_eq!(count, 150);
}
