//! AgentXchain's fixtures on real files: our own, and the public ones in the folder that
//! `ACCORD_EXTERNAL_CORPUS` names.

#![expect(clippy::disallowed_methods, reason = "public fixtures are files outside the project")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use accord_adapters::Adapter as _;
use accord_adapters::agentxchain::Accord;
use accord_contract::Wire as _;
use accord_contract::fixture::Status;
use accord_process::Cancel;
use serde_json::{Value, json};

use crate::judged::{cases, judge, judge_profile, not_passed};

#[test]
fn accord_passes_every_case_including_proposals() {
    let report = judge(&Accord::default());
    let wrong = not_passed(&report);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(report.cases.len() >= 460);
}

#[test]
fn accord_passes_the_cases_without_normalization() {
    let report = judge_profile(&Accord::default(), Some("strict"));
    let wrong = not_passed(&report);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(report.cases.len() >= 40);
}

#[test]
fn accord_passes_the_public_fixtures() {
    let Ok(folder) = std::env::var("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("ACCORD_EXTERNAL_CORPUS names no folder: public fixtures were not run");
        return;
    };
    let files = documents(&Path::new(&folder).join("agentxchain"));
    assert!(!files.is_empty(), "there are no fixtures in {folder}");
    let mut wrong = Vec::new();
    for file in &files {
        let fixture = std::fs::read_to_string(file).expect("readable");
        // A busy machine may need longer to start the Node of a hook. No fixture expects that this
        // limit passes.
        let fixture = fixture.replace("\"timeout_ms\": 5000", "\"timeout_ms\": 30000");
        let result = Accord::default().answer(fixture.as_bytes());
        if result.status != Status::Pass {
            wrong.push(format!("{}: {result:?}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

/// A case of the corpus.
fn case(name: &str) -> Value {
    let id = format!("agentxchain/{name}");
    let all = cases("agentxchain").iter();
    let found = all.map(|case| case.encode()).find(|case| case["fixture_id"] == id.as_str());
    found.expect("there is such a case")
}

#[test]
fn an_unknown_part_of_a_setup_is_an_error_for_every_operation() {
    let mut by_operation = BTreeMap::new();
    for case in cases("agentxchain") {
        let case = case.encode();
        by_operation.insert(case["input"]["operation"].to_string(), case);
    }
    assert!(by_operation.len() >= 19);
    for (operation, mut case) in by_operation {
        case["setup"]["moon"] = json!({});
        let result = Accord::default().answer_case(&case);
        assert_eq!(result.status, Status::Error, "{operation}: {result:?}");
    }
}

#[test]
fn an_incomplete_setup_is_an_error() {
    for (name, place, value) in [
        ("history/first-acceptance", "state", json!([])),
        ("history/first-acceptance", "config", json!("none")),
        ("history/first-acceptance", "history", json!({})),
        ("history/first-acceptance", "ledger", json!(["DEC-001"])),
        ("history/first-acceptance", "filesystem", json!({ "a": 1 })),
        // The state is set up already.
        ("history/first-acceptance", "filesystem", json!({ ".agentxchain/state.json": "{}" })),
        // Every line of a record is an object.
        (
            "history/first-acceptance",
            "filesystem",
            json!({ ".agentxchain/repo-decisions.jsonl": "[]\n" }),
        ),
        // A file where a folder must be.
        ("history/first-acceptance", "filesystem", json!({ ".agentxchain/staging": "" })),
        ("history/first-acceptance", "post_finalize_inject", json!({})),
        (
            "dispatch_manifest/one-file",
            "dispatch_bundle",
            json!({ "turn_8c3d5e7f9a1b2c4d": "text" }),
        ),
        (
            "dispatch_manifest/one-file",
            "post_finalize_delete",
            json!({ "turn_8c3d5e7f9a1b2c4d": "text" }),
        ),
        ("coordinator/first-acceptance", "repos", json!({ "ferry": {} })),
        ("coordinator/first-acceptance", "repos", json!({ "a": { "path": "a", "moon": 1 } })),
        ("coordinator/first-acceptance", "coordinator_history", json!([1])),
        // The operation does not use these.
        ("coordinator/first-acceptance", "history", json!("bogus")),
        ("coordinator/first-acceptance", "history", json!([])),
        ("coordinator/first-acceptance", "ledger", json!([])),
        ("coordinator/first-acceptance", "turn_result", json!({})),
        ("coordinator/first-acceptance", "dispatch_bundle", json!({})),
        ("history/first-acceptance", "dispatch_bundle", json!({})),
        ("history/first-acceptance", "coordinator_config", json!({})),
        ("history/first-acceptance", "coordinator_state", json!({})),
        ("history/first-acceptance", "barriers", json!("bogus")),
        ("history/first-acceptance", "repos", json!({})),
        ("dispatch_manifest/one-file", "post_finalize_delete_manifest", json!("bogus")),
        (
            "dispatch_manifest/one-file",
            "post_finalize_delete_manifest",
            json!({ "turn_8c3d5e7f9a1b2c4d": "bogus" }),
        ),
    ] {
        let mut case = case(name);
        case["setup"][place] = value;
        let result = Accord::default().answer_case(&case);
        assert_eq!(result.status, Status::Error, "{name} {place}: {result:?}");
    }
    let mut headless = case("coordinator/first-acceptance");
    let setup = headless["setup"].as_object_mut().expect("a setup");
    setup.remove("coordinator_config");
    headless["expected"] = json!({});
    let result = Accord::default().answer_case(&headless);
    assert_eq!(result.status, Status::Error, "{result:?}");
    let why = result.message.value().expect("a message");
    assert!(why.contains("coordinator_config"), "{why}");
    let mut other = case("history/first-acceptance");
    other["x-case"]["profile"] = "loose".into();
    assert_eq!(Accord::default().answer_case(&other).status, Status::Error);
}

#[test]
fn a_setup_that_would_change_nothing_is_an_error() {
    let turn = "turn_8c3d5e7f9a1b2c4d";
    let text = json!({ "PROMPT.md": "x" });
    for (part, value) in [
        // A turn without a bundle.
        ("post_finalize_inject", json!({ "turn_b": text })),
        ("post_finalize_tamper", json!({ "turn_b": text })),
        ("post_finalize_delete", json!({ "turn_b": ["PROMPT.md"] })),
        ("post_finalize_delete_manifest", json!({ "turn_b": true })),
        ("post_finalize_corrupt_manifest", json!({ "turn_b": "{" })),
        // A file that is not there.
        ("post_finalize_delete", json!({ turn: ["PROMPTS.md"] })),
        ("post_finalize_delete", json!({ turn: ["PROMPT.md", "PROMPT.md"] })),
        // A file that is no part of the bundle.
        ("post_finalize_inject", json!({ turn: { "../x": "" } })),
        ("post_finalize_tamper", json!({ turn: { "/x": "" } })),
        ("post_finalize_delete", json!({ turn: ["./PROMPT.md"] })),
        ("dispatch_bundle", json!({ turn: { "a/../../x": "" } })),
        ("dispatch_bundle", json!({ turn: { "/etc/x": "" } })),
    ] {
        let mut case = case("dispatch_manifest/one-file");
        case["setup"][part] = value.clone();
        let result = Accord::default().answer_case(&case);
        assert_eq!(result.status, Status::Error, "{part} {value}: {result:?}");
    }
    let mut deleted = case("dispatch_manifest/manifest-deleted");
    let setup = deleted["setup"].as_object_mut().expect("a setup");
    setup.remove("dispatch_bundle");
    let result = Accord::default().answer_case(&deleted);
    assert_eq!(result.status, Status::Error, "{result:?}");

    let mut without = case("event_lifecycle/run-started");
    without.as_object_mut().expect("a case").remove("setup");
    let result = Accord::default().answer_case(&without);
    assert_eq!(result.status, Status::Error, "{result:?}");
    without["setup"] = json!({});
    assert_eq!(Accord::default().answer_case(&without).status, Status::Pass);
}

#[test]
fn too_many_slow_or_invalid_hooks_are_refused() {
    for (member, value) in [
        ("timeout_ms", json!(30_001)),
        ("timeout_ms", json!("soon")),
        ("type", json!("carrier pigeon")),
        ("mode", json!("stern")),
    ] {
        let mut wrong = case("hook_audit/allow");
        let hooks = wrong["setup"]["config"]["hooks"].as_object_mut();
        for hooks in hooks.expect("phases").values_mut() {
            hooks[0][member] = value.clone();
        }
        wrong["expected"] = json!({ "result": "success" });
        let result = Accord::default().answer_case(&wrong);
        assert_eq!(result.status, Status::Error, "{member}: {result:?}");
    }
    let mut many = case("hook_audit/allow");
    let hooks = many["setup"]["config"]["hooks"].as_object_mut();
    for hooks in hooks.expect("phases").values_mut() {
        let named = |number: usize| {
            let mut hook = hooks[0].clone();
            hook["name"] = format!("hook_{number}").into();
            hook
        };
        *hooks = (0..9).map(named).collect();
    }
    many["expected"] = json!({ "result": "success" });
    let result = Accord::default().answer_case(&many);
    assert_eq!(result.status, Status::Error, "{result:?}");
}

#[test]
fn cancelling_ends_the_programs_of_a_fixture() {
    let mut slow = case("hook_audit/slow-blocking");
    let hooks = slow["setup"]["config"]["hooks"].as_object_mut();
    for hooks in hooks.expect("phases").values_mut() {
        hooks[0]["timeout_ms"] = 30_000.into();
        hooks[0]["command"] = json!(["/bin/sh", "-c", "sleep 60"]);
    }
    let cancel = Cancel::new();
    cancel.cancel();
    slow["expected"] = json!({});
    let result = Accord::default().cancelled_by(cancel).answer_case(&slow);
    assert_eq!(result.status, Status::Error, "{result:?}");
}

/// The outcome of a case that was changed.
fn outcome(mut case: Value) -> Value {
    case["expected"] = json!({ "result": "a result that no operation has" });
    Accord::default().answer_case(&case).encode()["actual"].clone()
}

#[test]
fn the_requested_phase_comes_before_the_staged_request() {
    let base = case("gate_semantics/two-files-there");
    assert_eq!(base["input"]["operation"], "evaluate_phase_exit");
    let whole = outcome(base.clone());
    assert_ne!(whole["action"], "gate_error");
    let mut staged = base.clone();
    staged["setup"]["turn_result"]["phase_transition_request"] = "moon".into();
    assert_eq!(outcome(staged), whole);
    let mut named = base.clone();
    named["input"]["args"]["requested_phase"] = "moon".into();
    assert_eq!(outcome(named)["error_type"], "unknown_phase");
    for absent in [false, true] {
        let mut only_staged = base.clone();
        let args = only_staged["input"]["args"].as_object_mut().expect("arguments");
        if absent {
            args.shift_remove("requested_phase");
        } else {
            args.insert("requested_phase".into(), Value::Null);
        }
        assert_eq!(outcome(only_staged), whole);
    }
}

#[test]
fn a_completion_without_a_staged_request_evaluates_the_gate() {
    let base = case("gate_semantics/verdict-yes");
    assert_eq!(base["input"]["operation"], "evaluate_run_completion");
    let whole = outcome(base.clone());
    let of = |request: Option<Value>| {
        let mut case = base.clone();
        let result = case["setup"]["turn_result"].as_object_mut().expect("a result");
        result.shift_remove("run_completion_request");
        result.extend(request.map(|request| ("run_completion_request".to_owned(), request)));
        outcome(case)
    };
    assert_eq!(of(None), whole);
    assert_eq!(of(Some(Value::Null)), whole);
    assert_eq!(of(Some(json!(false)))["action"], "no_request");
}

#[test]
fn a_fixture_without_records_has_empty_ones() {
    let mut base = case("hook_audit/allow");
    let look = "[ -e .agentxchain/history.jsonl ] && [ ! -s .agentxchain/history.jsonl ] \
                && [ -e .agentxchain/decision-ledger.jsonl ] && echo '{\"verdict\":\"allow\"}'";
    for hooks in base["setup"]["config"]["hooks"].as_object_mut().expect("phases").values_mut() {
        hooks[0]["command"] = json!(["/bin/sh", "-c", look]);
    }
    for absent in [false, true] {
        let mut case = base.clone();
        let setup = case["setup"].as_object_mut().expect("a setup");
        for name in ["history", "ledger"] {
            setup.shift_remove(name);
            if !absent {
                setup.insert(name.into(), Value::Null);
            }
        }
        let done = outcome(case);
        assert_eq!(done["audit_entry"]["orchestrator_action"], "continued", "{done}");
    }
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|name| name == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}
