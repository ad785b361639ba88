//! Fixtures on the core alone: our own, and the protocol's public ones in the folder that
//! `ACCORD_EXTERNAL_CORPUS` names.
//!
//! Hooks of public fixtures are small programs that print or exit. Here they are simulated.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the fixtures are files outside the crate; a test ends at the first error"
)]

use std::path::Path;

use accord_contract::Time;
use accord_contract::fixture::Vocabulary;
use accord_runs_core::Ids;
use accord_runs_core::hooks::{Execution, Hook, Transport};
use serde_json::{Value, json};

use crate::in_memory::{Fixture, Step, hooks_ran, run};

#[test]
fn the_core_passes_the_public_fixtures() {
    let Ok(folder) = std::env::var("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("ACCORD_EXTERNAL_CORPUS names no folder: public fixtures were not run");
        return;
    };
    let documents = documents(&Path::new(&folder).join("agentxchain"));
    assert!(!documents.is_empty(), "there are no fixtures in {folder}");
    assert_all_pass(&documents);
}

#[test]
fn the_core_passes_our_own_fixtures() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/agentxchain");
    let mut documents = documents(&corpus);
    documents.retain(|document| {
        let operation = document.pointer("/input/operation").and_then(Value::as_str);
        let profile = document.pointer("/x-case/profile");
        // Scripts of hooks need a shell, and the strict profile is not implemented here.
        operation.is_some_and(|operation| operation != "run_hooks") && profile.is_none()
    });
    assert!(documents.len() >= 400, "{}", documents.len());
    assert_all_pass(&documents);
}

#[test]
fn a_damaged_record_in_a_setup_is_an_error() {
    for damaged in ["[]\n", "{\"id\":\n"] {
        let document = json!({
            "fixture_id": "damaged",
            "setup": {"filesystem": {".agentxchain/repo-decisions.jsonl": damaged}},
            "input": {"operation": "initialize_run"},
            "expected": {},
        });
        let fixture = Fixture::read(&document);
        let error =
            run(&fixture, &mut Ids::new([9; 32]), Time::parse_iso("2026-04-20T10:00:00Z").unwrap())
                .err()
                .unwrap();
        assert!(error.contains("repo-decisions.jsonl"), "{error}");
    }
}

fn assert_all_pass(documents: &[Value]) {
    let mut failures = Vec::new();
    for document in documents {
        let fixture = Fixture::read(document);
        let mut ids = Ids::new([9; 32]);
        let now = Time::parse_iso("2026-04-20T10:00:00Z").unwrap();
        let actual = match run(&fixture, &mut ids, now).unwrap() {
            Step::Done(actual) => actual,
            Step::Hooks(mut chain) => {
                while let Some(hook) = chain.next() {
                    let played = simulate(hook);
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

/// The result of a public hook's program.
fn simulate(hook: &Hook) -> Execution {
    let mut played = Execution { duration_ms: 3, exit_code: Some(0), ..Execution::default() };
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
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
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
