//! `accord session`: sessions of an actor.

use accord_api::{Call, Json, Maybe, NoParams, Verbatim};
use accord_contract::{Field, Object};
use accord_memory_core::operations::{
    EndSession, ListSessions, OfSession, SessionParams, SessionWithin, StartSession,
};
use accord_memory_core::session::{SessionEnd, SessionRequest};

use crate::host::{
    ActorArg, HostArgs, PageArgs, ProjectArg, id_of, in_project, print_answer, print_items,
    setting, text_as,
};
use crate::render;
use crate::{CliError, Exit, Result};

subcommands! {
    /// Start, end and list sessions
    pub(crate) SessionArgs, SessionCommand {
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

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl StartArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect_or_create()?;
        let project = self.project.required(&self.host.target, &host)?;
        let actor = host.actor(&self.actor)?.map(|actor| actor.key().clone());
        let asked = SessionRequest {
            project_id: Field::Absent,
            actor_id: actor.as_ref().map(|actor| actor.id.clone()).into(),
            actor_type: actor.map(|actor| actor.kind).into(),
            callsign: self.callsign.map(|text| text_as("callsign", text)).transpose()?.into(),
            extra: Object::new(),
        };
        let body = Maybe(Some(Verbatim::from(&asked)));
        let call = Call::<StartSession>::new(in_project(&project)?, NoParams, body);
        let (answered, _) = host.write_to(&call, &NoParams)?;
        print_answer(self.host.json, &answered, |page, Json(session)| match self.id_only {
            true => page.line(session.session_id.as_str()),
            false => render::session(page, session),
        })
    }
}

impl EndArgs {
    fn run(self) -> Result<Exit> {
        let id = self.id.or_else(|| setting("ACCORD_SESSION")).ok_or_else(|| {
            CliError::usage("no session given").help(
                "give its id, or set ACCORD_SESSION; `accord session list` lists the sessions",
            )
        })?;
        let host = self.host.connect()?;
        let project = self.project.get(&self.host.target)?;
        let id = host.session_id(&id, project.as_deref())?;
        let path = OfSession { session: id_of("session_id", &id)? };
        let project = project.map(|id| id_of("project_id", &id)).transpose()?;
        let body = Maybe(Some(Verbatim::from(&SessionEnd { ended_at: Field::Absent })));
        let call = Call::<EndSession>::new(path, SessionWithin { project }, body);
        print_answer(self.host.json, &host.call(&call)?, |page, Json(it)| render::session(page, it))
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let is_narrowed = self.callsign.is_some() || self.active;
        let (active, PageArgs { limit, cursor }) = (self.active, self.page);
        let callsign = self.callsign;
        let asked = SessionParams { callsign, active, limit, cursor, max_tokens: None };
        print_items(
            self.host.json,
            &host.ask::<ListSessions>(in_project(&project)?, asked)?,
            |page, list| render::sessions(page, &list.sessions),
            || match is_narrowed {
                true => format!("no matching session in {project}"),
                false => format!("{project} has no sessions; `accord session start` starts one"),
            },
        )
    }
}
