//! The current project, actor and session, from flags or the environment.

use std::fmt;

use accord_base::refuse::schema;
use accord_base::{ActorKey, IdError, ProjectId};
use accord_contract::codes::Code;
use accord_contract::wire::Value;

use super::open::Connection;
use super::target::{HostArgs, TargetArgs};
use crate::error::CliError;

/// An environment variable. An empty one counts as not set.
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where a command writes, and as whom.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArg,

    #[command(flatten)]
    pub(crate) actor: ActorArg,

    #[command(flatten)]
    pub(crate) session: SessionArg,

    #[command(flatten)]
    pub(crate) host: HostArgs,
}

impl WriteArgs {
    /// The project, which is required.
    pub(crate) fn project(&self, host: &Connection) -> Result<String, CliError> {
        self.project.required(&self.host.target, host)
    }

    /// The actor in its session, as a document, if one is given.
    pub(crate) fn author(&self) -> Result<Option<Value>, CliError> {
        let session = self.session.get();
        Ok(self.actor.get()?.map(|actor| actor.document(session.as_deref())))
    }
}

/// The project.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArg {
    /// The project [default: ACCORD_PROJECT, or `project` in accord.toml, or the only project]
    #[arg(long, value_name = "ID", help_heading = None::<&str>)]
    pub(crate) project: Option<String>,
}

impl ProjectArg {
    /// The project, which is required: the named one, else the only one of the host.
    pub(crate) fn required(
        &self,
        target: &TargetArgs,
        host: &Connection,
    ) -> Result<String, CliError> {
        match self.get(target)? {
            Some(project) => Ok(project),
            None => host.only_project(),
        }
    }

    /// The project, if one is named; the settings of the data folder are the weakest default.
    pub(crate) fn get(&self, target: &TargetArgs) -> Result<Option<String>, CliError> {
        match self.project.clone().or_else(|| setting("ACCORD_PROJECT")) {
            Some(project) => Ok(Some(project)),
            None => target.default_project(),
        }
    }
}

/// The actor of a write.
#[derive(Debug, clap::Args)]
pub(crate) struct ActorArg {
    /// The actor, for example agent:planner, human:lead or script:nightly [default: ACCORD_ACTOR]
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse, help_heading = None::<&str>)]
    pub(crate) actor: Option<Actor>,
}

impl ActorArg {
    /// The actor, which is required.
    pub(crate) fn required(&self) -> Result<Actor, CliError> {
        self.get()?.ok_or_else(|| {
            CliError::new(Code::Usage, "no actor given").help(
                "use --actor or ACCORD_ACTOR, for example agent:planner, human:lead or \
                 script:nightly",
            )
        })
    }

    /// The actor, if one is given.
    pub(crate) fn get(&self) -> Result<Option<Actor>, CliError> {
        if let Some(actor) = &self.actor {
            return Ok(Some(actor.clone()));
        }
        let named = setting("ACCORD_ACTOR").map(|text| Actor::parse(&text));
        let wrong = |error| CliError::new(Code::Usage, format!("ACCORD_ACTOR: {error}"));
        named.transpose().map_err(wrong)
    }
}

/// The session of a write.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArg {
    /// The session [default: ACCORD_SESSION]
    #[arg(long, value_name = "ID", help_heading = None::<&str>)]
    pub(crate) session: Option<String>,
}

impl SessionArg {
    /// The session, if one is given.
    pub(crate) fn get(&self) -> Option<String> {
        self.session.clone().or_else(|| setting("ACCORD_SESSION"))
    }
}

/// An actor, by type and id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Actor(ActorKey);

impl Actor {
    /// Reads `type:id`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        ActorKey::parse(text).map(Self).map_err(|_| {
            "an actor is human, agent or script, a colon and an id, as in agent:planner".to_owned()
        })
    }

    /// The two members that identify it.
    pub(crate) fn key(&self) -> &ActorKey {
        &self.0
    }

    /// The actor as a document names one.
    pub(crate) fn document(&self, session: Option<&str>) -> Value {
        let ActorKey { id, kind } = &self.0;
        let mut document = serde_json::json!({"id": id.as_str(), "type": kind.as_str()});
        if let Some(session) = session {
            document["session_id"] = session.into();
        }
        document
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.kind, self.0.id)
    }
}

/// The id of a project, which is refused as a host refuses it.
pub(crate) fn project_id(text: &str) -> Result<ProjectId, CliError> {
    text.parse().map_err(|error: IdError| schema("/project_id", error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_a_type_and_an_id() {
        let planner = Actor::parse("agent:planner:2").expect("an actor");
        assert_eq!(planner.to_string(), "agent:planner:2");
        for wrong in ["", "planner", "agent:", "bot:x", "Agent:x", ":x"] {
            assert!(Actor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
