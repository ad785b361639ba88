//! Facts: chains under load, points in time, ids.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{World, each, package, package_with};

const FACTS: &str = "/v1/projects/atlas/facts";

fn fact(value: &str) -> Value {
    json!({"subject": "build", "predicate": "status", "value": value})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_at_once_are_a_chain() {
    let world = World::new();
    let asker = world.owner();
    let bodies: Vec<_> = (0..100).map(|n| fact(&format!("value {n}"))).collect();
    let answers = join_all(bodies.iter().map(|body| asker.post(FACTS, body))).await;
    assert!(answers.iter().all(|answer| answer.status == 201));
    let current = asker.get(FACTS).await.expect(200);
    assert_eq!(current["facts"].as_array().unwrap().len(), 1);
    let history = asker.get(&format!("{FACTS}?history=true&limit=1000")).await.expect(200);
    let history = history["facts"].as_array().unwrap();
    assert_eq!(history.len(), 100);
    for pair in history.windows(2) {
        assert_eq!(pair[0]["valid_to"], pair[1]["valid_from"]);
    }
    assert_eq!(history[99]["valid_to"], Value::Null);
    assert_eq!(history[99], current["facts"][0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_tells_what_held_when() {
    let world = World::new();
    let asker = world.owner();
    for (value, from) in [
        ("red", "2026-04-10T12:00:00Z"),
        ("green", "2026-04-12T12:00:00Z"),
        ("amber", "2026-04-11T12:00:00Z"),
    ] {
        let mut body = fact(value);
        body["valid_from"] = from.into();
        asker.post(FACTS, &body).await.expect(201);
    }
    for (query, expected) in [
        ("", vec!["green"]),
        ("?as_of=2026-04-10T11:59:59Z", vec![]),
        ("?as_of=2026-04-10T12:00:00Z", vec!["red"]),
        ("?as_of=2026-04-11T12:00:00Z", vec!["amber"]),
        ("?at=2026-04-12", vec!["amber"]),
        ("?history=true", vec!["red", "amber", "green"]),
        ("?subject=build&predicate=status", vec!["green"]),
        ("?subject=deploy", vec![]),
    ] {
        let list = asker.get(&format!("{FACTS}{query}")).await.expect(200);
        assert_eq!(each(&list["facts"], "value"), expected, "{query}");
    }
    let mut early = fact("blue");
    early["valid_from"] = "2026-04-01T00:00:00Z".into();
    let rejecting = format!("{FACTS}?if_out_of_order=reject");
    asker.post(&rejecting, &early).await.refused(409, "fact_out_of_order");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_ends_once() {
    let world = World::new();
    let asker = world.owner();
    let asserted = asker.post(FACTS, &fact("green")).await.expect(201);
    let path = format!("{FACTS}?subject=build&predicate=status");
    for (more, expected) in [("&object=red", 0), ("&value=green", 1), ("", 0)] {
        let ended = asker.delete(&format!("{path}{more}")).await.expect(200);
        assert_eq!(ended, json!({"invalidated": expected}), "{more}");
    }
    asker.delete(&format!("{FACTS}?subject=build")).await.refused(400, "invalid_schema");
    asker
        .delete("/v1/projects/nowhere/facts?subject=a&predicate=b")
        .await
        .refused(404, "project_not_found");
    let id = asserted["fact_id"].as_str().unwrap();
    let ended = asker.get(&format!("/v1/facts/{id}")).await.expect(200);
    assert_ne!(ended["valid_to"], Value::Null);
    asker.get("/v1/facts/fact_9").await.refused(404, "fact_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_again_can_be_nothing_new() {
    let world = World::new();
    let asker = world.owner();
    let first = asker.post(FACTS, &fact("green")).await.expect(201);
    let unchanged = asker.post(&format!("{FACTS}?if_changed=true"), &fact("green")).await;
    assert_eq!(unchanged.expect(200), first);
    asker.post(FACTS, &fact("green")).await.expect(201);
    let mut named = fact("red");
    named["fact_id"] = "fact_mine".into();
    let mine = asker.post(FACTS, &named).await.expect(201);
    assert_eq!(asker.post(FACTS, &named).await.expect(200), mine);
    named["value"] = "blue".into();
    asker.post(FACTS, &named).await.refused(409, "duplicate_fact_id");
    let other =
        json!({"subject": "build", "predicate": "status", "value": "red", "fact_id": "fact_mine"});
    asker.post("/v1/projects/borealis/facts", &other).await.expect(201);
    let error = asker.get("/v1/facts/fact_mine").await.refused(409, "ambiguous_fact_id");
    assert_eq!(error["projects"], json!(["atlas", "borealis"]));
    let one = asker.get("/v1/facts/fact_mine?project_id=atlas").await.expect(200);
    assert_eq!(one["project_id"], "atlas");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_is_by_the_author_of_its_source() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    let hidden = json!({"status": "draft", "created_by": {"id": "bob", "type": "agent"}});
    asker.deposit(&package_with("pkg_2", hidden)).await;
    let from = |source: &str| {
        let mut body = fact("green");
        body["source_package_id"] = source.into();
        body
    };
    let asserted = asker.post(FACTS, &from("pkg_1")).await.expect(201);
    assert_eq!(asserted["asserted_by"], json!({"id": "ada", "type": "agent"}));
    let odd = asker.post(FACTS, &from("pkg_9")).await.expect(201);
    assert_eq!(odd["warnings"][0]["field"], "source_package_id");
    // A draft of another author is not visible.
    let ada = world.key_of("ada");
    let asserted = ada.post(FACTS, &from("pkg_2")).await.expect(201);
    assert_eq!(asserted["asserted_by"], json!({"id": "ada", "type": "agent"}));
    assert_eq!(asserted["warnings"][0]["field"], "source_package_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_facts_have_pages() {
    let world = World::new();
    let asker = world.owner();
    for n in 0..7 {
        let body = json!({"subject": format!("subject {n}"), "predicate": "is", "value": "there"});
        asker.post(FACTS, &body).await.expect(201);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = asker.get(&format!("{FACTS}?limit=3{cursor}")).await.expect(200);
        seen.extend(each(&page["facts"], "subject").into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = (0..7).map(|n| format!("subject {n}")).collect();
    assert_eq!(seen, expected);
}
