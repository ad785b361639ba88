//! Decisions of a person: the evidence, and what is recorded of them.

use std::collections::BTreeMap;

use accord_contract::Code;
use accord_runs_core::config::Config;
use accord_runs_core::coordinator::{
    Barriers, CoordinatorConfig, CoordinatorLedger, CoordinatorState, CoordinatorStatus,
    Initiative, RepoView, approve_gate, request_phase,
};
use accord_runs_core::event;
use accord_runs_core::evidence::{
    EvidenceDigest, ExpectedDigest, Facts, FileDigest, RepoEvidence, Subject, initiative_digest,
};
use accord_runs_core::facts::{Scope, gather};
use accord_runs_core::person::Consent;
use accord_runs_core::run;
use accord_runs_core::state::{State, Status};
use accord_runs_core::testing::{MemoryRepository, approval, consent};
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, config, config_with, ids, now, result, stage, world};

/// A run that waits at the gate behind planning.
fn waiting(config: Config) -> MemoryRepository {
    let mut world = world(config, "planning");
    world.files.insert(".planning/PM_SIGNOFF.md".into(), "Approved: YES\n".into());
    let turn = assign(&mut world, "pm", 2);
    let mut asked = result(&world, &turn);
    asked["phase_transition_request"] = json!("implementation");
    stage(&mut world, &turn, &asked);
    accept(&mut world, &turn, &Script { seed: 3, ..Script::default() }).accepted();
    assert_eq!(world.state.status(), Status::Paused);
    world
}

fn facts() -> Facts {
    Facts {
        head: Some("c0ffee".into()),
        files: vec![(".planning/PM_SIGNOFF.md".into(), FileDigest::Sha256("ab".into()))],
        observed: None,
    }
}

/// A state with one member changed.
fn changed(state: &State, member: &str, value: Value) -> State {
    let mut document = state.document();
    document.insert(member.to_owned(), value);
    State::read(document.into()).unwrap()
}

#[test]
fn the_digest_changes_with_every_fact_of_the_evidence() {
    let hooked = |command: &str| {
        config_with(|config| {
            config["gates"]["plan"]["gate_actions"] = json!([{"run": "make", "timeout_ms": 5000}]);
            config["hooks"] = json!({"before_gate": [{"name": "h", "type": "process",
                "command": [command], "timeout_ms": 100, "mode": "blocking"}]});
        })
    };
    let world = waiting(hooked("check"));
    let subject = Subject::of(&world.state).unwrap();
    assert_eq!(subject, Subject::Transition);
    let files = subject.files(&world.state, &world.config);
    assert_eq!(
        files.iter().map(|path| path.as_str()).collect::<Vec<_>>(),
        [".planning/PM_SIGNOFF.md"]
    );
    let digest = |state: &State, config: &Config, facts: &Facts| {
        subject.digest(state, config, facts).unwrap()
    };
    let (state, config) = (&world.state, &world.config);
    let before = digest(state, config, &facts());
    assert_eq!(before, digest(state, config, &facts()), "the same facts");
    // A member that the person does not decide about.
    let idle = changed(state, "turn_sequence", json!(41));
    assert_eq!(before, digest(&idle, config, &facts()));

    let mut request = state.document()["pending_phase_transition"].clone();
    request["requested_by_turn"] = json!("turn_other");
    let other_action = config_with(|other| {
        *other = Value::Object(config.document().clone());
        other["gates"]["plan"]["gate_actions"][0]["run"] = json!("make ship");
    });
    let renamed = config_with(|other| {
        *other = Value::Object(config.document().clone());
        other["project"]["name"] = json!("Another shop");
    });
    let observed = gather(state, &Scope::Phase, &[], &[]).facts;
    let moved = [
        digest(&changed(state, "pending_phase_transition", request), config, &facts()),
        digest(&changed(state, "run_id", json!("run_other")), config, &facts()),
        digest(state, &other_action, &facts()),
        digest(state, &renamed, &facts()),
        digest(state, &hooked("another"), &facts()),
        digest(state, config, &Facts { head: Some("decade".into()), ..facts() }),
        digest(state, config, &Facts { head: None, ..facts() }),
        digest(state, config, &Facts { files: Vec::new(), ..facts() }),
        digest(state, config, &Facts { observed: Some(observed), ..facts() }),
    ];
    for (at, digest) in moved.iter().enumerate() {
        assert_ne!(*digest, before, "{at}");
    }
    for file in [FileDigest::Absent, FileDigest::Unreadable, FileDigest::Sha256("cd".into())] {
        let files = vec![(".planning/PM_SIGNOFF.md".to_owned(), file)];
        assert_ne!(digest(state, config, &Facts { files, ..facts() }), before);
    }
}

#[test]
fn a_decision_about_other_evidence_is_refused() {
    let world = waiting(config());
    let digest = Subject::Transition.digest(&world.state, &world.config, &facts()).unwrap();
    let seen =
        |text: &str| Consent { expect: Some(ExpectedDigest::parse(text).unwrap()), ..consent() };
    let begin = &digest.as_str()[..32];
    assert_eq!(seen(begin).about(digest.clone(), None).unwrap().evidence, digest);
    assert_eq!(consent().about(digest.clone(), None).unwrap().evidence, digest);
    let refused = seen(&"0".repeat(32)).about(digest, None).unwrap_err();
    assert_eq!(refused.code, Code::XchainEvidenceChanged);
}

#[test]
fn an_approval_records_who_through_which_door_and_about_what() {
    let world = waiting(config());
    let mut approval = approval();
    approval.person.note = Some("looks right".into());
    approval.person.os_user = Some("reviewer".into());
    let change =
        run::approve_transition(&world.state, &world.config, &approval, &[], &mut ids(4), now());
    let change = change.unwrap();
    let events: Vec<&Value> = change.events.iter().map(|event| &event.line()["payload"]).collect();
    let expected = json!({"gate_type": "phase_transition", "gate_id": "plan", "from": "planning",
        "to": "implementation", "approved_by": "human", "actor": "human:reviewer",
        "os_user": "reviewer", "note": "looks right", "door": "api",
        "evidence_digest": "ab".repeat(32)});
    assert_eq!(*events[0], expected);
    assert_eq!(events[1].get("actor"), None, "only the approval names its person");
    let line = Value::Object(change.ledger.last().unwrap().clone());
    assert_eq!((&line["type"], &line["actor"]), (&json!("gate_approval"), &expected["actor"]));
    assert_eq!(line["evidence_digest"], expected["evidence_digest"]);
    assert_eq!(change.state.waiting_since(), None);
    assert_eq!(Subject::of(&change.state), None);
}

#[test]
fn a_completion_and_a_resolution_record_the_person_too() {
    let mut world = waiting(config());
    let pending = json!({"gate": "plan", "requested_by_turn": "turn_1",
        "requested_at": "2026-04-20T09:00:00.000Z"});
    let state = changed(&world.state, "pending_phase_transition", Value::Null);
    world.state = changed(&state, "pending_run_completion", pending);
    assert_eq!(Subject::of(&world.state), Some(Subject::Completion));
    let since = world.state.waiting_since().unwrap();
    assert_eq!(since.to_string(), "2026-04-20T09:00:00.000Z");
    let change = run::approve_completion(&world.state, &approval(), &[], &mut ids(5), now());
    let change = change.unwrap();
    assert_eq!(change.events[0].line()["payload"]["actor"], "human:reviewer");
    assert_eq!(change.ledger.last().unwrap()["actor"], "human:reviewer");

    let world = crate::support::world(config(), "implementation");
    let blocked = run::escalate(&world.state, "stop", &mut ids(6), now()).unwrap().state;
    assert_eq!(Subject::of(&blocked), Some(Subject::Block));
    assert_eq!(blocked.waiting_since(), Some(now()));
    let digest =
        |state: &State| Subject::Block.digest(state, &world.config, &Facts::default()).unwrap();
    let again = run::escalate(&world.state, "another reason", &mut ids(6), now()).unwrap().state;
    assert_ne!(digest(&blocked), digest(&again), "the block is the request");
    let change = run::resolve(&blocked, None, &approval(), &mut ids(7), now()).unwrap();
    assert_eq!(change.events[0].line()["payload"]["evidence_digest"], "ab".repeat(32));
    assert_eq!(change.ledger[0]["door"], "api");
}

#[test]
fn a_gate_knows_since_when_it_waits() {
    let world = waiting(config());
    assert_eq!(world.state.waiting_since(), Some(now()));
    // Another runner does not write it to the state.
    let mut pending = world.state.document()["pending_phase_transition"].clone();
    pending.as_object_mut().unwrap().remove("requested_at");
    let state = changed(&world.state, "pending_phase_transition", pending);
    assert_eq!(state.waiting_since(), None);
    let run = state.run_id().unwrap().as_str();
    let line = |run: &str, kind: &str, minute: u64| {
        let line = json!({"event_type": kind, "run_id": run,
            "timestamp": now().minutes_later(minute).to_string()});
        line.as_object().unwrap().clone()
    };
    let lines = [
        line(run, "gate_pending", 1),
        line(run, "gate_pending", 2),
        line(run, "turn_accepted", 3),
        line("run_other", "gate_pending", 4),
    ];
    assert_eq!(event::gate_pending_at(&lines, &state), Some(now().minutes_later(2)));
    assert_eq!(event::gate_pending_at(&lines[3..], &state), None);
}

#[test]
fn the_gate_of_an_initiative_names_the_person_and_covers_its_repositories() {
    let digest = |pending: Value, head: &str, state: Value| -> EvidenceDigest {
        let object = |value: Value| value.as_object().unwrap().clone();
        let repos = [RepoEvidence {
            id: "api".to_owned(),
            head: Some(head.to_owned()),
            state: Some(object(state)),
            facts: None,
        }];
        initiative_digest(&object(json!({})), &object(pending), &[], &repos).unwrap()
    };
    let before = digest(json!({"gate": "ship"}), "a", json!({"status": "paused"}));
    assert_eq!(before, digest(json!({"gate": "ship"}), "a", json!({"status": "paused"})));
    assert_ne!(before, digest(json!({"gate": "else"}), "a", json!({"status": "paused"})));
    assert_ne!(before, digest(json!({"gate": "ship"}), "b", json!({"status": "paused"})));
    assert_ne!(before, digest(json!({"gate": "ship"}), "a", json!({"status": "active"})));
}

#[test]
fn what_blocks_an_unnamed_phase_gate_is_what_its_request_lists() {
    // A gate with the default name configures the transition of phases that name none.
    let document = json!({
        "schema_version": "0.1", "project": {"id": "shop", "name": "Shop"},
        "repos": {"api": {"path": "api"}, "web": {"path": "web"}},
        "workstreams": {"core": {"phase": "planning", "repos": ["api"], "entry_repo": "api",
            "depends_on": [], "completion_barrier": "shared_human_gate"}},
        "routing": {"planning": {}, "qa": {}},
        "gates": {"phase_transition": {"requires_human_approval": true, "requires_repos": ["api"]}}
    });
    let config = CoordinatorConfig::read(document).unwrap();
    let begin = |status: &str| {
        let run = world(crate::support::config(), "planning");
        let state = changed(&run.state, "status", json!(status));
        RepoView { config: Some(run.config), state: Some(state), history: Vec::new() }
    };
    let mut views: BTreeMap<String, RepoView> = BTreeMap::new();
    views.insert("api".into(), begin("active"));
    views.insert("web".into(), begin("blocked"));
    let state = json!({"schema_version": "0.1", "super_run_id": "srun_1_00000000",
        "project_id": "shop", "status": "active", "phase": "planning", "repo_runs": {}});
    let state = CoordinatorState::read(state).unwrap();
    let barriers = Barriers::read(&json!({"core_completion": {
        "workstream_id": "core", "type": "shared_human_gate", "status": "pending",
        "required_repos": ["api"], "satisfied_repos": []}}))
    .unwrap();
    let place = Initiative { config: &config, state: &state, barriers: &barriers, history: &[] };
    let asked = request_phase(&place, &views, "qa", now()).unwrap();
    assert_eq!(asked.state.status(), CoordinatorStatus::Paused);
    assert_eq!(asked.state.pending_gate().unwrap()["required_repos"], json!(["api"]));
    assert_eq!(asked.state.waiting_since(), Some(now()));
    let waits = Initiative { state: &asked.state, ..place };
    let passed = approve_gate(&waits, &approval(), now()).unwrap();
    assert_eq!(passed.history[0]["actor"], "human:reviewer");
    assert_eq!(passed.history[0]["evidence_digest"], "ab".repeat(32));
    let mut ledger = CoordinatorLedger::default();
    let change = passed.into_change(&mut ledger, now());
    assert_eq!(change.decisions[0]["actor"], "human:reviewer");
    assert_eq!(change.decisions[0]["door"], "api");
}
