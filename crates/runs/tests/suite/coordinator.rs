//! Several repositories, one initiative.

use std::time::Duration;

use accord_contract::Code;
use accord_runs::answers::DriveEnd;
use accord_runs::coordinator::{Coordinator, NextAction, StepOutcome};
use accord_runs::operations::{LoopOptions, LoopStop, ManualResult, NextStep};
use accord_runs::repository::{FindingKind, Repository};
use accord_runs::{CycleOptions, Environment};
use accord_runs_core::TurnId;
use accord_runs_core::coordinator::{CoordinatorStatus, DivergenceKind};
use accord_runs_core::operations::answers::RunStop;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::initiative::{HOME, Workspace, handed_out};
use crate::support::refused;

fn into_qa(result: &mut Value) {
    result["phase_transition_request"] = json!("qa");
}

#[test]
fn a_loop_in_an_initiative_ends_after_the_turn_that_it_was_given() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!(repo, "api");
    let api = workspace.runs("api");
    workspace.write("api/src/part.txt", "a part");
    let staged = ManualResult {
        turn: TurnId::parse(&turn),
        summary: "built it".to_owned(),
        ..ManualResult::default()
    };
    api.stage_manual_result(&staged).unwrap();
    let cycle = CycleOptions { checkpoint: true, ..CycleOptions::default() };
    let looped = api.run_loop(&LoopOptions { cycle, ..LoopOptions::default() }).unwrap();
    assert_eq!(looped.accepted, 1);
    assert!(matches!(looped.stop, LoopStop::NotRunning(NextStep::Assign { .. })));
    assert_eq!(DriveEnd::from(looped).stop, RunStop::Accepted);
    assert_eq!(api.state().unwrap().turns().len(), 0);
}

#[test]
fn an_initiative_goes_from_repository_to_repository_and_from_gate_to_gate() {
    let workspace = Workspace::new();
    let coordinator = workspace.coordinator();
    refused(coordinator.step(None), Code::XchainNoInitiative);
    assert_eq!(coordinator.status().unwrap().next, [NextAction::Init]);
    let begun = coordinator.init().unwrap();
    assert_eq!(begun.begun, ["api", "web"]);
    refused(coordinator.init(), Code::XchainInvalidStateTransition);

    // The entry repository comes first, and gets the context of the initiative.
    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!(repo, "api");
    let bundle = format!("api/.agentxchain/dispatch/turns/{turn}");
    let context = workspace.json(&format!("{bundle}/COORDINATOR_CONTEXT.json"));
    assert_eq!(context["workstream_id"], "core");
    let reported = workspace.read(&format!("{bundle}/COORDINATOR_CONTEXT.md"));
    assert!(workspace.read(&format!("{bundle}/CONTEXT.md")).contains(&reported));
    let id = TurnId::parse(&turn).unwrap();
    let manifest = workspace.runs("api").verify_bundle(&id).unwrap().unwrap();
    assert_eq!(manifest["files"].as_array().unwrap().len(), 5);
    let busy = refused(coordinator.step(None), Code::XchainNothingToDispatch);
    assert_eq!(busy.details.unwrap()["obstacles"][0]["reason"], "repo_busy");
    let next = coordinator.status().unwrap().next;
    assert!(matches!(&next[..], [NextAction::Repository { id, .. }] if id == "api"));

    // Its acceptance is taken over, and the next repository gets it as context.
    workspace.carry_out("api", &turn, into_qa);
    let stepped = coordinator.step(None).unwrap();
    assert_eq!(stepped.projected[0]["repo_turn_id"], turn.as_str());
    let (repo, turn) = handed_out(Ok(stepped));
    assert_eq!(repo, "web");
    let reported = format!("web/.agentxchain/dispatch/turns/{turn}/CONTEXT.md");
    assert!(workspace.read(&reported).contains("built the part of api"));
    let barrier = &workspace.json(&format!("{HOME}/barriers.json"))["core_completion"];
    assert_eq!(barrier["status"], "partially_satisfied");

    // The gate between the phases waits for a person.
    workspace.carry_out("web", &turn, into_qa);
    let StepOutcome::Gate { state } = coordinator.step(None).unwrap().outcome else {
        panic!("the phase is at its end");
    };
    assert_eq!(state.status(), CoordinatorStatus::Paused);
    refused(coordinator.step(None), Code::XchainInvalidStateTransition);
    let passed = coordinator.approve_gate(&consent()).unwrap();
    assert_eq!(passed.state.phase(), "qa");
    refused(coordinator.approve_gate(&consent()), Code::XchainInvalidStateTransition);

    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!(repo, "api");
    workspace.carry_out("api", &turn, |result| {
        result["run_completion_request"] = json!(true);
    });
    // No workstream has work for the other repository, and its run is not at its end.
    let StepOutcome::Waiting(failure) = coordinator.step(None).unwrap().outcome else {
        panic!("a repository is not at its end");
    };
    let shut = json!(["repo_not_completion_ready (web)"]);
    assert_eq!(failure.details.unwrap()["gate_blockers"], shut);
    let next = coordinator.status().unwrap().next;
    assert!(matches!(&next[..], [NextAction::Repository { id, .. }] if id == "web"));
    let own = workspace.runs("web").assign(None).unwrap();
    let own = own.turn.id().to_string();
    workspace.runs("web").dispatch(None).unwrap();
    workspace.carry_out("web", &own, |result| {
        result["run_completion_request"] = json!(true);
    });
    assert_eq!(coordinator.status().unwrap().next, [NextAction::Step]);
    let StepOutcome::Gate { state } = coordinator.step(None).unwrap().outcome else {
        panic!("the initiative is at its end");
    };
    assert_eq!(state.pending_gate().unwrap()["gate"], "initiative_ship");
    assert_eq!(
        coordinator.approve_gate(&consent()).unwrap().state.status(),
        CoordinatorStatus::Completed
    );

    let ids: Vec<String> = workspace
        .lines(&format!("{HOME}/decision-ledger.jsonl"))
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect();
    let counted: Vec<String> = (1..=8).map(|number| format!("DEC-COORD-{number:03}")).collect();
    assert_eq!(ids, counted);
    assert_eq!(workspace.lines(&format!("{HOME}/barrier-ledger.jsonl")).len(), 3);
    refused(coordinator.step(None), Code::XchainInvalidStateTransition);
    assert_eq!(Repository::open(&workspace.root()).unwrap().checkup().unwrap(), []);
    assert_eq!(coordinator.status().unwrap().findings, []);
}

#[test]
fn a_turn_whose_worker_was_not_there_is_handed_out_later() {
    let workspace = Workspace::new();
    let runtime = |command: &str, hooks: Value| {
        workspace.change("api/agentxchain.json", |config| {
            config["runtimes"]["by-hand"] = json!({"type": "local_cli", "command": [command],
                "prompt_transport": "stdin"});
            config["hooks"] = hooks;
        });
        workspace.commit_all("api");
    };
    // It is there when the turn is assigned, and gone when it is handed out.
    let agents = tempfile::tempdir().unwrap();
    let agent = agents.path().join("agent").to_string_lossy().into_owned();
    std::os::unix::fs::symlink("/bin/sh", &agent).unwrap();
    let leaves = json!({"name": "leaves", "type": "process", "command": ["rm", agent],
        "timeout_ms": 5000, "mode": "advisory"});
    runtime(&agent, json!({"before_assignment": [leaves]}));
    let coordinator = workspace.begun();
    let failure = refused(coordinator.step(None), Code::XchainRuntimeUnavailable);
    assert_eq!(failure.details.unwrap()["repo_id"], "api");
    let assigned = workspace.runs("api").state().unwrap();
    let assigned = assigned.turns().next().unwrap().id().to_string();
    assert!(workspace.said("turn_dispatched").is_empty());
    runtime("/bin/sh", json!({}));
    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!((repo.as_str(), &turn), ("api", &assigned));
    assert_eq!(workspace.said("turn_dispatched").len(), 1);
    assert!(workspace.json(&format!("{HOME}/state.json"))["dispatching"].is_null());
    // A second attempt keeps the context of the first.
    let runs = workspace.runs("api");
    let reject = accord_runs::operations::Reject {
        turn: TurnId::parse(&turn),
        reason: "no".into(),
        ..Default::default()
    };
    assert!(runs.reject(&reject).unwrap().again);
    let again = runs.dispatch(TurnId::parse(&turn).as_ref()).unwrap();
    assert!(again.context.contains("What the other repositories have accepted"));
    let bundle = format!("api/.agentxchain/dispatch/turns/{turn}");
    assert!(workspace.has(&format!("{bundle}/COORDINATOR_CONTEXT.json")));
}

#[test]
fn a_reissued_turn_gets_the_context_of_the_initiative_too() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    let (_, turn) = handed_out(coordinator.step(None));
    let names = ["COORDINATOR_CONTEXT.json", "COORDINATOR_CONTEXT.md"];
    let reported = |turn: &str| {
        let folder = format!("api/.agentxchain/dispatch/turns/{turn}");
        names.map(|name| workspace.read(&format!("{folder}/{name}")))
    };
    let first = reported(&turn);
    let runs = workspace.runs("api");
    let reissue = accord_runs::operations::Reissue { reason: "anew".into(), ..Default::default() };
    let anew = runs.reissue(&reissue).unwrap().assigned.turn;
    // A hook that refuses takes the bundle away, and not what the coordinator left in it.
    let config = workspace.read("api/agentxchain.json");
    workspace.change("api/agentxchain.json", |config| {
        config["hooks"]["after_dispatch"] = json!([{"name": "h", "type": "process",
            "command": ["/bin/sh", "-c", "echo '{\"verdict\":\"block\",\"message\":\"no\"}'"],
            "timeout_ms": 5000, "mode": "blocking"}]);
    });
    refused(runs.dispatch(None), Code::XchainHookBlocked);
    workspace.write("api/agentxchain.json", &config);
    runs.resolve(&consent()).unwrap();
    let again = runs.dispatch(None).unwrap();
    assert_ne!(again.turn.id().as_str(), turn);
    assert_eq!(reported(anew.id().as_str()), first);
    assert!(again.context.contains(&first[1]), "{}", again.context);
}

#[test]
fn a_turn_that_cannot_be_assigned_leaves_no_trace() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    workspace.write("api/stray.txt", "nobody's\n");
    let failure = coordinator.step(None).unwrap_err();
    assert!(failure.message.starts_with("api: "), "{failure:?}");
    assert!(workspace.json(&format!("{HOME}/state.json"))["dispatching"].is_null());
    assert!(workspace.said("turn_dispatched").is_empty());
    std::fs::remove_file(workspace.root().join("api/stray.txt")).unwrap();
    assert_eq!(handed_out(coordinator.step(None)).0, "api");
}

#[test]
fn a_repository_in_another_run_blocks_until_a_person_accounts_for_it() {
    let workspace = Workspace::new();
    workspace.hook("on_escalation", "advisory", "echo '{\"verdict\":\"allow\"}'");
    let coordinator = workspace.begun();
    let known = workspace.json("web/.agentxchain/state.json")["run_id"].clone();
    workspace.change("web/.agentxchain/state.json", |state| {
        state["run_id"] = json!("run_another");
    });
    let seen = coordinator.divergence().unwrap();
    assert_eq!(seen[0].kind, DivergenceKind::RunIdMismatch);
    assert!(workspace.said("state_resynced").is_empty());
    refused(coordinator.step(None), Code::XchainCoordinatorDiverged);
    assert_eq!(workspace.json(&format!("{HOME}/state.json"))["status"], "blocked");
    assert_eq!(workspace.lines(&format!("{HOME}/hook-audit.jsonl")).len(), 1);
    let report = format!("{HOME}/RECOVERY_REPORT.md");
    assert!(workspace.read(&report).contains("run_id_mismatch"));
    let next = coordinator.status().unwrap().next;
    assert_eq!(next, [NextAction::Account { report: report.clone() }]);

    // Nothing goes on, and nothing is written, before the report says something.
    let before = workspace.kept();
    refused(coordinator.resync(), Code::XchainCoordinatorDiverged);
    refused(coordinator.step(None), Code::XchainCoordinatorDiverged);
    assert_eq!(workspace.kept(), before);
    let filled = "## Trigger\nrestarted\n## Impact\nnone\n## Mitigation\nchecked\n";
    workspace.write(&report, filled);
    let synced = coordinator.resync().unwrap();
    assert!(synced.resumed);
    assert_eq!(synced.state.repo_run("web"), Some("run_another"));
    assert_ne!(known, "run_another");
    assert!(!workspace.has(&report));
    assert_eq!(workspace.said("blocked_resolved")[0]["recovery_report"], filled);
    assert_eq!(handed_out(coordinator.step(None)).0, "api");
}

#[test]
fn what_a_repository_lost_is_named_and_never_made_up() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    handed_out(coordinator.step(None));
    workspace.change("api/.agentxchain/state.json", |state| {
        state["active_turns"] = json!({});
    });
    let failure = refused(coordinator.resync(), Code::XchainCoordinatorDiverged);
    assert_eq!(failure.details.unwrap()["divergence"], json!(["api: turn_disappeared"]));
    std::fs::remove_file(workspace.root().join("web/.agentxchain/state.json")).unwrap();
    let kinds: Vec<DivergenceKind> =
        coordinator.divergence().unwrap().iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [DivergenceKind::TurnDisappeared, DivergenceKind::RepoStateMissing]);
    // A report accounts for the turn, and cannot bring the state back.
    workspace.write(
        &format!("{HOME}/RECOVERY_REPORT.md"),
        "## Trigger\nx\n## Impact\nx\n## Mitigation\nx\n",
    );
    let failure = refused(coordinator.resync(), Code::XchainCoordinatorDiverged);
    assert_eq!(failure.details.unwrap()["divergence"], json!(["web: repo_state_missing"]));
    assert!(workspace.has(&format!("{HOME}/RECOVERY_REPORT.md")));
}

#[test]
fn a_turn_that_wrote_into_another_repository_is_not_taken_over() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    let (_, turn) = handed_out(coordinator.step(None));
    let run = workspace.json("api/.agentxchain/state.json")["run_id"].clone();
    workspace.change("api/.agentxchain/state.json", |state| {
        state["active_turns"] = json!({});
    });
    // As a runner would have it that does not look at where files lie.
    let line = json!({"turn_id": turn, "run_id": run, "role": "dev", "summary": "s",
        "files_changed": ["src/a.txt", "../web/src/b.txt"], "decisions": []});
    workspace.write("api/.agentxchain/history.jsonl", &format!("{line}\n"));
    let before = workspace.kept();
    refused(coordinator.step(None), Code::XchainCrossRepoWriteViolation);
    refused(coordinator.resync(), Code::XchainCrossRepoWriteViolation);
    assert_eq!(workspace.kept(), before);
}

#[test]
fn hooks_of_the_coordinator_have_their_say_and_touch_nothing() {
    let workspace = Workspace::new();
    workspace.hook(
        "before_assignment",
        "blocking",
        "echo '{\"verdict\":\"block\",\"message\":\"no\"}'",
    );
    let coordinator = workspace.begun();
    refused(coordinator.step(None), Code::XchainHookBlocked);
    assert!(
        workspace.json("api/.agentxchain/state.json")["active_turns"]
            .as_object()
            .unwrap()
            .is_empty()
    );
    let audit = workspace.lines(&format!("{HOME}/hook-audit.jsonl"));
    assert_eq!(audit[0]["orchestrator_action"], "blocked");
    assert!(!workspace.has(".agentxchain/hook-audit.jsonl"));

    // What it does to a repository's state is undone.
    let before = workspace.read("web/.agentxchain/state.json");
    let line = "echo '{}' > web/.agentxchain/state.json; echo '{\"verdict\":\"allow\"}'";
    workspace.hook("before_assignment", "blocking", line);
    refused(coordinator.step(None), Code::XchainHookStateTamper);
    assert_eq!(workspace.read("web/.agentxchain/state.json"), before);
    let barriers = workspace.read(&format!("{HOME}/barriers.json"));
    let line = format!("rm {HOME}/barriers.json; echo '{{\"verdict\":\"allow\"}}'");
    workspace.hook("before_assignment", "blocking", &line);
    refused(coordinator.step(None), Code::XchainHookStateTamper);
    assert_eq!(workspace.read(&format!("{HOME}/barriers.json")), barriers);

    let said = r#"cat > seen.json
        echo '{"verdict":"allow","annotations":[{"key":"k","value":"v"}]}'"#;
    workspace.hook("before_assignment", "blocking", "echo '{\"verdict\":\"allow\"}'");
    workspace.hook("after_acceptance", "advisory", said);
    let (_, turn) = handed_out(coordinator.step(None));
    workspace.carry_out("api", &turn, |_| {});
    coordinator.step(None).unwrap();
    let seen = workspace.json("seen.json");
    assert_eq!(seen["payload"]["repo_turn_id"], turn.as_str());
    assert_eq!(seen["payload"]["barrier_effects"][0]["new_status"], "partially_satisfied");
    let kept = workspace.lines(&format!("{HOME}/hook-annotations.jsonl"));
    assert_eq!(kept[0]["turn_id"], turn.as_str());
}

#[test]
fn one_works_at_a_time_and_a_workspace_may_be_a_repository_of_its_own() {
    let workspace = Workspace::new();
    let held = Repository::open(&workspace.root()).unwrap().lock(Duration::ZERO).unwrap();
    let hasty = Environment::system().with_lock_timeout(Duration::ZERO);
    let other = Coordinator::open(&workspace.root(), hasty).unwrap();
    let failure = refused(other.init(), Code::XchainLockTimeout);
    assert!(failure.message.contains(&std::process::id().to_string()), "{failure:?}");
    drop(held);
    // The workspace is `api` itself.
    let inner = crate::initiative::config();
    workspace.change("agentxchain-multi.json", |config| *config = json!(null));
    std::fs::remove_file(workspace.root().join("agentxchain-multi.json")).unwrap();
    workspace.write("api/agentxchain-multi.json", &format!("{inner:#}\n"));
    workspace.change("api/agentxchain-multi.json", |config| {
        config["repos"] = json!({"api": {"path": "."}, "web": {"path": "../web"}});
        config["hooks"]["before_assignment"] = json!([{"name": "h", "type": "process",
            "command": ["/bin/sh", "-c", "echo '{\"verdict\":\"allow\"}'"], "timeout_ms": 5000,
                "mode": "blocking"}]);
    });
    workspace.commit_all("api");
    let coordinator =
        Coordinator::open(&workspace.root().join("api"), Environment::system()).unwrap();
    coordinator.init().unwrap();
    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!(repo, "api");
    workspace.carry_out("api", &turn, |_| {});
    assert_eq!(handed_out(coordinator.step(None)).0, "web");
}

#[test]
fn a_workspace_that_is_not_sound_begins_nothing() {
    let workspace = Workspace::new();
    let coordinator = workspace.coordinator();
    let code = |change: fn(&mut Value)| {
        let whole = workspace.read("agentxchain-multi.json");
        workspace.change("agentxchain-multi.json", change);
        let failure = coordinator.init().unwrap_err();
        workspace.write("agentxchain-multi.json", &whole);
        assert!(!workspace.has(&format!("{HOME}/state.json")));
        assert!(!workspace.has("web/.agentxchain/state.json"), "{failure:?}");
        let words = failure.message.split(':').next().unwrap().to_owned();
        (failure.code, words)
    };
    let invalid = |word: &str| (Code::XchainInvalidCoordinatorConfig, word.to_owned());
    assert_eq!(
        code(|config| config["repos"]["web"]["path"] = json!("./gone")),
        invalid("repo_path_missing")
    );
    assert_eq!(
        code(|config| config["repos"]["web"]["path"] = json!("./agentxchain-multi.json")),
        invalid("repo_path_not_directory")
    );
    assert_eq!(
        code(|config| config["repos"]["web"]["path"] = json!("./api/.git")),
        invalid("repo_not_governed")
    );
    assert_eq!(
        code(|config| config["repos"]["web"]["path"] = json!("api/../api")),
        invalid("repo_path_invalid")
    );
    let aligned = code(|config| {
        config["routing"]["more"] = json!({});
    });
    assert_eq!(aligned.0, Code::XchainCoordinatorDiverged);
    let elsewhere = tempfile::tempdir().unwrap();
    refused(
        Coordinator::open(elsewhere.path(), Environment::system()),
        Code::XchainInvalidCoordinatorConfig,
    );
}

#[test]
fn members_of_a_wrong_type_are_named() {
    let workspace = Workspace::new();
    let coordinator = workspace.coordinator();
    coordinator.init().unwrap();
    workspace.change("agentxchain-multi.json", |config| {
        config["routing"]["planning"]["exit_gate"] = json!(["initiative_plan"]);
    });
    workspace.change(&format!("{HOME}/state.json"), |state| {
        state["repo_runs"]["api"]["initialized_by_coordinator"] = json!("yes");
    });
    workspace.change(&format!("{HOME}/barriers.json"), |barriers| {
        barriers["core_completion"]["created_at"] = json!(0);
    });
    let findings = coordinator.status().unwrap().findings;
    let [gate] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(gate.subject, "agentxchain-multi.json, routing.planning.exit_gate");
    assert_eq!(gate.code, Some(Code::XchainInvalidCoordinatorConfig));
    let found = Repository::open(&workspace.root()).unwrap().checkup().unwrap();
    let fields: Vec<_> = found.iter().map(|found| (found.kind, found.field.as_deref())).collect();
    assert_eq!(
        fields,
        [
            (FindingKind::MistypedState, Some("repo_runs.api.initialized_by_coordinator")),
            (FindingKind::MistypedState, Some("core_completion.created_at")),
        ]
    );
}
