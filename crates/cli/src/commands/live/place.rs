//! Which host is asked, and about which project.

use accord_contract::wire::Value;
use hyper::Method;

use crate::error::CliError;
use crate::host::{
    Answer, Candidate, Connection, HostArgs, HostRequest, IfMissing, ProjectArg, Target, choose,
};

/// How many sessions of a beginning are named.
const NAMED: u32 = 10;

/// The project, and the host that has its live sessions.
#[derive(Debug, clap::Args)]
pub(super) struct PlaceArgs {
    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

/// A host, and a project of it.
pub(super) struct Place {
    /// The project.
    pub(super) project: String,
    /// The host.
    pub(super) host: Connection,
    /// Whether documents are printed as JSON.
    pub(super) json: bool,
}

impl PlaceArgs {
    /// Connects to a server, or to the host of a data folder; without one, opens the folder.
    pub(super) fn open(&self) -> Result<Place, CliError> {
        let target = self.host.target.target()?;
        self.place(match target {
            Target::Server { url, key } => Connection::to_server(&url, key)?,
            Target::Folder(folder) => Connection::in_folder(&folder, IfMissing::Fail)?,
        })
    }

    /// Connects to a host that runs: what the command gets comes from that host alone.
    pub(super) fn open_served(&self) -> Result<Place, CliError> {
        let target = self.host.target.target()?;
        self.place(match target {
            Target::Server { url, key } => Connection::to_server(&url, key)?,
            Target::Folder(folder) => Connection::to_running_host(&folder)?,
        })
    }

    fn place(&self, host: Connection) -> Result<Place, CliError> {
        let project = self.project.required(&self.host.target, &host)?;
        Ok(Place { project, host, json: self.host.json })
    }
}

impl Place {
    /// A request below the live sessions of the project.
    pub(super) fn request(&self, method: Method, below: &[&str]) -> HostRequest {
        let mut path = vec!["accord", "v1", "projects", self.project.as_str(), "live"];
        path.extend(below);
        HostRequest::new(method, &path)
    }

    /// A question about them.
    pub(super) fn get(&self, below: &[&str]) -> HostRequest {
        self.request(Method::GET, below)
    }

    /// Sends a request, and waits for the whole answer.
    pub(super) fn send(&self, request: HostRequest) -> Result<Answer, CliError> {
        self.host.send(request)
    }

    /// Sends a request, and reads the result.
    pub(super) fn ask(&self, request: HostRequest) -> Result<Value, CliError> {
        let mut document = self.send(request)?.value()?;
        Ok(document["result"].take())
    }

    /// The id of a session, from its beginning.
    pub(super) fn session_id(&self, given: &str) -> Result<String, CliError> {
        let request = self.get(&["sessions"]).with("prefix", Some(given));
        let found = self.ask(request.with_number("limit", Some(NAMED)))?;
        let sessions = found["sessions"].as_array().map_or(&[][..], Vec::as_slice);
        let candidate = |session: &Value| Candidate {
            id: session["session_id"].as_str().unwrap_or_default().to_owned(),
            place: session["intent"].as_str().unwrap_or_default().to_owned(),
        };
        let more = found["next_cursor"].is_string();
        choose("live session", given, sessions.iter().map(candidate).collect(), more)
    }
}
