//! The order of the events of a run.

use accord_runs_core::accept::Commit;
use accord_runs_core::hooks::{HookPhase, HookReport};
use accord_runs_core::run::{self, check_assignment};
use accord_runs_core::testing::MemoryRepository;
use accord_runs_core::{TurnId, event};
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, clean, config, ids, now, result, stage, world};

fn reported(world: &MemoryRepository) -> Vec<Value> {
    let lines = world.files[".agentxchain/events.jsonl"].lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Assigns a turn that nobody hands out.
fn assign_only(world: &mut MemoryRepository, role: &str) -> TurnId {
    let ready = check_assignment(&world.state, &world.config, role, clean(), 0).unwrap();
    let none = HookReport::none(HookPhase::BeforeAssignment);
    let (change, turn) = ready.confirm(&none, &mut ids(2), now()).unwrap();
    world.state = change.state;
    turn.id().clone()
}

#[test]
fn a_turn_that_was_never_dispatched_is_announced_all_the_same() {
    for fails_first in [false, true] {
        let mut world = world(config(), "implementation");
        let turn = assign_only(&mut world, "dev");
        let sound = result(&world, &turn);
        if fails_first {
            stage(&mut world, &turn, &json!({}));
            accept(&mut world, &turn, &Script::default()).refused();
        }
        stage(&mut world, &turn, &sound);
        let script = Script { seed: 50, ..Script::default() };
        let run = accept(&mut world, &turn, &script);
        run.accepted();
        assert_eq!(run.events(), ["turn_dispatched", "turn_accepted"]);
        let mut all = reported(&world);
        let mut start = all[0].clone();
        start["event_id"] = "evt_of_the_start".into();
        start["event_type"] = "run_started".into();
        all.insert(0, start);
        assert!(event::check_order(&json!(all)).is_ok(), "{all:?}");
    }
}

#[test]
fn a_dispatched_turn_is_announced_once() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let sound = result(&world, &turn);
    stage(&mut world, &turn, &sound);
    let run = accept(&mut world, &turn, &Script::default());
    assert_eq!(run.events(), ["turn_accepted"]);
}

#[test]
fn nothing_is_announced_after_the_end_of_a_run() {
    let mut world = world(config(), "qa");
    let verdict = ".planning/ship-verdict.md";
    world.files.insert(verdict.into(), "## Verdict: SHIP\n".into());
    let turn = assign(&mut world, "qa", 2);
    let note = |world: &MemoryRepository| {
        let about = (turn.as_str(), "qa");
        let files = [verdict.to_owned()];
        run::checkpoint(&world.state, about, "c0ffee", &files, true, &mut ids(7), now()).unwrap()
    };
    assert_eq!(note(&world).events.len(), 1, "while the run lives");
    let mut staged = result(&world, &turn);
    staged["run_completion_request"] = true.into();
    stage(&mut world, &turn, &staged);
    accept(&mut world, &turn, &Script::default()).accepted();
    let change = note(&world);
    world.apply(&Commit::of_change(&world.state.clone(), &change, &mut ids(8), now())).unwrap();
    assert_eq!(reported(&world).last().unwrap()["event_type"], "run_completed");
    assert_eq!(world.state.member("accepted_integration_ref"), "git:c0ffee");
}
