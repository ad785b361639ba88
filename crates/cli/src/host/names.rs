//! The current project, actor and session, from flags or the environment.

use accord_base::{Actor, ActorKey, ProjectId, SessionId};
use accord_memory_core::operations::WriteHeaders;

use super::acting::ActorArg;
use super::memory::id_of;
use super::open::Connection;
use super::target::{HostArgs, TargetArgs};
use crate::Result;

/// An environment variable. An empty one counts as not set.
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The turn or task of the worker that runs this command.
pub(crate) fn work() -> Option<String> {
    setting("AGENTXCHAIN_TURN_ID").or_else(|| setting("ACCORD_TASK_ID"))
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

/// Whether a write may contain credentials.
#[derive(Debug, clap::Args)]
pub(crate) struct CredentialArgs {
    /// Store it although it contains a private key, a token or a key of Accord
    #[arg(long)]
    allow_credentials: bool,
}

impl CredentialArgs {
    pub(crate) fn headers(&self) -> WriteHeaders {
        WriteHeaders { allow_credentials: self.allow_credentials, ..WriteHeaders::default() }
    }
}

impl WriteArgs {
    /// The project, which is required.
    pub(crate) fn project(&self, host: &Connection) -> Result<String> {
        self.project.required(&self.host.target, host)
    }

    /// Who acts, in its session, if the host has to be told.
    pub(crate) fn author(&self, host: &Connection) -> Result<Option<Actor>> {
        let Some(actor) = host.actor(&self.actor)? else { return Ok(None) };
        let ActorKey { id, kind } = actor.key().clone();
        let actor = Actor::new(id, kind);
        Ok(Some(match self.session.get().filter(|session| !session.is_empty()) {
            Some(session) => actor.in_session(id_of::<SessionId>("session_id", &session)?),
            None => actor,
        }))
    }
}

/// The project.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ProjectArg {
    /// The project [default: ACCORD_PROJECT, or `project` in accord.toml, or the only project]
    #[arg(long, value_name = "ID", help_heading = None::<&str>)]
    pub(crate) project: Option<String>,
}

impl ProjectArg {
    /// The project, which is required: the named one, else the only one of the host.
    pub(crate) fn required(&self, target: &TargetArgs, host: &Connection) -> Result<String> {
        self.get(target)?.map_or_else(|| host.only_project(), Ok)
    }

    /// The project, if one is named; the settings of the data folder are the weakest default.
    pub(crate) fn get(&self, target: &TargetArgs) -> Result<Option<String>> {
        match self.project.clone().or_else(|| setting("ACCORD_PROJECT")) {
            Some(project) => Ok(Some(project)),
            None => target.default_project(),
        }
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
    pub(crate) fn get(&self) -> Option<String> {
        self.session.clone().or_else(|| setting("ACCORD_SESSION"))
    }
}

// Which part of a list.
#[derive(Debug, clap::Args)]
pub(crate) struct PageArgs {
    /// The maximum number of entries [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

pub(crate) fn project_id(text: &str) -> Result<ProjectId> {
    id_of("project_id", text)
}
