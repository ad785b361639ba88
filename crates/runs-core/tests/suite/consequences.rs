//! What follows from an accepted turn: gates, money, policies, time, the end of the run.

use accord_contract::Code;
use accord_runs_core::accept::Observation;
use accord_runs_core::budget;
use accord_runs_core::run::check_assignment;
use accord_runs_core::state::Status;
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, clean, config, config_with, result, stage, world};

#[test]
fn money_policies_and_time_are_watched() {
    let costly = |config, script: Script| {
        let mut world = world(config, "implementation");
        let turn = assign(&mut world, "dev", 2);
        let mut staged = result(&world, &turn);
        staged["cost"] = json!({"usd": 3.0});
        stage(&mut world, &turn, &staged);
        let run = accept(&mut world, &turn, &script);
        (run, world)
    };
    let budget = config_with(|document| {
        document["budget"] = json!({"per_turn_max_usd": 1.0, "per_run_max_usd": 2.0});
    });
    let (run, broke) = costly(budget, Script::default());
    let warned = "budget_exceeded_warn: the turn cost 3.00 dollars of at most 1.00";
    let said = &run.accepted().warnings;
    assert!(said.iter().any(|line| line.starts_with(warned)), "{said:?}");
    assert_eq!(run.accepted().history_entry["warnings"], json!(said));
    assert_eq!(run.events(), ["turn_accepted", "budget_exceeded_warn", "run_blocked"]);
    assert_eq!(broke.state.blocked_on(), Some("budget:exhausted"));
    assert_eq!(broke.state.member("budget_status")["exhausted"], true);
    let policy = |action: &str| {
        let action = action.to_owned();
        config_with(move |document| {
            document["policies"] = json!([{"id": "cheap", "rule": "max_cost_per_turn",
                "action": action, "params": {"limit_usd": 2.0}}]);
        })
    };
    let (run, _) = costly(policy("block"), Script::default());
    assert_eq!(run.refused().code, Code::XchainPolicyViolation);
    let (run, world) = costly(policy("escalate"), Script::default());
    assert_eq!(run.refused().code, Code::XchainPolicyEscalation);
    assert_eq!(world.state.blocked_on(), Some("policy:cheap"));
    assert_eq!(world.state.turns().len(), 1, "the turn is kept");
    let (run, _) = costly(policy("warn"), Script::default());
    assert!(run.accepted().warnings.iter().any(|warning| warning.contains("cheap")));
    let slow = config_with(|document| {
        document["timeouts"] = json!({"per_phase_minutes": 30, "action": "escalate"});
    });
    let (run, late) = costly(slow, Script { later_minutes: 31, ..Script::default() });
    run.accepted();
    assert_eq!(late.state.blocked_on(), Some("timeout:phase"));
}

#[test]
fn a_budget_that_was_raised_covers_the_next_turn_and_the_state_says_so() {
    let budget_of = |most: f64| {
        config_with(|document| {
            document["budget"] = json!({"per_turn_max_usd": 1.0, "per_run_max_usd": most});
        })
    };
    let mut world = world(budget_of(2.5), "implementation");
    for (seed, cost) in [(2, 1.0), (3, 1.0)] {
        let turn = assign(&mut world, "dev", seed);
        let mut staged = result(&world, &turn);
        staged["cost"] = json!({"usd": cost});
        stage(&mut world, &turn, &staged);
        let script = Script { seed: 80 + seed, ..Script::default() };
        let run = accept(&mut world, &turn, &script);
        assert!(!run.events().contains(&"budget_exceeded_warn".to_owned()));
    }
    // Half a dollar is left, and the run is not blocked.
    assert_eq!(world.state.status(), Status::Active);
    let missing = budget::shortfall(&world.state, &world.config).unwrap();
    assert_eq!((missing.left_usd, missing.wanted_usd), (0.5, 1.0));
    let refused = check_assignment(&world.state, &world.config, "dev", clean(), 2).unwrap_err();
    assert_eq!(refused.code, Code::XchainBudgetExhausted);
    assert_eq!(refused.message, missing.to_string());
    world.config = budget_of(4.0);
    assert_eq!(budget::shortfall(&world.state, &world.config), None);
    assign(&mut world, "dev", 4);
    assert_eq!(world.state.member("budget_status")["remaining_usd"], 2.0);
}

#[test]
fn a_failing_gate_stops_a_run_that_does_not_move() {
    let mut world = world(config(), "qa");
    for round in 0..3_u8 {
        let turn = assign(&mut world, "qa", 10 + round);
        let mut staged = result(&world, &turn);
        staged["run_completion_request"] = true.into();
        stage(&mut world, &turn, &staged);
        let run = accept(&mut world, &turn, &Script { seed: 80 + round, ..Script::default() });
        run.accepted();
        assert_eq!(
            world.state.member("last_gate_failure")["missing_files"][0],
            ".planning/ship-verdict.md"
        );
        assert_eq!(world.state.member("phase_gate_status")["ship"], "failed");
    }
    assert_eq!(world.state.blocked_on(), Some("non_progress"));
    assert!(
        world
            .ledger
            .iter()
            .any(|line| line.get("type") == Some(&Value::from("non_progress_block")))
    );
}

#[test]
fn a_run_goes_in_circles_at_most_three_times() {
    let phase = || json!({"phase_transition_request": "implementation"});
    let end = || json!({"run_completion_request": true});
    let touched =
        json!({"run_completion_request": true, "files_changed": [".planning/ship-verdict.md"]});
    // The requests of the turns; every one leaves the gate failing.
    let circles = [
        ("planning", "pm", [phase(), phase(), phase()]),
        ("planning", "pm", [phase(), end(), phase()]),
        ("qa", "qa", [touched.clone(), touched.clone(), touched]),
    ];
    for (phase, role, asked) in circles {
        let mut world = world(config(), phase);
        for (round, asks) in (0..3_u8).zip(&asked) {
            let turn = assign(&mut world, role, 10 + round);
            let mut staged = result(&world, &turn);
            for (name, value) in asks.as_object().unwrap() {
                staged[name] = value.clone();
            }
            stage(&mut world, &turn, &staged);
            let script = Script { seed: 80 + round, ..Script::default() };
            accept(&mut world, &turn, &script).accepted();
            let blocked = (round == 2).then_some("non_progress");
            assert_eq!(world.state.blocked_on(), blocked, "{phase}, {round}, {asked:?}");
        }
    }
}

#[test]
fn a_whole_run_ends() {
    let config = config_with(|document| {
        document["approval_policy"] = json!({"phase_transitions": {"rules": [
            {"from_phase": "planning", "action": "auto_approve",
                "when": {"roles_participated": ["pm"]}}]}});
    });
    let mut world = world(config, "planning");
    world.files.insert(".planning/PM_SIGNOFF.md".into(), "Approved: YES\n".into());
    world.files.insert(".planning/ship-verdict.md".into(), "## Verdict: SHIP\n".into());
    for (round, (role, ask)) in [
        ("pm", json!({"phase_transition_request": "implementation"})),
        ("dev", json!({"phase_transition_request": "qa"})),
        ("qa", json!({"run_completion_request": true})),
    ]
    .into_iter()
    .enumerate()
    {
        let round = u8::try_from(round).unwrap();
        let turn = assign(&mut world, role, 10 + round);
        let mut staged = result(&world, &turn);
        if role == "pm" {
            staged["files_changed"] = json!([".planning/PM_SIGNOFF.md"]);
        }
        for (name, value) in ask.as_object().unwrap() {
            staged[name] = value.clone();
        }
        stage(&mut world, &turn, &staged);
        let script = Script { seed: 90 + round, ..Script::default() };
        accept(&mut world, &turn, &script).accepted();
    }
    assert_eq!(world.state.status(), Status::Completed);
    assert_eq!(world.state.member("phase_gate_status")["ship"], "passed");
    let events: Vec<Value> = world.files[".agentxchain/events.jsonl"]
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.last().unwrap()["event_type"], "run_completed");
    assert!(world.files[".agentxchain/run-history.jsonl"].contains("\"total_turns\":3"));
    assert!(
        world.ledger.iter().any(|line| line.get("type") == Some(&Value::from("approval_policy")))
    );
}

#[test]
fn a_phase_that_takes_too_long_ends_by_its_gate_or_stops_the_run() {
    let skipping = |gate: bool, own: bool| {
        config_with(|document| {
            if own {
                // A phase may have a limit, and a way out, of its own.
                document["timeouts"] = json!({"per_phase_minutes": 600, "action": "warn"});
                let route = &mut document["routing"]["implementation"];
                route["timeout_minutes"] = 30.into();
                route["timeout_action"] = "skip_phase".into();
            } else {
                document["timeouts"] = json!({"per_phase_minutes": 30, "action": "skip_phase"});
            }
            if gate {
                document["routing"]["implementation"]["exit_gate"] = "built".into();
                document["gates"]["built"] = json!({"requires_files": ["built.txt"]});
            }
        })
    };
    for (gate, own, phase, status) in [
        (false, false, "qa", Status::Active),
        (true, false, "implementation", Status::Blocked),
        (false, true, "qa", Status::Active),
        (true, true, "implementation", Status::Blocked),
    ] {
        let mut world = world(skipping(gate, own), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let staged = result(&world, &turn);
        stage(&mut world, &turn, &staged);
        let run = accept(&mut world, &turn, &Script { later_minutes: 31, ..Script::default() });
        run.accepted();
        assert_eq!((world.state.phase(), world.state.status()), (phase, status));
        assert!(world.ledger.iter().any(|line| line.get("type") == Some(&Value::from("timeout"))));
    }
}

#[test]
fn evidence_is_run_again_where_a_policy_wants_it() {
    let config = config_with(|document| {
        document["policies"] = json!([{"id": "proof", "rule": "require_reproducible_verification",
            "action": "block"}]);
    });
    let run = |replay: Vec<Option<i64>>| {
        let mut world = world(config.clone(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let staged = result(&world, &turn);
        stage(&mut world, &turn, &staged);
        accept(&mut world, &turn, &Script { replay, ..Script::default() })
    };
    let good = run(vec![Some(0)]);
    assert_eq!(good.accepted().history_entry["verification_replay"]["outcome"], "match");
    for bad in [vec![Some(1)], vec![None], vec![]] {
        assert_eq!(run(bad).refused().code, Code::XchainVerificationReplayDrift);
    }
}

#[test]
fn files_that_checks_write_when_they_run_again_are_named() {
    let config = config_with(|document| {
        document["policies"] = json!([{"id": "proof", "rule": "require_reproducible_verification",
            "action": "block"}]);
    });
    let seen = |files: &[(&str, &str)]| Observation {
        head_ref: Some("abc".into()),
        dirty: true,
        changed: files.iter().map(|(path, mark)| ((*path).into(), (*mark).into())).collect(),
        uncommitted: files.iter().map(|(path, _)| (*path).into()).collect(),
        ..Observation::default()
    };
    let run = |after: &[(&str, &str)], produced: Value| {
        let mut world = world(config.clone(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let mut staged = result(&world, &turn);
        staged["verification"]["produced_files"] = produced;
        stage(&mut world, &turn, &staged);
        let observations =
            vec![seen(&[("src/lib.rs", "1")]), seen(after), seen(&[("src/lib.rs", "1")])];
        let replay = vec![Some(0)];
        accept(&mut world, &turn, &Script { replay, observations, ..Script::default() })
    };
    let lib = ("src/lib.rs", "1");
    assert_eq!(run(&[lib], json!([])).events(), ["turn_accepted"]);
    let left = run(&[lib, ("out.log", "2")], json!([]));
    assert_eq!(left.refused().code, Code::XchainUndeclaredVerificationOutputs);
    assert_eq!(left.refused().details.as_ref().unwrap()["files"], json!(["out.log"]));
    assert!(
        left.refused().message.ends_with("wrote 1 file that the result does not name: out.log")
    );
    let other = run(&[("src/lib.rs", "2")], json!([]));
    assert_eq!(other.refused().code, Code::XchainAcceptanceDrift);
    // They are deleted again before the second look.
    let ignored = run(&[lib], json!([{"path": "out.log", "disposition": "ignore"}]));
    assert_eq!(ignored.events(), ["turn_accepted"]);
    assert_eq!(ignored.wants.iter().filter(|want| **want == "clean").count(), 2);
}

#[test]
fn who_asks_to_leave_has_done_something_about_the_gate() {
    let config = config_with(|document| {
        document["routing"]["implementation"]["exit_gate"] = "built".into();
        document["gates"]["built"] =
            json!({"requires_files": [".planning/IMPLEMENTATION_NOTES.md"]});
    });
    let ask = |phase: &str, role: &str, to: &str, files: Value| {
        let mut world = world(config.clone(), phase);
        let turn = assign(&mut world, role, 2);
        let mut staged = result(&world, &turn);
        staged["phase_transition_request"] = to.into();
        staged["files_changed"] = files;
        stage(&mut world, &turn, &staged);
        let run = accept(&mut world, &turn, &Script::default());
        (run, world)
    };
    let (refused, _) = ask("implementation", "dev", "qa", json!(["src/lib.rs"]));
    assert_eq!(refused.refused().code, Code::XchainGateSemanticCoverage);
    let named = &refused.refused().message;
    assert!(named.contains(".planning/IMPLEMENTATION_NOTES.md"), "{named}");
    let touched = json!(["src/lib.rs", ".planning/IMPLEMENTATION_NOTES.md"]);
    let (tried, world) = ask("implementation", "dev", "qa", touched);
    tried.accepted();
    assert_eq!(tried.events(), ["turn_accepted", "gate_failed"]);
    assert_eq!(world.state.phase(), "implementation");
    // While planning, the request is dropped instead.
    let (dropped, world) = ask("planning", "pm", "implementation", json!(["src/lib.rs"]));
    assert!(dropped.accepted().history_entry["phase_transition_request"].is_null());
    assert_eq!((world.state.phase(), world.state.status()), ("planning", Status::Active));
}

#[test]
fn a_gate_that_runs_something_is_not_passed_without_a_person() {
    let hook = |mode: &str| {
        json!({"before_gate": [{"name": "look", "type": "process", "command": ["x"],
            "timeout_ms": 1000, "mode": mode}]})
    };
    let actions = json!([{"run": "make release"}]);
    for (actions, hooks, passes) in [
        (json!([]), json!({}), true),
        (json!([]), hook("advisory"), true),
        (actions, json!({}), false),
        (json!([]), hook("blocking"), false),
    ] {
        for (gate, phase, role, ask) in [
            (
                "plan",
                "planning",
                "pm",
                json!({"phase_transition_request": "implementation",
                    "files_changed": [".planning/PM_SIGNOFF.md"]}),
            ),
            ("ship", "qa", "qa", json!({"run_completion_request": true})),
        ] {
            let config = config_with(|document| {
                document["approval_policy"] = json!({
                    "phase_transitions": {"default": "auto_approve"},
                    "run_completion": {"action": "auto_approve"}});
                document["gates"][gate]["requires_human_approval"] = true.into();
                document["gates"][gate]["gate_actions"] = actions.clone();
                document["hooks"] = hooks.clone();
            });
            let mut world = world(config, phase);
            for (path, text) in [
                (".planning/PM_SIGNOFF.md", "Approved: YES\n"),
                (".planning/ship-verdict.md", "## Verdict: SHIP\n"),
            ] {
                world.files.insert(path.into(), text.into());
            }
            let turn = assign(&mut world, role, 2);
            let mut staged = result(&world, &turn);
            for (name, value) in ask.as_object().unwrap() {
                staged[name] = value.clone();
            }
            stage(&mut world, &turn, &staged);
            accept(&mut world, &turn, &Script::default()).accepted();
            let waits = world.state.status() == Status::Paused;
            assert_eq!(waits, !passes, "{gate} {actions} {hooks}");
            assert_eq!(world.state.member("phase_gate_status")[gate] == "passed", passes);
        }
    }
}
