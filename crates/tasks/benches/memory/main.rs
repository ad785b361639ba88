//! The memory of finished tasks.
//!
//! ```text
//! cargo bench -p accord-tasks --bench memory -- FOLDER
//! ```
//!
//! It is a program of its own, because counting allocations takes time that the benchmark `tree`
//! would measure. The command fails if the limit is missed.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes files")]

#[expect(dead_code, reason = "the benchmark `tree` uses all of it")]
#[path = "../tree/calls.rs"]
mod calls;
#[expect(dead_code, reason = "the benchmark `tree` uses all of it")]
#[path = "../tree/measure.rs"]
mod measure;
#[expect(dead_code, reason = "the benchmark `tree` uses all of it")]
#[path = "../tree/seed.rs"]
mod seed;

use std::path::Path;
use std::process::ExitCode;

use accord_tasks_core::Status;

use crate::measure::Limit;

const TASKS: usize = 100_000;

fn main() -> ExitCode {
    // Cargo adds a flag of its own.
    let Some(place) = std::env::args().skip(1).find(|word| word != "--bench") else {
        eprintln!("give a folder for the tree");
        return ExitCode::FAILURE;
    };
    let folder = tempfile::tempdir_in(Path::new(&place)).expect("a folder");
    for number in 0..TASKS {
        seed::task(folder.path(), number, Status::Done, Some("dev"));
    }
    let mut open = None;
    let used = allocation_counter::measure(|| {
        let tree = calls::tree(folder.path());
        calls::poll(&tree);
        open = Some(tree);
    });
    let each = used.bytes_current as f64 / TASKS as f64;
    println!("memory of a finished task: {each:.0} bytes");
    drop(open);
    match Limit::at_most("bytes per finished task", each, 200.0).print() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
