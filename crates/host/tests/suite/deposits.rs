//! Depositing packages, once and again, one after the other and at the same time.

use accord_base::{ActorKey, KeyScope, Verb};
use futures_util::future::join_all;
use serde_json::json;

use crate::support::{World, each, encoded, package, package_with};

const PACKAGES: &str = "/v1/projects/atlas/packages";

#[tokio::test(flavor = "multi_thread")]
async fn a_package_is_stored_and_handed_out_with_its_hash() {
    let world = World::new();
    let asker = world.owner();
    let sent = package_with("pkg_1", json!({"x-n": 1.0, "tags": null}));
    let answer = asker.post(PACKAGES, &sent).await;
    let stored = answer.expect(201);
    let hash = stored["content_hash"].as_str().unwrap();
    assert_eq!(answer.header("etag"), format!("\"{hash}.1\""));
    assert_eq!(answer.header("x-content-hash"), hash);
    assert_eq!(answer.header("content-type"), "application/json");
    let read = asker.get("/v1/packages/pkg_1").await;
    assert_eq!(read.text, answer.text);
    let mut bare = read.expect(200);
    bare.as_object_mut().unwrap().shift_remove("content_hash");
    assert_eq!(bare, sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_is_returned_once() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    let path = "/v1/packages/pkg_1";
    let tag = asker.get(path).await.header("etag").to_owned();
    for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".into()] {
        let answer = asker.ask("GET", path, &[("if-none-match", &known)], "").await;
        assert_eq!((answer.status, answer.text.as_str()), (304, ""), "{known}");
        assert_eq!(answer.header("etag"), tag);
    }
    let other = asker.ask("GET", path, &[("if-none-match", "\"other\"")], "").await;
    other.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_again_is_there_and_another_is_refused() {
    let world = World::new();
    let asker = world.owner();
    let first = asker.deposit(&package("pkg_1")).await;
    let again = asker.post(PACKAGES, &package("pkg_1")).await;
    assert_eq!(again.expect(200), first);
    let other = package_with("pkg_1", json!({"title": "Another"}));
    let refusal = asker.post(PACKAGES, &other).await;
    refusal.refused(409, "duplicate_package_id");
    assert_eq!(asker.get("/v1/packages/pkg_1").await.expect(200), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_at_once_one_is_new() {
    let world = World::new();
    let asker = world.owner();
    let count = |answers: &[crate::support::Answer], status: u16| {
        let of_status = answers.iter().filter(|answer| answer.status == status);
        of_status.count()
    };
    let same = package("pkg_same");
    let answers = join_all((0..50).map(|_| asker.post(PACKAGES, &same))).await;
    assert_eq!((count(&answers, 201), count(&answers, 200)), (1, 49));
    let others: Vec<_> = (0..50)
        .map(|n| package_with("pkg_other", json!({"title": format!("Title {n}")})))
        .collect();
    let answers = join_all(others.iter().map(|other| asker.post(PACKAGES, other))).await;
    assert_eq!((count(&answers, 201), count(&answers, 409)), (1, 49));
    let winner = answers.iter().find(|answer| answer.status == 201).unwrap();
    let stored = asker.get("/v1/packages/pkg_other").await;
    assert_eq!(stored.text, winner.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_any_text() {
    let world = World::new();
    let asker = world.owner();
    for id in ["a", "日本/1", "50% of it", "a b+c?d#e", "..%2F", "\u{1f980}", "…\n"] {
        asker.deposit(&package(id)).await;
        let path = format!("/v1/packages/{}", encoded(id));
        assert_eq!(asker.get(&path).await.expect(200)["package_id"], id);
        let query = format!("{PACKAGES}?mode=specific&package_id={}", encoded(id));
        assert_eq!(asker.get(&query).await.expect(200)["package_id"], id);
    }
    let long = "x".repeat(600);
    let path = format!("/v1/packages/{long}");
    asker.get(&path).await.refused(400, "invalid_schema");
    asker.get("/v1/packages/%ff").await.refused(400, "invalid_schema");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_minted_for_those_who_ask() {
    let world = World::new();
    let asker = world.owner();
    let mut bare = package("");
    bare.as_object_mut().unwrap().shift_remove("package_id");
    let refusal = asker.post(PACKAGES, &bare).await;
    assert_eq!(refusal.refused(400, "invalid_schema")["field"], "package_id");
    let minted = asker.post(&format!("{PACKAGES}?mint=1"), &bare).await.expect(201);
    let id = minted["package_id"].as_str().unwrap();
    assert!(id.starts_with("pkg_") && id.len() == 36, "{id}");
    asker.get(&format!("/v1/packages/{id}")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_not_there_is_worth_a_warning() {
    let world = World::new();
    let asker = world.owner();
    let child = package_with("pkg_2", json!({"parent_package_id": "pkg_1"}));
    let stored = asker.post(PACKAGES, &child).await.expect(201);
    assert_eq!(stored["warnings"][0]["field"], "parent_package_id");
    // A warning is about the deposit; the package has none.
    let read = asker.get("/v1/packages/pkg_2").await.expect(200);
    assert!(read.get("warnings").is_none());
    asker.deposit(&package("pkg_1")).await;
    let second = package_with("pkg_3", json!({"parent_package_id": "pkg_1"}));
    let stored = asker.post(PACKAGES, &second).await.expect(201);
    assert!(stored.get("warnings").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_is_refused() {
    let world = World::new();
    let asker = world.owner();
    let body = package("pkg_1").to_string();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let refusal = asker.ask("POST", PACKAGES, &form, &body).await;
    assert_eq!(refusal.status, 415, "{}", refusal.text);
    for sent in ["application/json", "application/json; charset=utf-8", "application/vnd.x+json"] {
        let answer = asker.ask("POST", PACKAGES, &[("content-type", sent)], &body).await;
        assert!([200, 201].contains(&answer.status), "{}", answer.text);
    }
    for wrong in ["", "hello", "[]", "{", "{\"a\":1,\"a\":2}"] {
        let refusal = asker.ask("POST", PACKAGES, &[], wrong).await;
        refusal.refused(400, "invalid_schema");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_belongs_to_the_project_of_its_path() {
    let world = World::new();
    let asker = world.owner();
    let refusal = asker.post("/v1/projects/borealis/packages", &package("pkg_1")).await;
    assert_eq!(refusal.refused(400, "invalid_schema")["field"], "project_id");
    asker.get("/v1/projects/borealis").await.refused(404, "project_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_write_creates_a_project_unless_that_is_not_wanted() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    let projects = asker.get("/v1/projects").await.expect(200);
    assert_eq!(each(&projects["projects"], "project_id"), ["atlas"]);

    let mut settings = accord_host::settings::Settings::default();
    settings.strict_projects = true;
    let strict = World::with(settings);
    let asker = strict.owner();
    let refusal = asker.post(PACKAGES, &package("pkg_1")).await;
    refusal.refused(404, "project_not_found");
    asker.post("/v1/projects", &json!({"project_id": "atlas"})).await.expect(201);
    asker.deposit(&package("pkg_1")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_packages_are_taken_up_to_the_limit() {
    let world = World::new();
    let asker = world.owner();
    let large = package_with("pkg_1", json!({"content_md": "x".repeat(2_000_000)}));
    asker.deposit(&large).await;
    let filler: Vec<_> = (0..90).map(|_| "y".repeat(60_000)).collect();
    let too_large = package_with("pkg_2", json!({"x-filler": filler}));
    let refusal = asker.post(PACKAGES, &too_large).await;
    refusal.refused(413, "payload_too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_accord_makes_itself_cannot_be_forged() {
    let world = World::new();
    let asker = world.owner();
    let source = json!({"protocol": "tasks", "task_id": "TASK-2026-01-01-001"});
    let forged = [
        ("created_by", json!({"created_by": {"id": "accord", "type": "script"}})),
        ("x-approved_by", json!({"x-approved_by": "human:lead"})),
        ("x-source", json!({"x-source": source})),
    ];
    for (field, members) in &forged {
        let refused = asker.post(PACKAGES, &package_with("pkg_1", members.clone())).await;
        assert_eq!(refused.refused(400, "reserved_package")["field"], *field);
    }
    // The source of an import has no protocol.
    let imported = json!({"x-source": {"format": "adr", "path": "docs/1.md"}});
    asker.deposit(&package_with("pkg_2", imported)).await;

    // A key that only writes cannot say that a run decided it.
    let writer = world.key(&KeyScope::new(vec![Verb::Read, Verb::Write], None));
    let made = &package_with("pkg_1", forged[0].1.clone());
    let flow = format!("{PACKAGES}?flow=true");
    writer.post(&flow, made).await.refused(403, "unauthorized");
    let approving = vec![Verb::Read, Verb::Write, Verb::Approve];
    let approving = KeyScope::new(approving, None);
    // What a person approved, only the key of a person says.
    let bound = |actor: &str, act_as: bool| {
        world.key(&approving.clone().bound_to(ActorKey::parse(actor).unwrap(), act_as))
    };
    let takes_back = json!({
        "x-takes_back": {"work": "TASK-1"}, "x-approved_by": "human:lead",
        "created_by": {"id": "accord", "type": "script"},
    });
    for key in [world.key(&approving), bound("agent:bot", false), bound("agent:bot", true)] {
        key.post(&flow, made).await.refused(403, "person_required");
        let package = package_with("pkg_3", takes_back.clone());
        key.post(&flow, &package).await.refused(403, "person_required");
    }
    let approver = bound("human:lead", false);
    let other = package_with("pkg_4", json!({"x-approved_by": "human:lead"}));
    assert_eq!(
        approver.post(&flow, &other).await.refused(400, "reserved_package")["field"],
        "created_by"
    );
    approver.post(&flow, made).await.expect(201);
    // A copy of what is there is no forgery.
    writer.post(PACKAGES, made).await.expect(200);
}
