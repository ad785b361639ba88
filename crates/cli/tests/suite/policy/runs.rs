//! `accord run`: decisions about governed runs, which are taken in the process itself.

use std::process::Command;

use super::commands::{Starter, has_no_proc};
use super::curl::{OF_TASK, OF_TURN};
use super::tables::{Acting, Author, may};
use super::tally::{Answer, Tally};
use crate::accord::{command, run};
use crate::run_approvals::waiting;
use crate::run_coordinator::Shop;
use crate::run_place::Place;

/// What needs a person, with what each command needs beside it.
const DECISIONS: [&str; 8] = [
    "approve-transition --yes",
    "approve-completion --yes",
    "resolve --yes",
    "send-back --reason why --yes",
    "proposal apply turn_none --yes",
    "proposal drop turn_none --yes",
    "accept --human-merge --yes",
    "adopt --yes",
];

/// What ends something that waits for a person, and is done in nobody's name.
const OVERRIDES: [&str; 2] = ["reissue --reason why", "start --restart"];

/// The approval of gates in a loop.
const LOOP: &str = "loop --auto-approve";

const COORDINATOR: [&str; 2] = ["approve-gate --yes", "send-back --reason why --repo web --yes"];

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
        for words in DECISIONS.into_iter().chain(OVERRIDES).chain([LOOP]) {
            let command = starter.start(&typed(&place, words, Acting::Person));
            tally.decide(starter.caller(), words, Acting::Person, command);
        }
        for words in COORDINATOR {
            let words = format!("run coordinator {words} --actor human:lead --workspace");
            let mut words: Vec<&str> = words.split(' ').collect();
            words.push(root.to_str().expect("text"));
            let command = starter.start(&command(&words));
            tally.decide(starter.caller(), &words.join(" "), Acting::Person, command);
        }
    }
    for words in ["approve-transition --yes", "send-back --reason why --yes", LOOP] {
        tally.decide_without(&place, words);
    }
    // A gate is opened, and a block is ended.
    tally.decide_as_person(&place, "approve-transition --yes");
    place.run("escalate --reason stop").yes();
    tally.decide_without(&place, "resolve --yes");
    // What each of them finds afterwards is its own matter.
    for words in ["resolve --yes"].into_iter().chain(DECISIONS).chain(OVERRIDES).chain([LOOP]) {
        tally.decide_as_person(&place, words);
    }
    tally.finish("accord run", 47);
}
