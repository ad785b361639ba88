//! `accord run`: changes of governed runs and decisions about them, in the process itself.

use std::collections::BTreeSet;
use std::process::Command;

use accord_base::Need;
use accord_runs_core::operations::operations;

use super::commands::{Starter, has_no_proc};
use super::curl::{OF_TASK, OF_TURN};
use super::tables::{Acting, Author, may};
use super::tally::{Answer, Tally};
use crate::accord::{command, run};
use crate::run_approvals::waiting;
use crate::run_coordinator::Shop;
use crate::run_place::Place;

/// What needs a person: the operation, and its command with what that needs beside.
const DECISIONS: [(&str, &str); 9] = [
    ("run_approve_transition", "approve-transition --yes"),
    ("run_approve_completion", "approve-completion --yes"),
    ("run_resolve", "resolve --yes"),
    ("run_stop", "escalate --end-workers --reason why --yes"),
    ("run_send_back", "send-back --reason why --yes"),
    ("run_proposal_apply", "proposal apply turn_none --yes"),
    ("run_proposal_drop", "proposal drop turn_none --yes"),
    ("run_accept_merge", "accept --human-merge --yes"),
    ("run_adopt", "adopt --yes"),
];

/// What ends something that waits for a person, and is done in nobody's name.
const OVERRIDES: [(&str, &str); 2] =
    [("run_reissue", "reissue --reason why"), ("run_restart", "start --restart")];

/// The approval of gates in a loop.
const LOOP: (&str, &str) = ("run_loop_approving", "loop --auto-approve");

/// The plain writes: the operation, its command, and what that answers: `ok`, or a code. Each names
/// a turn or a role that does not exist where it can, so that no line depends on another.
const WRITES: [(&str, &str, &str); 11] = [
    // In a new folder.
    ("run_init", "init", "ok"),
    ("run_start", "start", "invalid_state_transition"),
    ("run_assign", "assign nobody", "unknown_role"),
    ("run_dispatch", "dispatch --turn turn_none", "turn_not_active"),
    ("run_stage", "stage --turn turn_none --summary done", "turn_not_active"),
    ("run_accept", "accept --turn turn_none", "turn_not_active"),
    ("run_reject", "reject --turn turn_none --reason why", "turn_not_active"),
    ("run_checkpoint", "checkpoint --turn turn_none", "nothing_to_checkpoint"),
    ("run_step", "step --role nobody", "unknown_role"),
    ("run_loop", "loop --max-turns 0", "ok"),
    // In a repository without a run; it would end the others.
    ("run_escalate", "escalate --reason why", "invalid_state_transition"),
];

/// The plain writes on an initiative that is under way, and can take no step.
const COORDINATOR_WRITES: [(&str, &str, &str); 3] = [
    ("coordinator_init", "init", "invalid_state_transition"),
    ("coordinator_step", "step --workstream none", "nothing_to_dispatch"),
    ("coordinator_resync", "resync", "ok"),
];

const COORDINATOR: [(&str, &str); 2] = [
    ("coordinator_approve_gate", "approve-gate --yes"),
    ("coordinator_send_back", "send-back --reason why --repo web --yes"),
];

#[test]
fn every_decision_about_runs_is_in_the_table() {
    let table = DECISIONS.into_iter().chain(OVERRIDES).chain([LOOP]).chain(COORDINATOR);
    let table: BTreeSet<&str> = table.map(|(name, _)| name).collect();
    let declared = operations().into_iter();
    let declared = declared.filter(|operation| matches!(operation.need, Need::Decide(_)));
    assert_eq!(declared.map(|operation| operation.name).collect::<BTreeSet<_>>(), table);
}

#[test]
fn every_plain_write_of_runs_is_in_the_table() {
    let table = WRITES.into_iter().chain(COORDINATOR_WRITES);
    let table: BTreeSet<&str> = table.map(|(name, ..)| name).collect();
    let declared = operations().into_iter().filter(|operation| operation.need == Need::Write);
    assert_eq!(declared.map(|operation| operation.name).collect::<BTreeSet<_>>(), table);
    let others = operations().into_iter().filter(|operation| operation.need == Need::Admin);
    assert_eq!(others.count(), 0, "no command of runs is for an administrator");
}

/// A command of a place, in the name of a person or of nobody.
fn typed(place: &Place, words: &str, acting: Acting) -> Command {
    let mut command = place.command(words);
    match acting.actor() {
        Some(actor) => command.env("ACCORD_ACTOR", actor),
        None => command.env_remove("ACCORD_ACTOR"),
    };
    command
}

impl Tally {
    /// Runs a command, and compares the outcome.
    fn decide(&mut self, caller: &str, words: &str, acting: Acting, command: Command) {
        let answer = Answer::of(&run(command, ""));
        let is_allowed = may("approve", caller, Author::Proven, acting);
        let cell = format_args!("accord run {caller} {words} as {acting}");
        self.add(cell, is_allowed, &answer, true);
    }

    /// Decides in nobody's name, and where a terminal is required. Both are refused.
    fn decide_without(&mut self, place: &Place, words: &str) {
        self.decide("local", words, Acting::Nobody, typed(place, words, Acting::Nobody));
        let mut required = typed(place, words, Acting::Person);
        required.env("ACCORD_DECIDE_TERMINAL", "required");
        let answer = Answer::of(&run(required, ""));
        self.add(format_args!("accord run {words} without its terminal"), false, &answer, true);
    }

    fn decide_as_person(&mut self, place: &Place, words: &str) {
        self.decide("local", words, Acting::Person, typed(place, words, Acting::Person));
    }
}

#[test]
fn decisions_about_runs_are_as_the_table_says() {
    let mut tally = Tally::default();
    let mut starters = vec![Starter::Worker(OF_TASK), Starter::Worker(OF_TURN)];
    if has_no_proc() {
        starters.push(Starter::NoProc);
    }
    let place = waiting(|_| {});
    let (shop, _) = Shop::new();
    let root = shop.root();
    for starter in starters {
        for (_, words) in DECISIONS.into_iter().chain(OVERRIDES).chain([LOOP]) {
            let command = starter.start(&typed(&place, words, Acting::Person));
            tally.decide(starter.caller(), words, Acting::Person, command);
        }
        for (_, words) in COORDINATOR {
            let words = format!("run coordinator {words} --actor human:lead --workspace");
            let mut words: Vec<&str> = words.split(' ').collect();
            words.push(root.to_str().expect("text"));
            let command = starter.start(&command(&words));
            tally.decide(starter.caller(), &words.join(" "), Acting::Person, command);
        }
    }
    for words in ["approve-transition --yes", "send-back --reason why --yes", LOOP.1] {
        tally.decide_without(&place, words);
    }
    // A gate is opened, and a block is ended.
    tally.decide_as_person(&place, "approve-transition --yes");
    place.run("escalate --reason stop").yes();
    tally.decide_without(&place, "resolve --yes");
    // What each of them finds afterwards is its own matter.
    tally.decide_as_person(&place, "resolve --yes");
    for (_, words) in DECISIONS.into_iter().chain(OVERRIDES).chain([LOOP]) {
        tally.decide_as_person(&place, words);
    }
    tally.finish("accord run", 50);
}

impl Tally {
    /// Runs a command that writes, and compares the outcome. It is recorded in nobody's name,
    /// whoever the environment names.
    fn write(&mut self, starter: Starter, words: &str, answer: &str, typed: (Acting, Command)) {
        let (acting, command) = typed;
        let ran = run(starter.start(&command), "");
        let found = Answer::of(&ran);
        let is_allowed = may("write", starter.caller(), Author::None, Acting::Nobody);
        let cell = format_args!("accord run {starter:?} {words} as {acting}");
        let is_as_written = match answer {
            "ok" => ran.code == 0,
            code => found.code == code,
        };
        self.add(cell, is_allowed, &found, is_as_written);
    }
}

#[test]
fn plain_writes_of_runs_are_as_the_table_says() {
    let mut tally = Tally::default();
    let mut starters = vec![Starter::Local, Starter::Worker(OF_TASK), Starter::Worker(OF_TURN)];
    if has_no_proc() {
        starters.push(Starter::NoProc);
    }
    let (begun, idle) = (Place::begun(), Place::new());
    idle.run("init --name Idle").yes();
    let (shop, _) = Shop::new();
    let workspace = shop.root();
    let workspace = workspace.to_str().expect("text");
    for starter in starters {
        for acting in Acting::ALL {
            for (name, words, answer) in WRITES {
                let new = Place::new();
                let place = match name {
                    "run_init" => &new,
                    "run_escalate" => &idle,
                    _ => &begun,
                };
                tally.write(starter, words, answer, (acting, typed(place, words, acting)));
            }
            for (_, words, answer) in COORDINATOR_WRITES {
                let words = format!("coordinator {words} --workspace {workspace}");
                tally.write(starter, &words, answer, (acting, typed(&begun, &words, acting)));
            }
        }
    }
    tally.finish("accord run, plain writes", 126);
}
