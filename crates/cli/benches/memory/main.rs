//! How fast the host is over HTTP, against floors that the same run measures.
//!
//! ```text
//! cargo bench -p accord-cli --bench memory -- [deposit] [read] [size] [meaning] [--million]
//! ```
//!
//! The server is the real binary, in a process of its own. Machines are noisy: the ratios are the
//! promise, everything else is an illustration. `--million` reads from 1,000,000 packages, too,
//! which takes minutes to bring in.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and starts servers")]

#[path = "../../tests/suite/connection.rs"]
mod connection;
mod deposit;
#[path = "../../../store-sqlite/benches/store/floor.rs"]
mod floor;
#[path = "../../../store-sqlite/benches/store/gates.rs"]
mod gates;
mod meaning;
#[path = "../../../store-sqlite/benches/store/packages.rs"]
#[expect(dead_code, reason = "the benchmark of the store uses more of it")]
mod packages;
mod read;
mod server;
mod size;
mod slow;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::gates::Gates;

/// Where the packages of the project that benchmarks use are.
const PACKAGES: &str = "/v1/projects/proj_benchmark/packages";

fn main() -> ExitCode {
    // Cargo adds a flag of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let wanted = |part: &str| {
        let parts = asked.iter().filter(|word| !word.starts_with("--"));
        parts.clone().count() == 0 || parts.clone().any(|word| word == part)
    };
    let million = asked.iter().any(|word| word == "--million");
    let mut gates = Gates::default();
    if wanted("deposit") {
        deposit::run(&mut gates);
        slow::run(&mut gates);
    }
    if wanted("size") {
        size::run(&mut gates);
    }
    if wanted("read") {
        read::run(&mut gates, million);
    }
    if wanted("meaning") {
        meaning::run(&mut gates);
    }
    gates.verdict()
}

/// A target that depends on the machine: shown, not judged.
fn target(what: &str, found: f64, unit: &str, target: &str) {
    println!("  -> {what}: {found:.1} {unit} (target {target})");
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
