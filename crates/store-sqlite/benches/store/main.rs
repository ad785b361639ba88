//! How fast the store is, against floors that the same run measures.
//!
//! ```text
//! cargo bench -p accord-store-sqlite -- [commit] [read] [inbox] [search] [open] \
//!     [migrate] [--packages N] [--keep DIR]
//! ```
//!
//! Machines are noisy: the ratios are the promise, everything else is an illustration. `N` is how
//! many packages the largest store has: 100,000 where nothing is said, 20,000 for a quick look,
//! 1,000,000 for the whole promise. With `--keep`, stores are left in a folder and used again.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock, and files beside it")]

mod commit;
mod floor;
#[path = "../../tests/suite/format_1.rs"]
mod format_1;
mod gates;
mod inbox;
mod migrate;
mod open;
mod packages;
mod read;
mod search;
mod stores;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::gates::Gates;

#[global_allocator]
static ALLOCATOR: accord_system::Allocator = accord_system::Allocator;

fn main() -> ExitCode {
    let asked = Asked::parse(std::env::args().skip(1));
    if let Some(folder) = &asked.child {
        open::child(folder);
        return ExitCode::SUCCESS;
    }
    let mut gates = Gates::default();
    if asked.wants("commit") {
        commit::run(&mut gates);
    }
    let stores = stores::Stores::new(asked.keep.clone());
    if asked.wants("read") {
        read::run(&mut gates, &stores, asked.packages);
    }
    if asked.wants("inbox") {
        inbox::run(&mut gates, asked.packages, asked.keep.as_deref());
    }
    if asked.wants("search") {
        search::run(&mut gates, &stores, asked.packages);
    }
    if asked.wants("open") {
        open::run(&mut gates, &stores, asked.packages);
    }
    if asked.wants("migrate") {
        migrate::run(&mut gates, &stores, asked.packages);
    }
    gates.verdict()
}

/// What is to be measured.
struct Asked {
    parts: Vec<String>,
    packages: usize,
    keep: Option<String>,
    /// The store that this process, started by another, is to open.
    child: Option<String>,
}

impl Asked {
    fn parse(mut words: impl Iterator<Item = String>) -> Self {
        let mut asked = Self { parts: Vec::new(), packages: 100_000, keep: None, child: None };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--packages" => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    asked.packages = number.expect("--packages needs a number");
                }
                "--keep" => asked.keep = Some(words.next().expect("--keep needs a folder")),
                open::CHILD => asked.child = words.next(),
                // Cargo adds a flag of its own.
                "--bench" => {}
                _ => asked.parts.push(word),
            }
        }
        asked
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|asked| asked == part)
    }
}

/// The middle of many measurements.
fn p50(times: usize, mut work: impl FnMut(usize)) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|time| {
            let began = Instant::now();
            work(time);
            began.elapsed()
        })
        .collect();
    took.sort();
    took[times / 2]
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1000.0
}

fn ratio(a: Duration, b: Duration) -> f64 {
    micros(a) / micros(b)
}
