//! Workers that are programs: what they are given, how they are watched, and what becomes of their
//! turns.

use std::time::{Duration, Instant};

use accord_contract::Code;
use accord_process::Cancel;
use accord_runs::operations::{LoopOptions, LoopStop, NextStep, PendingApproval, Step, StepResult};
use accord_runs::{CycleOptions, Notice, Runs, TurnOutcome};
use accord_runs_core::TurnId;
use accord_runs_core::state::{Status, TurnStatus};
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, plan, refused};

/// A worker that stages a sound result of the planning phase.
pub(crate) const PLANS: &str = r#"
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")"
printf 'Approved: YES\n' > .planning/PM_SIGNOFF.md
printf '| Req # | What |\n|---|---|\n| 1 | it works |\n' > .planning/ROADMAP.md
printf '## Purpose\n\nTo work.\n\n## Interface\n\nA function.\n\n' > .planning/SYSTEM_SPEC.md
printf '## Acceptance Tests\n\n- it runs\n' >> .planning/SYSTEM_SPEC.md
cat > "$AGENTXCHAIN_STAGING_PATH" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$AGENTXCHAIN_ROLE", "runtime_id": "agent", "status": "completed", "summary": "planned",
 "decisions": [], "objections": [],
 "files_changed": [".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"],
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "seen",
  "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "artifact": {"type": "workspace"}, "proposed_next_role": "human",
 "phase_transition_request": "implementation"}
END
echo planned
"#;

/// A repository whose planner is this script.
pub(crate) fn planned_by(script: &str, settings: Value) -> Repo {
    let repo = Repo::with_git();
    repo.configure(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        let mut agent = json!({"type": "local_cli", "command": ["/bin/sh", "-c", script]});
        for (name, value) in settings.as_object().unwrap() {
            agent[name] = value.clone();
        }
        config["runtimes"]["agent"] = agent;
    });
    repo
}

#[track_caller]
pub(crate) fn accepted(stepped: StepResult) {
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Accepted(_))), "{stepped:?}");
}

fn only_turn(runs: &Runs) -> TurnId {
    let state = runs.state().unwrap();
    state.only_turn().unwrap().id().clone()
}

pub(crate) fn turn_member(runs: &Runs, name: &str) -> Value {
    let state = runs.state().unwrap();
    let turn = state.only_turn().unwrap().document();
    turn.get(name).cloned().unwrap_or(Value::Null)
}

fn event_types(repo: &Repo) -> Vec<String> {
    let events = repo.lines(".agentxchain/events.jsonl");
    let types = events.iter().map(|event| event["event_type"].as_str().unwrap().to_owned());
    types.collect()
}

#[test]
fn a_step_carries_a_turn_from_assignment_to_acceptance() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    let StepResult::Turn(TurnOutcome::Accepted(done)) = runs.step(&Step::default()).unwrap() else {
        panic!("it is accepted");
    };
    assert_eq!(done.accepted.state.status(), Status::Paused);
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 1);
    let events = event_types(&repo);
    assert_eq!(events[..3], ["run_started", "turn_dispatched", "dispatch_progress"]);
    assert_eq!(events[3], "turn_accepted");
    let bundle = format!(".agentxchain/dispatch/turns/{}", done.accepted.turn_id);
    assert!(!repo.has(&bundle), "the bundle is gone");
    let left = repo.home();
    assert!(!left.iter().any(|(name, _)| name.contains("dispatch-progress")));
    // The gate waits, and a step says so.
    assert_eq!(
        runs.step(&Step::default()).unwrap(),
        StepResult::GateHeld(PendingApproval::Transition)
    );
}

#[test]
fn the_briefing_comes_by_argument_by_input_or_from_the_bundle() {
    // By argument.
    let script = format!("printf '%s' \"$1\" > ../seen.txt; {PLANS}");
    let repo = Repo::with_git();
    repo.configure(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli",
            "command": ["/bin/sh", "-c", script, "agent", "{prompt}"]});
    });
    let seen = repo.root().join("../seen.txt");
    repo.started().step(&Step::default()).unwrap();
    let by_argument = std::fs::read_to_string(&seen).unwrap();
    assert!(by_argument.contains("# Turn turn_"), "{by_argument}");
    assert!(by_argument.contains("\n---\n"), "the context follows the prompt");
    std::fs::remove_file(&seen).unwrap();

    // By standard input.
    let script = format!("cat > ../seen-too.txt; {PLANS}");
    let command =
        json!(["/bin/sh", "-c", format!("test $# -eq 0 || exit 9; {script}"), "agent", "{prompt}"]);
    let repo = planned_by("", json!({"prompt_transport": "stdin", "command": command}));
    let seen = repo.root().join("../seen-too.txt");
    repo.started().step(&Step::default()).unwrap();
    let by_input = std::fs::read_to_string(&seen).unwrap();
    assert!(by_input.contains("# Turn turn_"), "{by_input}");
    std::fs::remove_file(&seen).unwrap();

    // From the bundle; nothing else tells it.
    let script = format!(
        "test -z \"$(cat)\" && \
         grep -q '# Turn turn_' \"$AGENTXCHAIN_DISPATCH_DIR/PROMPT.md\" || exit 9; {PLANS}"
    );
    let repo = planned_by(&script, json!({"prompt_transport": "dispatch_bundle_only"}));
    accepted(repo.started().step(&Step::default()).unwrap());
}

#[test]
fn a_briefing_that_no_argument_holds_is_refused_with_a_way_out() {
    let repo = Repo::with_git();
    repo.configure(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli",
            "command": ["/bin/sh", "-c", "exit 0", "agent", "{prompt}"]});
    });
    repo.write(".agentxchain/prompts/pm.md", &"long ".repeat(40_000));
    repo.commit_all("long");
    let failure = refused(repo.started().step(&Step::default()), Code::XchainWorkerNotStarted);
    assert!(failure.message.contains("stdin"), "{failure:?}");
}

#[test]
fn an_agent_that_was_not_started_or_is_gone_is_reported() {
    let repo = planned_by("echo begun; sleep 60", json!({}));
    let runs = repo.started();
    let turn = runs.assign(None).unwrap().turn.id().clone();
    runs.dispatch(None).unwrap();
    let dispatch = NextStep::Dispatch { turn: turn.clone(), by_hand: false, stalled: None };
    assert_eq!(runs.status().unwrap().next[0], dispatch);
    // A number that no process has by now.
    let about = json!({"worker_pid": 4_000_000, "worker_started_at": "2026-01-01T00:00:00.000Z"});
    let about = about.as_object().cloned().unwrap();
    runs.record_worker_status(&turn, 1, TurnStatus::Running, about).unwrap();
    assert_eq!(runs.status().unwrap().next, [dispatch]);
}

#[test]
fn the_folder_of_the_result_is_there_before_the_worker() {
    let script = PLANS.replace("mkdir -p \"$(dirname \"$AGENTXCHAIN_STAGING_PATH\")\"", "");
    assert_ne!(script, PLANS);
    let repo = planned_by(&script, json!({}));
    accepted(repo.started().step(&Step::default()).unwrap());
}

#[test]
fn no_folder_for_a_result_is_made_outside_of_the_repository() {
    let outside = Repo::empty();
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    let staging = repo.root().join(".agentxchain/staging");
    std::fs::remove_dir_all(&staging).ok();
    std::os::unix::fs::symlink(outside.root(), &staging).unwrap();
    let failure = runs.step(&Step::default()).unwrap_err();
    assert!(failure.message.contains(".agentxchain/staging"), "{failure:?}");
    assert_eq!(std::fs::read_dir(outside.root()).unwrap().count(), 0);
}

#[test]
fn a_worker_may_use_the_place_that_all_turns_share() {
    let shared = ".agentxchain/staging/turn-result.json";
    let script = PLANS.replace("\"$AGENTXCHAIN_STAGING_PATH\" <<END", &format!("{shared} <<END"));
    assert_ne!(script, PLANS);
    let repo = planned_by(&script, json!({}));
    accepted(repo.started().step(&Step::default()).unwrap());
}

#[test]
fn a_gate_with_credentials_is_never_passed_by_a_loop() {
    let repo = planned_by(PLANS, json!({}));
    repo.configure(|config| config["gates"]["planning_signoff"]["credentialed"] = json!(true));
    let options = LoopOptions { auto_approve: Some(consent().person), ..LoopOptions::default() };
    let looped = repo.started().run_loop(&options).unwrap();
    assert_eq!(looped.stop, LoopStop::GateHeld(PendingApproval::Transition));
}

#[test]
fn a_worker_without_a_result_says_what_it_said_and_the_turn_stays() {
    let repo = planned_by("echo working; echo 'no key' >&2; exit 3", json!({}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    let details = failure.details.as_ref().unwrap();
    assert_eq!((&details["exit_code"], &details["stderr"]), (&json!(3), &json!("no key")));
    assert_eq!(turn_member(&runs, "attempt"), 1, "it cost no try");
    let bundle = format!(".agentxchain/dispatch/turns/{}/stdout.log", only_turn(&runs));
    assert_eq!(repo.read(&bundle), "working\nno key\n");
    assert_eq!(event_types(&repo).last().unwrap(), "turn_stalled");
    assert_eq!(turn_member(&runs, "last_worker_failure")["code"], "worker_without_result");
    // The next step hands it over again.
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
}

#[test]
fn words_on_standard_error_are_no_sign_of_life() {
    let script = "echo complaint >&2; sleep 60";
    let repo = planned_by(script, json!({"startup_watchdog_ms": 3000}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerNotStarted);
    assert_eq!(failure.details.as_ref().unwrap()["stderr"], "complaint");
    assert_eq!(turn_member(&runs, "status"), "failed_start");
    assert_eq!(event_types(&repo).last().unwrap(), "turn_start_failed");
    let next = runs.status().unwrap().next;
    assert!(matches!(next[0], NextStep::Dispatch { .. }), "{next:?}");
}

#[test]
fn a_worker_that_went_quiet_is_ended() {
    let repo = planned_by("echo begun; sleep 60", json!({}));
    repo.configure(|config| config["run_loop"] = json!({"stale_turn_threshold_ms": 3000}));
    let runs = repo.started();
    refused(runs.step(&Step::default()), Code::XchainWorkerStalled);
    assert_eq!(turn_member(&runs, "status"), "stalled");
    assert_eq!(turn_member(&runs, "first_output_stream"), "stdout");
    assert_eq!(turn_member(&runs, "worker_pid"), Value::Null);
}

#[test]
fn a_program_that_is_not_there_is_refused_before_anything_is_written() {
    let repo = planned_by("", json!({"command": ["no-such-agent-anywhere"]}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainRuntimeUnavailable);
    assert!(failure.message.contains("no-such-agent-anywhere"), "{failure:?}");
    assert!(!repo.has(".agentxchain/dispatch/turns"));
    let doctor = runs.doctor();
    let reported =
        doctor.iter().any(|finding| finding.code == Some(Code::XchainRuntimeUnavailable));
    assert!(reported, "doctor makes the same check");
}

#[test]
fn a_refused_result_is_shown_to_the_next_attempt() {
    // The first try stages rubbish; the second finds the reason in its prompt.
    let script = format!(
        "if grep -q 'rejected' \"$AGENTXCHAIN_DISPATCH_DIR/PROMPT.md\"; then {PLANS} else \
         mkdir -p \"$(dirname \"$AGENTXCHAIN_STAGING_PATH\")\"; \
         echo '{{}}' > \"$AGENTXCHAIN_STAGING_PATH\"; echo no; fi"
    );
    let repo = planned_by(&script, json!({}));
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    let types = event_types(&repo);
    assert!(
        types.contains(&"acceptance_failed".to_owned())
            && types.contains(&"turn_rejected".to_owned())
    );
    let rejected = std::fs::read_dir(repo.root().join(".agentxchain/dispatch/rejected")).unwrap();
    assert_eq!(rejected.count(), 1, "the refused result is kept");
}

#[test]
fn results_that_are_refused_too_often_block_the_run() {
    let script = "mkdir -p \"$(dirname \"$AGENTXCHAIN_STAGING_PATH\")\"; \
                  echo '{}' > \"$AGENTXCHAIN_STAGING_PATH\"; echo no";
    let repo = planned_by(script, json!({}));
    let runs = repo.started();
    let done = runs.step(&Step::default()).unwrap();
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = done else {
        panic!("{done:?}");
    };
    assert_eq!(failure.code, Code::XchainValidationFailed);
    let state = runs.state().unwrap();
    assert_eq!(state.blocked_on(), Some("escalation:retries-exhausted:pm"));
    assert!(repo.lines(".agentxchain/history.jsonl").is_empty());
}

#[test]
fn a_loop_stops_at_a_gate_or_passes_it_and_stops_for_a_person() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    let looped = runs.run_loop(&LoopOptions::default()).unwrap();
    assert_eq!(
        (looped.stop, looped.accepted),
        (LoopStop::GateHeld(PendingApproval::Transition), 1)
    );

    let options = LoopOptions {
        auto_approve: Some(consent().person),
        cycle: CycleOptions { checkpoint: true, ..CycleOptions::default() },
        ..LoopOptions::default()
    };
    let looped = runs.run_loop(&options).unwrap();
    // The developer is a person here.
    assert!(matches!(looped.stop, LoopStop::ByHand(_)), "{looped:?}");
    assert_eq!(runs.state().unwrap().phase(), "implementation");
    assert!(repo.git(&["log", "--oneline"]).contains("planned"), "the plan was committed");
    // Once the turn is out, the loop says what it waits for.
    let looped = runs.run_loop(&options).unwrap();
    assert!(
        matches!(looped.stop, LoopStop::NotRunning(NextStep::Work { by_hand: true, .. })),
        "{looped:?}"
    );
}

#[test]
fn a_loop_gives_out_no_more_turns_than_it_may() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    let options = LoopOptions { max_turns: Some(0), ..LoopOptions::default() };
    assert_eq!(runs.run_loop(&options).unwrap().stop, LoopStop::MaxTurns);
    assert_eq!(runs.state().unwrap().turns().len(), 0);
}

#[test]
fn a_worker_that_comes_to_nothing_again_and_again_blocks_the_loop() {
    let repo = planned_by("echo hm; echo 'no key' >&2; exit 1", json!({}));
    let runs = repo.started();
    let looped = runs.run_loop(&LoopOptions::default()).unwrap();
    assert_eq!(looped.stop, LoopStop::Blocked);
    let state = runs.state().unwrap();
    let detail = state.member("blocked_reason")["recovery"]["detail"].clone();
    assert!(detail.as_str().unwrap().ends_with("no key"), "{detail}");
    assert!(state.blocked_on().unwrap().starts_with("dispatch:"), "{:?}", state.blocked_on());
    assert_eq!(turn_member(&runs, "attempt"), 1, "its tries are for results");
    // A person mends the agent and lets the run go on with the same turn.
    repo.configure(|config| {
        config["runtimes"]["agent"]["command"] = json!(["/bin/sh", "-c", PLANS]);
    });
    runs.resolve(&consent()).unwrap();
    let looped = runs.run_loop(&LoopOptions::default()).unwrap();
    assert_eq!(looped.stop, LoopStop::GateHeld(PendingApproval::Transition));
}

#[test]
fn workers_of_a_phase_with_room_for_two_work_at_the_same_time() {
    // Each waits until the other has begun; one after the other they would wait for ever.
    let script = r#"
echo here; mkdir -p ../meet-$AGENTXCHAIN_RUN_ID; touch ../meet-$AGENTXCHAIN_RUN_ID/$AGENTXCHAIN_ROLE
while [ "$(ls ../meet-$AGENTXCHAIN_RUN_ID | wc -l)" -lt 2 ]; do sleep 0.02; done
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")" notes
echo "$AGENTXCHAIN_ROLE" > notes/$AGENTXCHAIN_ROLE.txt
cat > "$AGENTXCHAIN_STAGING_PATH" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$AGENTXCHAIN_ROLE", "runtime_id": "agent", "status": "completed", "summary": "noted",
 "decisions": [], "objections": [], "files_changed": ["notes/$AGENTXCHAIN_ROLE.txt"],
 "verification": {"status": "skipped"}, "artifact": {"type": "workspace"},
 "proposed_next_role": "human"}
END
"#;
    let repo = planned_by(script, json!({}));
    repo.configure(|config| {
        config["roles"]["dev"]["runtime"] = json!("agent");
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
        config["routing"]["planning"]["allowed_next_roles"] = json!(["pm", "dev"]);
    });
    let runs = repo.started();
    for role in ["pm", "dev"] {
        runs.assign(Some(role)).unwrap();
    }
    let options = LoopOptions { max_turns: Some(2), ..LoopOptions::default() };
    let looped = runs.run_loop(&options).unwrap();
    assert_eq!(looped.accepted, 2, "{looped:?}");
    let run = runs.state().unwrap().run_id().unwrap().to_string();
    std::fs::remove_dir_all(repo.root().join(format!("../meet-{run}"))).unwrap();
}

#[test]
fn the_word_ends_a_worker_and_the_turn_can_be_carried_again() {
    let agents = tempfile::tempdir().unwrap();
    let agent = agents.path().join("agent.sh");
    std::fs::write(&agent, "echo begun; sleep 60").unwrap();
    let repo = planned_by("", json!({"command": ["/bin/sh", agent]}));
    let word = Cancel::new();
    let given = word.clone();
    let environment = repo.environment().with_cancel(word).with_listener(move |notice| {
        if matches!(notice, Notice::Output { .. }) {
            given.cancel();
        }
    });
    repo.started();
    let runs = Runs::open(&repo.root(), environment).unwrap();
    refused(runs.step(&Step::default()), Code::XchainWorkerCancelled);
    std::fs::write(&agent, PLANS).unwrap();
    accepted(repo.runs().step(&Step::default()).unwrap());
}

#[test]
fn a_turn_has_one_worker_at_a_time() {
    let repo = planned_by("touch ../begun-$AGENTXCHAIN_TURN_ID; echo begun; sleep 60", json!({}));
    let runs = repo.started();
    let turn = runs.assign(None).unwrap().turn.id().clone();
    let word = Cancel::new();
    let environment = repo.environment().with_cancel(word.clone());
    let other = Runs::open(&repo.root(), environment).unwrap();
    std::thread::scope(|scope| {
        let carried = scope.spawn(|| other.run_turn(&turn, CycleOptions::default()));
        let mark = repo.root().join(format!("../begun-{turn}"));
        let has_begun = || {
            let state = runs.state().unwrap();
            mark.exists() && state.only_turn().unwrap().member("first_output_at").is_some()
        };
        let given_up = Instant::now() + Duration::from_secs(120);
        while !has_begun() {
            assert!(Instant::now() < given_up, "the worker did not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        let failure = refused(runs.step(&Step::default()), Code::XchainWorkerBusy);
        assert!(failure.details.as_ref().unwrap()["worker_pid"].is_u64());
        word.cancel();
        refused(carried.join().unwrap(), Code::XchainWorkerCancelled);
        std::fs::remove_file(mark).unwrap();
    });
    assert_eq!(turn_member(&runs, "worker_pid"), Value::Null);
}

#[test]
fn a_turn_of_a_person_is_reported_and_left() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let stepped = runs.step(&Step::default()).unwrap();
    let StepResult::Turn(TurnOutcome::ByHand(dispatched)) = stepped else {
        panic!("{stepped:?}");
    };
    assert!(repo.has(&format!("{}/PROMPT.md", dispatched.bundle)));
    // A person stages a result; the next step accepts it.
    plan(&repo);
    let result = crate::support::result(&dispatched, &PLANNING, |result| {
        result["phase_transition_request"] = json!("implementation");
    });
    crate::support::stage(&repo, &dispatched, &result);
    accepted(runs.step(&Step::default()).unwrap());
}
