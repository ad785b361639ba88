//! The life of a package after its deposit.

use accord_base::{KeyScope, Verb};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{World, each, package, package_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_package_goes_through_a_review() {
    let world = World::new();
    let asker = world.owner();
    let draft = asker.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    let note = json!({
        "review_type": "human", "note": "Look at the numbers.",
        "actor": {"id": "bob", "type": "human"},
    });
    let flagged = asker.post("/v1/packages/pkg_1/flag", &note).await;
    let tag = flagged.header("etag").to_owned();
    let flagged = flagged.expect(200);
    assert_eq!(
        (&flagged["status"], &flagged["review_type"]),
        (&json!("awaiting_review"), &json!("human"))
    );
    assert_ne!(flagged["content_hash"], draft["content_hash"]);
    assert_eq!(tag, format!("\"{}.2\"", flagged["content_hash"].as_str().unwrap()));
    let outcome = |outcome: &str| json!({"outcome": outcome});
    let asked =
        asker.post("/v1/packages/pkg_1/review", &outcome("revision_requested")).await.expect(200);
    assert_eq!(asked["status"], "revision_requested");
    let again = asker.ask("POST", "/v1/packages/pkg_1/resubmit", &[], "").await.expect(200);
    assert_eq!(again["status"], "awaiting_review");
    asker.post("/v1/packages/pkg_1/complete", &json!({})).await.refused(400, "invalid_transition");
    asker.post("/v1/packages/pkg_1/review", &outcome("complete")).await.expect(200);
    for (path, body) in [
        ("flag", note.clone()),
        ("review", outcome("complete")),
        ("resubmit", json!({})),
        ("complete", json!({})),
    ] {
        let refusal = asker.post(&format!("/v1/packages/pkg_1/{path}"), &body).await;
        refusal.refused(400, "invalid_transition");
    }
    let log = asker.get("/v1/packages/pkg_1/revisions").await.expect(200);
    let statuses = each(&log["revisions"], "status");
    assert_eq!(
        statuses,
        ["draft", "awaiting_review", "revision_requested", "awaiting_review", "complete"]
    );
    assert_eq!(log["revisions"][1]["note"], "Look at the numbers.");
    assert_eq!(log["revisions"][1]["actor"]["id"], "bob");
    assert_eq!(log["revisions"][0]["content_hash"], draft["content_hash"]);
    // What was deposited, and what it is now, are both the package that is there.
    let now = asker.get("/v1/packages/pkg_1").await.expect(200);
    let path = "/v1/projects/atlas/packages";
    for known in [package_with("pkg_1", json!({"status": "draft"})), now.clone()] {
        assert_eq!(asker.post(path, &known).await.expect(200), now);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_outcomes_at_once_one_comes_first() {
    let world = World::new();
    let asker = world.owner();
    for round in 0..5 {
        let id = format!("pkg_{round}");
        let waiting = json!({"status": "awaiting_review", "review_type": "agent"});
        asker.deposit(&package_with(&id, waiting)).await;
        let path = format!("/v1/packages/{id}/review");
        let bodies: Vec<Value> = (0..20)
            .map(|n| json!({"outcome": if n % 2 == 0 { "complete" } else { "revision_requested" }}))
            .collect();
        let answers = join_all(bodies.iter().map(|body| asker.post(&path, body))).await;
        let done = answers.iter().filter(|answer| answer.status == 200);
        let done: Vec<_> = done.map(|answer| answer.json()["status"].clone()).collect();
        // A revision can be requested once and the package completed once, in that order.
        assert!(done.len() <= 2 && done.contains(&json!("complete")), "{done:?}");
        assert!(answers.iter().all(|answer| [200, 400].contains(&answer.status)));
        let log = asker.get(&format!("/v1/packages/{id}/revisions")).await.expect(200);
        assert_eq!(log["revisions"].as_array().unwrap().len(), done.len() + 1);
        let last = asker.get(&format!("/v1/packages/{id}")).await.expect(200);
        assert_eq!(last["status"], "complete");
    }
}

/// After a round of revision the package has the hash that the first reviewer saw.
#[tokio::test(flavor = "multi_thread")]
async fn an_outdated_decision_is_refused_with_who_decided() {
    let world = World::new();
    let asker = world.owner();
    let waiting = json!({"status": "awaiting_review", "review_type": "human"});
    asker.deposit(&package_with("pkg_1", waiting)).await;
    let read = asker.ask("GET", "/v1/packages/pkg_1", &[], "").await;
    let tag = read.header("etag").to_owned();
    let hash = read.expect(200)["content_hash"].clone();
    let by = |outcome: &str, id: &str| {
        json!({"outcome": outcome, "actor": {"id": id, "type": "human"}}).to_string()
    };
    let path = "/v1/packages/pkg_1/review";
    asker
        .ask("POST", path, &[("if-match", &tag)], &by("revision_requested", "ada"))
        .await
        .expect(200);
    asker.post("/v1/packages/pkg_1/resubmit", &json!({"x-revision": 2})).await.expect(200);
    assert_eq!(asker.get("/v1/packages/pkg_1").await.expect(200)["content_hash"], hash);
    let late = asker.ask("POST", path, &[("if-match", &tag)], &by("complete", "bob")).await;
    let refused = late.refused(412, "decision_stale");
    assert_eq!(refused["revision"], 3, "{refused}");
    let late = json!({"outcome": "complete", "x-revision": 1});
    asker.post(path, &late).await.refused(412, "decision_stale");
    let weak = format!("W/{tag}");
    let late = asker.ask("POST", path, &[("if-match", &weak)], &by("complete", "bob")).await;
    late.refused(412, "decision_stale");
    // Of many that saw the same, one decides.
    let now = asker.ask("GET", "/v1/packages/pkg_1", &[], "").await.header("etag").to_owned();
    let bodies = ["complete", "revision_requested"].map(|outcome| by(outcome, "ada"));
    let current = [("if-match", now.as_str())];
    let asked = (0..20).map(|n| asker.ask("POST", path, &current, &bodies[n % 2]));
    let answers = join_all(asked).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        let refused = answer.refused(412, "decision_stale");
        assert_eq!(refused["actor"], "human:ada", "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_write_may_not_review() {
    let world = World::new();
    world.owner().deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    let writer = world.key(&KeyScope::new(vec![Verb::Write], None));
    let reviewer = world.key(&KeyScope::new(vec![Verb::Review], None));
    let flag = json!({"review_type": "agent"});
    reviewer.post("/v1/packages/pkg_1/flag", &flag).await.refused(403, "unauthorized");
    writer.post("/v1/packages/pkg_1/flag", &flag).await.expect(200);
    let outcome = json!({"outcome": "complete"});
    writer.post("/v1/packages/pkg_1/review", &outcome).await.refused(403, "unauthorized");
    reviewer.post("/v1/packages/pkg_1/review", &outcome).await.expect(200);
    reviewer.get("/v1/packages/pkg_1").await.refused(403, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_names_an_actor_writes_as_that_actor() {
    let world = World::new();
    let ada = world.key_of("ada");
    ada.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    let of_bob = package_with("pkg_2", json!({"created_by": {"id": "bob", "type": "agent"}}));
    let refusal = ada.post("/v1/projects/atlas/packages", &of_bob).await;
    refusal.refused(403, "unauthorized");
    let as_bob = json!({"review_type": "agent", "actor": {"id": "bob", "type": "agent"}});
    ada.post("/v1/packages/pkg_1/flag", &as_bob).await.refused(403, "unauthorized");
    ada.post("/v1/packages/pkg_1/flag", &json!({"review_type": "agent"})).await.expect(200);
    let log = ada.get("/v1/packages/pkg_1/revisions").await.expect(200);
    assert_eq!(log["revisions"][1]["actor"], json!({"id": "ada", "type": "agent"}));
    ada.deposit(&package("pkg_3")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_cannot_be_moved() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    let flag = json!({"review_type": "agent"});
    asker.post("/v1/packages/pkg_9/flag", &flag).await.refused(404, "package_not_found");
    asker
        .post("/v1/packages/pkg_1/flag", &json!({"review_type": "none"}))
        .await
        .refused(400, "invalid_schema");
    asker
        .post("/v1/packages/pkg_1/review", &json!({"outcome": "draft"}))
        .await
        .refused(400, "invalid_transition");
    asker.get("/v1/packages/pkg_9/revisions").await.refused(404, "package_not_found");
}

#[tokio::test]
async fn a_change_takes_all_members_that_its_document_allows() {
    let world = World::new();
    let asker = world.owner();
    // Integers of any size: only what is kept must have an exact form.
    let big = "\"x-own\":{\"n\":[-2023225700168224735232,18446744073709551617]},\"own\":1e300";
    let change = async |id: &str, path: &str, members: &str| {
        asker.ask("POST", &format!("/v1/packages/{id}/{path}"), &[], members).await
    };
    for id in ["pkg_1", "pkg_2"] {
        asker.deposit(&package_with(id, json!({"status": "draft"}))).await;
    }
    let done = change("pkg_1", "complete", &format!("{{{big}}}")).await.expect(200);
    assert_eq!(done["status"], "complete");
    let flag = format!("{{\"review_type\":\"agent\",{big}}}");
    change("pkg_2", "flag", &flag).await.expect(200);
    let review = |outcome: &str| format!("{{\"outcome\":\"{outcome}\",{big}}}");
    change("pkg_2", "review", &review("revision_requested")).await.expect(200);
    change("pkg_2", "resubmit", &format!("{{{big}}}")).await.expect(200);
    // The actor is kept, so its numbers must be exact.
    let actor = "{\"id\":\"a\",\"type\":\"agent\",\"n\":18446744073709551617}";
    let kept = &format!("{{\"outcome\":\"complete\",\"actor\":{actor}}}");
    let refused = change("pkg_2", "review", kept).await.refused(400, "invalid_schema");
    assert!(refused["pointer"].as_str().unwrap().starts_with("/actor"), "{refused}");
    let twice = "{\"outcome\":\"complete\",\"x\":1,\"x\":2}";
    change("pkg_2", "review", twice).await.refused(400, "invalid_schema");
    let last = change("pkg_2", "review", &review("complete")).await.expect(200);
    assert_eq!(last["status"], "complete");
}
