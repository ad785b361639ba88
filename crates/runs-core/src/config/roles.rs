//! Roles, and the runtimes that execute their turns.

use accord_contract::{Object, wire_enum};

wire_enum! {
    pub enum WriteAuthority("WriteAuthority", closed) {
        /// It writes files.
        Authoritative = "authoritative",
        /// It proposes changes that others apply.
        Proposed = "proposed",
        /// It writes only reviews and planning documents.
        ReviewOnly = "review_only",
    }

    pub enum RuntimeType("RuntimeType", closed) {
        /// A person, who stages the result.
        Manual = "manual",
        LocalCli = "local_cli",
        /// The HTTP API of a model provider.
        ApiProxy = "api_proxy",
        Mcp = "mcp",
        /// An agent behind an HTTP endpoint.
        RemoteAgent = "remote_agent",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    pub id: String,
    pub title: String,
    pub mandate: String,
    pub authority: WriteAuthority,
    /// The runtime that executes its turns, where one is named.
    pub runtime: Option<String>,
    /// The authority of its decisions, from 0 to 99.
    pub decision_authority: Option<u64>,
    pub file_scope: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Runtime {
    pub id: String,
    pub kind: RuntimeType,
    /// All its members in the configuration.
    pub settings: Object,
}

impl RuntimeType {
    /// Whether the files of a result reach the repository only as proposals.
    pub(crate) fn only_proposes(self) -> bool {
        matches!(self, Self::ApiProxy | Self::RemoteAgent)
    }

    /// Whether its verification is only a claim of the worker.
    pub(crate) fn only_attests(self) -> bool {
        // The protocol lists exactly these two. The evidence of other runtimes is checked.
        matches!(self, Self::Manual | Self::ApiProxy)
    }
}
