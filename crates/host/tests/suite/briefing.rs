//! The briefing of a real project: what the next agent can read of it.

use accord_base::tokens;
use serde_json::{Value, json};

use crate::support::{Asker, World, days_ago, package_with};

/// Some weeks of work by people and agents.
async fn history(asker: &Asker) {
    let put = async |id: &str, days: u32, members: Value| {
        let mut document = package_with(id, members);
        document["created_at"] = days_ago(days).into();
        asker.deposit(&document).await;
    };
    for number in 0..40 {
        let members = json!({"title": format!("Automatic record {number}"), "significance": 2,
            "package_type": "auto_deposit", "handoff_note": "files changed: 3",
            "created_by": {"id": "hook", "type": "script"}});
        put(&format!("pkg_auto{number:02}"), 1 + number % 3, members).await;
    }
    put(
        "pkg_rule",
        20,
        json!({"title": "Amounts are integers of cents", "significance": 10,
        "package_type": "decision", "created_by": {"id": "lead", "type": "human"},
        "decisions_made": ["Never use floating point for money; round half to even once"]}),
    )
    .await;
    put(
        "pkg_old_rule",
        18,
        json!({"title": "Deploy on Fridays only", "significance": 9,
        "package_type": "decision", "decisions_made": ["Fridays are quiet"]}),
    )
    .await;
    put(
        "pkg_new_rule",
        6,
        json!({"title": "Deploy from Monday to Thursday", "significance": 9,
        "package_type": "decision", "x-supersedes": ["pkg_old_rule"],
        "decisions_made": ["No deployment before a weekend"]}),
    )
    .await;
    put(
        "pkg_asks",
        5,
        json!({"title": "Importer planned", "open_questions":
        ["Which encoding do the files have?", "Does the bank send duplicates on purpose?"]}),
    )
    .await;
    put(
        "pkg_answers",
        4,
        json!({"title": "Encoding found",
        "decisions_made": ["Files are UTF-8: the bank confirmed it"],
        "x-answers": [{"question": "Which encoding do the files have?"}]}),
    )
    .await;
    let body =
        "## Step\n\nThe importer reads a page, checks each line, writes a batch.\n".repeat(520);
    put(
        "pkg_handoff",
        2,
        json!({"title": "CSV importer: parser done", "significance": 10,
        "package_type": "handoff", "content_md": body,
        "created_by": {"id": "claude-code", "type": "agent"},
        "decisions_made": ["Batches of 500 lines: larger ones hold the lock too long"],
        "handoff_note": "Next: make write_batch in src/import/batch.rs idempotent by line hash, \
            then run `cargo test -p billing import`. Do not touch src/ledger."}),
    )
    .await;
    put(
        "pkg_review",
        3,
        json!({"title": "Dunning letters: new text", "status": "awaiting_review",
        "review_type": "human", "handoff_note": "Legal must confirm the wording."}),
    )
    .await;
    for number in 0..8 {
        let members = json!({"title": format!("Invoice export, step {number}"),
            "decisions_made": [format!("Step {number} keeps the order of columns")]});
        put(&format!("pkg_work{number}"), 6 + number, members).await;
    }
    for (subject, predicate, value) in
        [("service:billing", "version", "2.4.1"), ("src/ledger", "owner", "codex")]
    {
        let fact = json!({"subject": subject, "predicate": predicate, "value": value});
        asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    let session = json!({"actor_id": "codex", "actor_type": "agent", "callsign": "amber-otter"});
    asker.post("/v1/projects/atlas/sessions", &session).await.expect(201);
}

async fn briefing(asker: &Asker, max_tokens: u32) -> String {
    let path = format!("/v1/projects/atlas/orient?format=briefing&max_tokens={max_tokens}");
    let answer = asker.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.headers["content-type"], "text/markdown; charset=utf-8");
    println!("{}\n{} tokens\n", answer.text, tokens(&answer.text));
    assert!(tokens(&answer.text) <= max_tokens as usize, "{}", answer.text);
    answer.text
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_briefing_has_what_the_next_agent_needs_at_every_size() {
    let world = World::new();
    let asker = world.owner();
    history(&asker).await;
    for size in [600, 1_000, 2_000, 8_000] {
        let text = briefing(&asker, size).await;
        // A rule of any age, the handoff, and that something waits: at every size.
        has(&text, &["Never use floating point for money", "[pkg_rule]"]);
        has(&text, &["[pkg_handoff]", "make write_batch in src/import/batch.rs idempotent"]);
        has(&text, &["Dunning letters: new text", "[pkg_review]", "waits for review by human"]);
        has(&text, &["Does the bank send duplicates on purpose?"]);
        has(&text, &["40 automatic deposits of low significance"]);
        // What was answered or superseded is left out.
        assert!(!text.contains("Which encoding do the files have?"), "{text}");
        assert!(!text.contains("Deploy on Fridays"), "{text}");
        assert!(!text.contains("Automatic record"), "{text}");
    }
    let text = briefing(&asker, 1_000).await;
    has(
        &text,
        &[
            "Deploy from Monday to Thursday",
            "cargo test -p billing import",
            "Do not touch src/ledger",
            "Batches of 500 lines",
            "Legal must confirm the wording.",
            "service:billing version = 2.4.1",
            "agent:codex (amber-otter)",
        ],
    );
    let text = briefing(&asker, 8_000).await;
    has(&text, &["decided: Step 7 keeps the order of columns", "Files are UTF-8", "The importer"]);
    assert!(!text.contains("recent packages"), "all work fits\n{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_form_and_the_focus_are_asked_for_in_the_query() {
    let world = World::new();
    let asker = world.owner();
    history(&asker).await;
    let path = "/v1/projects/atlas/orient?format=briefing-json&max_tokens=1500";
    let read = asker.get(path).await.expect(200);
    assert_eq!(read["handoffs"][0]["package_id"], "pkg_handoff");
    assert_eq!(read["standing"][0]["package_id"], "pkg_rule");
    assert_eq!(read["automatic_deposits"]["count"], 40);
    let left_out = read["left_out"].as_array().unwrap();
    let of = |name: &str| left_out.iter().find(|entry| entry["section"] == name);
    let missing = of("standing").unwrap()["count"].as_u64().unwrap();
    // Milestones: two rules, a question, its answer and eight steps.
    assert_eq!(missing + read["standing"].as_array().unwrap().len() as u64, 12);
    // With a focus, older work about it comes first.
    let path = "/v1/projects/atlas/orient?format=briefing-json&window_days=1&max_tokens=1500\
        &focus=step+7+columns";
    let read = asker.get(path).await.expect(200);
    assert_eq!(read["standing"][0]["package_id"], "pkg_work7");
    // Without a format, the answer is the bundle of the protocol.
    let bundle = asker.get("/v1/projects/atlas/orient").await.expect(200);
    assert!(bundle["recent_packages"].is_array() && bundle["window_days"] == 14);
    for wrong in ["format=briefing&max_tokens=299", "max_tokens=1999", "focus=x", "format=prose"] {
        let answer = asker.get(&format!("/v1/projects/atlas/orient?{wrong}")).await;
        answer.refused(400, "invalid_schema");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_in_the_briefing_of_its_author_alone() {
    let world = World::new();
    let draft = json!({"title": "Half a plan", "status": "draft",
        "created_by": {"id": "ada", "type": "agent"}});
    world.key_of("ada").deposit(&package_with("pkg_draft", draft)).await;
    let own = briefing(&world.key_of("ada"), 600).await;
    has(&own, &["Half a plan", "[pkg_draft]", "draft"]);
    let other = briefing(&world.key_of("bob"), 600).await;
    assert!(!other.contains("pkg_draft") && !other.contains("recent package"), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_were_never_ended_are_shown_while_they_are_active() {
    let world = World::new();
    let asker = world.owner();
    let session = |id: &str, days: u32| {
        let document = json!({
            "session_id": id, "project_id": "atlas", "actor_id": id, "actor_type": "agent",
            "callsign": null, "started_at": days_ago(days), "ended_at": null,
            "packages_deposited": [],
        });
        format!("{document}\n")
    };
    let lines = [session("fresh", 0), session("stale", 2), session("long", 9), session("old", 90)];
    let lines_type = [("content-type", "application/x-ndjson")];
    let path = "/v1/projects/atlas/import";
    asker.ask("POST", path, &lines_type, &lines.concat()).await.expect(200);
    for (id, session, days) in [("pkg_1", "long", 0), ("pkg_2", "old", 30)] {
        let author = json!({"id": session, "type": "agent", "session_id": session});
        let members = json!({"created_by": author, "created_at": days_ago(days)});
        asker.deposit(&package_with(id, members)).await;
    }
    let text = briefing(&asker, 2_000).await;
    let active = text.split("## Active now\n").nth(1).unwrap().split("\n\n").next().unwrap();
    has(active, &["agent:fresh", "agent:long"]);
    assert_eq!(active.lines().count(), 2, "{active}");
    has(&text, &["- 2 sessions idle for over 24 hours, not ended"]);
    let json = asker.get("/v1/projects/atlas/orient?format=briefing-json").await.expect(200);
    assert_eq!(json["active_sessions"].as_array().unwrap().len(), 2);
    assert_eq!(json["idle_sessions"], 2);
}
