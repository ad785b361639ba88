//! What hooks say, and what it leads to.

use accord_contract::codes::Code;
use accord_governance::hooks::{Execution, HookBatch, HookChain, HookOutcome, HookPhase, Snapshot};
use serde_json::{Value, json};

use crate::support::{config_with, now};

fn chain(modes: &[&str], runs: &[Execution]) -> HookOutcome {
    let hooks: Vec<Value> = modes
        .iter()
        .enumerate()
        .map(|(index, mode)| {
            json!({"name": format!("h{index}"), "type": "process", "command": ["x"], "timeout_ms": 100, "mode": mode})
        })
        .collect();
    let config = config_with(|document| document["hooks"] = json!({"before_gate": hooks}));
    let payload = json!({"turn_id": "turn_1"}).as_object().unwrap().clone();
    let phase = HookPhase::BeforeGate;
    let batch = HookBatch::new(phase, config.hooks(phase), payload, Some("run_1".into())).unwrap();
    let mut chain = HookChain::new(batch);
    let mut runs = runs.iter();
    while chain.next().is_some() {
        chain.record(runs.next().unwrap(), now());
    }
    chain.finish().unwrap()
}

fn says(text: &str) -> Execution {
    Execution {
        exit_code: Some(0),
        output: text.into(),
        ..Execution::default()
    }
}

fn verdict(verdict: &str) -> Execution {
    says(&format!(
        "{{\"verdict\":\"{verdict}\",\"annotations\":[{{\"key\":\"k\",\"value\":\"v\"}}]}}"
    ))
}

#[test]
fn every_answer_has_its_action() {
    let failed = Execution {
        exit_code: Some(3),
        ..Execution::default()
    };
    let late = Execution {
        timed_out: true,
        ..Execution::default()
    };
    let unreachable = Execution {
        failure: Some("no route".into()),
        ..Execution::default()
    };
    for (mode, ran, action, ok, blocked) in [
        ("blocking", verdict("allow"), "continued", true, false),
        ("blocking", verdict("warn"), "warned", true, false),
        (
            "advisory",
            verdict("block"),
            "downgraded_block_to_warn",
            true,
            false,
        ),
        ("advisory", failed.clone(), "warned_failure", true, false),
        ("advisory", late.clone(), "warned_timeout", true, false),
        (
            "advisory",
            says("nonsense"),
            "warned_invalid_output",
            true,
            false,
        ),
        ("blocking", verdict("block"), "blocked", false, true),
        ("blocking", failed, "blocked_failure", false, true),
        ("blocking", unreachable, "blocked_failure", false, true),
        ("blocking", late, "blocked_timeout", false, true),
        (
            "blocking",
            says("[]"),
            "blocked_invalid_output",
            false,
            true,
        ),
        (
            "advisory",
            Execution {
                tampered: vec!["x".into()],
                ..verdict("allow")
            },
            "aborted_tamper",
            false,
            false,
        ),
    ] {
        let outcome = chain(&[mode], &[ran]);
        assert_eq!(outcome.entries[0].action.as_str(), action);
        assert_eq!((outcome.ok, outcome.blocked), (ok, blocked), "{action}");
        let line = outcome.entries[0].line();
        assert_eq!(line["orchestrator_action"], action);
        assert_eq!(line["hook_id"], line["hook_name"]);
        assert_eq!(
            (&line["run_id"], &line["turn_id"]),
            (&json!("run_1"), &json!("turn_1"))
        );
        assert_eq!(outcome.failure().is_some(), !ok);
    }
}

#[test]
fn a_refusal_skips_the_rest_and_tampering_leaves_no_trace_of_them() {
    let stopped = chain(
        &["blocking", "blocking", "advisory"],
        &[verdict("allow"), verdict("block")],
    );
    let actions: Vec<&str> = stopped
        .entries
        .iter()
        .map(|entry| entry.action.as_str())
        .collect();
    assert_eq!(actions, ["continued", "blocked", "skipped"]);
    let skipped = stopped.entries[2].line();
    assert!(!skipped.contains_key("transport") && skipped["verdict"].is_null());
    assert_eq!(stopped.stopper(), Some("h1"));
    let path = ".agentxchain/decision-ledger.jsonl".to_owned();
    let tampered = Execution {
        tampered: vec![path],
        ..verdict("allow")
    };
    let aborted = chain(&["advisory", "blocking"], &[tampered]);
    assert_eq!(aborted.entries.len(), 1);
    assert_eq!(
        aborted.failure().unwrap().code,
        Code::XchainHookLedgerTamper
    );
    assert_eq!(stopped.annotation_lines("turn_1", now()).len(), 2);
}

#[test]
fn snapshots_notice_every_kind_of_change() {
    let mut before = Snapshot::default();
    before.add("same", Some(b"a"));
    before.add("changed", Some(b"a"));
    before.add("deleted", Some(b"a"));
    before.add("made", None);
    let mut after = Snapshot::default();
    after.add("same", Some(b"a"));
    after.add("changed", Some(b"b"));
    after.add("deleted", None);
    after.add("made", Some(b""));
    assert_eq!(before.changed(&after), ["changed", "deleted", "made"]);
}
