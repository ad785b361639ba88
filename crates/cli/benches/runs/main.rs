//! What accepting a turn costs, on a history of 10 turns and on one of 10,000.
//!
//! ```text
//! cargo bench -p accord-cli --bench runs
//! ```
//!
//! The services that `accord run accept` calls, on real files, without hooks. The floor is what the
//! disk alone takes: the same bytes written, synced, renamed and removed, as often and in the same
//! order. Rounds take turns, so that a noisy moment strikes all of them. What the records say is
//! kept beside them, so that they need not be read; what it costs to read all of them is told as
//! well.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes files")]

mod floor;
mod repository;

use std::process::ExitCode;
use std::time::Duration;

use crate::floor::Floor;
use crate::repository::{Files, Governed};

const SHORT: usize = 10;
const LONG: usize = 10_000;
const ROUNDS: usize = 61;

/// The most that a long history may cost, against a short one.
const MOST: f64 = 1.5;

fn main() -> ExitCode {
    let mut kept = true;
    for (what, files, git) in [
        ("400 files that are changed again and again", Files::Same(400), false),
        ("every turn changes a file of its own", Files::New, false),
        ("400 files, under git", Files::Same(400), true),
    ] {
        kept &= measure(what, files, git);
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
        took[0].push(floor.carry_out());
        took[1].push(short.accept());
        took[2].push(long.accept());
    }
    let [floor_took, short_took, long_took] = took.map(middle);
    let ratio = long_took / short_took;
    println!("acceptance, p50 of {ROUNDS}; {what}");
    println!("  the disk alone ({}; the floor)   {floor_took:>8.0} us", floor.told());
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

fn middle(mut took: Vec<Duration>) -> f64 {
    took.sort();
    micros(took[took.len() / 2])
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1000.0
}
