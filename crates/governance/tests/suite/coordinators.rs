//! Several repositories.

use std::collections::BTreeMap;

use accord_contract::codes::Code;
use accord_governance::coordinator::{
    CoordinatorConfig, CoordinatorStatus, DivergenceKind, Initialised, Offer, Place, RepoStart,
    RepoView, approve_gate, check_recovery_report, choose, dispatched_line, diverging, init,
    problems, project, request_completion, request_phase, resync, turn_context,
};
use accord_governance::state::State;
use serde_json::{Map, Value, json};

use crate::support::{config, ids, now, world};

fn document() -> Value {
    json!({
        "schema_version": "0.1", "project": {"id": "all", "name": "All"},
        "repos": {"api": {"path": "./api"}, "web": {"path": "./web"}},
        "routing": {"planning": {}, "implementation": {"entry_workstream": "core"}, "qa": {}},
        "workstreams": {
            "talk": {"phase": "planning", "repos": ["api"], "entry_repo": "api", "depends_on": [], "completion_barrier": "shared_human_gate"},
            "late": {"phase": "implementation", "repos": ["web"], "entry_repo": "web", "depends_on": ["core"], "completion_barrier": "all_repos_accepted"},
            "core": {"phase": "implementation", "repos": ["api", "web"], "entry_repo": "api", "depends_on": [],
                     "completion_barrier": "named_decisions",
                     "named_decisions": {"decision_ids_by_repo": {"api": ["DEC-1"], "web": ["DEC-2"]}}}
        }
    })
}

fn coordinator() -> CoordinatorConfig {
    CoordinatorConfig::read(document()).unwrap()
}

fn repos(phase: &str) -> BTreeMap<String, RepoView> {
    let view = || RepoView {
        config: Some(config()),
        state: Some(world(config(), phase).state),
        history: Vec::new(),
    };
    [("api".to_owned(), view()), ("web".to_owned(), view())].into()
}

fn begun(phase: &str) -> Initialised {
    init(&coordinator(), &repos(phase), &[], &mut ids(1), now())
        .unwrap()
        .unwrap()
}

fn turn(id: &str, decisions: &[&str], file: &str) -> Map<String, Value> {
    let turn = json!({"turn_id": id, "summary": "s", "files_changed": [file], "decisions": decisions,
                      "verification": {"status": "pass"}});
    turn.as_object().unwrap().clone()
}

#[test]
fn rules_of_the_configuration_have_their_codes() {
    assert!(problems(&document()).is_empty());
    for (pointer, value, code) in [
        ("/schema_version", json!("1"), "schema_version_invalid"),
        ("/repos/api", json!({}), "repo_path_invalid"),
        (
            "/workstreams/core/repos",
            json!(["api", "api", "web"]),
            "workstream_repo_duplicate",
        ),
        (
            "/workstreams/core/entry_repo",
            json!("none"),
            "workstream_entry_repo_mismatch",
        ),
        (
            "/workstreams/core/depends_on",
            json!(["none"]),
            "workstream_dependency_unknown",
        ),
        (
            "/workstreams/core/depends_on",
            json!(["late"]),
            "workstream_cycle",
        ),
        (
            "/workstreams/core/phase",
            json!("lunch"),
            "workstream_phase_invalid",
        ),
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
        (
            "/routing/implementation/entry_workstream",
            json!("talk"),
            "routing_phase_mismatch",
        ),
    ] {
        let mut document = document();
        *document.pointer_mut(pointer).unwrap() = value;
        let found = problems(&document);
        assert_eq!(
            found.first().map(|problem| problem.code.as_str()),
            Some(code),
            "{pointer}"
        );
    }
}

#[test]
fn an_initiative_begins_when_every_repository_has_a_run() {
    let mut repos = repos("planning");
    repos.get_mut("web").unwrap().state = Some(State::idle(&config()));
    let starts = init(&coordinator(), &repos, &[], &mut ids(1), now())
        .unwrap()
        .unwrap_err();
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
    let place = Place {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &history,
    };
    // A barrier that waits for a person opens with the gate of its phase.
    let asked = request_phase(&place, &views, "implementation", now()).unwrap();
    assert_eq!(asked.state.status(), CoordinatorStatus::Paused);
    let waiting = Place {
        state: &asked.state,
        barriers: &asked.barriers,
        ..place
    };
    let passed = approve_gate(&waiting, now()).unwrap();
    assert!(passed.barriers.is_satisfied("talk"));
    assert_eq!(
        (passed.state.phase(), passed.ledger.len()),
        ("implementation", 1)
    );
    let (state, mut barriers) = (passed.state, passed.barriers);
    history.extend(asked.history);
    history.extend(passed.history);

    // The entry repository comes first, then the other, then what depends on them.
    for (expected, decision, status) in [
        (("core", "api"), "DEC-1", "partially_satisfied"),
        (("core", "web"), "DEC-2", "satisfied"),
        (("late", "web"), "DEC-3", "satisfied"),
    ] {
        let place = Place {
            config: &config,
            state: &state,
            barriers: &barriers,
            history: &history,
        };
        let choice = choose(&place, &views, None).unwrap();
        assert_eq!((choice.workstream.as_str(), choice.repo.as_str()), expected);
        let context = turn_context(&place, &choice, &mut ids(6), now());
        assert!(
            context
                .reference
                .starts_with(&format!("ctx_{}_{}_", choice.workstream, choice.repo))
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
        let place = Place {
            barriers: &taken.barriers,
            history: &later,
            ..place
        };
        let again = project(&place, &offer, &mut ids(8), now()).unwrap();
        assert_eq!(
            (again.reference, again.line, again.effects.len()),
            (taken.reference.clone(), None, 0)
        );
        history = later;
        barriers = taken.barriers;
    }
    let place = Place {
        config: &config,
        state: &state,
        barriers: &barriers,
        history: &history,
    };
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
    let place = Place {
        config: &config,
        state: &start.state,
        barriers: &start.barriers,
        history: &[],
    };
    let code = |repo: &str, workstream: &str, file: &str| {
        let accepted = turn("turn_1", &[], file);
        let offer = Offer {
            repo,
            workstream,
            root: Some("/w/api"),
            accepted: &accepted,
        };
        project(&place, &offer, &mut ids(1), now())
            .map(drop)
            .map_err(|failure| failure.code)
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
    let place = Place {
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
        let state = accord_governance::coordinator::CoordinatorState::read(phase.into()).unwrap();
        let place = Place {
            state: &state,
            ..place
        };
        choose(&place, &views, Some("core")).unwrap()
    };
    let handed_out = accord_governance::TurnId::parse("turn_1").unwrap();
    let gone = accord_governance::TurnId::parse("turn_2").unwrap();
    let history = [
        dispatched_line(&place, &choice, &handed_out, now()),
        dispatched_line(&place, &choice, &gone, now()),
    ];
    let place = Place {
        history: &history,
        ..place
    };
    let kinds: Vec<DivergenceKind> = diverging(&place, &views)
        .iter()
        .map(|found| found.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            DivergenceKind::TurnAcceptedUnprojected,
            DivergenceKind::TurnDisappeared
        ]
    );
    let synced = resync(&place, &views, &mut ids(3), now()).unwrap();
    assert_eq!(
        (synced.mended.len(), synced.left.len(), synced.history.len()),
        (1, 1, 1)
    );
    assert_eq!(synced.state.status(), CoordinatorStatus::Blocked);
    assert!(
        check_recovery_report("## Trigger\nx\n## Impact\n(fill in)\n## Mitigation\nx").is_err()
    );
    assert!(check_recovery_report("## Trigger\nx\n## Impact\nx\n## Mitigation\nx").is_ok());
}
