//! The `accord` command: a thin door to the crates that decide.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where files, terminals and processes are"
)]

mod commands;
mod error;
mod excerpt;
mod exit;
mod host;
mod input;
mod interrupt;
mod output;
mod show;

use std::process::ExitCode;

use accord_contract::codes::Code;
use clap::Parser as _;

use crate::commands::{Cli, refusal, run};
use crate::error::CliError;
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error).into(),
    };
    let exit = match cli.run() {
        Ok(exit) => exit,
        Err(error) => {
            complain(error);
            Exit::Trouble
        }
    };
    exit.into()
}

/// Answers --help and --version, or says what is wrong with the arguments.
fn usage(error: &clap::Error) -> Exit {
    use std::io::Write as _;
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        return match printed {
            Ok(()) => Exit::Yes,
            Err(error) => {
                complain(CliError::from_output(error));
                Exit::Trouble
            }
        };
    }
    let _ = writeln!(std::io::stderr().lock(), "{}\n", Code::Usage.as_str());
    let _ = error.print();
    // Who asked for a document gets one.
    let told = if refusal::is_wanted(std::env::args_os()) {
        refusal::write(&refusal::sentence(error))
    } else if run::wants_documents(std::env::args_os()) {
        run::write_refusal(&run::RunFailure::usage(refusal::sentence(error)))
    } else {
        Ok(())
    };
    if let Err(error) = told {
        complain(error);
    }
    Exit::Trouble
}

/// Says on standard error what went wrong. Should that be closed too, there is
/// nobody left to tell, and the exit code still says it.
fn complain(error: CliError) {
    use std::io::Write as _;
    let report = miette::Report::new(error);
    let _ = writeln!(std::io::stderr().lock(), "{report:?}");
}
