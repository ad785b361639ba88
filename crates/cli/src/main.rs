//! The `accord` command: arguments in, answers out. The other crates decide.
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
mod render;

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
            report(error);
            Exit::Error
        }
    };
    exit.into()
}

/// Prints --help and --version, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> Exit {
    use std::io::Write as _;
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        return match printed {
            Ok(()) => Exit::Yes,
            Err(error) => {
                report(CliError::from_output(error));
                Exit::Error
            }
        };
    }
    // clap prints its own text, which has no code; every refusal has one.
    let _ = writeln!(std::io::stderr().lock(), "{}\n", Code::Usage.as_str());
    let _ = error.print();
    // With --json or --format json, a refusal is a document too.
    let written = if refusal::is_wanted(std::env::args_os()) {
        refusal::write(&refusal::sentence(error))
    } else if run::wants_documents(std::env::args_os()) {
        run::write_refusal(&run::usage_envelope(Code::Usage, refusal::sentence(error)))
    } else {
        Ok(())
    };
    if let Err(error) = written {
        report(error);
    }
    Exit::Error
}

/// Reports an error on standard error. Where that is closed, the exit code still says it.
fn report(error: CliError) {
    use std::io::Write as _;
    let text = miette::Report::new(error);
    let _ = writeln!(std::io::stderr().lock(), "{text:?}");
}
