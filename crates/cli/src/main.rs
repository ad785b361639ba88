//! The `accord` command: arguments in, answers out. The other crates decide.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where files, terminals and processes are"
)]

mod arguments;
mod commands;
mod error;
mod excerpt;
mod exit;
mod host;
mod input;
mod interrupt;
mod output;
mod place;
mod refusal;
mod render;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use self::commands::{Cli, Internal};
use self::error::{CliError, Result};
use self::exit::Exit;
use self::output::{Output, print_either, print_line, print_note, print_page};

#[global_allocator]
static ALLOCATOR: accord_system::Allocator = accord_system::Allocator;

fn main() -> ExitCode {
    let ran = match Internal::parse_own() {
        Some(internal) => internal.map(Internal::run),
        None => Cli::try_parse().map(Cli::run_and_send),
    };
    match ran {
        Ok(ran) => ran.unwrap_or_else(refusal::report).into(),
        Err(error) => refusal::report_usage(&error).into(),
    }
}
