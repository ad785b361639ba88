//! Acceptance, end to end, with files in memory.

use accord_contract::Code;
use accord_runs_core::accept::{Acceptance, Answer, Inputs, Observation, Options};
use accord_runs_core::history::RunIndex;
use accord_runs_core::hooks::Execution;
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::result::Leniency;
use accord_runs_core::state::Status;
use accord_runs_core::testing::approval;
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, config, config_with, ids, now, result, stage, world};

#[test]
fn a_sound_result_becomes_part_of_the_history() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let result = result(&world, &turn);
    stage(&mut world, &turn, &result);
    let run = accept(&mut world, &turn, &Script::default());
    let accepted = run.accepted();
    assert_eq!(accepted.accepted_sequence, 2, "the assignment was the first tick");
    assert_eq!(world.state.turns().len(), 0);
    assert_eq!(world.history.len(), 1);
    assert_eq!(world.history[0]["accepted_sequence"], 2);
    assert_eq!(world.history[0]["assigned_sequence"], 1);
    assert_eq!(world.state.accepted_sequence(), 2);
    assert!(world.files["TALK.md"].contains("Did the work."));
    assert!(!world.files.keys().any(|path| path.contains("staging")), "the staging is gone");
    assert_eq!(run.wants, ["staging", "observe", "commit", "done"]);
    assert_eq!(run.events(), ["turn_accepted"]);

    // The same turn again is refused, and nothing moves.
    let again = accept(&mut world, &turn, &Script::default());
    assert_eq!(again.refused().code, Code::XchainTurnAlreadyAccepted);
    assert_eq!(world.history.len(), 1);
}

#[test]
fn a_turn_that_is_in_the_history_is_not_accepted_again_however_it_is_meant() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let result = result(&world, &turn);
    stage(&mut world, &turn, &result);
    // Another runner wrote the line, and not the state.
    let line = json!({"turn_id": turn.as_str(), "run_id": result["run_id"], "role": "dev",
        "phase": "implementation", "status": "completed", "files_changed": ["src/lib.rs"],
        "accepted_sequence": 2});
    let mut index = RunIndex::new(world.state.run_id());
    index.add_history(line.as_object().unwrap(), None);
    for meant in [None, Some(&turn)] {
        let inputs = Inputs {
            config: world.config.clone(),
            state: world.state.clone(),
            index: index.clone(),
            repo_decisions: RepoDecisions::default(),
        };
        let begun = Acceptance::begin(inputs, meant, Options::default(), ids(9), now());
        assert_eq!(begun.unwrap_err().code, Code::XchainTurnAlreadyAccepted);
    }
}

#[test]
fn a_refused_result_changes_nothing_but_what_records_it() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let mut bad = result(&world, &turn);
    bad["files_changed"] = json!(["src/x.rs", "./.agentxchain/../.agentxchain/state.json"]);
    stage(&mut world, &turn, &bad);
    let run = accept(&mut world, &turn, &Script::default());
    let failure = run.refused();
    assert_eq!(failure.code, Code::XchainValidationFailed);
    let details = failure.details.as_ref().unwrap();
    assert_eq!(details["error_type"], "reserved_path_violation");
    assert_eq!(details["failed_stage"], "artifact");
    assert_eq!(world.state.turn(&turn).unwrap().document()["status"], "failed_acceptance");
    assert_eq!(world.state.status(), Status::Active);
    assert!(world.history.is_empty() && !world.files.contains_key("TALK.md"));
    assert_eq!(run.events(), ["acceptance_failed"]);
    // Mended, it is accepted.
    let good = result(&world, &turn);
    stage(&mut world, &turn, &good);
    accept(&mut world, &turn, &Script::default()).accepted();
}

#[test]
fn nothing_staged_and_garbage_are_refused() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let run = accept(&mut world, &turn, &Script::default());
    assert_eq!(run.refused().code, Code::XchainValidationFailed);
    for garbage in ["{", "[]", "{\"a\":1,\"a\":2}", "null"] {
        world.files.insert(accord_runs_core::dispatch::staging_path(&turn), garbage.into());
        let run = accept(&mut world, &turn, &Script::default());
        assert_eq!(run.refused().details.as_ref().unwrap()["failed_stage"], "schema", "{garbage}");
    }
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    world.files.insert(accord_runs_core::dispatch::staging_path(&turn), deep);
    accept(&mut world, &turn, &Script::default()).refused();
    // The result of another turn, in the place that all turns once shared.
    world.files.remove(&accord_runs_core::dispatch::staging_path(&turn));
    let mut other = result(&world, &turn);
    other["turn_id"] = "turn_other".into();
    world.files.insert(accord_runs_core::dispatch::FLAT_STAGING_PATH.into(), other.to_string());
    let run = accept(&mut world, &turn, &Script::default());
    assert_eq!(run.refused().code, Code::XchainStaleStaging);
}

#[test]
fn decision_ids_are_unique_in_a_run() {
    let decision = |id: &str| {
        json!({"id": id, "category": "scope", "statement": "Small.",
        "rationale": "Time."})
    };
    let mut world = world(config(), "implementation");
    let first = assign(&mut world, "dev", 2);
    let mut staged = result(&world, &first);
    staged["decisions"] = json!([decision("DEC-001"), decision("nonsense")]);
    stage(&mut world, &first, &staged);
    let run = accept(&mut world, &first, &Script::default());
    let accepted = run.accepted();
    assert_eq!(accepted.history_entry["decisions"][1]["id"], "DEC-002");
    assert_eq!(accepted.history_entry["normalizations"][0]["code"], "decision_id_assigned");
    assert_eq!(world.ledger.len(), 2);
    assert_eq!(run.events()[0], "staged_result_auto_normalized");

    let second = assign(&mut world, "dev", 3);
    let mut staged = result(&world, &second);
    staged["decisions"] = json!([decision("DEC-002")]);
    stage(&mut world, &second, &staged);
    let run = accept(&mut world, &second, &Script { seed: 50, ..Script::default() });
    assert_eq!(run.refused().code, Code::XchainDuplicateDecisionId);
    staged["decisions"] = json!([decision("DEC-9"), decision("DEC-9")]);
    stage(&mut world, &second, &staged);
    let run = accept(&mut world, &second, &Script { seed: 51, ..Script::default() });
    assert_eq!(run.refused().code, Code::XchainDuplicateDecisionId);
    staged["decisions"] = json!([{"statement": "Go on.", "why": "It works."}]);
    stage(&mut world, &second, &staged);
    let run = accept(&mut world, &second, &Script { seed: 52, ..Script::default() });
    assert_eq!(run.accepted().history_entry["decisions"][0]["id"], "DEC-003");
    // Strict, the same is refused.
    let third = assign(&mut world, "dev", 4);
    let mut staged = result(&world, &third);
    staged["decisions"] = json!([{"statement": "Go on.", "why": "It works."}]);
    stage(&mut world, &third, &staged);
    let options =
        Options { leniency: Leniency { strict: true, force_review: false }, ..Options::default() };
    let run = accept(&mut world, &third, &Script { seed: 53, options, ..Script::default() });
    assert_eq!(run.refused().details.as_ref().unwrap()["failed_stage"], "schema");
}

#[test]
fn a_decision_is_overridden_by_one_of_a_turn_s_decisions_at_most() {
    let lasting =
        |id: &str| json!({"id": id, "role": "dev", "status": "active", "statement": "C."});
    for (second, code) in
        [("DEC-100", Some(Code::XchainOverrideValidationFailed)), ("DEC-099", None)]
    {
        let mut world = world(config(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let mut staged = result(&world, &turn);
        let decision = |id: &str, overrides: &str| {
            json!({"id": id, "category": "scope", "statement": "Zig.", "rationale": "Why not.",
                "overrides": overrides})
        };
        staged["decisions"] = json!([decision("DEC-101", "DEC-100"), decision("DEC-102", second)]);
        stage(&mut world, &turn, &staged);
        let known = ["DEC-099", "DEC-100"].map(|id| lasting(id).as_object().unwrap().clone());
        let script = Script { repo_decisions: known.into(), ..Script::default() };
        let run = accept(&mut world, &turn, &script);
        match code {
            Some(code) => assert_eq!(run.refused().code, code),
            None => assert_eq!(run.accepted().history_entry["decisions"][1]["id"], "DEC-102"),
        }
    }
}

#[test]
fn lasting_decisions_are_overridden_by_those_who_may() {
    let config = config_with(|document| {
        document["roles"]["pm"]["decision_authority"] = 50.into();
        document["roles"]["dev"]["decision_authority"] = 10.into();
    });
    let lasting = |role: &str, status: &str| {
        let line = json!({"id": "DEC-100", "role": role, "status": status, "statement": "Rust."});
        vec![line.as_object().unwrap().clone()]
    };
    for (owner, status, allowed) in [
        ("dev", "active", true),
        ("pm", "active", false),
        ("human", "active", false),
        ("gone", "active", true),
        ("dev", "overridden", false),
    ] {
        let mut world = world(config.clone(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let mut staged = result(&world, &turn);
        staged["decisions"] = json!([{"id": "DEC-101", "category": "architecture",
            "statement": "Zig.", "rationale": "Why not.", "overrides": "DEC-100"}]);
        stage(&mut world, &turn, &staged);
        let script = Script { repo_decisions: lasting(owner, status), ..Script::default() };
        let run = accept(&mut world, &turn, &script);
        if allowed {
            run.accepted();
            let written = &world.files[".agentxchain/repo-decisions.jsonl"];
            assert!(written.contains("\"overridden_by\":\"DEC-101\""));
            assert_eq!(written.lines().count(), 2);
        } else {
            assert_eq!(
                run.refused().code,
                Code::XchainOverrideValidationFailed,
                "{owner} {status}"
            );
            assert!(!world.files.contains_key(".agentxchain/repo-decisions.jsonl"));
        }
    }
}

#[test]
fn what_was_seen_is_held_against_what_is_declared() {
    let git = |files: &[(&str, &str)]| Observation {
        head_ref: Some("abc".into()),
        dirty: true,
        changed: files.iter().map(|(path, mark)| ((*path).into(), (*mark).into())).collect(),
        uncommitted: files.iter().map(|(path, _)| (*path).into()).collect(),
        ..Observation::default()
    };
    let said = |observations: Vec<Observation>, role: &str, change: fn(&mut Value)| {
        let mut world = world(config(), "implementation");
        let turn = assign(&mut world, role, 2);
        let mut staged = result(&world, &turn);
        change(&mut staged);
        stage(&mut world, &turn, &staged);
        accept(&mut world, &turn, &Script { observations, ..Script::default() })
    };
    let run = |observations: Vec<Observation>| said(observations, "dev", |_| {});
    let lib = ("src/lib.rs", "1");
    let same = vec![git(&[lib, (".agentxchain/state.json", "9")]), git(&[lib])];
    assert_eq!(run(same).accepted().state.member("accepted_integration_ref"), "workspace:dirty");
    let evil = || git(&[lib, ("src/evil.rs", "2")]);
    let refused = |run: crate::support::Run| (run.refused().code, run.refused().details.clone());
    // The result names checks. That does not make them the cause.
    let run_evil = run(vec![evil()]);
    let message = &run_evil.refused().message;
    assert_eq!(message, "1 file not committed and not declared by the result: src/evil.rs");
    let outputs = refused(run_evil);
    assert_eq!(outputs.0, Code::XchainArtifactDirtyTreeMismatch);
    assert_eq!(outputs.1.unwrap()["files"], json!(["src/evil.rs"]));
    let skipped = |staged: &mut Value| staged["verification"] = json!({"status": "skipped"});
    let blank = |staged: &mut Value| {
        staged["verification"] = json!({"status": "skipped", "commands": []});
    };
    for quiet in [skipped, blank] {
        let dirty = refused(said(vec![evil()], "dev", quiet));
        assert_eq!(dirty.0, Code::XchainArtifactDirtyTreeMismatch);
    }
    // What is in a commit was not left behind.
    let mut committed = evil();
    committed.uncommitted.remove("src/evil.rs");
    assert_eq!(refused(run(vec![committed])).0, Code::XchainArtifactMismatch);
    let review = vec![git(&[("src/lib.rs", "1")])];
    let review = refused(said(review, "qa", |_| {}));
    assert_eq!(review.0, Code::XchainArtifactDirtyTreeMismatch);
    let mut own = git(&[("src/lib.rs", "1")]);
    own.uncommitted.clear();
    let review = refused(said(vec![own], "qa", |_| {}));
    assert_eq!(review.0, Code::XchainArtifactMismatch);
    let declared = said(vec![evil(), evil()], "dev", |staged| {
        staged["verification"]["produced_files"] =
            json!([{"path": "src/evil.rs", "disposition": "artifact"}]);
    });
    assert_eq!(declared.events(), ["turn_accepted"]);
    assert_eq!(run(vec![git(&[])]).refused().code, Code::XchainEmptyWorkspaceArtifact);
    // Somewhere on the way is a link; nobody need have version control for that to matter.
    for seen in [git(&[lib]), Observation::default()] {
        let outside = Observation { outside: vec!["src/lib.rs".into()], ..seen };
        let outside = refused(run(vec![outside]));
        assert_eq!(outside.0, Code::XchainPathOutsideRepository);
        assert_eq!(outside.1.unwrap()["files"], json!(["src/lib.rs"]));
    }
    let drift = run(vec![git(&[lib]), git(&[("src/lib.rs", "2")])]);
    assert_eq!(drift.refused().code, Code::XchainAcceptanceDrift);
}

#[test]
fn hooks_have_their_say_in_order() {
    let hook = |name: &str, mode: &str| {
        json!({"name": name, "type": "process", "command": ["x"],
        "timeout_ms": 1000, "mode": mode})
    };
    let config = config_with(|document| {
        document["hooks"] = json!({
            "before_validation": [hook("bv", "blocking")],
            "after_validation": [hook("av", "blocking")],
            "before_acceptance": [hook("ba", "blocking")],
            "after_acceptance": [hook("aa", "advisory")],
            "on_escalation": [hook("oe", "advisory")]
        });
    });
    let says = |verdict: &str| Execution {
        exit_code: Some(0),
        output: format!("{{\"verdict\":\"{verdict}\"}}").into_bytes(),
        ..Execution::default()
    };
    let script = |blocker: &str| {
        let names = ["bv", "av", "ba", "aa", "oe"];
        let verdict = |name: &str| {
            if name == blocker { says("block") } else { says("allow") }
        };
        Script {
            hooks: names.map(|name| (name.to_owned(), verdict(name))).into(),
            ..Script::default()
        }
    };
    let run = |blocker: &str| {
        let mut world = world(config.clone(), "implementation");
        let turn = assign(&mut world, "dev", 2);
        let staged = result(&world, &turn);
        stage(&mut world, &turn, &staged);
        let run = accept(&mut world, &turn, &script(blocker));
        (run, world)
    };
    let (through, _) = run("nobody");
    through.accepted();
    assert_eq!(
        through.wants,
        [
            "staging",
            "before_validation",
            "staging",
            "after_validation",
            "observe",
            "before_acceptance",
            "commit",
            "after_acceptance",
            "done"
        ]
    );
    for (blocker, phase) in
        [("bv", "before_validation"), ("av", "after_validation"), ("ba", "before_acceptance")]
    {
        let (stopped, world) = run(blocker);
        assert_eq!(stopped.refused().code, Code::XchainHookBlocked);
        assert_eq!(world.state.status(), Status::Blocked);
        assert_eq!(world.state.blocked_on(), Some(format!("hook:{phase}:{blocker}").as_str()));
        assert!(world.history.is_empty());
        assert_eq!(stopped.wants.last(), Some(&"done"));
        assert!(stopped.wants.contains(&"on_escalation"));
        let ended = &world.files[".agentxchain/run-history.jsonl"];
        assert!(ended.contains("\"status\":\"blocked\""), "{ended}");
    }
    // What comes behind the commit stops nothing.
    run("aa").0.accepted();
}

#[test]
fn turns_side_by_side_wait_for_each_other_and_conflict() {
    let mut world = world(config(), "implementation");
    let dev = assign(&mut world, "dev", 2);
    let pm = assign(&mut world, "pm", 3);
    let mut first = result(&world, &dev);
    first["phase_transition_request"] = "qa".into();
    stage(&mut world, &dev, &first);
    accept(&mut world, &dev, &Script::default()).accepted();
    assert_eq!(world.state.phase(), "implementation", "the request waits");
    assert_eq!(world.state.member("queued_phase_transition")["to"], "qa");

    let second = result(&world, &pm);
    stage(&mut world, &pm, &second);
    let run = accept(&mut world, &pm, &Script { seed: 60, ..Script::default() });
    assert_eq!(run.refused().code, Code::XchainConflict);
    assert_eq!(run.events(), ["turn_conflicted"]);
    assert_eq!(world.state.turn(&pm).unwrap().document()["status"], "conflicted");
    accept(&mut world, &pm, &Script { seed: 61, ..Script::default() }).refused();
    assert_eq!(world.state.status(), Status::Active);
    accept(&mut world, &pm, &Script { seed: 62, ..Script::default() }).refused();
    assert_eq!(world.state.status(), Status::Blocked, "three times is a loop");
    let resolved =
        accord_runs_core::run::resolve(&world.state, None, &approval(), &mut ids(63), now());
    world.state = resolved.unwrap().state;
    let merged = Options { human_merge: Some(approval()), ..Options::default() };
    let run = accept(&mut world, &pm, &Script { seed: 64, options: merged, ..Script::default() });
    let resolution = &run.accepted().history_entry["conflict_resolution"];
    assert_eq!(resolution["resolution"], "human_merge");
    assert_eq!(resolution["actor"], "human:reviewer");
    assert_eq!(resolution["evidence_digest"], approval().evidence.as_str());
    let noted =
        world.ledger.iter().find(|line| line.get("decision") == Some(&json!("conflict_resolved")));
    assert_eq!(noted.unwrap()["actor"], "human:reviewer");
    assert_eq!(world.state.phase(), "qa", "now the request that waited is granted");
    assert_eq!(run.events(), ["turn_accepted", "conflict_resolved", "phase_entered"]);
}

#[test]
fn a_person_is_asked_for_and_answers_out_of_step_are_refused() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let mut staged = result(&world, &turn);
    staged["status"] = "needs_human".into();
    staged["needs_human_reason"] = "which database".into();
    stage(&mut world, &turn, &staged);
    let run = accept(&mut world, &turn, &Script::default());
    run.accepted();
    assert_eq!(world.state.blocked_on(), Some("human:which database"));
    assert_eq!(run.events(), ["turn_accepted", "run_blocked"]);
    assert!(world.files[".agentxchain/run-history.jsonl"].contains("\"status\":\"blocked\""));

    let mut world = crate::support::world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let inputs = Inputs {
        config: world.config.clone(),
        state: world.state.clone(),
        index: world.index(),
        repo_decisions: RepoDecisions::default(),
    };
    let mut machine =
        Acceptance::begin(inputs, Some(&turn), Options::default(), ids(9), now()).unwrap();
    let before = machine.want().clone();
    let failure = machine.answer(Answer::Committed, now()).unwrap_err();
    assert_eq!(failure.code, Code::XchainAcceptanceOutOfStep);
    assert_eq!(machine.want(), &before);
}
