//! Whatever is done to a run, in whatever order, it stays one.

use std::collections::BTreeSet;

use accord_contract::{Code, Time};
use accord_runs_core::Ids;
use accord_runs_core::dispatch;
use accord_runs_core::event;
use accord_runs_core::hooks::{HookPhase, HookReport};
use accord_runs_core::run::{self, Beginning, Change, Rejection};
use accord_runs_core::state::{Baseline, State, Status, TurnStatus};
use accord_runs_core::testing::{MemoryRepository, approval};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Script, accept, clean, config, ids, now, result, stage, world};

#[derive(Clone, Debug)]
enum Operation {
    Init(bool),
    Assign(&'static str),
    Accept(usize, Ask, bool),
    Reject,
    ApproveTransition,
    ApproveCompletion,
    Escalate,
    Resolve,
    Write(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug)]
enum Ask {
    Nothing,
    Next,
    End,
    Person,
    Wrong,
}

fn operation() -> impl Strategy<Value = Operation> {
    let role = prop_oneof![4 => Just("pm"), 4 => Just("dev"), 4 => Just("qa"), 1 => Just("nobody")];
    let ask = prop_oneof![
        2 => Just(Ask::Nothing),
        4 => Just(Ask::Next),
        4 => Just(Ask::End),
        1 => Just(Ask::Person),
        1 => Just(Ask::Wrong)
    ];
    prop_oneof![
        1 => any::<bool>().prop_map(Operation::Init),
        8 => role.prop_map(Operation::Assign),
        10 => (0..2_usize, ask, prop::bool::weighted(0.8))
            .prop_map(|(at, ask, pass)| Operation::Accept(at, ask, pass)),
        1 => Just(Operation::Reject),
        3 => Just(Operation::ApproveTransition),
        3 => Just(Operation::ApproveCompletion),
        1 => Just(Operation::Escalate),
        2 => Just(Operation::Resolve),
        2 => Just(Operation::Write(".planning/PM_SIGNOFF.md", "Approved: YES\n")),
        2 => Just(Operation::Write(".planning/ship-verdict.md", "## Verdict: YES\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_never_leaves_its_declared_states(
        operations in prop::collection::vec(operation(), 20..90)
    ) {
        let mut world = world(config(), "planning");
        let mut timeline: Vec<Value> = vec![started(&world)];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (round, operation) in operations.into_iter().enumerate() {
            // No two operations draw from the same source; an acceptance draws from `[seed; 32]`.
            let seed = u8::try_from(round).unwrap() + 40;
            let mut drawn_from = [seed; 32];
            drawn_from[0] = 0;
            let mut source = Ids::new(drawn_from);
            let at = now().minutes_later(round as u64);
            let before = world.state.clone();
            let history = world.history.len();
            apply(&mut world, &operation, &mut source, at, seed, &mut timeline);
            let after = &world.state;

            prop_assert!(
                before.status() == after.status() || before.status().may_become(after.status()),
                "{:?}: {} to {}", operation, before.status(), after.status()
            );
            let begins =
                matches!(operation, Operation::Init(_)) && before.run_id() != after.run_id();
            prop_assert!(begins || before.run_id() == after.run_id());
            prop_assert!(begins || before.turn_sequence() <= after.turn_sequence());
            prop_assert!(after.turns().len() <= 2);
            prop_assert!(world.history.len() <= history + 1);
            let again = State::read(Value::Object(after.document())).unwrap();
            prop_assert_eq!(again.document(), after.document());
            for turn in after.turns() {
                seen.insert(turn.id().to_string());
            }
            if after.status() == Status::Paused {
                let (transition, end) = (after.pending_transition(), after.pending_completion());
                prop_assert!(transition.is_some() || end.is_some());
            }
            if after.status() != Status::Blocked {
                prop_assert!(after.member("blocked_reason").is_null());
            }
        }
        let lines = world.history.iter();
        let unique: BTreeSet<&str> = lines.map(|line| line["turn_id"].as_str().unwrap()).collect();
        prop_assert_eq!(unique.len(), world.history.len(), "a turn was accepted twice");
        for event in &timeline {
            prop_assert_eq!(event::check(event), Vec::<String>::new());
        }
        let last_run = timeline.last().unwrap()["run_id"].clone();
        let is_last = |event: &Value| event["run_id"] == last_run;
        let of_run: Vec<Value> = timeline.into_iter().filter(is_last).collect();
        prop_assert_eq!(event::check_order(&of_run.into()), Ok(()));
    }
}

fn started(world: &MemoryRepository) -> Value {
    json!({"event_id": "evt_0", "event_type": "run_started", "timestamp": now().to_string(),
           "run_id": world.state.run_id().unwrap().as_str()})
}

fn apply(
    world: &mut MemoryRepository,
    operation: &Operation,
    source: &mut Ids,
    at: Time,
    seed: u8,
    timeline: &mut Vec<Value>,
) {
    let change: Result<Change, ()> = match operation {
        Operation::Init(restart) => {
            let beginning = Beginning { restart: *restart, ..Beginning::default() };
            run::init(&world.state, &world.config, beginning, source, at).map_err(drop)
        }
        Operation::Assign(role) => {
            let length = world.history.len() as u64;
            run::check_assignment(&world.state, &world.config, role, clean(), length)
                .map_err(drop)
                .and_then(|ready| {
                    let none = HookReport::none(HookPhase::BeforeAssignment);
                    let (change, turn) = ready.confirm(&none, source, at).map_err(drop)?;
                    dispatch::mark(&change.state, turn.id(), TurnStatus::Dispatched, source, at)
                        .map_err(drop)
                })
        }
        Operation::Accept(which, ask, pass) => {
            accept_one(world, *which, *ask, *pass, seed, at, timeline);
            return;
        }
        Operation::Reject => {
            let rejection = Rejection {
                reason: "not good".into(),
                errors: Vec::new(),
                failed_stage: None,
                baseline: Baseline {
                    head_ref: None,
                    clean: true,
                    dirty: Vec::new(),
                    ..Baseline::default()
                },
                left_behind: Value::Null,
            };
            run::reject(&world.state, &world.config, None, &rejection, source, at).map_err(drop)
        }
        Operation::ApproveTransition => {
            run::approve_transition(&world.state, &world.config, &approval(), &[], source, at)
                .map_err(drop)
        }
        Operation::ApproveCompletion => {
            run::approve_completion(&world.state, &approval(), &[], source, at).map_err(drop)
        }
        Operation::Escalate => run::escalate(&world.state, "stop", source, at).map_err(drop),
        Operation::Resolve => {
            run::resolve(&world.state, None, &approval(), source, at).map_err(drop)
        }
        Operation::Write(path, text) => {
            world.files.insert((*path).into(), (*text).into());
            return;
        }
    };
    if let Ok(change) = change {
        world.state = change.state;
        timeline.extend(change.events.iter().map(|event| Value::Object(event.line().clone())));
    }
}

fn accept_one(
    world: &mut MemoryRepository,
    which: usize,
    ask: Ask,
    pass: bool,
    seed: u8,
    at: Time,
    timeline: &mut Vec<Value>,
) {
    let count = world.state.turns().len().max(1);
    let Some(turn) = world.state.turns().nth(which % count) else {
        return;
    };
    let (turn, role) = (turn.id().clone(), turn.role().to_owned());
    let mut staged = result(world, &turn);
    staged["files_changed"] =
        if role == "qa" { json!([]) } else { json!([format!("src/{role}{seed}.rs")]) };
    if !pass {
        staged["verification"] = json!({"status": "fail"});
    }
    match ask {
        Ask::Nothing => {}
        Ask::Next => {
            let next = world.config.next_phase(world.state.phase());
            staged["phase_transition_request"] = next.into();
        }
        Ask::End => staged["run_completion_request"] = true.into(),
        Ask::Person => staged["status"] = "needs_human".into(),
        Ask::Wrong => staged["status"] = "perhaps".into(),
    }
    stage(world, &turn, &staged);
    let minutes = at.millis_since(now()) / 60_000;
    let run = accept(world, &turn, &Script { seed, later_minutes: minutes, ..Script::default() });
    let accepting =
        run.commits.iter().filter(|commit| commit.kind.as_str() == "accept_turn").count();
    assert!(accepting <= 1, "one acceptance commits at most once");
    for commit in &run.commits {
        for write in &commit.writes {
            if let accord_runs_core::accept::Write::Append { record, line } = write
                && record.as_str() == "events.jsonl"
            {
                timeline.push(Value::Object(line.clone()));
            }
        }
    }
}

#[test]
fn the_guards_of_an_assignment_come_in_their_order() {
    let code = |world: &MemoryRepository, role: &str, check| {
        run::check_assignment(&world.state, &world.config, role, check, 0).unwrap_err().code
    };
    let mut fresh = world(config(), "implementation");
    assert_eq!(code(&fresh, "nobody", clean()), Code::XchainUnknownRole);
    let dirt = Baseline {
        head_ref: Some("a".into()),
        clean: false,
        dirty: Vec::new(),
        ..Baseline::default()
    };
    let dirty = run::BaselineCheck::Dirty(dirt.clone(), vec!["x".into()]);
    assert_eq!(code(&fresh, "dev", dirty.clone()), Code::XchainBaselineDirty);
    let open = run::BaselineCheck::Uncheckpointed(dirt, "turn_1".into());
    assert_eq!(code(&fresh, "dev", open), Code::XchainCheckpointRequired);
    assert!(run::check_assignment(&fresh.state, &fresh.config, "qa", dirty, 0).is_ok());
    crate::support::assign(&mut fresh, "dev", 2);
    assert_eq!(code(&fresh, "dev", clean()), Code::XchainRoleAlreadyActive);
    crate::support::assign(&mut fresh, "pm", 3);
    assert_eq!(code(&fresh, "qa", clean()), Code::XchainTurnCapacityReached);
    let full = run::check_assignment(&fresh.state, &fresh.config, "qa", clean(), 0).unwrap_err();
    for turn in fresh.state.turns() {
        let holder = format!("{} of {}", turn.id(), turn.role());
        assert!(full.message.contains(&holder), "{}", full.message);
    }
    let blocked = run::escalate(&fresh.state, "stop", &mut ids(4), now()).unwrap().state;
    fresh.state = blocked;
    assert_eq!(code(&fresh, "qa", clean()), Code::XchainInvalidStateTransition);
}

#[test]
fn a_turn_that_fails_too_often_blocks_the_run() {
    let mut world = world(config(), "implementation");
    let turn = crate::support::assign(&mut world, "dev", 2);
    let rejection = Rejection {
        reason: "no tests".into(),
        errors: vec!["e".into()],
        failed_stage: Some("schema".into()),
        baseline: Baseline {
            head_ref: None,
            clean: true,
            dirty: Vec::new(),
            ..Baseline::default()
        },
        left_behind: Value::Null,
    };
    let change =
        run::reject(&world.state, &world.config, None, &rejection, &mut ids(3), now()).unwrap();
    world.state = change.state;
    let retried = world.state.turn(&turn).unwrap();
    assert_eq!((retried.attempt(), retried.document()["status"].clone()), (2, "retrying".into()));
    assert!(change.ledger.is_empty());
    let change =
        run::reject(&world.state, &world.config, None, &rejection, &mut ids(4), now()).unwrap();
    assert_eq!(change.state.blocked_on(), Some("escalation:retries-exhausted:dev"));
    assert_eq!(change.state.turn(&turn).unwrap().document()["status"], "failed");
    assert_eq!(change.state.member("blocked_reason")["recovery"]["turn_retained"], true);
}

#[test]
fn old_states_are_read_and_unknown_members_survive() {
    let old = json!({
        "schema_version": "1.0", "run_id": "run_1", "status": "active", "phase": "qa",
            "x-note": {"a": [1]},
        "current_turn": {"turn_id": "turn_9", "role": "dev", "x": true},
            "blocked_reason": {"category": "old"}
    });
    let state = State::read(old).unwrap();
    let document = state.document();
    assert_eq!(document["schema_version"], "1.1");
    assert_eq!(document["active_turns"]["turn_9"]["assigned_role"], "dev");
    assert_eq!(document["active_turns"]["turn_9"]["x"], true);
    assert_eq!(document["x-note"], json!({"a": [1]}));
    assert!(document["blocked_reason"].is_null() && !document.contains_key("current_turn"));
    for wrong in [
        json!([]),
        json!({"status": "dancing", "phase": "qa"}),
        json!({"status": "idle"}),
        json!({"status": "idle", "phase": "qa", "active_turns": []}),
        json!({"status": "idle", "phase": "qa", "active_turns": {"../x": {"role": "dev"}}}),
        json!({"status": "idle", "phase": "qa", "schema_version": "2.0"}),
        json!({"status": "idle", "phase": "qa", "current_turn": "turn_9"}),
        json!({"status": "idle", "phase": "qa", "current_turn": {"role": "dev"}}),
    ] {
        assert_eq!(State::read(wrong).unwrap_err().code, Code::XchainStateInvalid);
    }
}

#[test]
fn a_worker_gets_what_it_needs() {
    let mut world = world(config(), "planning");
    let turn = crate::support::assign(&mut world, "pm", 2);
    let active = world.state.turn(&turn).unwrap();
    let briefing = dispatch::Briefing {
        config: &world.config,
        state: &world.state,
        turn: active,
        recent: &[],
        next_decision: "DEC-042",
        role_prompt: Some("Keep it short."),
    };
    let prompt = dispatch::prompt(&briefing);
    for needed in [
        turn.as_str(),
        "Keep it short.",
        "`.planning/PM_SIGNOFF.md` has the line `Approved: YES`",
        "A person approves.",
        "dev, human",
        "`phase_transition_request`: \"implementation\"",
        "the next free one is DEC-042",
        "`durability`: \"repo\"",
        "`overrides`",
        "`to_role` (dev)",
        "`acceptance_contract`",
        "`.agentxchain/state.json`",
    ] {
        assert!(prompt.contains(needed), "{needed} is not in {prompt}");
    }
    assert!(!prompt.contains("proposed_changes"), "it writes itself");
    assert!(dispatch::context(&briefing).contains("None yet."));
    // The next turns get a bounded part of a long summary.
    let line = json!({"role": "dev", "summary": "ä".repeat(3_000_000),
        "decisions": [{"id": "DEC-001", "statement": "d".repeat(1_000_000)}]});
    let recent = [line.as_object().unwrap().clone()];
    let briefing = dispatch::Briefing { recent: &recent, ..briefing };
    let context = dispatch::context(&briefing);
    assert!(context.contains("ä… (shortened") && context.len() < 20_000);
    let assignment = dispatch::assignment(&world.state, &world.config, active);
    assert_eq!(assignment["staging_result_path"], dispatch::staging_path(&turn));
    assert_eq!(assignment["write_authority"], "authoritative");
    let supported = [accord_runs_core::config::RuntimeType::LocalCli];
    let failure = dispatch::check_runtime(&world.config, active, &supported).unwrap_err();
    assert_eq!(failure.code, Code::XchainRuntimeNotSupported);
    let index = dispatch::index(None, &world.state, &world.config, now());
    assert_eq!(index["active_turns"][turn.as_str()]["role"], "pm");
    // What another runner adds to it stays.
    let mut theirs = index.clone();
    theirs.insert("note".into(), json!("theirs"));
    theirs["active_turns"][turn.as_str()]["lane"] = json!(3);
    theirs["active_turns"][turn.as_str()]["role"] = json!("nobody");
    theirs["active_turns"]["turn_gone"] = json!({"lane": 4});
    let index = dispatch::index(Some(&theirs), &world.state, &world.config, now());
    assert_eq!(index["note"], "theirs");
    let turns = index["active_turns"].as_object().unwrap();
    assert_eq!(turns.len(), 1, "{turns:?}");
    assert_eq!(turns[turn.as_str()]["lane"], 3);
    assert_eq!(turns[turn.as_str()]["role"], "pm");
}
