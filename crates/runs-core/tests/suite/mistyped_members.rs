//! Members of another type than the declared one.

use accord_runs_core::GovernedFile;
use accord_runs_core::config::{Config, problems};
use serde_json::{Value, json};

use crate::unknown_members::full;

fn mistyped(document: &Value) -> Vec<String> {
    let members = document.as_object().unwrap().clone();
    let found = Config::lenient(members).mistyped_members().into_iter();
    found.map(|member| member.field).collect()
}

/// Every value in a document that has no members or items, by pointer.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                leaves(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{at}/{index}"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

/// Whether a rule of the configuration reports the member, or an object or list that has it.
fn is_reported(document: &Value, field: &str) -> bool {
    problems(document).iter().any(|problem| {
        field.strip_prefix(&problem.field).is_some_and(|rest| rest.is_empty() || &rest[..1] == ".")
    })
}

#[test]
fn no_member_of_a_configuration_has_another_type_in_silence() {
    assert_eq!(mistyped(&full()), [""; 0]);
    let config = Config::lenient(full().as_object().unwrap().clone());
    // Members without effect may have any type.
    let free: Vec<String> = config.unknown_members().into_iter().map(|it| it.field).collect();
    let mut all = Vec::new();
    leaves(&full(), "", &mut all);
    let mut checked = 0;
    for pointer in all {
        let field = pointer[1..].replace('/', ".");
        let is_free = |free: &String| field.starts_with(free.as_str());
        if field.contains("x_") || field.starts_with(['x', '$']) || free.iter().any(is_free) {
            continue;
        }
        // No member of the configuration is a list of lists.
        let mut document = full();
        *document.pointer_mut(&pointer).unwrap() = json!([[1]]);
        let found = mistyped(&document);
        let names = |found: &String| found.starts_with(&field);
        assert!(found.iter().any(names) || is_reported(&document, &field), "{field}: {found:?}");
        checked += 1;
    }
    assert!(checked > 100, "{checked} members were checked");
}

#[test]
fn objects_and_lists_of_a_configuration_are_checked_too() {
    for (pointer, leaves_open) in [
        ("/approval_policy/phase_transitions", false),
        ("/approval_policy/phase_transitions/rules", false),
        ("/policies/0/scope", false),
        ("/prompts", false),
        ("/run_loop", false),
        ("/workflow_kit/phases", true),
        ("/workflow_kit/phases/planning/artifacts", true),
        ("/workflow_kit/phases/planning/artifacts/0/owned_by", true),
        ("/workflow_kit/phases/planning/artifacts/0/semantics_config/required_sections/0", true),
    ] {
        let mut document = full();
        *document.pointer_mut(pointer).unwrap() = json!(5);
        let config = Config::lenient(document.as_object().unwrap().clone());
        let found = config.mistyped_members();
        let field = pointer[1..].replace('/', ".");
        let [found] = &found[..] else { panic!("{field}: {found:?}") };
        assert_eq!((&found.field, found.leaves_open), (&field, leaves_open));
    }
}

#[test]
fn a_finding_has_the_place_and_both_types() {
    let cases = [
        (GovernedFile::State, json!({"run_id": 5}), "run_id", "a text", "the number 5"),
        (
            GovernedFile::State,
            json!({"turn_sequence": -1}),
            "turn_sequence",
            "a whole number from zero",
            "the number -1",
        ),
        (
            GovernedFile::State,
            json!({"active_turns": {"turn_1": {"deadline_at": "soon"}}}),
            "active_turns.turn_1.deadline_at",
            "a time",
            "a text that is not a time",
        ),
        (
            GovernedFile::State,
            json!({"blocked_reason": {"recovery": {"turn_retained": "yes"}}}),
            "blocked_reason.recovery.turn_retained",
            "true or false",
            "a text",
        ),
        (
            GovernedFile::State,
            json!({"delegation_queue": ["first"]}),
            "delegation_queue.0",
            "an object",
            "a text",
        ),
        (GovernedFile::Session, json!({"blocked": 0}), "blocked", "true or false", "the number 0"),
        (
            GovernedFile::History,
            json!({"files_changed": ["a.rs", {"path": "b.rs"}]}),
            "files_changed.1",
            "a text",
            "an object",
        ),
        (GovernedFile::History, json!({"cost": {"usd": "1.5"}}), "cost.usd", "a number", "a text"),
        (
            GovernedFile::Ledger,
            json!({"objections_against": "OBJ-1"}),
            "objections_against",
            "a list of texts",
            "a text",
        ),
        (GovernedFile::Events, json!({"payload": []}), "payload", "an object", "a list"),
        (GovernedFile::RepoDecisions, json!({"id": true}), "id", "a text", "true"),
        (
            GovernedFile::CoordinatorState,
            json!({"repo_runs": {"api": {"run_id": 1}}}),
            "repo_runs.api.run_id",
            "a text",
            "the number 1",
        ),
        (
            GovernedFile::Barriers,
            json!({"w": {"satisfied_repos": {}}}),
            "w.satisfied_repos",
            "a list of texts",
            "an object",
        ),
        (
            GovernedFile::CoordinatorHistory,
            json!({"type": ["acceptance_projection"]}),
            "type",
            "a text",
            "a list",
        ),
    ];
    for (file, document, field, expected, actual) in cases {
        let found = file.mistyped_members(&document);
        let [found] = &found[..] else { panic!("{file:?} {field}: {found:?}") };
        assert_eq!(
            (found.field.as_str(), found.expected, found.actual.as_str()),
            (field, expected, actual)
        );
    }
}

#[test]
fn what_others_write_and_what_is_absent_is_left_alone() {
    let document = json!({
        "run_id": null, "blocked_reason": null, "unknown": [1], "x_note": {"run_id": 5},
        "turn_sequence": 2.0, "budget_reservations": {"turn_1": 2, "turn_2": {"reserved_usd": 3}},
    });
    assert_eq!(GovernedFile::State.mistyped_members(&document), []);
    let line = json!({"type": "of_another_runner", "intent_id": 7});
    assert_eq!(GovernedFile::CoordinatorHistory.mistyped_members(&line), []);
}
