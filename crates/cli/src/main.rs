//! The `accord` command: a thin door to the crates that decide.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where files, terminals and processes are"
)]

mod commands;
mod error;
mod excerpt;
mod exit;
mod input;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

use crate::commands::Cli;
use crate::error::CliError;
use crate::exit::Exit;

fn main() -> ExitCode {
    let exit = match Cli::parse().run() {
        Ok(exit) => exit,
        Err(error) => {
            complain(error);
            Exit::Trouble
        }
    };
    exit.into()
}

/// Says on standard error what went wrong. Should that be closed too, there is
/// nobody left to tell, and the exit code still says it.
fn complain(error: CliError) {
    use std::io::Write as _;
    let report = miette::Report::new(error);
    let _ = writeln!(std::io::stderr().lock(), "{report:?}");
}
