//! `accord conformance`: the verifier of AgentXchain, and Accord as a server to verify.

mod check;
mod serve;
mod service;
mod token;

use crate::error::CliError;
use crate::exit::Exit;

pub(super) use self::check::CheckArgs;
pub(super) use self::token::{sendable, token_of_environment};

/// Test an implementation of AgentXchain by its claims
#[derive(Debug, clap::Args)]
pub(crate) struct ConformanceArgs {
    #[command(subcommand)]
    command: ConformanceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConformanceCommand {
    Check(CheckArgs),
    Serve(serve::ServeArgs),
}

impl ConformanceArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            ConformanceCommand::Check(args) => args.run(),
            ConformanceCommand::Serve(args) => args.run(),
        }
    }
}
