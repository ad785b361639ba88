//! Several repositories.

use std::collections::BTreeMap;

use accord_contract::Code;
use accord_runs_core::coordinator::{
    Account, Barriers, CoordinatorConfig, CoordinatorLedger, CoordinatorState, CoordinatorStatus,
    DispatchedTurn, Dispatching, DivergenceKind, Initialised, Initiative, Offer, RepoStart,
    RepoView, approve_gate, begin_dispatch, check_recovery_report, choose, dispatched_line,
    diverging, end_dispatch, hooks, init, problems, project, recover, request_completion,
    request_phase, resync, turn_context,
};
use accord_runs_core::state::State;
use accord_runs_core::testing::approval;
use serde_json::{Map, Value, json};

use crate::support::{assign, config, ids, now, world};

fn document() -> Value {
    json!({
        "schema_version": "0.1", "project": {"id": "all", "name": "All"},
        "repos": {"api": {"path": "./api"}, "web": {"path": "./web"}},
        "routing": {"planning": {}, "implementation": {"entry_workstream": "core"}, "qa": {}},
        "workstreams": {
            "talk": {"phase": "planning", "repos": ["api"], "entry_repo": "api", "depends_on": [],
                "completion_barrier": "shared_human_gate"},
            "late": {"phase": "implementation", "repos": ["web"], "entry_repo": "web",
                "depends_on": ["core"], "completion_barrier": "all_repos_accepted"},
            "core": {"phase": "implementation", "repos": ["api", "web"], "entry_repo": "api",
                "depends_on": [],
                     "completion_barrier": "named_decisions",
                     "named_decisions": {"decision_ids_by_repo": {"api": ["DEC-1"],
                         "web": ["DEC-2"]}}}
        }
    })
}

pub(crate) fn coordinator() -> CoordinatorConfig {
    CoordinatorConfig::read(document()).unwrap()
}

pub(crate) fn repos(phase: &str) -> BTreeMap<String, RepoView> {
    let view = || RepoView {
        config: Some(config()),
        state: Some(world(config(), phase).state),
        history: Vec::new(),
    };
    [("api".to_owned(), view()), ("web".to_owned(), view())].into()
}

pub(crate) fn begun(phase: &str) -> Initialised {
    init(&coordinator(), &repos(phase), &[], &mut ids(1), now()).unwrap().unwrap()
}

pub(crate) fn turn(id: &str, decisions: &[&str], file: &str) -> Map<String, Value> {
    let turn = json!({"turn_id": id, "summary": "s", "files_changed": [file],
        "decisions": decisions,
                      "verification": {"status": "pass"}});
    turn.as_object().unwrap().clone()
}

fn kinds_of(history: &[Map<String, Value>]) -> Vec<&str> {
    let kinds = history.iter().map(|line| line["type"].as_str().unwrap());
    kinds.collect()
}

#[test]
fn rules_of_the_configuration_have_their_codes() {
    assert!(problems(&document()).is_empty());
    for (pointer, value, code) in [
        ("/schema_version", json!("1"), "schema_version_invalid"),
        ("/repos/api", json!({}), "repo_path_invalid"),
        ("/workstreams/core/repos", json!(["api", "api", "web"]), "workstream_repo_duplicate"),
        ("/workstreams/core/entry_repo", json!("none"), "workstream_entry_repo_mismatch"),
        ("/workstreams/core/depends_on", json!(["none"]), "workstream_dependency_unknown"),
        ("/workstreams/core/depends_on", json!(["late"]), "workstream_cycle"),
        ("/workstreams/core/phase", json!("lunch"), "workstream_phase_invalid"),
        (
            "/workstreams/core/named_decisions/decision_ids_by_repo/web",
            json!([]),
            "workstream_named_decisions_repo_invalid",
        ),
        (
            "/workstreams/core/named_decisions/decision_ids_by_repo/web",
            json!(["DEC-1", "DEC-1"]),
            "workstream_named_decisions_decision_duplicate",
        ),
        (
            "/workstreams/core/named_decisions/decision_ids_by_repo",
            json!({"api": ["DEC-1"]}),
            "workstream_named_decisions_repo_missing",
        ),
        (
            "/workstreams/core/completion_barrier",
            json!("luck"),
            "workstream_completion_barrier_invalid",
        ),
        ("/routing/implementation/entry_workstream", json!("talk"), "routing_phase_mismatch"),
    ] {
        let mut document = document();
        *document.pointer_mut(pointer).unwrap() = value;
        let found = problems(&document);
        assert_eq!(found.first().map(|problem| problem.code.as_str()), Some(code), "{pointer}");
    }
}

#[test]
fn a_workstream_without_repositories_has_one_thing_wrong() {
    for none in [json!([]), json!("api"), json!(null)] {
        let mut document = document();
        document["workstreams"]["talk"]["repos"] = none;
        let found = problems(&document);
        let codes: Vec<&str> = found.iter().map(|problem| problem.code.as_str()).collect();
        assert_eq!(codes, ["workstream_repos_invalid"]);
    }
}

#[test]
fn an_initiative_begins_when_every_repository_has_a_run() {
    let mut repos = repos("planning");
    repos.get_mut("web").unwrap().state = Some(State::idle(&config()));
    let starts = init(&coordinator(), &repos, &[], &mut ids(1), now()).unwrap().unwrap_err();
    assert!(starts.contains(&("web".to_owned(), RepoStart::Begin)));
    repos.get_mut("web").unwrap().state = None;
    let failure = init(&coordinator(), &repos, &[], &mut ids(1), now()).unwrap_err();
    assert_eq!(failure.code, Code::XchainCoordinatorDiverged);
    let begun = begun("planning");
    assert_eq!(begun.state.phase(), "planning");
    assert!(begun.state.super_run_id().starts_with("srun_"));
}

#[test]
fn work_goes_from_gate_to_gate() {
    let config = coordinator();
    let start = begun("implementation");
    let mut views = repos("implementation");
    let mut history: Vec<Map<String, Value>> = vec![start.line.clone()];
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &history,
    };
    // A barrier that waits for a person opens with the gate of its phase.
    let asked = request_phase(&place, &views, "implementation", now()).unwrap();
    assert_eq!(asked.state.status(), CoordinatorStatus::Paused);
    let waiting = Initiative { state: &asked.state, barriers: &asked.barriers, ..place };
    let passed = approve_gate(&waiting, &approval(), now()).unwrap();
    assert!(passed.barriers.is_satisfied("talk"));
    assert_eq!((passed.state.phase(), passed.ledger.len()), ("implementation", 1));
    let (state, mut barriers) = (passed.state, passed.barriers);
    history.extend(asked.history);
    history.extend(passed.history);

    // The entry repository comes first, then the other, then what depends on them.
    for (expected, decision, status) in [
        (("core", "api"), "DEC-1", "partially_satisfied"),
        (("core", "web"), "DEC-2", "satisfied"),
        (("late", "web"), "DEC-3", "satisfied"),
    ] {
        let place =
            Initiative { config: &config, state: &state, barriers: &barriers, history: &history };
        let choice = choose(&place, &views, None).unwrap();
        assert_eq!((choice.workstream.as_str(), choice.repo.as_str()), expected);
        let context = turn_context(&place, &choice, &mut ids(6), now());
        assert!(
            context.reference.starts_with(&format!("ctx_{}_{}_", choice.workstream, choice.repo))
        );
        let owes = choice.workstream == "core";
        assert_eq!(context.markdown.contains(decision), owes);
        let upstream = context.document["upstream_acceptances"].as_array().unwrap();
        assert_eq!(upstream.len(), history.len() - 3);
        let accepted = turn(&format!("turn_{decision}"), &[decision], "src/x.rs");
        let offer = Offer {
            repo: &choice.repo,
            workstream: &choice.workstream,
            root: None,
            accepted: &accepted,
        };
        let taken = project(&place, &offer, &mut ids(7), now()).unwrap();
        assert_eq!(taken.effects[0].status.as_str(), status);
        let line = taken.line.clone().unwrap();
        let mut later = history.clone();
        later.push(line.clone());
        let place = Initiative { barriers: &taken.barriers, history: &later, ..place };
        let again = project(&place, &offer, &mut ids(8), now()).unwrap();
        assert_eq!(
            (again.reference, again.line, again.effects.len()),
            (taken.reference.clone(), None, 0)
        );
        history = later;
        barriers = taken.barriers;
    }
    let place =
        Initiative { config: &config, state: &state, barriers: &barriers, history: &history };
    let none = choose(&place, &views, None).unwrap_err();
    assert_eq!(none.code, Code::XchainNothingToDispatch);
    let skip = request_completion(&place, &views, now()).unwrap_err();
    assert!(skip.message.contains("not_final_phase"));
    let far = request_phase(&place, &views, "planning", now()).unwrap_err();
    assert!(far.message.contains("phase_skip_forbidden"));
    views.get_mut("api").unwrap().state = None;
    let gone = request_phase(&place, &views, "qa", now()).unwrap_err();
    assert!(gone.message.contains("repo_state_missing"));
}

#[test]
fn an_accepted_turn_stays_in_its_repository() {
    let config = coordinator();
    let start = begun("implementation");
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let code = |repo: &str, workstream: &str, file: &str| {
        let accepted = turn("turn_1", &[], file);
        let offer = Offer { repo, workstream, root: Some("/w/api"), accepted: &accepted };
        project(&place, &offer, &mut ids(1), now()).map(drop).map_err(|failure| failure.code)
    };
    assert_eq!(code("api", "core", "src/a.rs"), Ok(()));
    assert_eq!(code("api", "core", "/w/api/src/a.rs"), Ok(()));
    let violation = Err(Code::XchainCrossRepoWriteViolation);
    assert_eq!(code("api", "core", "../web/src/a.rs"), violation);
    assert_eq!(code("api", "core", "/w/apix/src/a.rs"), violation);
    assert_eq!(code("api", "core", "/w/api/../web/a.rs"), violation);
    assert_eq!(code("none", "core", "a"), Err(Code::XchainProjectionFailed));
    assert_eq!(code("api", "late", "a"), Err(Code::XchainProjectionFailed));
}

#[test]
fn what_happened_behind_the_coordinators_back_is_taken_over() {
    let config = coordinator();
    let start = begun("implementation");
    let mut views = repos("implementation");
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let choice = {
        let accepted = turn("turn_1", &["DEC-1"], "a");
        let mut accepted = accepted;
        accepted.insert("run_id".into(), start.state.repo_run("api").into());
        views.get_mut("api").unwrap().history.push(accepted);
        let mut phase = start.state.document();
        phase.insert("phase".into(), "implementation".into());
        let state = CoordinatorState::read(phase.into()).unwrap();
        let place = Initiative { state: &state, ..place };
        choose(&place, &views, Some("core")).unwrap()
    };
    let handed_out = accord_runs_core::TurnId::parse("turn_1").unwrap();
    let gone = accord_runs_core::TurnId::parse("turn_2").unwrap();
    let history = [
        dispatched_line(&place, &choice, &handed_out, now()),
        dispatched_line(&place, &choice, &gone, now()),
    ];
    let place = Initiative { history: &history, ..place };
    let kinds: Vec<DivergenceKind> =
        diverging(&place, &views).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [DivergenceKind::TurnAcceptedUnprojected, DivergenceKind::TurnDisappeared]);
    let synced = resync(&place, &views, Account::None, &mut ids(3), now()).unwrap();
    assert_eq!((synced.repaired.len(), synced.left.len()), (1, 1));
    assert_eq!(kinds_of(&synced.history), ["acceptance_projection", "state_resynced"]);
    assert_eq!(synced.projected[0].1[0].status.as_str(), "partially_satisfied");
    assert_eq!(synced.state.status(), CoordinatorStatus::Blocked);
    let blocked = synced.clone();
    let mut ledger = CoordinatorLedger::default();
    let change = synced.into_change(false, &mut ledger, now());
    let (path, report) = &change.documents[0];
    assert_eq!(path, ".agentxchain/multirepo/RECOVERY_REPORT.md");
    assert!(report.contains("turn_disappeared"));
    assert!(check_recovery_report(report).is_err());

    // Without a report it stays blocked, with one the loss is written down.
    let history = [&history[..], &blocked.history].concat();
    let place = Initiative {
        state: &blocked.state,
        barriers: &blocked.barriers,
        history: &history,
        ..place
    };
    let again = resync(&place, &views, Account::None, &mut ids(4), now()).unwrap();
    assert!(again.is_empty());
    assert_eq!(again.state.status(), CoordinatorStatus::Blocked);
    let report = Account::Report("why");
    let resumed = resync(&place, &views, report, &mut ids(5), now()).unwrap();
    assert_eq!(
        kinds_of(&resumed.history),
        ["turn_disappeared", "state_resynced", "blocked_resolved"]
    );
    assert_eq!(resumed.history[2]["recovery_report"], "why");
    assert_eq!(resumed.state.status(), CoordinatorStatus::Active);
    let history = [&history[..], &resumed.history].concat();
    let change = resumed.into_change(true, &mut ledger, now());
    assert_eq!(change.removed, [".agentxchain/multirepo/RECOVERY_REPORT.md"]);
    assert_eq!(change.decisions[0]["category"], "recovery");
    let place = Initiative { state: &change.state, history: &history, ..place };
    assert!(diverging(&place, &views).is_empty());
    assert!(
        check_recovery_report("## Trigger\nx\n## Impact\n(fill in)\n## Mitigation\nx").is_err()
    );
    assert!(check_recovery_report("## Trigger\nx\n## Impact\nx\n## Mitigation\nx").is_ok());
}

#[test]
fn a_repository_that_waits_for_a_person_stops_only_a_gate() {
    let config = coordinator();
    let start = begun("implementation");
    let mut views = repos("implementation");
    let block = |state: &State| {
        let mut document = state.document();
        document.insert("status".into(), "blocked".into());
        document.insert("blocked_on".into(), "human:why".into());
        State::read(document.into()).unwrap()
    };
    let state = block(views["api"].state.as_ref().unwrap());
    views.get_mut("api").unwrap().state = Some(state);
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let synced = resync(&place, &views, Account::None, &mut ids(3), now()).unwrap();
    assert_eq!(synced.left[0].kind, DivergenceKind::RepoBlockedUnexpectedly);
    assert_eq!(synced.state.status(), CoordinatorStatus::Active);
    assert!(synced.is_empty());
    let mut document = start.state.document();
    document.insert("status".into(), "paused".into());
    document.insert("pending_gate".into(), json!({"gate": "g", "to": "qa"}));
    let waiting = CoordinatorState::read(document.into()).unwrap();
    let place = Initiative { state: &waiting, ..place };
    let synced = resync(&place, &views, Account::None, &mut ids(3), now()).unwrap();
    assert_eq!(synced.state.status(), CoordinatorStatus::Blocked);
}

#[test]
fn a_turn_that_was_being_handed_out_is_found_again() {
    let config = coordinator();
    let start = begun("implementation");
    let mut world = world(crate::support::config(), "implementation");
    let view = |world: &accord_runs_core::testing::MemoryRepository| RepoView {
        config: Some(crate::support::config()),
        state: Some(world.state.clone()),
        history: world.history.clone(),
    };
    let mut state = start.state.document();
    state.insert("phase".into(), "implementation".into());
    let state = CoordinatorState::read(state.into()).unwrap();
    let place =
        Initiative { config: &config, state: &state, barriers: &start.barriers, history: &[] };
    let choice = choose(&place, &repos("implementation"), None).unwrap();
    let (dispatching, change) = begin_dispatch(&place, &choice, &view(&world), &mut ids(3), now());
    assert_eq!(Dispatching::of(&change.state), Some(dispatching.clone()));
    assert_eq!(dispatching.find(&view(&world)), DispatchedTurn::Nothing);
    let turn = assign(&mut world, "dev", 9);
    let found = DispatchedTurn::Active { turn: turn.clone(), dispatched: true };
    assert_eq!(dispatching.find(&view(&world)), found);
    // A turn from before it is another one.
    let (later, _) = begin_dispatch(&place, &choice, &view(&world), &mut ids(4), now());
    assert_eq!(later.find(&view(&world)), DispatchedTurn::Nothing);
    let mut over = view(&world);
    let mut document = over.state.as_ref().unwrap().document();
    document.insert("active_turns".into(), json!({}));
    over.state = Some(State::read(document.into()).unwrap());
    let run = world.state.run_id().unwrap().as_str();
    let line =
        json!({"turn_id": turn.as_str(), "run_id": run, "role": "dev", "assigned_sequence": 1});
    over.history.push(line.as_object().unwrap().clone());
    assert_eq!(dispatching.find(&over), DispatchedTurn::Over(turn.clone()));
    let place = Initiative { state: &change.state, ..place };
    let lines =
        [json!({"id": "DEC-COORD-041"}), json!({"id": "DEC-COORD-x"}), json!({"id": "DEC-99"})];
    let lines = lines.iter().map(|line| line.as_object().unwrap());
    let mut ledger = CoordinatorLedger::of(lines);
    let ended = end_dispatch(&place, &dispatching, &turn, &mut ledger, now());
    assert_eq!(Dispatching::of(&ended.state), None);
    assert_eq!(ended.history[0]["repo_turn_id"], turn.as_str());
    assert_eq!(ended.decisions[0]["id"], "DEC-COORD-042");
    assert_eq!(ended.decisions[0]["category"], "dispatch");
}

#[test]
fn a_barrier_that_does_not_name_its_repositories_is_refused() {
    let read = |repos: Value| {
        let barrier = json!({"type": "all_repos_accepted", "status": "pending",
            "workstream_id": "core", "required_repos": repos});
        Barriers::read(&json!({"core_completion": barrier})).map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(read(json!(["api", "web"])), Ok(()));
    for damaged in [json!(null), json!(["api", null]), json!(["api", 7]), json!({"0": "api"})] {
        let code = Code::XchainCoordinatorStateInvalid;
        assert_eq!(read(damaged.clone()), Err(code), "{damaged}");
    }
}

#[test]
fn a_default_branch_that_is_null_is_no_name() {
    let mut document = document();
    let repos = document["repos"].as_object_mut().unwrap();
    repos.values_mut().next().unwrap()["default_branch"] = Value::Null;
    let found = problems(&document);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "repo_default_branch_invalid");
}

#[test]
fn a_repository_that_is_required_says_so_with_true_or_false() {
    let mut document = document();
    let repos = document["repos"].as_object_mut().unwrap();
    repos.values_mut().next().unwrap()["required"] = Value::Null;
    let found = problems(&document);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "repo_required_invalid");
}

#[test]
fn a_coordinators_journal_is_carried_out_once() {
    let start = begun("implementation");
    let before = start.state.clone();
    let config = coordinator();
    let place =
        Initiative { config: &config, state: &before, barriers: &start.barriers, history: &[] };
    let views = repos("implementation");
    let asked = request_phase(&place, &views, "implementation", now()).unwrap();
    let mut ledger = CoordinatorLedger::default();
    let change = asked.into_change(&mut ledger, now());
    assert_eq!(change.decisions[0]["category"], "phase_transition");
    let commit = change.commit(Some(&before), &mut ids(9), now().minutes_later(1));
    let paths: Vec<String> = commit
        .writes
        .iter()
        .map(|write| match write {
            accord_runs_core::accept::Write::Append { record, .. } => record.path(),
            accord_runs_core::accept::Write::Replace { path, .. } => path.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        paths,
        [
            ".agentxchain/multirepo/history.jsonl",
            ".agentxchain/multirepo/decision-ledger.jsonl",
            ".agentxchain/multirepo/barriers.json",
            ".agentxchain/multirepo/state.json"
        ]
    );
    let again = recover(&commit.journal, Some(&before)).unwrap();
    assert_eq!((again.writes.len(), again.applied), (4, false));
    let accord_runs_core::accept::Write::Replace { text, .. } = commit.writes.last().unwrap()
    else {
        panic!("the state is written last");
    };
    let after = CoordinatorState::read(serde_json::from_str(text).unwrap()).unwrap();
    let done = recover(&commit.journal, Some(&after)).unwrap();
    assert_eq!((done.writes.len(), done.applied), (3, true));
    let mut other = before.document();
    other.insert("updated_at".into(), "later".into());
    let other = CoordinatorState::read(other.into()).unwrap();
    assert!(recover(&commit.journal, Some(&other)).unwrap().superseded);
    assert!(recover(&commit.journal, None).unwrap().superseded);
    let run =
        accord_runs_core::accept::recover(&commit.journal, views["api"].state.as_ref().unwrap());
    assert_eq!(run.unwrap_err().code, Code::XchainRecordInvalid);
}

#[test]
fn hooks_of_the_coordinator_get_its_context() {
    let mut document = document();
    let hook = |mode: &str| {
        json!([{"name": "h", "type": "process", "command": ["x"],
        "timeout_ms": 100, "mode": mode}])
    };
    document["hooks"] = json!({"before_assignment": hook("blocking"),
        "after_acceptance": hook("advisory"),
        "before_gate": hook("blocking"), "on_escalation": hook("advisory")});
    let config = CoordinatorConfig::read(document).unwrap();
    let start = begun("implementation");
    let views = repos("implementation");
    let place = Initiative {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let choice = choose(&place, &views, None).unwrap();
    let batch = hooks::before_assignment(&place, &choice, "/w").unwrap();
    assert_eq!(batch.run_id.as_deref(), Some(start.state.super_run_id()));
    assert_eq!(batch.payload["repo_id"], "api");
    assert_eq!(batch.payload["coordinator_workspace"], "/w");
    assert_eq!(batch.payload["barriers"]["core_completion"]["status"], "pending");
    assert_eq!(batch.payload["pending_barriers"].as_array().unwrap().len(), 3);
    assert!(hooks::before_gate(&place, "/w").is_none());
    let asked = request_phase(&place, &views, "implementation", now()).unwrap();
    let waiting = Initiative { state: &asked.state, ..place };
    let gate = hooks::before_gate(&waiting, "/w").unwrap();
    assert_eq!(gate.payload["to_phase"], "implementation");
    assert_eq!(gate.payload["pending_gate"]["gate_type"], "phase_transition");
    let line = turn("turn_1", &["DEC-1"], "a");
    let after = hooks::after_acceptance(&place, &line, &[], "/w").unwrap();
    assert_eq!(after.payload["decisions"], json!(["DEC-1"]));
    assert_eq!(after.payload["barrier_effects"], json!([]));
    let escalated = hooks::on_escalation(&place, "/w").unwrap();
    assert_eq!(escalated.payload["repo_runs"]["web"]["status"], "linked");
    let protected = hooks::protected_files();
    for name in ["state.json", "barriers.json", "history.jsonl", "hook-audit.jsonl"] {
        let is = |path: &String| path.ends_with(&format!("multirepo/{name}"));
        assert!(protected.iter().any(is), "{name}");
    }
    assert_eq!(protected.len(), 6);
}
