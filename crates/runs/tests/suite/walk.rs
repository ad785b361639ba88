//! A whole run, from an empty folder to its end.

use accord_contract::Code;
use accord_runs::operations::{
    Accept, InitOptions, NewAgent, NextStep, PendingApproval, Query, Start, init,
};
use accord_runs::{Environment, Runs};
use accord_runs_core::state::Status;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

#[test]
fn a_run_goes_from_an_empty_folder_to_its_end() {
    let repo = Repo::with_git();
    let runs = repo.runs();
    assert_eq!(next(&runs), NextStep::Start { restart: false });
    runs.start(&Start::default()).unwrap();
    assert_eq!(next(&runs), NextStep::Assign { role: "pm".into(), by_hand: true });

    // The plan, with a person at the gate.
    let turn = dispatched(&runs, "pm");
    assert!(matches!(next(&runs), NextStep::Work { by_hand: true, .. }));
    plan(&repo);
    stage(
        &repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            result["phase_transition_request"] = json!("implementation");
            result["decisions"] = json!([{"id": "DEC-001", "category": "scope",
                "statement": "small",
            "rationale": "soon done", "durability": "repo"}]);
        }),
    );
    assert!(matches!(next(&runs), NextStep::Accept { .. }));
    let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert_eq!(accepted.state.status(), Status::Paused);
    assert!(matches!(next(&runs), NextStep::ApproveTransition { .. }));
    refused(runs.resolve(&consent()), Code::XchainInvalidStateTransition);
    let moved = runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert_eq!((moved.state.status(), moved.state.phase()), (Status::Active, "implementation"));

    // The next writer needs a clean start.
    assert_eq!(next(&runs), NextStep::Checkpoint);
    refused(runs.assign(Some("dev")), Code::XchainCheckpointRequired);
    let checkpoint = runs.checkpoint(None).unwrap();
    assert_eq!(checkpoint.files, PLANNING);
    assert_eq!(repo.git(&["rev-parse", "HEAD"]).trim(), checkpoint.commit);
    refused(runs.checkpoint(None), Code::XchainNothingToCheckpoint);

    // The work, with its checkpoint at once.
    let turn = dispatched(&runs, "dev");
    repo.write("src/it.txt", "it\n");
    repo.write(".planning/IMPLEMENTATION_NOTES.md", "## Changes\n\nit\n\n## Verification\n\nran\n");
    let files = ["src/it.txt", ".planning/IMPLEMENTATION_NOTES.md"];
    stage(
        &repo,
        &turn,
        &result(&turn, &files, |result| {
            result["phase_transition_request"] = json!("qa");
            result["proposed_next_role"] = json!("qa");
        }),
    );
    let accept_now = Accept { checkpoint: true, ..Accept::default() };
    let done = runs.accept(&accept_now).unwrap();
    assert_eq!(done.accepted.state.phase(), "qa");
    let commit = done.checkpoint.unwrap().commit;
    assert_eq!(done.no_checkpoint, None);
    assert_eq!(runs.state().unwrap().member("accepted_integration_ref"), format!("git:{commit}"));

    // The verdict, and a person at the end.
    let turn = dispatched(&runs, "qa");
    repo.write(".planning/acceptance-matrix.md", "| Req # | Status |\n|---|---|\n| 1 | PASS |\n");
    repo.write(".planning/ship-verdict.md", "## Verdict: YES\n");
    repo.write(
        ".planning/RELEASE_NOTES.md",
        "## User Impact\n\nit\n\n## Verification Summary\n\nran\n",
    );
    let files = [
        ".planning/acceptance-matrix.md",
        ".planning/ship-verdict.md",
        ".planning/RELEASE_NOTES.md",
    ];
    stage(
        &repo,
        &turn,
        &result(&turn, &files, |result| {
            result["artifact"] = json!({"type": "review"});
            result["run_completion_request"] = json!(true);
            result["objections"] = json!([{"id": "OBJ-001", "severity": "low", "statement": "thin",
            "status": "raised"}]);
        }),
    );
    accept(&runs, turn.turn.id()).unwrap();
    assert!(matches!(next(&runs), NextStep::ApproveCompletion { .. }));
    let moved = runs.approve(PendingApproval::Completion, &consent()).unwrap();
    assert_eq!(moved.state.status(), Status::Completed);
    assert_eq!(next(&runs), NextStep::Start { restart: true });

    // What is left behind.
    assert_eq!(runs.repository().checkup().unwrap(), []);
    let history = runs.history(&Query::default()).unwrap();
    assert_eq!(history.len(), 3);
    let runs_so_far = repo.lines(".agentxchain/run-history.jsonl");
    assert_eq!(runs_so_far.len(), 1);
    let reported = &runs_so_far[0];
    assert_eq!(reported["connector_used"], "by-hand");
    assert_eq!(reported["retrospective"]["terminal_reason"], "completed");
    assert_eq!(reported["retrospective"]["headline"], "did it");
    let snapshot = &reported["inheritance_snapshot"];
    assert_eq!(snapshot["recent_decisions"][0]["id"], "DEC-001");
    let last: Vec<&Value> = history.iter().map(|line| &line["turn_id"]).collect();
    let recent = snapshot["recent_accepted_turns"].as_array().unwrap();
    let recent: Vec<&Value> = recent.iter().map(|turn| &turn["turn_id"]).collect();
    assert_eq!(recent, last);
    assert_eq!(runs.repo_decisions().unwrap().len(), 1);
    let kinds: Vec<String> = runs
        .events(&Query::default(), None)
        .unwrap()
        .iter()
        .map(|event| event["event_type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("run_started"));
    assert_eq!(kinds.last().map(String::as_str), Some("run_completed"));
    assert_eq!(kinds.iter().filter(|kind| *kind == "turn_checkpointed").count(), 2);
    let ordered = runs.events(&Query::default(), None).unwrap();
    let problems = accord_runs_core::event::check_order(&json!(ordered));
    assert!(problems.is_ok(), "{problems:?}");
    assert!(repo.read("TALK.md").contains("did it"));
    let session = repo.json(".agentxchain/session.json");
    assert_eq!(session["checkpoint_reason"], "run_completed");
    let about = &session["baseline_ref"];
    assert_eq!(about["git_branch"], "main");
    // The records of the run are not committed, and other runners count them.
    assert_eq!(about["workspace_dirty"], true);
    assert_eq!(about["git_head"], repo.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(
        session["agent_context"],
        json!({"adapter": "manual",
            "dispatch_dir": format!(".agentxchain/dispatch/turns/{}", turn.turn.id())})
    );

    // The next run knows what the repository decided.
    refused(runs.start(&Start::default()), Code::XchainInvalidStateTransition);
    let again = Start { restart: true, ..Start::default() };
    let moved = runs.start(&again).unwrap();
    assert_eq!(moved.state.member("repo_decisions")[0]["id"], "DEC-001");
    assert_eq!(runs.history(&Query::default()).unwrap().len(), 0);
}

#[test]
fn a_folder_is_governed_once_and_nothing_in_it_is_replaced() {
    let repo = Repo::empty();
    repo.write("TALK.md", "mine\n");
    repo.write(".gitignore", "target\n.agentxchain/locks/");
    let options = InitOptions {
        name: Some("The Shop".into()),
        goal: Some("sell".into()),
        agent: Some(NewAgent {
            runtime: "agent".into(),
            command: vec!["agent".into(), "-p".into(), "{prompt}".into()],
            roles: vec![],
        }),
        ..InitOptions::default()
    };
    let made = init(&repo.root(), &options, &Environment::system()).unwrap();
    assert_eq!(made.kept, ["TALK.md"]);
    assert_eq!(repo.read("TALK.md"), "mine\n");
    let ignored = repo.read(".gitignore");
    assert!(ignored.starts_with("target\n.agentxchain/locks/\n"), "{ignored}");
    assert_eq!(ignored.matches(".agentxchain/locks/").count(), 1);
    let config = repo.json("agentxchain.json");
    assert_eq!(config["project"]["id"], "the-shop");
    assert_eq!(config["runtimes"]["agent"]["prompt_transport"], "argv");
    assert_eq!(config["roles"]["dev"]["runtime"], "agent");
    assert_eq!(config["roles"]["pm"]["runtime"], "agent");
    assert_eq!(config["roles"]["qa"]["runtime"], "by-hand");

    let before = repo.home();
    refused(init(&repo.root(), &options, &Environment::system()), Code::XchainAlreadyGoverned);
    assert_eq!(repo.home(), before);
}

#[test]
fn the_repository_is_found_from_below_and_missed_elsewhere() {
    let repo = Repo::plain();
    repo.write("src/deep/x", "");
    let below = Runs::open(&repo.root().join("src/deep"), Environment::system()).unwrap();
    assert_eq!(below.repository().root(), repo.root());
    let elsewhere = Repo::empty();
    refused(Runs::open(&elsewhere.root(), Environment::system()), Code::XchainNotGoverned);
}

fn next(runs: &Runs) -> NextStep {
    runs.status().unwrap().next.remove(0)
}
