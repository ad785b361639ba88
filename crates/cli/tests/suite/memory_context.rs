//! Depositing and reading, as people and scripts do it.

use serde_json::Value;

use crate::accord::run;
use crate::memory::{Memory, bare};
use crate::snapshot;

#[test]
fn flags_make_a_package() {
    let memory = Memory::new();
    std::fs::write(memory.file("report.MD"), "hello\n").expect("written");
    let file = memory.file("report.MD");
    let said = memory.ran(&[
        "context",
        "deposit",
        "--title",
        "Done",
        "--decision",
        "a",
        "--decision",
        "b",
        "--question",
        "c?",
        "--handoff",
        "go on",
        "--type",
        "x-eval",
        "--significance",
        "8",
        "--tag",
        "t",
        "--topic",
        "db",
        "--deliverable",
        &file,
        "--deliverable",
        "https://example.org/a.json",
        "--session",
        "s1",
        "--description",
        "at length",
        "--actor",
        "human:lead",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.messages(), "warning: no session \"s1\" is in this project yet\n");
    let said = said.stdout;
    let id = said.split_whitespace().nth(1).expect("an id");
    assert!(id.len() == 36 && id.starts_with("pkg_"), "{said}");
    assert!(said.lines().nth(1).is_some_and(|line| line.starts_with("sha256:")), "{said}");
    let package = memory.json(&["context", "pull", id]);
    let expected = serde_json::json!({
        "package_id": id, "project_id": "shop", "relay_version": "0.1", "title": "Done",
        "status": "complete", "package_type": "x-eval", "review_type": "none",
        "created_by": {"id": "lead", "type": "human", "session_id": "s1"},
        "description": "at length", "tags": ["t"], "decisions_made": ["a", "b"],
        "open_questions": ["c?"],
        "handoff_note": "go on", "significance": 8, "topic": "db",
        "deliverables": [
            {"path": file, "type": "md", "size_bytes": 6,
             "hash": "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"},
            {"path": "https://example.org/a.json", "type": "json"},
        ],
    });
    for (name, value) in expected.as_object().expect("members") {
        assert_eq!(&package[name], value, "{name}");
    }
    let shown = memory.ran(&["context", "pull", id]).yes();
    for part in
        ["Done", "decided  b", "asks     c?", "handoff  go on", "significance 8", "#t", "6 bytes"]
    {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
}

#[test]
fn a_document_is_sent_as_it_stands() {
    let memory = Memory::new();
    let document =
        "{\n  \"title\": \"As it stands\", \"x-a\": 1.50, \"x-b\": {\"z\": 1, \"a\": null}\n}\n";
    let said = memory.ran_with(&["context", "deposit", "-", "--json"], document).yes();
    for token in ["\"x-a\":1.50", "\"x-b\":{\"z\":1,\"a\":null}"] {
        assert!(said.contains(token), "{token}: {said}");
    }
    assert_eq!(said.trim_end().lines().count(), 1);
    let whole = concat!(
        r#"{"package_id":"p","project_id":"other","relay_version":"0.1","title":"t","#,
        r#""status":"draft","package_type":"standard","review_type":"none","#,
        r#""created_at":"2026-04-18T20:00:00Z","created_by":{"id":"x","type":"script"}}"#
    );
    std::fs::write(memory.file("p.json"), whole).expect("written");
    let path = memory.file("p.json");
    let said = memory.ran(&["context", "deposit", &path, "--json"]).yes();
    assert!(said.starts_with(&whole[..whole.len() - 1]), "the document names its project: {said}");
    // What is said twice is refused rather than guessed.
    memory.ran(&["context", "deposit", &path, "--actor", "human:lead"]).refused("USAGE");
    let said =
        memory.ran(&["context", "deposit", &path, "--project", "shop"]).refused("invalid_schema");
    snapshot::check("a_document_is_sent_as_it_stands", &said);
    memory.ran(&["context", "deposit", &path, "--title", "both"]).refused("USAGE");
}

#[test]
fn what_is_no_package_is_refused_where_it_is_wrong() {
    let memory = Memory::new();
    let refused = |document: &str, code: &str| {
        memory.ran_with(&["context", "deposit", "-"], document).refused(code)
    };
    assert!(refused("{\"a\": }", "CANON_INVALID_JSON").contains("[input:1:7]"));
    refused("{\"title\": \"a\", \"title\": \"b\"}", "CANON_DUPLICATE_KEY");
    refused("[]", "invalid_schema");
    let said = refused(r#"{"title": "", "tags": ["a"]}"#, "invalid_schema");
    snapshot::check("what_is_no_package_is_refused_where_it_is_wrong", &said);
    let said = refused(r#"{"title": "t", "tags": ["a", 1]}"#, "invalid_schema");
    snapshot::check("what_is_no_package_is_refused_where_it_is_wrong-2", &said);
    assert!(!memory.data().join("accord.sock").exists());
}

#[test]
fn what_is_needed_is_asked_for() {
    let memory = Memory::new();
    let data = memory.data();
    let data = data.to_str().expect("text");
    let said =
        run(bare(&["context", "deposit", "--title", "t", "--data", data]), "").refused("USAGE");
    snapshot::check("what_is_needed_is_asked_for", &said);
    let args = ["context", "deposit", "--title", "t", "--data", data, "--project", "p"];
    let said = run(bare(&args), "").refused("USAGE");
    snapshot::check("what_is_needed_is_asked_for-2", &said);
    let said = run(bare(&["context", "pull", "--data", data, "--project", "p"]), "")
        .refused("STORE_MISSING");
    snapshot::check("what_is_needed_is_asked_for-3", &said);
    assert!(!memory.data().exists(), "a look makes nothing");
    let mut wrong = bare(&["context", "deposit", "--title", "t", "--data", data, "--project", "p"]);
    wrong.env("ACCORD_ACTOR", "planner");
    assert!(run(wrong, "").refused("USAGE").contains("ACCORD_ACTOR"));
    let args = ["context", "deposit", "-", "--data", data, "--project", "p"];
    let said = run(bare(&args), r#"{"title":"t","created_by":null}"#).refused("invalid_schema");
    assert!(said.contains("/created_by"), "the member is refused, no actor is asked for: {said}");
    for args in [
        &["context", "deposit"][..],
        &["context", "deposit", "--decision", "d"],
        &["context", "deposit", "--title", "t", "--type", "mine"],
        &["context", "deposit", "--title", "t", "--significance", "11"],
        &["context", "deposit", "--title", "t", "--actor", "robot:x"],
        &["context", "pull", "id", "--query", "q"],
        &["context", "pull", "--latest", "1", "--limit", "2"],
        &["context", "flag", "id"],
        &["context", "review", "id", "approved"],
        &["context", "deposit", "--title", "t", "--url", "http://127.0.0.1", "--data", "d"],
        &["key", "create"],
        &["key", "create", "--label", "l", "--act-as"],
        &["store", "trim"],
        &["project", "list", "--data", "d", "--key", "k"],
    ] {
        let ran = memory.ran(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.starts_with("USAGE"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_package_that_is_not_there_is_null() {
    let memory = Memory::new();
    memory.deposit("one", &[]);
    let ran = memory.ran(&["context", "pull", "nobody", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, "null\n", ""));
    let ran = memory.ran(&["context", "pull", "nobody"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(ran.stderr, "no package nobody in shop\n");
    let ran = memory.ran(&["context", "pull", "nobody", "--history", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "null\n"));
}

#[test]
fn pages_follow_each_other() {
    let memory = Memory::new();
    for number in 0..5 {
        memory.deposit(&format!("number {number}"), &[]);
    }
    let ran = memory.ran(&["context", "pull", "--limit", "2"]);
    let cursor = ran.stderr.trim().strip_prefix("there are more: --cursor ");
    let next = ran_cursor(&memory, cursor.expect("a cursor"));
    let last = ran_cursor(&memory, next["next_cursor"].as_str().expect("a cursor"));
    let titles: Vec<_> = [&next, &last]
        .iter()
        .flat_map(|page| page["packages"].as_array().expect("packages"))
        .map(|package| package["title"].as_str().expect("a title"))
        .collect();
    assert_eq!(titles, ["number 2", "number 1", "number 0"]);
    assert_eq!(last["next_cursor"], Value::Null);
}

fn ran_cursor(memory: &Memory, cursor: &str) -> Value {
    memory.json(&["context", "pull", "--limit", "2", "--cursor", cursor])
}

#[test]
fn a_review_is_a_conversation() {
    let memory = Memory::new();
    let id = memory.deposit("Draft", &["--status", "draft"]);
    memory
        .ran(&["context", "flag", &id, "--review", "human", "--note", "look at the schema"])
        .yes();
    let waiting = memory.json(&["context", "pull", "--status", "awaiting_review"]);
    assert_eq!(waiting["packages"][0]["package_id"], id);
    let args = [
        "context",
        "review",
        &id,
        "revision_requested",
        "--note",
        "name the tables",
        "--actor",
        "human:lead",
    ];
    memory.ran(&args).yes();
    // The note stands beside the package, also in a list and beside JSON.
    let note = "human:lead, revision_requested: name the tables";
    for args in [&["context", "pull", &id][..], &["context", "pull"]] {
        let shown = memory.ran(args).yes();
        assert!(shown.contains(&format!("review   {note}")), "{shown}");
    }
    let json = memory.ran(&["context", "pull", &id, "--json"]);
    assert_eq!(json.messages(), format!("{note}\n"), "{json:?}");
    assert!(!json.stdout.contains("name the tables"), "{json:?}");
    let reported = memory.ran(&["context", "pull", &id, "--history"]).yes();
    snapshot::check("a_review_is_a_conversation", &reported);
    memory.ran(&["context", "resubmit", &id]).yes();
    let ended = memory.ran(&["context", "review", &id, "complete"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.starts_with("warning: a person was asked for this review"), "{ended:?}");
    let said = memory.ran(&["context", "complete", &id]).refused("invalid_transition");
    snapshot::check("a_review_is_a_conversation-2", &said);
}

#[test]
fn sessions_join_what_was_done() {
    let memory = Memory::new();
    let session = memory.ran(&["session", "start", "--id-only"]).yes();
    let session = session.trim();
    assert!(session.starts_with("sess_"), "{session}");
    let id = memory.deposit("In a session", &["--session", session]);
    memory.deposit("Elsewhere", &[]);
    let done = memory.json(&["context", "pull", "--session", session]);
    assert_eq!(done["packages"].as_array().map(Vec::len), Some(1));
    assert_eq!(done["packages"][0]["package_id"], id);
    let ended = memory.json(&["session", "end", session]);
    assert!(
        ended["ended_at"].is_string() && ended["packages_deposited"] == serde_json::json!([id]),
        "{ended}"
    );
    assert_eq!(memory.json(&["session", "list", "--active"])["sessions"], serde_json::json!([]));
    let said = memory.ran(&["session", "end"]).refused("USAGE");
    snapshot::check("sessions_join_what_was_done", &said);
}

#[test]
fn a_package_cannot_control_the_terminal() {
    let memory = Memory::new();
    let id = memory
        .deposit("evil \u{1b}[2J\u{202e}title", &["--handoff", "a\u{7}b", "--decision", "c\rd"]);
    for args in [
        &["context", "pull"][..],
        &["context", "pull", &id],
        &["context", "orient"],
        &["context", "digest"],
    ] {
        let shown = memory.ran(args).yes();
        let acts = |character: char| {
            (character.is_control() && character != '\n') || character == '\u{202e}'
        };
        assert!(!shown.contains(acts), "{shown:?}");
        assert!(shown.contains("\\u{1b}[2J"), "{shown:?}");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(bare(&["completions", shell]), "").yes();
        for word in ["deposit", "resubmit", "invalidate", "look-only", "act-as"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn the_review_of_a_person_is_listed_as_a_decision() {
    let memory = Memory::new();
    let id = &*memory.deposit("Schema", &["--status", "draft"]);
    memory.ran(&["context", "flag", id, "--review", "human"]).yes();
    let review = ["context", "review", id, "complete", "--note", "good", "--actor", "human:lead"];
    memory.ran(&review).yes();
    let found = memory.json(&["decisions", "--package", id, "--by", "human:lead"]);
    let record = &found["decisions"][0];
    assert_eq!(found["decisions"].as_array().map(Vec::len), Some(1), "{found}");
    for (member, expected) in [
        ("kind", "package.review"),
        ("outcome", "approved"),
        ("title", "Schema"),
        ("actor", "human:lead"),
        ("known_by", "none"),
        ("door", "cli"),
        ("note", "good"),
    ] {
        assert_eq!(record[member], expected, "{record}");
    }
    assert!(record["asked_at"].is_string() && record["os_user"].is_string(), "{record}");
    let shown = memory.ran(&["decisions"]).yes();
    assert!(shown.starts_with(&format!("approved {id}: Schema\n")), "{shown}");
    assert!(shown.contains("human:lead") && shown.contains("only named"), "{shown}");
    let none = memory.json(&["decisions", "--task", id]);
    assert_eq!(none["decisions"], serde_json::json!([]));
}
