//! `accord verify`: another name of `accord conformance check`, for existing scripts.

use super::conformance::CheckArgs;
use crate::error::CliError;
use crate::exit::Exit;

/// Test an implementation of AgentXchain; the same as `accord conformance check`
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    command: VerifyCommand,
}

#[derive(Debug, clap::Subcommand)]
enum VerifyCommand {
    Protocol(CheckArgs),
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            VerifyCommand::Protocol(args) => args.run(),
        }
    }
}
