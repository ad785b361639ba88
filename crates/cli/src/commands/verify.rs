//! `accord verify`: another name of `accord conformance check`, for existing scripts.

use super::conformance::CheckArgs;

subcommands! {
    /// Test an implementation of AgentXchain; the same as `accord conformance check`
    pub(crate) VerifyArgs, VerifyCommand {
        Protocol(CheckArgs),
    }
}
