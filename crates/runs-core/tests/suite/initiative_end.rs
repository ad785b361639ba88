//! When a workstream and an initiative may end.

use accord_runs_core::coordinator::{
    BlockerKind, CoordinatorState, Initiative, Offer, choose, completion_blockers, gate_blockers,
    project,
};
use accord_runs_core::state::State;
use serde_json::{Value, json};

use crate::coordinators::{begun, coordinator, repos, turn};
use crate::support::{ids, now};

/// An initiative in a phase of its own choice.
fn in_phase(phase: &str) -> CoordinatorState {
    let mut document = begun(phase).state.document();
    document.insert("phase".to_owned(), json!(phase));
    CoordinatorState::read(document.into()).unwrap()
}

/// What is said of `web` when its state has these members.
fn said_of_web(members: &[(&str, Value)]) -> Vec<BlockerKind> {
    let config = coordinator();
    let start = begun("qa");
    let initiative = in_phase("qa");
    let mut views = repos("qa");
    let web = views.get_mut("web").unwrap();
    let mut document = web.state.as_ref().unwrap().document();
    for (name, value) in members {
        document.insert((*name).to_owned(), value.clone());
    }
    web.state = Some(State::read(document.into()).unwrap());
    let place =
        Initiative { config: &config, state: &initiative, barriers: &start.barriers, history: &[] };
    let found = completion_blockers(&place, &views);
    assert_eq!(found, gate_blockers(&place, &views), "the last gate is that one");
    let of_web = found.iter().filter(|found| found.about.as_deref() == Some("web"));
    of_web.map(|found| found.kind).collect()
}

#[test]
fn a_repository_must_be_over_or_wait_at_its_own_end() {
    assert_eq!(said_of_web(&[]), [BlockerKind::RepoNotCompletionReady]);
    assert_eq!(said_of_web(&[("status", json!("completed"))]), []);
    let gate = json!({"gate": "ship", "requested_by_turn": "turn_1",
        "requested_at": "2026-01-01T00:00:00.000Z"});
    let waits = [("status", json!("paused")), ("pending_run_completion", gate)];
    assert_eq!(said_of_web(&waits), []);
    let transition = json!({"from": "implementation", "to": "qa", "gate": "g",
        "requested_by_turn": "turn_1"});
    let elsewhere = [("status", json!("paused")), ("pending_phase_transition", transition)];
    assert_eq!(
        said_of_web(&elsewhere),
        [BlockerKind::RepoPendingGate, BlockerKind::RepoNotCompletionReady]
    );
    assert_eq!(
        said_of_web(&[("status", json!("blocked"))]),
        [BlockerKind::RepoBlocked, BlockerKind::RepoNotCompletionReady]
    );
}

#[test]
fn a_repository_that_owes_a_decision_gets_another_turn() {
    let config = coordinator();
    let initiative = in_phase("implementation");
    let views = repos("implementation");
    let (mut barriers, mut history) = (begun("implementation").barriers, Vec::new());
    for (number, (repo, decisions)) in
        [("api", &["DEC-1"][..]), ("web", &[]), ("web", &["DEC-2"])].into_iter().enumerate()
    {
        let place = Initiative {
            config: &config,
            state: &initiative,
            barriers: &barriers,
            history: &history,
        };
        let choice = choose(&place, &views, Some("core")).unwrap();
        assert_eq!(choice.repo, repo, "turn {number}");
        let accepted = turn(&format!("turn_{number}"), decisions, "src/x.rs");
        let offer = Offer { repo, workstream: "core", root: None, accepted: &accepted };
        let taken = project(&place, &offer, &mut ids(7), now()).unwrap();
        history.extend(taken.line);
        barriers = taken.barriers;
    }
    assert!(barriers.is_satisfied("core"));
}
