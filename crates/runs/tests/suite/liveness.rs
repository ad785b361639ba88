//! Silent workers: what keeps them alive, what ends them, and what comes next.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use accord_contract::Code;
use accord_runs::CycleOptions;
use accord_runs::answers::{CommandNames, next_answer};
use accord_runs::operations::{LoopOptions, LoopStop, NextStep, PendingApproval, Step};
use accord_runs_core::liveness::Stalled;
use serde_json::json;

use crate::support::refused;
use crate::workers::{PLANS, accepted, planned_by, turn_member};

/// Longer than a worker is without a sign of life on a busy machine while it writes its result.
const LIMIT: Duration = Duration::from_secs(12);
/// Longer than [`LIMIT`].
const BUSY: Duration = Duration::from_secs(15);

#[test]
fn a_silent_worker_that_computes_is_not_ended() {
    // It computes for longer than the limit, in a child that leads its own process group.
    let script = format!(
        r#"end=$(( $(date +%s) + {} ))
set -m
( while [ "$(date +%s)" -lt "$end" ]; do
    i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.1
  done ) &
wait
{PLANS}"#,
        BUSY.as_secs()
    );
    let repo = planned_by(&script, json!({"startup_watchdog_ms": LIMIT.as_millis()}));
    accepted(repo.started().step(&Step::default()).unwrap());
}

#[test]
fn a_silent_worker_whose_files_change_is_not_ended() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    // It waits without CPU time until the test lets it go on.
    let script = format!("read line < '{}'; {PLANS}", gate.display());
    let repo = planned_by(&script, json!({"startup_watchdog_ms": LIMIT.as_millis()}));
    let runs = repo.started();
    // For both ends, so that neither side waits for the other to open it.
    let mut gate = OpenOptions::new().read(true).write(true).open(&gate).unwrap();
    std::thread::scope(|scope| {
        let stepped = scope.spawn(|| runs.step(&Step::default()));
        // Before the worker starts, changes would belong to no turn.
        let give_up = Instant::now() + Duration::from_secs(120);
        let started = || {
            let state = runs.state().unwrap();
            state.only_turn().is_some_and(|turn| turn.worker_pid().is_some())
        };
        while !started() {
            assert!(Instant::now() < give_up && !stepped.is_finished(), "it does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let end = Instant::now() + BUSY;
        while Instant::now() < end && !stepped.is_finished() {
            repo.write(".planning/ROADMAP.md", "more");
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(!stepped.is_finished(), "{:?}", stepped.join());
        gate.write_all(b"go\n").unwrap();
        accepted(stepped.join().unwrap().unwrap());
    });
}

#[test]
fn a_worker_without_a_sign_of_life_is_ended_and_the_next_step_gives_it_more_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    let script = format!("if mkdir '{}'; then exec sleep 60; fi; {PLANS}", first.display());
    let repo = planned_by(&script, json!({"startup_watchdog_ms": 4500}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerNotStarted);
    let turn = runs.state().unwrap().only_turn().unwrap().id().clone();
    assert_eq!(
        failure.message,
        format!(
            "the worker of {turn} gave no sign of life (output, CPU time, changed files) for \
             4500 ms; runtimes.agent.startup_watchdog_ms is 4500"
        )
    );
    assert_eq!(turn_member(&runs, "last_worker_failure")["limit_ms"], 4500);
    let next = runs.status().unwrap().next;
    let stalled = Stalled {
        setting: "runtimes.agent.startup_watchdog_ms".to_owned(),
        limit: Duration::from_millis(4500),
        raised: Duration::from_secs(1800),
    };
    let expected =
        NextStep::Dispatch { turn: turn.clone(), by_hand: false, stalled: Some(stalled) };
    assert_eq!(next, [expected]);
    let answer = next_answer(&next[0], &CommandNames::default());
    assert_eq!(answer.command, Some(format!("accord run step --turn {turn} --silence 30m")));
    assert_eq!(
        answer.why,
        "its worker was ended after 4500ms without a sign of life \
         (runtimes.agent.startup_watchdog_ms); this starts it again with more time"
    );
    let cycle =
        CycleOptions { silence: Some(Duration::from_secs(1800)), ..CycleOptions::default() };
    accepted(runs.step(&Step { turn: Some(turn), cycle, ..Step::default() }).unwrap());
}

#[test]
fn a_worker_that_falls_silent_names_the_other_setting() {
    let repo = planned_by("echo begun; exec sleep 60", json!({}));
    repo.configure(|config| config["run_loop"] = json!({"stale_turn_threshold_ms": 4500}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerStalled);
    let end = "for 4500 ms; run_loop.stale_turn_threshold_ms is 4500";
    assert!(failure.message.ends_with(end), "{failure:?}");
}

#[test]
fn a_loop_gives_the_next_attempt_more_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    // The second worker is silent for longer than the configured limit, too.
    let script =
        format!("if mkdir '{}'; then exec sleep 60; fi; sleep 6; {PLANS}", first.display());
    let repo = planned_by(&script, json!({"startup_watchdog_ms": 4500}));
    let looped = repo.started().run_loop(&LoopOptions::default()).unwrap();
    assert_eq!(looped.stop, LoopStop::GateHeld(PendingApproval::Transition));
}

#[test]
fn a_turn_whose_deadline_is_over_is_to_be_reissued() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    runs.assign(None).unwrap();
    let mut state = repo.json(".agentxchain/state.json");
    let turn = state["active_turns"].as_object().unwrap().keys().next().cloned().unwrap();
    state["active_turns"][&turn]["deadline_at"] = json!("2026-01-01T00:00:00.000Z");
    repo.write(".agentxchain/state.json", &state.to_string());
    let next = runs.status().unwrap().next;
    assert!(matches!(next[..], [NextStep::Overdue { .. }]), "{next:?}");
    let answer = next_answer(&next[0], &CommandNames::default());
    let command = format!("accord run reissue --turn {turn} --reason overdue");
    assert_eq!(answer.command, Some(command));
    let reissue = accord_runs::operations::Reissue {
        reason: "overdue".to_owned(),
        ..accord_runs::operations::Reissue::default()
    };
    runs.reissue(&reissue).unwrap();
    accepted(runs.step(&Step::default()).unwrap());
}
