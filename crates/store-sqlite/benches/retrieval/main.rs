//! How well search finds packages, beside plain full-text indexes.
//!
//! ```text
//! cargo bench -p accord-store-sqlite --bench retrieval -- [--missed]
//! ```
//!
//! With `--missed`, every question without an answer among the first five results is printed,
//! except held-out ones. `tools/retrieval` compares with one more engine.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its arguments and runs git")]

mod commits;
mod evaluation;
mod plain;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let is_wordy = std::env::args().any(|argument| argument == "--missed");
    let mut is_above = true;
    for (name, evaluation) in table::sets() {
        is_above &= table::measure(&name, &evaluation, [], is_wordy);
    }
    if is_above {
        return ExitCode::SUCCESS;
    }
    println!("\nFAILED: search is not above the plain indexes");
    ExitCode::FAILURE
}
