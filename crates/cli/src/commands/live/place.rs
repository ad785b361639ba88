//! Which host is asked, and about which project.

use accord_api::parameter::InProject;
use accord_base::IdError;
use accord_base::refuse::schema;
use accord_live_core::SessionId;
use accord_live_core::operations::OfSession;
use accord_live_core::operations::questions::{
    ListLiveSessions, LiveSessionItem, LiveSessionsQuery,
};

use crate::Result;
use crate::host::{Candidate, Connection, HostArgs, ProjectArg, choose, project_id};

/// How many sessions of a beginning are named.
const NAMED: u32 = 10;

/// The project, and the host that has its live sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

/// A host, and a project of it.
pub(crate) struct Place {
    pub(crate) project: String,
    pub(crate) host: Connection,
    /// Whether documents are printed as JSON.
    pub(super) json: bool,
}

impl PlaceArgs {
    /// Connects to a server, or to the host of a data folder; without one, opens the folder.
    pub(super) fn open(&self) -> Result<Place> {
        self.place(self.host.connect()?)
    }

    /// Connects to a host for a long wait; the first write creates a missing data folder.
    pub(crate) fn open_to_wait(&self) -> Result<Place> {
        self.place(Connection::for_waiting(&self.host.target)?)
    }

    /// What a command beside this one passes on to reach the same project.
    pub(super) fn options(&self, project: &str) -> String {
        let quoted = |text: &str| shell_words::quote(text).into_owned();
        let mut options = format!("--project {}", quoted(project));
        if let Some(data) = &self.host.target.data {
            options.push_str(&format!(" --data {}", quoted(&data.to_string_lossy())));
        }
        if let Some(url) = &self.host.target.url {
            options.push_str(&format!(" --url {}", quoted(url)));
        }
        options
    }

    /// Connects to a host that runs: what the command gets comes from that host alone.
    pub(super) fn open_served(&self) -> Result<Place> {
        self.place(self.host.target.to_served()?)
    }

    fn place(&self, host: Connection) -> Result<Place> {
        let project = self.project.required(&self.host.target, &host)?;
        Ok(Place { project, host, json: self.host.json })
    }
}

impl Place {
    pub(super) fn sessions(&self) -> Result<InProject> {
        Ok(InProject { project: project_id(&self.project)? })
    }

    /// The path of operations on a session, by the beginning of its id.
    pub(super) fn session(&self, given: &str) -> Result<OfSession> {
        let InProject { project } = self.sessions()?;
        Ok(OfSession { project, session: self.session_id(given)? })
    }

    fn session_id(&self, given: &str) -> Result<SessionId> {
        let (prefix, limit) = (Some(given.to_owned()), Some(NAMED));
        let query = LiveSessionsQuery { prefix, limit, ..LiveSessionsQuery::default() };
        let found = self.host.ask::<ListLiveSessions>(self.sessions()?, query)?.answer.0.result;
        let candidate = |session: LiveSessionItem| Candidate {
            id: session.session_id.as_str().to_owned(),
            place: session.intent.unwrap_or_default(),
        };
        let more = found.next_cursor.is_some();
        let candidates = found.sessions.into_iter().map(candidate).collect();
        let id = choose("live session", given, candidates, more)?;
        id.parse().map_err(|error: IdError| schema("/live_session_id", error.to_string()).into())
    }
}
