//! What a step or a loop does not do by itself, and where it ends.

use accord_contract::Code;
use accord_runs::operations::{
    DEFAULT_MAX_TURNS, LoopOptions, LoopStop, NextStep, Step, StepResult,
};
use accord_runs::{CycleOptions, TurnOutcome};
use serde_json::json;

use crate::support::{PLANNING, accept, dispatched, plan, refused, result, stage};
use crate::workers::{PLANS, planned_by, turn_member};

#[test]
fn a_loop_whose_turns_change_nothing_ends() {
    // The planner plans, and never asks for the next phase.
    let idle = PLANS
        .replace("\"phase_transition_request\": \"implementation\"", "\"cost\": {\"usd\": 0}")
        .replace("printf 'Approved: YES\\n'", "date +%s%N");
    let repo = planned_by(&idle, json!({}));
    repo.configure(|config| config["run_loop"] = json!({"max_turns": 3}));
    let options = LoopOptions {
        cycle: CycleOptions { checkpoint: true, ..CycleOptions::default() },
        ..LoopOptions::default()
    };
    let looped = repo.started().run_loop(&options).unwrap();
    assert_eq!((looped.stop, looped.accepted), (LoopStop::MaxTurns, 3));
    assert_eq!(DEFAULT_MAX_TURNS, 50);
}

#[test]
fn a_planner_that_asks_again_and_again_without_the_documents_is_stopped() {
    let asks = PLANS.replace("> .planning/", "> ").replace("\".planning/", "\"");
    let repo = planned_by(&asks.replace("printf 'Approved: YES\\n'", "date +%s%N"), json!({}));
    let cycle = CycleOptions { checkpoint: true, ..CycleOptions::default() };
    let options = LoopOptions { cycle, ..LoopOptions::default() };
    let looped = repo.started().run_loop(&options).unwrap();
    assert_eq!((looped.stop, looped.accepted), (LoopStop::Blocked, 3));
    let state = repo.json(".agentxchain/state.json");
    assert_eq!(state["blocked_on"], "non_progress");
}

#[test]
fn no_turn_is_given_out_whose_agent_is_not_there() {
    let agents = [
        json!({"command": ["accord-no-such-agent"]}),
        json!({"type": "remote_agent", "url": "http://127.0.0.1:9",
            "headers": {"authorization": "Bearer ${ACCORD_NO_SUCH_VARIABLE}"}}),
    ];
    for agent in agents {
        let repo = planned_by("", agent.clone());
        if agent["type"] == "remote_agent" {
            repo.configure(|config| config["roles"]["pm"]["write_authority"] = json!("proposed"));
        }
        let runs = repo.started();
        let before = repo.home();
        refused(runs.step(&Step::default()), Code::XchainRuntimeUnavailable);
        refused(runs.run_loop(&LoopOptions::default()), Code::XchainRuntimeUnavailable);
        assert_eq!(repo.home(), before, "{agent}");
    }
}

#[test]
fn a_conflict_that_a_person_should_merge_waits_for_one() {
    // Of the two files in conflict, `share` are the turn's whole work.
    for (share, waits) in [(3, true), (1, false)] {
        let repo = planned_by(PLANS, json!({}));
        repo.configure(|config| {
            config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
        });
        let runs = repo.started();
        let first = dispatched(&runs, "dev");
        let second = runs.assign(Some("pm")).unwrap().turn;
        plan(&repo);
        let files = &PLANNING[..share];
        let staged = result(&first, files, |_| {});
        stage(&repo, &first, &staged);
        for path in &PLANNING[share..] {
            repo.git(&["checkout", "--quiet", "--", path]);
        }
        accept(&runs, first.turn.id()).unwrap();
        let step = Step { turn: Some(second.id().clone()), ..Step::default() };
        let StepResult::Turn(carried) = runs.step(&step).unwrap() else {
            panic!("it was carried");
        };
        let ledger = repo.lines(".agentxchain/decision-ledger.jsonl");
        let decided = |what: &str| ledger.iter().filter(|line| line["decision"] == what).count();
        assert_eq!(decided("conflict_detected"), 1);
        if !waits {
            assert!(matches!(carried, TurnOutcome::Accepted(_)), "{carried:?}");
            assert_eq!(decided("conflict_rejected"), 1);
            continue;
        }
        assert!(matches!(carried, TurnOutcome::Conflicted { .. }), "{carried:?}");
        assert_eq!(decided("conflict_rejected"), 0);
        assert_eq!(turn_member(&runs, "status"), "conflicted");
        let looped = runs.run_loop(&LoopOptions::default()).unwrap();
        assert!(
            matches!(looped.stop, LoopStop::NotRunning(NextStep::Reconcile { merge: true, .. })),
            "{looped:?}"
        );
        let stands = runs.step(&Step::default()).unwrap();
        assert!(matches!(stands, StepResult::NotRunning(_)), "{stands:?}");
        assert!(matches!(
            runs.step(&step).unwrap(),
            StepResult::Turn(TurnOutcome::Conflicted { .. })
        ));
        let found = turn_member(&runs, "conflict_state")["detection_count"].clone();
        assert_eq!(found, 1, "looking again is no other conflict");
    }
}
