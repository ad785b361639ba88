//! `accord session`: sessions of an actor.

use accord_contract::codes::Code;
use accord_contract::wire::Value;

use super::document;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{ActorArg, HostArgs, HostRequest, ProjectArg, setting};
use crate::render;

/// Start, end and list sessions
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
}

subcommands! {
    SessionArgs, SessionCommand {
        Start(StartArgs),
        End(EndArgs),
        List(ListArgs),
    }
}

/// Start a session; it gets a callsign of two words, for people
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  export ACCORD_SESSION=$(accord session start \\\n      \
                  --project shop \
                  --actor agent:planner --id-only)")]
struct StartArgs {
    /// The callsign [default: generated]
    #[arg(long, value_name = "TEXT")]
    callsign: Option<String>,

    /// Print only the session id
    #[arg(long, conflicts_with = "json")]
    id_only: bool,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    actor: ActorArg,

    #[command(flatten)]
    host: HostArgs,
}

/// End a session
#[derive(Debug, clap::Args)]
struct EndArgs {
    /// The session id, or its beginning [default: ACCORD_SESSION]
    id: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

/// List sessions, the newest first
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only sessions with this callsign
    #[arg(long, value_name = "TEXT")]
    callsign: Option<String>,

    /// Only sessions that have not ended
    #[arg(long)]
    active: bool,

    /// The maximum number of entries [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

impl StartArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect_or_create()?;
        let project = self.project.required(&self.host.target, &host)?;
        let actor: Value = host.actor(&self.actor)?.map(|actor| actor.document(None)).into();
        let body = document([
            ("actor_id", actor["id"].clone()),
            ("actor_type", actor["type"].clone()),
            ("callsign", self.callsign.into()),
        ]);
        let request = HostRequest::post(&["v1", "projects", &project, "sessions"], &body);
        let answer = host.send_to_project(&project, request)?;
        answer.print(self.host.json, |page, session| {
            if self.id_only {
                page.line(session["session_id"].as_str().unwrap_or_default());
            } else {
                render::session(page, session);
            }
        })?;
        Ok(Exit::Yes)
    }
}

impl EndArgs {
    fn run(self) -> Result<Exit, CliError> {
        let id = self.id.or_else(|| setting("ACCORD_SESSION")).ok_or_else(|| {
            CliError::new(Code::Usage, "no session given").help(
                "give its id, or set ACCORD_SESSION; `accord session list` lists the sessions",
            )
        })?;
        let host = self.host.connect()?;
        let project = self.project.get(&self.host.target)?;
        let id = host.session_id(&id, project.as_deref())?;
        let request = HostRequest::new(hyper::Method::PATCH, &["v1", "sessions", &id])
            .document(Value::Object(serde_json::Map::new()).to_string())
            .with("project_id", project);
        let answer = host.send(request)?;
        answer.print(self.host.json, render::session)?;
        Ok(Exit::Yes)
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let request = HostRequest::get(&["v1", "projects", &project, "sessions"])
            .with("callsign", self.callsign.as_ref())
            .with_flag("active", self.active)
            .with_number("limit", self.limit)
            .with("cursor", self.cursor.as_ref());
        let answer = host.send(request)?;
        answer.print_list(
            self.host.json,
            |page, list| render::sessions(page, &list["sessions"]),
            || {
                if self.callsign.is_some() || self.active {
                    format!("no matching session in {project}")
                } else {
                    format!("{project} has no sessions; `accord session start` starts one")
                }
            },
        )?;
        Ok(Exit::Yes)
    }
}
