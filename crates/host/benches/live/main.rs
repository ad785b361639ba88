//! How fast the channel of live sessions is, against floors that the same run measures.
//!
//! ```text
//! cargo bench -p accord-host --bench live -- [action] [fanout] [idle] [--seconds N]
//! ```
//!
//! The server is a process of its own: this program, started again. Machines are noisy: the ratios
//! are the promise, and so are the limits that docs/benchmarks.md names; the rest is an
//! illustration. `N` is how long the fan-out lasts, 60 where nothing is said.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and starts servers")]

mod action;
mod client;
mod fanout;
#[path = "../../../store-sqlite/benches/store/gates.rs"]
mod gates;
mod idle;
mod server;

use std::process::ExitCode;
use std::time::Duration;

use self::gates::Gates;

#[global_allocator]
static ALLOCATOR: accord_system::Allocator = accord_system::Allocator;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let mut parts = Vec::new();
    let mut seconds = 60;
    while let Some(word) = words.next() {
        match word.as_str() {
            server::CHILD => {
                let store = words.next().expect("the kind of the store");
                server::serve(&store);
                return ExitCode::SUCCESS;
            }
            "--seconds" => {
                let number = words.next().and_then(|number| number.parse().ok());
                seconds = number.expect("--seconds needs a number");
            }
            _ => parts.push(word),
        }
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|asked| asked == part);
    let mut gates = Gates::default();
    if wants("action") {
        action::run(&mut gates);
    }
    if wants("fanout") {
        fanout::run(&mut gates, Duration::from_secs(seconds));
    }
    if wants("idle") {
        idle::run(&mut gates);
    }
    gates.verdict()
}
