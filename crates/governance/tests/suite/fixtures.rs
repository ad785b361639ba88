//! The protocol's public fixtures, where a folder with them is named, on the core alone.
//!
//! Hooks are declared as programs; the few that do nothing but print or exit are played.

#![expect(
    clippy::disallowed_methods,
    reason = "the fixtures lie outside the project, in a folder that is named"
)]

use std::path::{Path, PathBuf};

use accord_contract::fixture::matches;
use accord_governance::fixture::{Fixture, Step, hooks_ran, run};
use accord_governance::hooks::{Execution, Hook, Transport};
use accord_governance::{Ids, Instant};
use serde_json::Value;

#[test]
fn public_fixtures_get_the_answers_that_they_expect() {
    let Ok(folder) = std::env::var("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("ACCORD_EXTERNAL_CORPUS names no folder: public fixtures were not run");
        return;
    };
    let mut failures = Vec::new();
    let mut ran = 0;
    for path in documents(&Path::new(&folder).join("agentxchain")) {
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let fixture = Fixture::read(&document).unwrap();
        let mut ids = Ids::new([9; 32]);
        let now = Instant::parse("2026-04-20T10:00:00Z").unwrap();
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
        ran += 1;
        if let Err(mismatch) = matches(&fixture.expected, &actual) {
            failures.push(format!("{}: {mismatch}\n  {actual}", fixture.id));
        }
    }
    assert!(ran > 0, "there are no fixtures in {folder}");
    assert!(
        failures.is_empty(),
        "{} of {ran}:\n{}",
        failures.len(),
        failures.join("\n")
    );
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

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}
