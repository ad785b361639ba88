//! `accord verify`: another name of `accord conformance check`, for existing scripts.

use super::conformance::CheckArgs;

/// Test an implementation of AgentXchain; the same as `accord conformance check`
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    command: VerifyCommand,
}

subcommands! {
    VerifyArgs, VerifyCommand {
        Protocol(CheckArgs),
    }
}
