//! `accord context pull`.

use accord_contract::codes::Code;
use accord_memory_core::package::Status;
use clap::builder::PossibleValuesParser;

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Connection, HostArgs, HostRequest, ProjectArg};
use crate::output::{Output, print_note};
use crate::render;

/// Read packages: one by its id, the latest, or the matches of a query
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PullArgs {
    /// The id of one package, or its beginning [default: the latest packages]
    #[arg(value_name = "ID",
          conflicts_with_all = ["latest", "query", "status", "session", "limit", "cursor"])]
    id: Option<String>,

    /// Show the revisions of the package, with the notes of reviewers
    #[arg(long, requires = "id")]
    history: bool,

    /// The number of latest packages [default: 5]
    #[arg(long, value_name = "N", conflicts_with_all = ["query", "limit"])]
    latest: Option<u32>,

    /// A search text
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// How to search: by words, by meaning or by both [default: the best available]
    #[arg(long, value_name = "WAY", requires = "query",
          value_parser = ["keyword", "semantic", "hybrid"])]
    search: Option<String>,

    /// Only packages with this status
    #[arg(long, value_name = "STATUS",
          value_parser = PossibleValuesParser::new(Status::ALL.iter().map(|it| it.as_str())))]
    status: Option<String>,

    /// Only packages of this session, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// The maximum number of packages
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR", conflicts_with = "query")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

impl PullArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match &self.id {
            Some(id) => self.one(id),
            None => self.several(),
        }
    }

    fn one(&self, id: &str) -> Result<Exit, CliError> {
        let project = self.project.get(&self.host.target)?;
        let host = self.host.connect()?;
        let id = &host.package_id(id, project.as_deref())?;
        match self.ask_for_one(&host, id, project.as_deref()) {
            Ok(()) => Ok(Exit::Yes),
            Err(error) if error.code() == Some(Code::AgenticPackageNotFound) => {
                if self.host.json {
                    let mut output = Output::stdout();
                    output.line("null")?;
                    output.finish()?;
                } else {
                    let place = project.map_or(String::new(), |project| format!(" in {project}"));
                    print_note(render::clean(&format!("no package {id}{place}")));
                }
                Ok(Exit::No)
            }
            Err(error) => Err(error),
        }
    }

    fn ask_for_one(
        &self,
        host: &Connection,
        id: &str,
        project: Option<&str>,
    ) -> Result<(), CliError> {
        if self.history {
            let request =
                HostRequest::get(&["v1", "packages", id, "revisions"]).with("project_id", project);
            let answer = host.send(request)?;
            return answer.print(self.host.json, |page, log| {
                render::revisions(page, &log["revisions"]);
            });
        }
        let request = HostRequest::get(&["v1", "packages", id]).with("project_id", project);
        host.send(request)?.print(self.host.json, render::whole)
    }

    fn several(&self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let session = self.session.as_ref().map(|id| host.session_id(id, Some(&project)));
        let session = session.transpose()?;
        let request = HostRequest::get(&["v1", "projects", &project, "packages"])
            .with("mode", self.query.is_some().then_some("relevant"))
            .with("query", self.query.as_ref())
            .with("search", self.search.as_ref())
            .with("status", self.status.as_ref())
            .with("session_id", session)
            .with_number("limit", self.latest.or(self.limit))
            .with("cursor", self.cursor.as_ref());
        let answer = host.send(request)?;
        let is_narrowed = self.status.is_some() || self.session.is_some() || self.cursor.is_some();
        answer.print_list(self.host.json, render::packages, || {
            match (&self.query, is_narrowed) {
                (Some(_), _) => format!("no package in {project} matches the query"),
                (None, true) => format!("no matching package in {project}"),
                (None, false) => format!(
                    "{project} has no packages; `accord context deposit --project {project} \
                     --title TEXT` adds one"
                ),
            }
        })?;
        Ok(Exit::Yes)
    }
}

const EXAMPLES: &str = "\
Examples:
  accord context pull --project shop                       the latest five
  accord context pull --project shop --query \"backups\"
  accord context pull --project shop --status awaiting_review
  accord context pull pkg_1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d

Exit codes: 0 success; 1 no package with that id (with --json: `null`); 2 error.";
