//! Fixtures on the core alone: our own, and the protocol's public ones where a folder with them is named.
//!
//! Hooks are declared as programs; the few of the public fixtures that do nothing but print or exit are played.

#![expect(
    clippy::disallowed_methods,
    reason = "the fixtures lie outside the crate"
)]

use std::path::Path;

use accord_contract::fixture::Vocabulary;
use accord_contract::time::Time;
use accord_runs_core::Ids;
use accord_runs_core::fixture::{Fixture, FixtureError, Step, hooks_ran, run};
use accord_runs_core::hooks::{Execution, Hook, Transport};
use serde_json::{Value, json};

#[test]
fn public_fixtures_get_the_answers_that_they_expect() {
    let Ok(folder) = std::env::var("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("ACCORD_EXTERNAL_CORPUS names no folder: public fixtures were not run");
        return;
    };
    let documents = documents(&Path::new(&folder).join("agentxchain"));
    assert!(!documents.is_empty(), "there are no fixtures in {folder}");
    expect_what_they_say(&documents);
}

#[test]
fn our_own_fixtures_get_the_answers_that_they_expect() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/agentxchain");
    let mut documents = documents(&corpus);
    documents.retain(|document| {
        let operation = document.pointer("/input/operation").and_then(Value::as_str);
        let profile = document.pointer("/x-case/profile");
        // Their scripts do what only a shell can, and corrections are turned off elsewhere.
        operation.is_some_and(|operation| operation != "run_hooks") && profile.is_none()
    });
    assert!(documents.len() >= 400, "{}", documents.len());
    expect_what_they_say(&documents);
}

#[test]
fn a_record_that_cannot_be_read_is_no_setup() {
    for damaged in ["[]\n", "{\"id\":\n"] {
        let document = json!({
            "fixture_id": "damaged",
            "setup": {"filesystem": {".agentxchain/repo-decisions.jsonl": damaged}},
            "input": {"operation": "initialize_run"},
            "expected": {},
        });
        let fixture = Fixture::read(&document).unwrap();
        let error = run(
            &fixture,
            &mut Ids::new([9; 32]),
            Time::parse_iso("2026-04-20T10:00:00Z").unwrap(),
        )
        .unwrap_err();
        assert!(matches!(error, FixtureError::Setup(_)), "{error}");
        assert!(
            error.to_string().contains("repo-decisions.jsonl"),
            "{error}"
        );
    }
}

fn expect_what_they_say(documents: &[Value]) {
    let mut failures = Vec::new();
    for document in documents {
        let fixture = Fixture::read(document).unwrap();
        let mut ids = Ids::new([9; 32]);
        let now = Time::parse_iso("2026-04-20T10:00:00Z").unwrap();
        let actual = match run(&fixture, &mut ids, now).unwrap() {
            Step::Done(actual) => actual,
            Step::Hooks { mut chain, .. } => {
                while let Some(hook) = chain.next() {
                    let played = play(hook);
                    chain.record(&played, now);
                }
                hooks_ran(&chain.finish().unwrap())
            }
        };
        let differences = Vocabulary::Published.differences(&fixture.expected, &actual);
        if let Some(mismatch) = differences.first() {
            failures.push(format!("{}: {mismatch}\n  {actual}", fixture.id));
        }
    }
    let (count, ran) = (failures.len(), documents.len());
    assert!(count == 0, "{count} of {ran}:\n{}", failures.join("\n"));
}

/// What the program of a public hook would do.
fn play(hook: &Hook) -> Execution {
    let mut played = Execution {
        duration_ms: 3,
        exit_code: Some(0),
        ..Execution::default()
    };
    let Transport::Process { command } = &hook.transport else {
        played.exit_code = None;
        played.failure = Some("connection refused".into());
        return played;
    };
    let script = command.last().map_or("", String::as_str);
    if script.contains("setTimeout") {
        played.timed_out = true;
        played.exit_code = None;
    }
    if script.contains("process.exit(1)") {
        played.exit_code = Some(1);
    }
    if script.contains("writeFileSync('.agentxchain/state.json'") {
        played.tampered = vec![".agentxchain/state.json".into()];
    }
    for verdict in ["allow", "warn", "block"] {
        if script.contains(&format!("verdict:'{verdict}'")) {
            played.output = format!("{{\"verdict\":\"{verdict}\"}}\n").into_bytes();
        }
    }
    if script.contains("'not valid json'") {
        played.output = b"not valid json\n".to_vec();
    }
    played
}

/// Every document below a folder.
fn documents(folder: &Path) -> Vec<Value> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|name| name == "json") {
            found.push(serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap());
        }
    }
    found
}
