//! Who acts: a person, or the agent whose worker runs the command.
//!
//! In a process that a worker started, a command acts as an agent. One that acts as a person is
//! refused, or as a script, which may change every task.

use accord_base::{ActorKey, ActorType, Author, Caller, Decision, Need};
use accord_host::serve::this_process;

use crate::commands::person::NamedPerson;
use crate::error::CliError;
use crate::host::{Acting, setting};

/// Who acts.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ActorArgs {
    /// Who acts: human:NAME, agent:NAME or script:NAME [default: ACCORD_ACTOR, the agent of this
    /// worker, the actor of the key, or the user of the operating system]
    #[arg(long, value_name = "TYPE:ID", value_parser = actor)]
    actor: Option<String>,
}

/// The agent that a command is about.
#[derive(Debug, clap::Args)]
pub(super) struct AgentArgs {
    /// The agent [default: ACCORD_TASK_AGENT, or an agent in ACCORD_ACTOR]
    #[arg(id = "as", long = "as", value_name = "AGENT")]
    pub(super) agent: Option<String>,
}

impl ActorArgs {
    /// The actor. In a worker it is an agent.
    pub(in crate::commands) fn acting(&self) -> Result<Acting, CliError> {
        let given = self.actor.clone().or_else(|| setting("ACCORD_ACTOR"));
        let agent = || setting("ACCORD_TASK_AGENT").map(|agent| format!("agent:{agent}"));
        let named = given.or_else(agent);
        if !named.as_deref().is_some_and(is_agent) {
            check_person()?;
        }
        Ok(named.map_or_else(|| NamedPerson::of(None).acting(), Acting::Named))
    }
}

impl AgentArgs {
    /// The agent, if one is named.
    pub(super) fn name(&self) -> Option<String> {
        let own = || setting("ACCORD_TASK_AGENT");
        let named = || {
            let actor = setting("ACCORD_ACTOR")?;
            actor.strip_prefix("agent:").map(str::to_owned)
        };
        self.agent.clone().or_else(own).or_else(named)
    }

    /// The agent, which is required.
    pub(super) fn required(&self) -> Result<String, CliError> {
        self.name().ok_or_else(|| {
            CliError::new(accord_contract::codes::Code::Usage, "no agent given")
                .help("name the agent with --as NAME")
        })
    }
}

/// Refuses to act as a person in a worker.
pub(super) fn check_person() -> Result<(), CliError> {
    let decision = Need::Decide(Decision::Override);
    let caller = Caller::owner().examined_by(this_process);
    Ok(caller.attribute(decision, Author::unnamed()).map(drop)?)
}

fn is_agent(actor: &str) -> bool {
    ActorKey::parse(actor).is_ok_and(|actor| actor.kind == ActorType::Agent)
}

fn actor(text: &str) -> Result<String, String> {
    let actor = ActorKey::parse(text)
        .map_err(|error| format!("{error}; an actor is human:NAME, agent:NAME or script:NAME"))?;
    Ok(format!("{}:{}", actor.kind.as_str(), actor.id))
}
