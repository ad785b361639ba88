//! What accepting a turn costs, on a history of 10 turns and on one of 10,000; and what a dirty
//! tree costs, on those and on 100 turns with summaries of 3 MB.
//!
//! ```text
//! cargo bench -p accord-cli --bench runs -- [accept] [dirty]
//! ```
//!
//! The services that `accord run accept` calls, on real files, without hooks. The floor is what the
//! disk alone takes: the same bytes written, synced, renamed and removed, as often and in the same
//! order. Rounds take turns, so that a noisy moment strikes all of them. What the records say is
//! kept beside them, so that they need not be read; what it costs to read all of them is shown as
//! well.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes files")]

mod floor;
mod repository;

use std::iter::zip;
use std::process::ExitCode;
use std::time::Duration;

use crate::floor::Floor;
use crate::repository::{Files, Governed};

const SHORT: usize = 10;
const LONG: usize = 10_000;
const ROUNDS: usize = 61;

/// Turns with summaries of this length, and how many of them.
const LONG_SUMMARY: usize = 3_000_000;
const WITH_LONG_SUMMARY: usize = 100;
const ROUNDS_WITH_LONG_SUMMARY: usize = 9;

/// The most that a long history may cost, against a short one.
const MOST: f64 = 1.5;

fn main() -> ExitCode {
    // Cargo adds a flag of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|word| word == part);
    let mut kept = true;
    if wanted("accept") {
        for (what, files, git) in [
            ("400 files that are changed again and again", Files::Same(400), false),
            ("every turn changes a file of its own", Files::New, false),
            ("400 files, under git", Files::Same(400), true),
        ] {
            kept &= measure(what, files, git);
        }
    }
    if wanted("dirty") {
        let ordinary = || "What was to be done in this turn is done.".to_owned();
        kept &= measure_dirty("ordinary turns", LONG, ROUNDS, ordinary);
        let long = || "x".repeat(LONG_SUMMARY);
        let (turns, rounds) = (WITH_LONG_SUMMARY, ROUNDS_WITH_LONG_SUMMARY);
        kept &= measure_dirty("summaries of 3 MB", turns, rounds, long);
    }
    match kept {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn measure(what: &str, files: Files, git: bool) -> bool {
    let mut short = Governed::new(SHORT, files, git);
    let mut long = Governed::new(LONG, files, git);
    let unread = long.accept_unread();
    let mut floor = Floor::new(short.record());
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        took[0].push(floor.replay());
        took[1].push(short.accept());
        took[2].push(long.accept());
    }
    let [floor_took, short_took, long_took] = took.map(middle);
    let ratio = long_took / short_took;
    println!("acceptance, p50 of {ROUNDS}; {what}");
    println!("  the disk alone ({}; the floor)   {floor_took:>8.0} us", floor.size());
    println!(
        "  {SHORT:>6} turns   {short_took:>8.0} us, {:.2} times the floor",
        short_took / floor_took
    );
    println!(
        "  {LONG:>6} turns   {long_took:>8.0} us, {:.2} times the floor",
        long_took / floor_took
    );
    println!("  {LONG:>6} turns   {:>8.0} us, once, where all of them are read", micros(unread));
    let holds = ratio <= MOST;
    println!(
        "  => long against short: {ratio:.2} (at most {MOST}){}",
        if holds { "" } else { "  FAILED" }
    );
    holds
}

/// What operations cost while the files of the last turn are not committed. The floor is git alone.
fn measure_dirty(what: &str, turns: usize, rounds: usize, summary: fn() -> String) -> bool {
    let run = |turns| Governed::with_summary(turns, Files::Same(400), true, summary());
    let mut runs = [run(SHORT), run(turns)];
    let mut floors = Vec::new();
    let mut took: [[Vec<Duration>; 3]; 2] = Default::default();
    for _ in 0..rounds {
        for (governed, took) in runs.iter_mut().zip(&mut took) {
            governed.leave_uncommitted();
            floors.push(governed.git_status());
            // The first writer after an acceptance reads its line, and keeps what it says.
            took[0].push(governed.assign_refused());
            took[1].push(governed.status());
            took[2].push(governed.checkpoint());
        }
    }
    let floor = middle(floors);
    println!("a dirty tree, p50 of {rounds}; {what}");
    println!("  git status alone (the floor)   {floor:>8.0} us");
    let [short, long] = took.map(|took| took.map(middle));
    let mut kept = true;
    for (operation, (short, long)) in
        ["assign", "status", "checkpoint"].iter().zip(zip(short, long))
    {
        let ratio = long / short;
        let holds = ratio <= MOST;
        println!(
            "  {operation:<10} {SHORT:>6} turns {short:>8.0} us, {turns:>6} turns {long:>8.0} us, \
             {:.2} times the floor => {ratio:.2} (at most {MOST}){}",
            long / floor,
            if holds { "" } else { "  FAILED" }
        );
        kept &= holds;
    }
    kept
}

fn middle(mut took: Vec<Duration>) -> f64 {
    took.sort();
    micros(took[took.len() / 2])
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1000.0
}
