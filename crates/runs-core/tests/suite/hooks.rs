//! What hooks say, and what it leads to.

use accord_contract::Code;
use accord_runs_core::hooks::{
    Execution, HookBatch, HookChain, HookPhase, HookReport, PROTECTED_FILES, Snapshot, tamper_code,
};
use accord_runs_core::state::Status;
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, config_with, now, result, stage, world};

fn chain(modes: &[&str], runs: &[Execution]) -> HookReport {
    let hooks: Vec<Value> = modes
        .iter()
        .enumerate()
        .map(|(index, mode)| {
            json!({"name": format!("h{index}"), "type": "process", "command": ["x"],
                "timeout_ms": 100, "mode": mode})
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
    Execution { exit_code: Some(0), output: text.into(), ..Execution::default() }
}

fn verdict(verdict: &str) -> Execution {
    says(&format!(
        "{{\"verdict\":\"{verdict}\",\"annotations\":[{{\"key\":\"k\",\"value\":\"v\"}}]}}"
    ))
}

#[test]
fn every_answer_has_its_action() {
    let failed = Execution { exit_code: Some(3), ..Execution::default() };
    let late = Execution { timed_out: true, ..Execution::default() };
    let unreachable = Execution { failure: Some("no route".into()), ..Execution::default() };
    for (mode, ran, action, ok, blocked) in [
        ("blocking", verdict("allow"), "continued", true, false),
        ("blocking", verdict("warn"), "warned", true, false),
        ("advisory", verdict("block"), "downgraded_block_to_warn", true, false),
        ("advisory", failed.clone(), "warned_failure", true, false),
        ("advisory", late.clone(), "warned_timeout", true, false),
        ("advisory", says("nonsense"), "warned_invalid_output", true, false),
        ("blocking", verdict("block"), "blocked", false, true),
        ("blocking", failed, "blocked_failure", false, true),
        ("blocking", unreachable, "blocked_failure", false, true),
        ("blocking", late, "blocked_timeout", false, true),
        ("blocking", says("[]"), "blocked_invalid_output", false, true),
        (
            "advisory",
            Execution { tampered: vec!["x".into()], ..verdict("allow") },
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
        assert_eq!((&line["run_id"], &line["turn_id"]), (&json!("run_1"), &json!("turn_1")));
        assert_eq!(outcome.failure().is_some(), !ok);
    }
}

#[test]
fn a_refusal_skips_the_rest_and_tampering_leaves_no_trace_of_them() {
    let stopped =
        chain(&["blocking", "blocking", "advisory"], &[verdict("allow"), verdict("block")]);
    let actions: Vec<&str> = stopped.entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["continued", "blocked", "skipped"]);
    let skipped = stopped.entries[2].line();
    assert!(!skipped.contains_key("transport") && skipped["verdict"].is_null());
    assert_eq!(stopped.stopper(), Some("h1"));
    let path = ".agentxchain/decision-ledger.jsonl".to_owned();
    let tampered = Execution { tampered: vec![path], ..verdict("allow") };
    let aborted = chain(&["advisory", "blocking"], &[tampered]);
    assert_eq!(aborted.entries.len(), 1);
    assert_eq!(aborted.failure().unwrap().code, Code::XchainHookLedgerTamper);
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

#[test]
fn every_record_has_a_code_for_what_is_done_to_it() {
    for (name, code) in [
        ("state.json", Code::XchainHookStateTamper),
        ("history.jsonl", Code::XchainHookHistoryTamper),
        ("decision-ledger.jsonl", Code::XchainHookLedgerTamper),
        ("repo-decisions.jsonl", Code::XchainHookLedgerTamper),
        ("events.jsonl", Code::XchainHookStateTamper),
        ("run-history.jsonl", Code::XchainHookStateTamper),
        ("hook-audit.jsonl", Code::XchainHookStateTamper),
    ] {
        let path = format!(".agentxchain/{name}");
        assert!(PROTECTED_FILES.contains(&path.as_str()), "{path}");
        assert_eq!(tamper_code(&[path]), code, "{name}");
        let bundled = format!(".agentxchain/dispatch/turns/t/{name}");
        assert_eq!(tamper_code(&[bundled]), Code::XchainHookBundleTamper);
    }
}

#[test]
fn a_hook_that_tampers_behind_an_acceptance_blocks_the_run() {
    let hook = json!([{"name": "evil", "type": "process", "command": ["x"], "timeout_ms": 1000,
        "mode": "advisory"}]);
    let config = config_with(|document| {
        document["hooks"] = json!({"after_acceptance": hook, "on_escalation": hook});
    });
    let tampers = Execution {
        tampered: vec![".agentxchain/repo-decisions.jsonl".into()],
        ..verdict("allow")
    };
    for (asks, blocked_on, status) in [
        (json!({}), Some("hook:after_acceptance:evil"), Status::Blocked),
        (
            json!({"status": "needs_human", "needs_human_reason": "which"}),
            Some("human:which"),
            Status::Blocked,
        ),
        (json!({"run_completion_request": true}), None, Status::Completed),
    ] {
        let mut world = world(config.clone(), "qa");
        let verdict = ".planning/ship-verdict.md";
        world.files.insert(verdict.into(), "## Verdict: SHIP\n".into());
        let turn = assign(&mut world, "qa", 2);
        let mut staged = result(&world, &turn);
        for (name, value) in asks.as_object().unwrap() {
            staged[name] = value.clone();
        }
        stage(&mut world, &turn, &staged);
        let script =
            Script { hooks: [("evil".to_owned(), tampers.clone())].into(), ..Script::default() };
        let run = accept(&mut world, &turn, &script);
        let accepted = run.accepted();
        let code = accepted.after_hooks.as_ref().unwrap().code;
        assert_eq!(code, Code::XchainHookLedgerTamper);
        assert_eq!(world.history.len(), 1, "it stays accepted");
        assert_eq!(world.state.blocked_on(), blocked_on);
        assert_eq!(accepted.state.document(), world.state.document());
        assert_eq!(world.state.status(), status);
        let ends = world.files[".agentxchain/run-history.jsonl"].lines().count();
        assert_eq!(ends, 1, "one end, reported once");
        let escalates = run.wants.contains(&"on_escalation");
        assert_eq!(escalates, status == Status::Blocked);
    }
}
