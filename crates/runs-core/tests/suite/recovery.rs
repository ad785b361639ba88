//! A commit that was cut off anywhere is finished by its journal, and doubles nothing.

use accord_runs_core::accept::{Commit, recover};
use accord_runs_core::run;
use accord_runs_core::testing::MemoryRepository;
use serde_json::{Value, json};

use crate::support::{Script, accept, assign, config, ids, now, result, stage, world};

/// A world before an acceptance, the world after it, and the commit between them.
fn accepted() -> (MemoryRepository, MemoryRepository, Commit) {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let mut staged = result(&world, &turn);
    staged["decisions"] = json!([{"id": "DEC-1", "category": "scope", "statement": "Small.",
        "rationale": "Time.", "durability": "repo"}]);
    stage(&mut world, &turn, &staged);
    let before = world.clone();
    let run = accept(&mut world, &turn, &Script::default());
    run.accepted();
    (before, world, run.commits[0].clone())
}

fn same(one: &MemoryRepository, other: &MemoryRepository) {
    assert_eq!(one.state.document(), other.state.document());
    assert_eq!(one.history, other.history);
    assert_eq!(one.ledger, other.ledger);
    assert_eq!(one.files, other.files);
}

#[test]
fn a_commit_cut_off_anywhere_is_finished_once() {
    let (before, after, commit) = accepted();
    for cut in 0..=commit.writes.len() {
        let mut world = before.clone();
        world.apply_writes(&commit.writes[..cut]).unwrap();
        for _ in 0..2 {
            let recovery = recover(&commit.journal, &world.state).unwrap();
            world.apply_writes(&recovery.writes).unwrap();
            same(&world, &after);
        }
    }
}

#[test]
fn lines_that_reached_the_disk_out_of_order_are_not_lost() {
    let (before, after, commit) = accepted();
    // The state alone was there; what it speaks of was not.
    let state = commit.writes.iter().position(|write| format!("{write:?}").contains("/state.json"));
    let mut world = before.clone();
    world.apply_writes(&commit.writes[state.unwrap()..=state.unwrap()]).unwrap();
    let recovery = recover(&commit.journal, &world.state).unwrap();
    assert!(recovery.applied);
    world.apply_writes(&recovery.writes).unwrap();
    same(&world, &after);
}

#[test]
fn a_journal_of_another_runner_is_understood() {
    let (before, after, commit) = accepted();
    let member = |name: &str| commit.journal[name].clone();
    let state = commit.writes.iter().position(|write| format!("{write:?}").contains("/state.json"));
    for kind in [json!("accept_turn"), json!("accept"), Value::Null] {
        let journal = json!({
            "transaction_id": "txn_0123456789abcdef", "kind": kind, "status": "prepared",
            "run_id": member("run_id"), "turn_id": member("turn_id"),
            "prepared_at": "2026-04-20T10:00:00.000Z",
            "accepted_sequence": member("accepted_sequence"),
            "history_entry": member("history_entry"),
            "ledger_entries": member("ledger_entries"), "next_state": member("next_state"),
        });
        // It had written nothing yet, or the history, or everything up to the state.
        for done in [0, 1, state.unwrap() + 1] {
            let mut world = before.clone();
            world.apply_writes(&commit.writes[..done]).unwrap();
            let recovery = recover(journal.as_object().unwrap(), &world.state).unwrap();
            assert_eq!(recovery.applied, done > 1);
            world.apply_writes(&recovery.writes).unwrap();
            assert_eq!(world.history, after.history);
            assert_eq!(world.ledger, after.ledger);
            assert_eq!(world.state.document(), after.state.document());
            let turn = commit.journal["turn_id"].as_str().unwrap();
            let staged = |path: &String| path.contains("/staging/") && path.contains(turn);
            assert!(!world.files.keys().any(staged));
        }
    }
}

#[test]
fn other_runners_can_read_the_journal_of_an_acceptance() {
    let (_, _, commit) = accepted();
    assert_eq!(commit.journal["kind"], "accept_turn");
    let mut unknown = commit.journal.clone();
    unknown.insert("kind".into(), "explode".into());
    assert!(recover(&unknown, &accepted().0.state).is_err());
}

#[test]
fn a_journal_never_sets_a_run_back() {
    let (_, mut world, commit) = accepted();
    let later = assign(&mut world, "dev", 7);
    let recovery = recover(&commit.journal, &world.state).unwrap();
    let before = world.state.document();
    world.apply_writes(&recovery.writes).unwrap();
    assert_eq!(world.state.document(), before);
    assert!(world.state.turn(&later).is_some());
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let (before, _, commit) = accepted();
    for damage in ["status", "accord"] {
        let mut journal = commit.journal.clone();
        journal.insert(damage.into(), Value::from("?"));
        if damage == "accord" {
            journal.insert("accord".into(), json!({"writes": [{"explode": true}]}));
        }
        assert!(recover(&journal, &before.state).is_err());
    }
    let mut outside = commit.journal.clone();
    outside.insert("accord".into(), json!({"writes": [{"replace": "../x", "text": ""}]}));
    assert!(recover(&outside, &before.state).is_err());
}

#[test]
fn a_change_is_finished_unless_another_runner_continued_without_it() {
    let mut before = world(config(), "implementation");
    let change = run::escalate(&before.state, "stop", &mut ids(5), now()).unwrap();
    let commit = Commit::of_change(&before.state, &change, &mut ids(6), now());
    let mut after = before.clone();
    after.apply(&commit).unwrap();
    for cut in 0..=commit.writes.len() {
        let mut world = before.clone();
        world.apply_writes(&commit.writes[..cut]).unwrap();
        let recovery = recover(&commit.journal, &world.state).unwrap();
        assert!(!recovery.superseded);
        world.apply_writes(&recovery.writes).unwrap();
        same(&world, &after);
    }
    assign(&mut before, "dev", 9);
    let recovery = recover(&commit.journal, &before.state).unwrap();
    assert!(recovery.superseded && recovery.writes.is_empty());
}
