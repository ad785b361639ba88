//! `accord conformance`: the verifier of AgentXchain, and Accord as a server to verify.

mod check;
mod serve;
mod service;
mod token;

pub(super) use self::check::CheckArgs;
pub(super) use self::token::{Token, sendable, token_or_environment};

subcommands! {
    /// Test an implementation of AgentXchain by its claims
    pub(crate) ConformanceArgs, ConformanceCommand {
        Check(CheckArgs),
        Serve(serve::ServeArgs),
    }
}
