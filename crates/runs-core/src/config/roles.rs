//! Roles, and the runtimes that carry their turns.

use accord_contract::wire::Object;
use accord_contract::wire_enum;

wire_enum! {
    /// What a role may do to the repository.
    pub enum WriteAuthority("WriteAuthority", closed) {
        /// It writes files itself.
        Authoritative = "authoritative",
        /// It proposes changes that others apply.
        Proposed = "proposed",
        /// It judges, and writes reviews and planning documents alone.
        ReviewOnly = "review_only",
    }
}

wire_enum! {
    /// How turns of a role are carried out.
    pub enum RuntimeType("RuntimeType", closed) {
        /// A person stages the result.
        Manual = "manual",
        /// A program of this machine.
        LocalCli = "local_cli",
        /// A model provider behind an HTTP interface.
        ApiProxy = "api_proxy",
        /// A tool of an MCP server.
        Mcp = "mcp",
        /// An agent behind an HTTP address.
        RemoteAgent = "remote_agent",
    }
}

/// Who works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Role {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// What it is there for.
    pub mandate: String,
    /// What it may do to the repository.
    pub authority: WriteAuthority,
    /// The runtime that carries its turns, where one is named.
    pub runtime: Option<String>,
    /// The authority of its decisions, from 0 to 99.
    pub decision_authority: Option<u64>,
    /// The files that it says it works on.
    pub file_scope: Vec<String>,
}

/// What carries turns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Runtime {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: RuntimeType,
    /// Everything that the configuration says about it.
    pub settings: Object,
}

impl RuntimeType {
    /// Whether a result's files reach the repository only as proposals.
    pub fn only_proposes(self) -> bool {
        matches!(self, Self::ApiProxy | Self::RemoteAgent)
    }

    /// Whether only the worker itself attests its verification.
    pub fn only_attests(self) -> bool {
        matches!(self, Self::Manual | Self::ApiProxy)
    }
}
