//! Attacks of an agent with the rights of its user, and the outcome of each.
//!
//! The agent does its work as well, and asks for the next phase. Whatever else it does, the gates
//! hold and wait for a person, except in the tests that end with `is_not_stopped`: the page
//! `docs/reference/run-trust.md` lists those.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_contract::{Code, Failure};
use accord_runs::operations::{
    Accept, Adopt, ApplyTo, ManualResult, PendingApproval, Reissue, SendBack, Start, Step,
    StepResult,
};
use accord_runs::{CycleOptions, Environment, Runs, TurnOutcome};
use accord_runs_core::TurnId;
use accord_runs_core::testing::consent;
use serde_json::json;

use crate::attack::Attack;
use crate::guarding::{killed, waits_at_the_gate};
use crate::support::{accept, dispatched};

/// What becomes of an attack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// The result of every attempt is refused, and the run waits for a person.
    Refused(Code),
    /// The change is put back, and the step stops. The next step judges the result.
    Stopped(Code),
    /// It has no effect: the result is accepted, and the gate waits for a person.
    NoEffect,
}

use Outcome::{NoEffect, Refused, Stopped};

/// Runs each attack: its name, the lines of the agent, and the outcome.
#[track_caller]
fn check(attacks: &[(&str, &str, Outcome)]) {
    for (name, lines, expected) in attacks {
        let attack = Attack::new(lines);
        let stepped = attack.step();
        let outcome = match &stepped {
            Ok(StepResult::Turn(TurnOutcome::Accepted(_))) => NoEffect,
            Ok(StepResult::Turn(TurnOutcome::Blocked(failure))) => Refused(failure.code),
            Ok(other) => panic!("{name}: {other:?}"),
            Err(failure) => Stopped(failure.code),
        };
        assert_eq!(outcome, *expected, "{name}: {stepped:?}");
        attack.assert_gates_hold();
        assert!(!marks(&attack).join("ran").exists(), "{name}: a program of the agent was run");
        if outcome == NoEffect {
            waits_at_the_gate(&attack, stepped.unwrap());
        }
    }
}

/// A folder outside the repository, for what the agent notes.
fn marks(attack: &Attack) -> std::path::PathBuf {
    attack.repo.state_folder().join("marks")
}

#[test]
fn the_configuration() {
    check(&[
        (
            "an edit that is not declared",
            r#"sed -i 's/"credentialed": true/"credentialed": false/' agentxchain.json"#,
            Refused(Code::XchainConfigChanged),
        ),
        (
            "a link to another configuration",
            "sed 's/: true/: false/' agentxchain.json > .planning/open.json\n\
             ln -sf .planning/open.json agentxchain.json",
            Refused(Code::XchainConfigChanged),
        ),
        ("removed", "rm agentxchain.json", Refused(Code::XchainConfigChanged)),
        (
            "a folder in its place",
            "rm agentxchain.json; mkdir agentxchain.json",
            Refused(Code::XchainConfigChanged),
        ),
        (
            "too large to read",
            "truncate -s 300M agentxchain.json",
            Refused(Code::XchainConfigChanged),
        ),
        (
            "an older one, from git",
            "git checkout --quiet HEAD~1 -- agentxchain.json",
            Refused(Code::XchainConfigChanged),
        ),
    ]);
}

#[test]
fn the_state() {
    let set = |was: &str, is: &str| format!("sed -i 's/{was}/{is}/' .agentxchain/state.json");
    // At the begin of the document, for members that it does not have yet.
    let added = |member: &str| set("^{$", &format!("{{{member},"));
    let stopped = Stopped(Code::XchainRecordsChanged);
    check(&[
        ("a budget", &set(r#""remaining_usd": null"#, r#""remaining_usd": 9"#), stopped),
        (
            "the role of the next turn",
            &set(r#""next_recommended_role": "pm""#, r#""next_recommended_role": "human""#),
            stopped,
        ),
        ("progress", &added(r#""non_progress_signature": "other""#), stopped),
        ("the clock of acceptances", &added(r#""accepted_sequence": 7"#), stopped),
        (
            "a queued transition",
            &set(
                r#""queued_phase_transition": null"#,
                r#""queued_phase_transition": {"from": "planning", "to": "qa"}"#,
            ),
            stopped,
        ),
        (
            "a pending completion",
            r#"sed -i 's/"pending_run_completion": null/"pending_run_completion": {"gate": "a"}/' \
               .agentxchain/state.json"#,
            stopped,
        ),
        (
            "a link to another state",
            "sed 's/\"planning\"/\"qa\"/' .agentxchain/state.json > .agentxchain/staging/s.json\n\
             ln -sf staging/s.json .agentxchain/state.json",
            stopped,
        ),
        (
            "nested without end",
            "head -c 200000 /dev/zero | tr '\\0' '[' > .agentxchain/state.json",
            stopped,
        ),
    ]);
}

#[test]
fn the_records() {
    let stopped = Stopped(Code::XchainRecordsChanged);
    let own = r#""run_id": "'$AGENTXCHAIN_RUN_ID'""#;
    let line =
        |record: &str, line: &str| format!("echo '{{{line}, {own}}}' >> .agentxchain/{record}");
    check(&[
        (
            "the acceptance of its own turn",
            &line("history.jsonl", r#""turn_id": "'$AGENTXCHAIN_TURN_ID'", "status": "completed""#),
            stopped,
        ),
        (
            "a turn of another role that never was",
            &line("history.jsonl", r#""turn_id": "turn_0123456789abcdef", "role": "qa""#),
            stopped,
        ),
        (
            "a decision of a person",
            &line("decision-ledger.jsonl", r#""id": "DEC-900", "decided_by": "human""#),
            stopped,
        ),
        (
            "the end of the run",
            &line("events.jsonl", r#""event_type": "run_completed", "event_id": "evt_1""#),
            stopped,
        ),
        (
            "a cut",
            "head -c 100 .agentxchain/events.jsonl > .agentxchain/e\n\
             mv .agentxchain/e .agentxchain/events.jsonl",
            stopped,
        ),
        ("a link out", "ln -sf /dev/null .agentxchain/history.jsonl", stopped),
        (
            "a stop with a decision of a person",
            &format!(
                "sed -i 's/\"status\": \"active\"/\"status\": \"blocked\"/' \
                 .agentxchain/state.json\n{}\n{}",
                line("events.jsonl", r#""event_type": "run_blocked", "event_id": "evt_1""#),
                line("decision-ledger.jsonl", r#""decision": "scope", "actor": "human:lead""#),
            ),
            stopped,
        ),
        (
            "work that nobody delegated",
            "sed -i '1s/^{/{\"delegation_queue\": [{\"delegation_id\": \"d\", \
             \"to_role\": \"dev\", \"status\": \"pending\"}],/' .agentxchain/state.json",
            stopped,
        ),
    ]);
}

#[test]
fn files_that_accord_reads() {
    check(&[
        (
            "the lock of a process that ended",
            "mkdir -p .agentxchain/locks\n\
             echo '{\"owner_pid\": 999999999, \"acquired_at\": \"2026-01-01T00:00:00.000Z\"}' \
             > .agentxchain/locks/accept-turn.lock",
            NoEffect,
        ),
        (
            "its own bundle",
            "echo forged >> \".agentxchain/dispatch/turns/$AGENTXCHAIN_TURN_ID/PROMPT.md\"",
            NoEffect,
        ),
        (
            "settings for other tools",
            "echo 'export PATH=$PWD/bin:$PATH' > .envrc; mkdir .accord; echo > .accord/accord.toml",
            Refused(Code::XchainArtifactDirtyTreeMismatch),
        ),
        (
            "a file of another role",
            "echo '| Req | PASS |' > .planning/acceptance-matrix.md",
            Refused(Code::XchainArtifactDirtyTreeMismatch),
        ),
    ]);
}

#[test]
fn an_index_of_the_records_that_an_agent_wrote_is_dropped() {
    let index = ".agentxchain/transactions/index";
    for line in [
        format!("mkdir -p {index}; echo '{{\"forged\": 1}}' > {index}/run.json"),
        format!("mkdir -p {index}; ln -sf ../../state.json {index}/run.json"),
    ] {
        let attack = Attack::new(&line);
        waits_at_the_gate(&attack, attack.step().unwrap());
        let place = attack.repo.root().join(index).join("run.json");
        assert!(fs::symlink_metadata(place).is_err(), "{line}");
    }
}

#[test]
fn git() {
    let changed = Refused(Code::XchainVersionControlChanged);
    check(&[
        (
            "programs that git starts",
            "git config core.fsmonitor \"touch $XDG_TEST_MARKS/ran\"\n\
             hook=.git/hooks/post-index-change\n\
             printf '#!/bin/sh\\ntouch %s/ran\\n' \"$XDG_TEST_MARKS\" > $hook\n\
             chmod +x $hook",
            changed,
        ),
        (
            "a filter",
            "git config filter.f.clean \"touch $XDG_TEST_MARKS/ran; cat\"\n\
             echo '* filter=f' > .git/info/attributes",
            changed,
        ),
        ("ignored files", "echo hidden >> .git/info/exclude; echo x > hidden", changed),
        ("removed", "rm -r .git", changed),
        ("emptied", "rm -r .git && mkdir .git", changed),
        ("an older commit", "git reset --quiet --hard HEAD~1", Stopped(Code::XchainRecordsChanged)),
    ]);
}

/// What a worker types: the operation, a name for the answer, and the folders of repository, user
/// and answers.
const TYPED: &str = "ACCORD_TEST_TYPED";

/// The lines of a worker that types a command of Accord: this program, as another process.
fn types(operation: &str, with: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "{with} {TYPED}=\"{operation}:$PWD:$XDG_TEST_MARKS/..:$XDG_TEST_MARKS\" {} --exact \
         attacks::decisions_that_a_worker_types > /dev/null 2>&1 < /dev/null\n",
        program.display()
    )
}

/// Carries out what a worker typed, and notes the answer.
fn carry_out(typed: &str) {
    let parts: Vec<&str> = typed.split(':').collect();
    let [operation, root, state, marks] = parts[..] else { panic!("{typed}") };
    let environment = Environment::system().with_state_folder(state);
    let runs = Runs::open(root.as_ref(), environment).unwrap();
    let turn = || TurnId::parse("turn_0123456789abcdef").unwrap();
    let done: Result<(), Failure> = match operation.split('-').next().unwrap_or_default() {
        "transition" => runs.approve(PendingApproval::Transition, &consent()).map(drop),
        "completion" => runs.approve(PendingApproval::Completion, &consent()).map(drop),
        "resolve" => runs.resolve(&consent()).map(drop),
        "sendback" => runs.send_back(&SendBack::default(), &consent()).map(drop),
        "proposal" => runs.apply_proposal(&turn(), &consent(), ApplyTo::WorkingTree).map(drop),
        "adopt" => {
            runs.adopt(&Adopt { by: Some(consent().person), undo: false, expect: None }).map(drop)
        }
        "merge" => {
            let merge = Accept { human_merge: Some(consent()), ..Accept::default() };
            runs.accept(&merge).map(drop)
        }
        "accept" => runs.accept(&Accept::default()).map(drop),
        "reissue" => runs.reissue(&Reissue::default()).map(drop),
        "restart" => runs.start(&Start { restart: true, ..Start::default() }).map(drop),
        "stage" => {
            let other = runs.state().unwrap();
            let other = other.turns().find(|turn| turn.role() == "dev").unwrap().id().clone();
            let result = ManualResult { turn: Some(other), ..ManualResult::default() };
            runs.stage_manual_result(&result).map(drop)
        }
        other => panic!("{other}"),
    };
    let answer = done.map_or_else(|failure| failure.code.as_str().to_owned(), |()| "done".into());
    fs::write(Path::new(marks).join(operation), answer).unwrap();
}

#[test]
fn decisions_that_a_worker_types() {
    if let Ok(typed) = std::env::var(TYPED) {
        return carry_out(&typed);
    }
    let cleared = "env -i PATH=\"$PATH\"";
    let (session, orphan) = (format!("setsid --wait {cleared}"), format!("nohup {cleared}"));
    let typed = [
        ("transition", ""),
        ("completion", ""),
        ("resolve", ""),
        ("sendback", ""),
        ("proposal", ""),
        ("adopt", ""),
        ("merge", ""),
        ("reissue", ""),
        ("restart", ""),
        ("restart-cleared", cleared),
        ("transition-cleared", cleared),
        ("transition-session", &session),
        ("transition-orphan", &orphan),
    ];
    let mut lines: String = typed.iter().map(|(operation, with)| types(operation, with)).collect();
    // Not a decision of a person, but the waiting process would have to put it back.
    lines += &types("accept", "");
    // That process does not see the copies.
    lines += &types("accept-elsewhere", "").replace("$XDG_TEST_MARKS/..:", "$XDG_TEST_MARKS:");
    let attack = Attack::after_work(&lines);
    waits_at_the_gate(&attack, attack.step().unwrap());
    let answer = |operation: &str| fs::read_to_string(marks(&attack).join(operation)).unwrap();
    for (operation, _) in typed {
        assert_eq!(answer(operation), "not_for_workers", "{operation}");
    }
    assert_eq!(answer("accept"), "worker_busy");
    assert_eq!(answer("accept-elsewhere"), "records_changed", "it does not see the copies");
}

#[test]
fn a_worker_that_names_another_worker_in_the_state_decides_nothing() {
    // No mark is left in its environment, and the state names another process.
    let typed = types("transition", "").replace('\'', "");
    let attack = Attack::after_work(&format!(
        "cat > \"$XDG_TEST_MARKS/script\" <<'END'\n\
         sed -i 's/\"worker_pid\": [0-9]*/\"worker_pid\": 1/' .agentxchain/state.json\n{typed}END\n\
         exec env -i PATH=\"$PATH\" XDG_TEST_MARKS=\"$XDG_TEST_MARKS\" \
         sh \"$XDG_TEST_MARKS/script\""
    ));
    let failure = attack.step().unwrap_err();
    assert_eq!(failure.code, Code::XchainRecordsChanged, "{failure:?}");
    // The process that waits may have put the state back before the worker types. Then the state
    // names the worker again.
    let answer = fs::read_to_string(marks(&attack).join("transition")).unwrap();
    assert!(["records_changed", "not_for_workers"].contains(&answer.as_str()), "{answer}");
    waits_at_the_gate(&attack, attack.step().unwrap());
}

/// Opens every gate in the configuration and in its copy.
const OPEN_BOTH: &str = r#"sed -i 's/\(credentialed\|approval\)\(\\*\)": true/\1\2": false/g' \
    agentxchain.json "$XDG_TEST_MARKS"/../accord/runs/*/copy.json"#;

/// Writes another phase into the state and into its copy.
const MOVE_BOTH: &str = r#"sed -i 's/phase\(\\*\)": \(\\*\)"planning/phase\1": \2"qa/g' \
    .agentxchain/state.json "$XDG_TEST_MARKS"/../accord/runs/*/copy.json"#;

#[test]
fn copies_and_repository_that_agree_after_a_kill_is_not_stopped() {
    // While the process waits, the same edits change nothing.
    check(&[
        ("the configuration", OPEN_BOTH, Refused(Code::XchainConfigChanged)),
        ("the state", MOVE_BOTH, Stopped(Code::XchainRecordsChanged)),
    ]);
    let attack = killed(MOVE_BOTH);
    drop(attack.step());
    assert_eq!(attack.state()["phase"], "qa", "no process remembers the phase");
    // The configuration is still a file that the result must declare.
    let attack = killed(OPEN_BOTH);
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = attack.step().unwrap() else {
        panic!("the change is not declared");
    };
    assert_eq!(failure.code, Code::XchainArtifactDirtyTreeMismatch, "{failure:?}");
    assert_eq!(attack.state()["phase"], "planning");
}

/// The lines of a process that outlives its worker, and acts when the turn has been judged.
fn outliving(lines: &str) -> Attack {
    let attack = Attack::after_work(&format!(
        "cat > \"$XDG_TEST_MARKS/script\" <<'END'\n\
         touch \"$XDG_TEST_MARKS/begun\"\n\
         for round in $(seq 3000); do\n\
         grep -q '\"turns\":{{}}' \"$XDG_TEST_MARKS\"/../accord/runs/*/copy.json && break\n\
         sleep 0.02\ndone\n{lines}\ntouch \"$XDG_TEST_MARKS/done\"\nEND\n\
         setsid env -i PATH=\"$PATH\" XDG_TEST_MARKS=\"$XDG_TEST_MARKS\" \
         sh \"$XDG_TEST_MARKS/script\" > /dev/null 2>&1 < /dev/null &\n\
         until test -e \"$XDG_TEST_MARKS/begun\"; do sleep 0.02; done"
    ));
    let stepped = attack.step().unwrap();
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Accepted(_))), "{stepped:?}");
    let (begun, done) = (Instant::now(), marks(&attack).join("done"));
    while !done.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the process did not act");
        std::thread::sleep(Duration::from_millis(10));
    }
    attack
}

#[test]
fn a_process_that_outlives_its_worker_is_not_stopped() {
    let attack =
        outliving("sed -i 's/\"phase\": \"planning\"/\"phase\": \"qa\"/' .agentxchain/state.json");
    assert_eq!(attack.runs.state().unwrap().phase(), "qa", "an edit between turns");

    let attack = outliving(&types("transition", ""));
    assert_eq!(fs::read_to_string(marks(&attack).join("transition")).unwrap(), "done");
    let state = attack.runs.state().unwrap();
    assert_eq!(
        state.phase(),
        "implementation",
        "the process cannot be distinguished from a person's script"
    );
}

#[test]
fn a_declared_change_of_the_program_of_a_hook_is_not_stopped() {
    for (declared, expected) in
        [(false, Refused(Code::XchainArtifactDirtyTreeMismatch)), (true, NoEffect)]
    {
        let declare = if declared { "DECLARED=', \"check.sh\"'" } else { "" };
        let attack = Attack::new(&format!(
            "echo \"echo '{{\\\"verdict\\\": \\\"allow\\\"}}'\" > check.sh\n{declare}"
        ));
        attack.repo.write("check.sh", "echo '{\"verdict\": \"block\", \"message\": \"no\"}'\n");
        attack.repo.hook("after_validation", "check", "blocking", 5000, "sh ./check.sh");
        let outcome = match attack.step().unwrap() {
            StepResult::Turn(TurnOutcome::Accepted(_)) => NoEffect,
            StepResult::Turn(TurnOutcome::Blocked(failure)) => Refused(failure.code),
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome, expected, "declared: {declared}");
        attack.assert_gates_hold();
    }
}

/// Hooks and replays run what an agent wrote, after its files were compared.
#[test]
fn a_program_that_runs_after_the_comparison_opens_no_gate() {
    let attack = Attack::new(
        "echo \"sed -i s/requires_human_approval/x/ agentxchain.json\" > check.sh\n\
         echo \"echo '{\\\"verdict\\\": \\\"allow\\\"}'\" >> check.sh\n\
         DECLARED=', \"check.sh\"'",
    );
    attack.repo.write("check.sh", "echo '{\"verdict\": \"allow\"}'\n");
    attack.repo.hook("after_validation", "check", "blocking", 5000, "sh ./check.sh");
    // Git would show the changed file.
    fs::remove_dir_all(attack.repo.root().join(".git")).unwrap();
    let failure = attack.step().unwrap_err();
    assert_eq!(failure.code, Code::XchainRecordsChanged, "{failure:?}");
    attack.assert_gates_hold();
}

#[test]
fn the_acceptance_of_another_turn_in_all_records_is_not_stopped() {
    let turn = "turn_0123456789abcdef";
    let own = r#""run_id": "'$AGENTXCHAIN_RUN_ID'""#;
    let attack = Attack::new(&format!(
        r#"
echo '{{"turn_id": "{turn}", {own}, "role": "qa", "status": "completed", "accepted_sequence": 1}}' \
    >> .agentxchain/history.jsonl
echo '{{"event_id": "evt_1", "event_type": "turn_accepted", {own}, "payload": {{}},
    "timestamp": "2026-01-01T00:00:00.000Z", "turn": {{"turn_id": "{turn}", "role_id": "qa"}}}}' \
    | tr -d '\n' >> .agentxchain/events.jsonl; echo >> .agentxchain/events.jsonl
sed -i '1s/^{{/{{"accepted_sequence": 1,/' .agentxchain/state.json
sed -i 's/\("last_completed_turn_id": \)null/\1"{turn}"/' .agentxchain/state.json
"#
    ));
    // It looks like the work of another runner. It opens no gate.
    waits_at_the_gate(&attack, attack.step().unwrap());
    let history = attack.repo.lines(".agentxchain/history.jsonl");
    assert_eq!(history[0]["turn_id"], turn);
}

#[test]
fn the_result_of_another_active_turn_is_not_stopped() {
    let attack = Attack::new(
        r#"
other=$(ls .agentxchain/dispatch/turns | grep -v "$AGENTXCHAIN_TURN_ID")
if test -n "$other"; then
mkdir -p ".agentxchain/staging/$other"
cat > ".agentxchain/staging/$other/turn-result.json" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$other", "role": "dev",
 "runtime_id": "by-hand", "status": "completed", "summary": "not by dev", "decisions": [],
 "objections": [], "files_changed": [], "artifact": {"type": "review"},
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "seen",
  "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "proposed_next_role": "human", "phase_transition_request": "implementation"}
END
fi"#,
    );
    attack.repo.configure(|config| {
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
    });
    let other = dispatched(&attack.runs, "dev");
    let own = attack.runs.assign(Some("pm")).unwrap();
    let outcome = attack.runs.run_turn(own.turn.id(), CycleOptions::default()).unwrap();
    assert!(matches!(outcome, TurnOutcome::Accepted(_)), "{outcome:?}");
    // The same role would have written it in the same place.
    let accepted = accept(&attack.runs, other.turn.id()).unwrap();
    assert_eq!(accepted.accepted.history_entry["summary"], "not by dev");
    attack.assert_gates_hold();
}

#[test]
fn a_worker_stages_only_its_own_result() {
    // The second has no mark; the state names the worker.
    let typed = types("stage", "") + &types("stage-cleared", "env -i PATH=\"$PATH\"");
    let attack = Attack::new(&typed);
    attack.repo.configure(|config| {
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
    });
    let other = dispatched(&attack.runs, "dev");
    let own = attack.runs.assign(Some("pm")).unwrap();
    let outcome = attack.runs.run_turn(own.turn.id(), CycleOptions::default()).unwrap();
    assert!(matches!(outcome, TurnOutcome::Accepted(_)), "{outcome:?}");
    for operation in ["stage", "stage-cleared"] {
        let answer = fs::read_to_string(marks(&attack).join(operation)).unwrap();
        assert_eq!(answer, "not_for_workers", "{operation}");
    }
    // A person stages it.
    let turn = Some(other.turn.id().clone());
    let result = ManualResult { turn, summary: "by hand".to_owned(), ..ManualResult::default() };
    attack.runs.stage_manual_result(&result).unwrap();
}

#[test]
fn a_lock_file_that_names_no_process_is_not_stopped() {
    let lock = ".agentxchain/locks/accept-turn.lock";
    let attack = Attack::new(&format!("mkdir -p .agentxchain/locks; echo > {lock}"));
    let environment = attack.repo.environment().with_lock_timeout(Duration::from_millis(300));
    let runs = Runs::open(&attack.repo.root(), environment).unwrap();
    let failure = runs.step(&Step::default()).unwrap_err();
    assert_eq!(failure.code, Code::XchainLockTimeout, "{failure:?}");
    // The run only stops. It is judged by the copies when a person has removed the file.
    fs::remove_file(attack.repo.root().join(lock)).unwrap();
    waits_at_the_gate(&attack, attack.step().unwrap());
}
