//! The agent of a command.

use crate::host::setting;
use crate::{CliError, Result};

/// The agent that a command is about.
#[derive(Debug, clap::Args)]
pub(super) struct AgentArgs {
    /// The name of the agent in the tasks [default: ACCORD_TASK_AGENT, or an agent in ACCORD_ACTOR]
    #[arg(id = "as", long = "as", value_name = "AGENT")]
    pub(super) agent: Option<String>,
}

impl AgentArgs {
    pub(super) fn name(&self) -> Option<String> {
        let own = || setting("ACCORD_TASK_AGENT");
        let named = || {
            let actor = setting("ACCORD_ACTOR")?;
            actor.strip_prefix("agent:").map(str::to_owned)
        };
        self.agent.clone().or_else(own).or_else(named)
    }

    pub(super) fn required(&self) -> Result<String> {
        self.name()
            .ok_or_else(|| CliError::usage("no agent given").help("name the agent with --as NAME"))
    }
}
