//! Reading changes nothing and needs no lock.

use std::time::Duration;

use accord_contract::Code;
use accord_runs::operations::{
    Level, LoopOptions, LoopStop, NextStep, Query, RunChoice, Start, Step, StepResult,
};
use accord_runs_core::RunId;
use accord_runs_core::result::Leniency;
use accord_runs_core::testing::consent;
use serde_json::json;

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

#[test]
fn reading_writes_nothing_even_while_another_process_works() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    let _held = runs.repository().lock(Duration::ZERO).unwrap();
    let before = repo.home();
    runs.status().unwrap();
    runs.doctor();
    runs.history(&Query::default()).unwrap();
    runs.decisions(&Query::default()).unwrap();
    runs.events(&Query::default(), Some("run_started")).unwrap();
    assert!(runs.judge(None, Leniency::default()).unwrap().validation.failure().is_none());
    assert_eq!(repo.home(), before);
}

#[test]
fn status_names_what_stands_in_the_way() {
    let repo = Repo::with_git();
    let runs = repo.started();
    repo.write("mine.txt", "m");
    let next = runs.status().unwrap().next;
    assert_eq!(
        next,
        [
            NextStep::Tidy { files: vec!["mine.txt".into()] },
            NextStep::Assign { role: "pm".into(), by_hand: true },
        ]
    );
    std::fs::remove_file(repo.root().join("mine.txt")).unwrap();
    let turn = runs.assign(None).unwrap().turn;
    let dispatch = NextStep::Dispatch { turn: turn.id().clone(), by_hand: true, stalled: None };
    assert_eq!(runs.status().unwrap().next, [dispatch]);
    let turn = runs.dispatch(None).unwrap();
    stage(&repo, &turn, &json!({}));
    accept(&runs, turn.turn.id()).unwrap_err();
    assert!(matches!(runs.status().unwrap().next[0], NextStep::Mend { .. }));
    runs.escalate("stop").unwrap();
    assert!(matches!(runs.status().unwrap().next[0], NextStep::Resolve { .. }));
    repo.write("agentxchain.json", "{}");
    assert!(matches!(runs.status().unwrap().next[0], NextStep::Examine(_)));
}

#[test]
fn status_tells_what_helps_a_run_that_is_out_of_money() {
    let repo = Repo::plain();
    let budget = |most: f64| {
        repo.configure(|config| {
            config["budget"] = json!({"per_turn_max_usd": 1.0, "per_run_max_usd": most});
        });
    };
    budget(1.5);
    let runs = repo.started();
    let cost = |usd: f64| {
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        let staged = result(&turn, &PLANNING, |result| {
            result["cost"] = json!({"usd": usd});
        });
        stage(&repo, &turn, &staged);
        accept(&runs, turn.turn.id()).unwrap()
    };
    cost(1.0);
    // Half a dollar is left: the run is not blocked, and nothing is there to resolve.
    let next = runs.status().unwrap().next;
    assert!(
        matches!(next.as_slice(), [NextStep::RaiseBudget { missing }] if missing.left_usd == 0.5),
        "{next:?}"
    );
    refused(runs.step(&Step::default()), Code::XchainBudgetExhausted);
    refused(runs.run_loop(&LoopOptions::default()), Code::XchainBudgetExhausted);
    budget(2.5);
    let overdrawn = cost(2.0);
    let warned = |line: &String| line.starts_with("budget_exceeded_warn: ");
    assert!(overdrawn.accepted.warnings.iter().any(warned));
    let next = runs.status().unwrap().next;
    assert!(
        matches!(next.as_slice(), [NextStep::RaiseBudget { .. }, NextStep::Resolve { .. }]),
        "{next:?}"
    );
    assert_eq!(runs.run_loop(&LoopOptions::default()).unwrap().stop, LoopStop::Blocked);
    let stands = runs.step(&Step::default()).unwrap();
    assert!(matches!(stands, StepResult::NotRunning(NextStep::RaiseBudget { .. })), "{stands:?}");
    budget(9.0);
    let next = runs.status().unwrap().next;
    assert!(matches!(next.as_slice(), [NextStep::Resolve { .. }]), "{next:?}");
    runs.resolve(&consent()).unwrap();
    runs.assign(Some("pm")).unwrap();
}

#[test]
fn records_are_those_of_the_run_that_is_asked_for() {
    let repo = Repo::plain();
    let runs = repo.started();
    let first = runs.state().unwrap().run_id().unwrap().clone();
    runs.escalate("enough").unwrap();
    runs.start(&Start { restart: true, ..Start::default() }).unwrap();
    let count = |run: RunChoice, last: Option<usize>| {
        runs.events(&Query { run, last }, None).unwrap().len()
    };
    assert_eq!(count(RunChoice::Current, None), 1);
    assert_eq!(count(RunChoice::Named(first), None), 3);
    assert_eq!(count(RunChoice::All, None), 4);
    assert_eq!(count(RunChoice::All, Some(2)), 2);
    assert_eq!(count(RunChoice::All, Some(0)), 0);
    assert_eq!(count(RunChoice::Named(RunId::parse("run_x").unwrap()), None), 0);
    assert_eq!(runs.decisions(&Query { run: RunChoice::All, last: None }).unwrap().len(), 1);
}

#[test]
fn the_check_up_tells_what_dispatch_would() {
    let repo = Repo::plain();
    repo.configure(|config| {
        config["runtimes"]["gone"] =
            json!({"type": "local_cli", "command": ["accord-no-such-agent"]});
        config["runtimes"]["spare"] =
            json!({"type": "local_cli", "command": ["accord-no-such-spare"]});
        config["runtimes"]["model"] =
            json!({"type": "api_proxy", "provider": "ollama", "model": "m"});
        config["roles"]["dev"]["runtime"] = json!("gone");
        config["roles"]["qa"]["runtime"] = json!("model");
        config["notifications"] = json!({"webhooks": []});
        config["budget"] = json!({"foo": 1});
        config["timeouts"] = json!({"per_turn_minute": 1});
        config["gates"]["open"] = json!({"require_human_approval": true});
    });
    let runs = repo.started();
    let findings = runs.doctor();
    let about = |subject: &str| {
        let found = findings.iter().find(|finding| finding.subject.ends_with(subject));
        found.unwrap_or_else(|| panic!("{subject}: {findings:?}"))
    };
    assert_eq!(about("runtimes.gone").code, Some(Code::XchainRuntimeUnavailable));
    assert_eq!(about("runtimes.spare").level, Level::Warning);
    assert_eq!(about("runtimes.model").code, Some(Code::XchainRuntimeNotSupported));
    assert_eq!(about("notifications").level, Level::Note);
    assert_eq!(about("budget.foo").level, Level::Warning);
    let late = about("timeouts.per_turn_minute");
    assert!(late.advice.contains("per_turn_minutes"), "{late:?}");
    // A gate that stands more open than was meant is an error.
    let open = about("gates.open.require_human_approval");
    assert_eq!(open.code, Some(Code::XchainInvalidConfig));
    assert!(open.advice.contains("requires_human_approval"), "{open:?}");
    assert_eq!(findings[0].level, Level::Error, "the gravest first");

    for (role, code) in
        [("dev", Code::XchainRuntimeUnavailable), ("qa", Code::XchainRuntimeNotSupported)]
    {
        let before = repo.home();
        refused(runs.assign(Some(role)), code);
        assert_eq!(repo.home(), before, "nothing is written for {role}");
        // One that was there when the turn was assigned.
        let config = repo.json("agentxchain.json");
        repo.configure(|config| {
            for runtime in ["gone", "model"] {
                config["runtimes"][runtime] = json!({"type": "manual"});
            }
        });
        let turn = runs.assign(Some(role)).unwrap().turn;
        repo.configure(|changed| *changed = config);
        let before = repo.home();
        refused(runs.dispatch(None), code);
        assert_eq!(repo.home(), before, "nothing is written for {}", turn.id());
        runs.start(&Start { restart: true, ..Start::default() }).unwrap_err();
        runs.escalate("next").unwrap();
        runs.start(&Start { restart: true, ..Start::default() }).unwrap();
    }
}

#[test]
fn the_check_up_finds_what_others_left() {
    let repo = Repo::plain();
    let runs = repo.started();
    repo.write(
        ".agentxchain/locks/accept-turn.lock",
        r#"{"owner_pid": 999999999, "acquired_at": "2026-01-01T00:00:00.000Z"}"#,
    );
    let line = r#"{"id":"DEC-001","run_id":"r","statement":"s"}"#;
    repo.write(".agentxchain/decision-ledger.jsonl", &format!("{line}\n{line}\n{{\"id\":"));
    let found: Vec<String> = runs.doctor().into_iter().map(|finding| finding.message).collect();
    let reported = |what: &str| {
        assert!(found.iter().any(|message| message.contains(what)), "{what}: {found:?}");
    };
    reported("DEC-001");
    reported("999999999");
    reported("cut off");
    assert_eq!(repo.read(".agentxchain/decision-ledger.jsonl").lines().count(), 3);
    // None of it stands in the way.
    runs.assign(None).unwrap();
}

#[test]
fn the_check_up_names_what_the_machine_lacks() {
    let repo = Repo::plain();
    repo.configure(|config| {
        let header = json!({"Authorization": "Bearer ${ACCORD_NO_SUCH_VARIABLE}"});
        config["runtimes"]["afar"] = json!({"type": "remote_agent",
            "url": "http://127.0.0.1:9/turn", "headers": header});
        config["hooks"]["before_gate"] = json!([
            {"name": "gone", "type": "process", "command": ["accord-no-such-hook"],
                "timeout_ms": 1000, "mode": "blocking"},
            {"name": "there", "type": "process", "command": ["/bin/sh", "-c", "true"],
                "timeout_ms": 1000, "mode": "blocking"}]);
        config["hooks"]["after_acceptance"] = json!([
            {"name": "unset", "type": "http", "url": "http://127.0.0.1:9/hook", "method": "POST",
                "headers": header, "timeout_ms": 1000, "mode": "advisory"},
            {"name": "set", "type": "http", "url": "http://127.0.0.1:9/hook", "method": "POST",
                "headers": header, "env": {"ACCORD_NO_SUCH_VARIABLE": "v"},
                "timeout_ms": 1000, "mode": "advisory"}]);
        config["prompts"]["dev"] = json!("no/such.md");
        config["prompts"]["qa"] = json!("../outside.md");
        config["run_loop"] = json!({"startup_watchdog_ms": 9000,
            "stale_turn_threshold_ms": 9000, "other": 1});
    });
    let found: Vec<(String, Level, Option<Code>)> = repo
        .runs()
        .doctor()
        .into_iter()
        .filter(|finding| finding.subject != "git")
        .map(|finding| (finding.subject, finding.level, finding.code))
        .map(|(subject, level, code)| (subject.replace("agentxchain.json, ", ""), level, code))
        .collect();
    let expected = [
        ("hooks.before_gate, gone", Level::Error, Some(Code::XchainHookBlocked)),
        ("prompts.qa", Level::Error, Some(Code::XchainPathOutsideRepository)),
        ("runtimes.afar", Level::Warning, Some(Code::XchainRuntimeUnavailable)),
        ("hooks.after_acceptance, unset", Level::Warning, None),
        ("prompts.dev", Level::Warning, None),
        ("run_loop.other", Level::Warning, None),
    ];
    let expected = expected.map(|(subject, level, code)| (subject.to_owned(), level, code));
    assert_eq!(found, expected);
}

#[test]
fn the_check_up_names_what_the_run_waits_for() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let warned = |what: &str| {
        let findings = runs.doctor();
        let found = findings.iter().find(|found| found.message.contains(what));
        found.is_some_and(|found| found.level == Level::Warning)
    };
    assert!(!warned("999999999") && !warned("blocked"));
    let mut state = repo.json(".agentxchain/state.json");
    let stands = &mut state["active_turns"][turn.turn.id().as_str()];
    stands["worker_pid"] = json!(999_999_999);
    stands["worker_started_at"] = json!("2026-01-01T00:00:00.000Z");
    repo.write(".agentxchain/state.json", &state.to_string());
    assert!(warned("process 999999999, is gone"));
    stage(&repo, &turn, &json!({}));
    assert!(!warned("999999999"), "it has done its work");
    runs.escalate("wait for the key").unwrap();
    assert!(warned("blocked on escalation:operator:wait-for-the-key"));
}

#[test]
fn the_check_up_names_lasting_decisions_whose_id_stands_more_than_once() {
    let repo = Repo::plain();
    let runs = repo.started();
    let record = ".agentxchain/repo-decisions.jsonl";
    let line = |id: &str, run: &str, status: &str| {
        json!({"id": id, "run_id": run, "statement": "s", "status": status}).to_string() + "\n"
    };
    let named = |lines: &[String]| {
        repo.write(record, &lines.concat());
        let found = runs.doctor().into_iter();
        let found = found.filter(|found| found.subject == record);
        let found: Vec<_> = found.map(|found| (found.level, found.message)).collect();
        found
    };
    let says = |id: &str, runs: &str| {
        let message =
            format!("{id} occurs more than once ({runs}); an override affects only the last one");
        (Level::Warning, message)
    };
    let first = line("DEC-001", "run_a", "active");
    let second = line("DEC-002", "run_a", "active");
    let other_run = line("DEC-001", "run_b", "active");
    let overridden = line("DEC-002", "run_b", "overridden");
    assert_eq!(named(&[first.clone(), second.clone()]), []);
    assert_eq!(named(&[first.clone(), first.clone()]), [says("DEC-001", "run_a, run_a")]);
    assert_eq!(
        named(&[first.clone(), second.clone(), other_run.clone()]),
        [says("DEC-001", "run_a, run_b")]
    );
    assert_eq!(
        named(&[first, second, overridden, other_run]),
        [says("DEC-001", "run_a, run_b"), says("DEC-002", "run_a, run_b")]
    );
}
