//! Deposits.

use accord_base::{ActorType, ProjectId};
use accord_contract::Code;
use accord_memory_core::deposit::{Deposit, DepositState, KnownPackage, answer, deposit};
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::project::{ProjectPolicy, ProjectUpdate};
use accord_memory_core::{Package, Project};
use serde_json::{Value, json};

use crate::support::{
    actor, invalid, minimal, now, package, project, project_id, refused, with, writing,
};

fn known(deposited: &Package, current: &Package) -> DepositState {
    DepositState {
        known: Some(KnownPackage {
            deposited: *deposited.content_hash(),
            current: *current.content_hash(),
        }),
        ..DepositState::default()
    }
}

fn archived() -> Project {
    match project().archived(now()) {
        ProjectUpdate::Changed(project) => *project,
        ProjectUpdate::Unchanged => panic!("it was not archived before"),
    }
}

#[test]
fn a_new_package_is_stored_with_its_first_revision() {
    let (id, project, ada) = (project_id(), project(), actor("ada", ActorType::Human));
    let new = package(&minimal());
    let outcome =
        deposit(&new, &writing(&id, Some(&project), Some(&ada)), &DepositState::default());
    let expected = Deposit::New {
        create_project: None,
        revision: Box::new(Revision::deposited(&new, Some(ada), now())),
        warnings: Vec::new(),
    };
    assert_eq!(outcome.unwrap(), expected);
}

#[test]
fn the_same_content_again_is_a_replay_whatever_its_spelling() {
    let (id, here) = (project_id(), project());
    let draft = package(&with(json!({"status": "draft", "topic": null})));
    let flagged = package(&with(json!({"status": "awaiting_review", "topic": null})));
    let state = known(&draft, &flagged);
    let again = with(json!({"status": "draft"}));
    for sent in [again.to_string(), format!("{again:#}"), flagged.text().to_owned()] {
        let sent = Package::parse(sent.as_bytes()).unwrap();
        assert_eq!(
            deposit(&sent, &writing(&id, Some(&here), None), &state).unwrap(),
            Deposit::Replay
        );
        // Nothing is written, so an archive does not matter.
        let old = archived();
        assert_eq!(
            deposit(&sent, &writing(&id, Some(&old), None), &state).unwrap(),
            Deposit::Replay
        );
    }
}

#[test]
fn other_content_under_a_known_id_is_a_conflict() {
    let (id, here) = (project_id(), project());
    let stored = package(&minimal());
    let other = package(&with(json!({"created_by": {"id": "ada", "type": "agent"}})));
    let outcome = deposit(&other, &writing(&id, Some(&here), None), &known(&stored, &stored));
    assert_eq!(refused(outcome), (Code::AgenticDuplicatePackageId, "/package_id".into()));
}

#[test]
fn a_write_needs_its_project() {
    let (id, old) = (project_id(), archived());
    let new = package(&minimal());
    let state = DepositState::default();
    let outcome = deposit(&new, &writing(&id, Some(&old), None), &state);
    assert_eq!(refused(outcome).0, Code::AgenticProjectArchived);

    match deposit(&new, &writing(&id, None, None), &state).unwrap() {
        Deposit::New { create_project: Some(created), .. } => {
            assert_eq!(*created, Project::bare(id.clone(), now()));
        }
        other => panic!("{other:?}"),
    }
    let mut strict = writing(&id, None, None);
    strict.policy = ProjectPolicy::Strict;
    assert_eq!(refused(deposit(&new, &strict, &state)).0, Code::AgenticProjectNotFound);

    let other = ProjectId::new("other").unwrap();
    let outcome = deposit(&new, &writing(&other, None, None), &state);
    assert_eq!(refused(outcome), invalid("/project_id"));
}

#[test]
fn an_unknown_session_is_reported() {
    let (id, here) = (project_id(), project());
    let package = package(&with(json!({"created_by": {
        "id": "planner", "type": "agent", "session_id": "sess_0"
    }})));
    let decide = |session_known| {
        let state = DepositState { session_known, ..DepositState::default() };
        match deposit(&package, &writing(&id, Some(&here), None), &state).unwrap() {
            Deposit::New { warnings, .. } => warnings.len(),
            Deposit::Replay => panic!("it is new"),
        }
    };
    assert_eq!((decide(true), decide(false)), (0, 1));
}

#[test]
fn an_unknown_parent_is_accepted_with_a_warning() {
    let (id, here) = (project_id(), project());
    let child = package(&with(json!({"parent_package_id": "pkg_0"})));
    let decide = |parent_known| {
        let state = DepositState { parent_known, session_known: true, ..DepositState::default() };
        match deposit(&child, &writing(&id, Some(&here), None), &state).unwrap() {
            Deposit::New { warnings, .. } => warnings,
            Deposit::Replay => panic!("it is new"),
        }
    };
    assert_eq!(decide(true), []);
    let warnings = decide(false);
    assert_eq!(
        (warnings[0].code.as_str(), warnings[0].field.as_str()),
        ("unknown_package", "parent_package_id")
    );

    let plain: Value = serde_json::from_str(&answer(&child, Vec::new()).0).unwrap();
    assert_eq!(plain["content_hash"], child.content_hash().to_string());
    assert_eq!(plain.get("warnings"), None);
    let odd: Value = serde_json::from_str(&answer(&child, warnings).0).unwrap();
    assert_eq!(odd["warnings"][0]["field"], "parent_package_id");
    assert_eq!(odd["title"], "Indexes rebuilt");
}
