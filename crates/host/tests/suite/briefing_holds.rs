//! What still holds is in the briefing, whatever its age and however much noise is around it.

use accord_base::tokens;
use serde_json::{Value, json};

use crate::support::{Answer, Asker, World, days_ago, package_with};

/// A note of an agent, with other members.
fn note(id: &str, days: u32, members: Value) -> Value {
    let mut document = package_with(
        id,
        json!({"title": format!("Note {id}"), "package_type": "standard", "significance": 5,
            "description": "", "content_md": "", "decisions_made": [], "open_questions": [],
            "handoff_note": "", "created_by": {"id": "builder", "type": "agent"},
            "created_at": days_ago(days)}),
    );
    document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    document
}

async fn briefing(asker: &Asker, max_tokens: u32) -> String {
    let path = format!("/v1/projects/atlas/orient?format=briefing&max_tokens={max_tokens}");
    let answer = asker.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(tokens(&answer.text) <= max_tokens as usize, "{}", answer.text);
    answer.text
}

async fn review(asker: &Asker, id: &str, outcome: &str, note: &str) {
    let body = json!({"outcome": outcome, "note": note, "actor": {"id": "lead", "type": "human"}});
    asker.post(&format!("/v1/packages/{id}/review"), &body).await.expect(200);
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let places: Vec<_> = parts.iter().map(|part| text.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{parts:?} in\n{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_pause_of_90_days_nothing_that_holds_is_missing() {
    let world = World::new();
    let asker = world.owner();
    let decision = json!({"package_type": "decision", "decisions_made": ["Cents are integers"]});
    asker.deposit(&note("decision", 95, decision)).await;
    let handoff = json!({"handoff_note": "Next: make the importer idempotent by line hash"});
    asker.deposit(&note("handoff", 92, handoff)).await;
    let asks = json!({"open_questions": ["Does the bank send duplicates on purpose?"]});
    asker.deposit(&note("asks", 93, asks)).await;
    let waits = json!({"status": "awaiting_review", "review_type": "human"});
    asker.deposit(&note("waits", 91, waits)).await;
    review(&asker, "waits", "revision_requested", "Round half to even").await;
    let text = briefing(&asker, 1_000).await;
    has(
        &text,
        &[
            "Cents are integers",
            "make the importer idempotent",
            "Does the bank send duplicates",
            "Round half to even",
        ],
    );
    let bundle = asker.get("/v1/projects/atlas/orient").await.expect(200);
    assert_eq!(bundle["recent_packages"], json!([]), "the bundle keeps its window");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_with_packages_is_never_empty() {
    let world = World::new();
    let asker = world.owner();
    for id in ["one", "two"] {
        asker.deposit(&note(id, 40, json!({}))).await;
    }
    let text = briefing(&asker, 1_000).await;
    has(&text, &["[one]", "[two]"]);
    assert!(!text.contains("Nothing is recorded"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_reviewers_wrote_comes_first_and_stands_beside_the_package() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&note("rule", 3, json!({"significance": 10}))).await;
    let waits = json!({"status": "awaiting_review", "review_type": "human"});
    for id in ["changes", "approved", "flagged"] {
        asker.deposit(&note(id, 2, waits.clone())).await;
    }
    let before = asker.get("/v1/packages/changes").await;
    assert_eq!(before.header("x-review"), "");
    let said = "Name the \u{20ac} amount\u{7f}\nand the \u{1f980}";
    review(&asker, "changes", "revision_requested", said).await;
    review(&asker, "approved", "complete", "Only if the table is removed").await;
    let flag = json!({"review_type": "human", "note": "Look at line 7 \u{2014} please",
        "actor": {"id": "checker", "type": "agent"}});
    asker.deposit(&note("draft", 1, json!({"status": "draft"}))).await;
    asker.post("/v1/packages/draft/flag", &flag).await.expect(200);
    let text = briefing(&asker, 1_000).await;
    in_order(&text, &["## Asked by reviewers", "human:lead says:", "> Name the", "[rule]"]);
    in_order(&text, &["human:lead says: Only if the table is removed", "[rule]"]);
    in_order(&text, &["agent:checker says: Look at line 7", "[rule]"]);

    let reviewed = |answer: &Answer| -> Value {
        let review = answer.header("x-review");
        assert!(review.is_ascii(), "{review}");
        serde_json::from_str(review).unwrap()
    };
    let answer = asker.get("/v1/packages/changes").await;
    let found = reviewed(&answer);
    assert_eq!(found["note"], said);
    assert_eq!(
        (&found["status"], &found["actor"]["id"]),
        (&json!("revision_requested"), &json!("lead"))
    );
    assert!(!answer.text.contains("Name the"), "the package is as it was deposited");
    let list = asker.get("/v1/projects/atlas/packages?limit=50").await.expect(200);
    assert_eq!(list["x-reviews"]["approved"]["note"], "Only if the table is removed");
    assert_eq!(list["x-reviews"].as_object().unwrap().len(), 3);
    // A long note is cut in the header, and whole in the log.
    asker.deposit(&note("long", 1, waits)).await;
    review(&asker, "long", "revision_requested", &"\u{20ac} 5. ".repeat(800)).await;
    let answer = asker.get("/v1/packages/long").await;
    assert!(answer.header("x-review").len() <= 4_000);
    assert!(reviewed(&answer)["note"].as_str().unwrap().ends_with(" chars)"));
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_hide_no_decision_and_repeated_ones_are_one_line() {
    let world = World::new();
    let asker = world.owner();
    let decision = json!({"title": "Chose SQLite", "significance": 6, "package_type": "decision",
        "decisions_made": ["One file per project"]});
    asker.deposit(&note("decision", 12, decision)).await;
    let handoff = json!({"handoff_note": "Next: write the backup, then ask the lead"});
    asker.deposit(&note("handoff", 11, handoff)).await;
    let lines = (0..600).map(|number| {
        let members = json!({"title": format!("Part {number} done"),
            "handoff_note": "still working", "description": format!("Part {number} took 3 s.")});
        format!("{}\n", note(&format!("n{number}"), 1 + number % 9, members))
    });
    let lines: String = lines.collect();
    let kind = [("content-type", "application/x-ndjson")];
    asker.ask("POST", "/v1/projects/atlas/import", &kind, &lines).await.expect(200);
    let text = briefing(&asker, 1_000).await;
    has(&text, &["Chose SQLite", "One file per project", "write the backup", " similar)"]);
    assert_eq!(text.matches("done [n").count(), 1, "{text}");
    let handoffs = text.split("## Latest handoff").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(!handoffs.contains("still working"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_and_its_parent_are_one_item() {
    let world = World::new();
    let asker = world.owner();
    let parent = json!({"title": "Backups", "package_type": "decision", "significance": 9,
        "decisions_made": ["Keep backups for 30 days in Oslo"]});
    asker.deposit(&note("parent", 5, parent)).await;
    let child = json!({"title": "Backups, corrected", "parent_package_id": "parent",
        "description": "Not 30 days but 14."});
    asker.deposit(&note("child", 1, child)).await;
    let text = briefing(&asker, 1_000).await;
    in_order(&text, &["## Rules", "[child]", "Not 30 days but 14.", "follows Backups [parent]"]);
    has(&text, &["Keep backups for 30 days in Oslo"]);
    assert_eq!(text.matches("[parent]").count(), 1, "{text}");
    // The agent's package supersedes that of a person only after a person's review.
    let rule = json!({"title": "No Fridays", "created_by": {"id": "lead", "type": "human"}});
    asker.deposit(&note("rule", 4, rule)).await;
    let other = json!({"title": "Fridays are fine", "x-supersedes": ["rule", "child"]});
    asker.deposit(&note("other", 0, other)).await;
    let text = briefing(&asker, 1_000).await;
    has(&text, &["No Fridays", "Fridays are fine"]);
    assert!(!text.contains("[child]"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_are_chosen_by_their_use() {
    let world = World::new();
    let asker = world.owner();
    let decision = json!({"decisions_made": ["Production moves to eu-north on Monday"]});
    asker.deposit(&note("decision", 1, decision)).await;
    let put = async |subject: &str, predicate: &str, value: String| {
        let fact = json!({"subject": subject, "predicate": predicate, "value": value});
        asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    };
    put("production", "region", "eu-west".to_owned()).await;
    put("database", "version", "15.4".to_owned()).await;
    for hour in 0..60 {
        put("metrics", &format!("requests in hour {hour}"), format!("{hour}17")).await;
        put("queue", "depth", hour.to_string()).await;
    }
    let text = briefing(&asker, 600).await;
    in_order(&text, &["production region = eu-west", "database version = 15.4"]);
    assert!(text.matches("metrics requests").count() <= 1, "{text}");
    let text = briefing(&asker, 2_000).await;
    has(&text, &["metrics requests in hour 59 = 5917 (+59 similar)", "queue depth = 59"]);
    in_order(&text, &["database version", "queue depth"]);
}
