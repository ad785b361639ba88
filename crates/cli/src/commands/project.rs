//! `accord project`: projects, which packages, facts and sessions belong to.

mod default;
mod link;

use accord_api::body::Json;
use accord_api::parameter::NoParams;
use accord_contract::codes::Code;
use accord_contract::wire::Value;
use accord_memory_core::operations::{OfProject, RemoveProject};

use super::document;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Connection, HostArgs, HostRequest, ProjectArg, print_answer, project_id};
use crate::output::print_note;
use crate::render::{self, Page, clean};

/// Create, list, choose, rename, archive, restore, link and remove projects
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
}

subcommands! {
    ProjectArgs, ProjectCommand {
        Create(CreateArgs),
        List(ListArgs),
        Show(ShowArgs),
        Rename(RenameArgs),
        Use(default::UseArgs),
        /// Archive a project: it becomes read-only
        Archive(OneArgs) as "archive",
        /// Restore an archived project
        Restore(OneArgs) as "unarchive",
        Remove(RemoveArgs),
        Link(link::LinkArgs),
        Unlink(link::UnlinkArgs),
        Links(link::LinksArgs),
    }
}

/// Create a project; the first deposit creates one, too
#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// The project id
    id: String,

    /// A name for people [default: the id]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// A description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// List projects
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Include archived projects
    #[arg(long)]
    include_archived: bool,

    /// The maximum number of entries [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// Show one project
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The project id [default: ACCORD_PROJECT, or `project` in accord.toml, or the only project]
    id: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// Rename a project; its id stays the same
#[derive(Debug, clap::Args)]
struct RenameArgs {
    /// The project id
    id: String,

    /// The new name
    name: String,

    /// A new description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

#[derive(Debug, clap::Args)]
struct OneArgs {
    /// The project id
    id: String,

    #[command(flatten)]
    host: HostArgs,
}

/// Remove projects that were created for a conformance run, or that hold nothing
#[derive(Debug, clap::Args)]
#[command(after_help = REMOVES)]
struct RemoveArgs {
    /// The project ids
    #[arg(required_unless_present = "conformance", value_name = "ID")]
    ids: Vec<String>,

    /// Remove every project with x-conformance: true, also archived ones
    #[arg(long, conflicts_with = "ids")]
    conformance: bool,

    #[command(flatten)]
    host: HostArgs,
}

impl CreateArgs {
    fn run(self) -> Result<Exit, CliError> {
        let body = document([
            ("project_id", self.id.into()),
            ("name", self.name.into()),
            ("description", self.description.into()),
        ]);
        let request = HostRequest::post(&["v1", "projects"], &body);
        let answer = self.host.connect_or_create()?.send(request)?;
        answer.print(self.host.json, render::project)?;
        Ok(Exit::Yes)
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit, CliError> {
        let request = HostRequest::get(&["v1", "projects"])
            .with_flag("include_archived", self.include_archived)
            .with_number("limit", self.limit)
            .with("cursor", self.cursor.as_ref());
        let answer = self.host.connect()?.send(request)?;
        answer.print_list(
            self.host.json,
            |page, list| render::projects(page, &list["projects"]),
            || "no projects; `accord project create` or the first deposit creates one".to_owned(),
        )?;
        Ok(Exit::Yes)
    }
}

impl ShowArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let id = ProjectArg { project: self.id }.required(&self.host.target, &host)?;
        let answer = host.send(HostRequest::get(&["v1", "projects", &id]))?;
        answer.print(self.host.json, render::project)?;
        Ok(Exit::Yes)
    }
}

impl RenameArgs {
    fn run(self) -> Result<Exit, CliError> {
        let body = [("name", self.name.into()), ("description", self.description.into())];
        let request = HostRequest::new(hyper::Method::PATCH, &["v1", "projects", &self.id]);
        let answer = self.host.connect()?.send(request.document(document(body).to_string()))?;
        answer.print(self.host.json, render::project)?;
        Ok(Exit::Yes)
    }
}

impl OneArgs {
    fn run(self, verb: &str) -> Result<Exit, CliError> {
        let request = HostRequest::new(hyper::Method::POST, &["v1", "projects", &self.id, verb]);
        let answer = self.host.connect()?.send(request)?;
        answer.print(self.host.json, render::project)?;
        Ok(Exit::Yes)
    }
}

impl RemoveArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let remove = |id: &str| {
            let path = OfProject { project: project_id(id)? };
            let removed = host.ask::<RemoveProject>(path, NoParams)?;
            let render = |page: &mut Page, Json(it): &Json<_>| render::removed_project(page, it);
            print_answer(self.host.json, &removed, render).map(drop)
        };
        if !self.conformance {
            self.ids.iter().try_for_each(|id| remove(id))?;
            return Ok(Exit::Yes);
        }
        let marked = every_project(&host)?.into_iter();
        let marked = marked.filter(|project| project["x-conformance"] == true);
        let ids: Vec<_> = marked
            .filter_map(|project| project["project_id"].as_str().map(str::to_owned))
            .collect();
        if ids.is_empty() {
            print_note("no project has x-conformance: true");
        }
        let mut is_whole = true;
        for id in ids {
            match remove(&id) {
                // The mark was set after the project was created.
                Err(error) if error.code() == Some(Code::AgenticProjectNotEmpty) => {
                    print_note(clean(&format!("not removed: {error}")));
                    is_whole = false;
                }
                removed => removed?,
            }
        }
        Ok(Exit::from_answer(is_whole))
    }
}

/// All projects of a host, archived ones included.
fn every_project(host: &Connection) -> Result<Vec<Value>, CliError> {
    let mut projects = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let request = HostRequest::get(&["v1", "projects"])
            .with_flag("include_archived", true)
            .with_number("limit", Some(200))
            .with("cursor", cursor.as_ref());
        let page = host.send(request)?.value()?;
        projects.extend(page["projects"].as_array().into_iter().flatten().cloned());
        let next = page["next_cursor"].as_str().map(str::to_owned);
        // A server that returns the same cursor again would keep this loop running for ever.
        if next.is_none() || next == cursor {
            return Ok(projects);
        }
        cursor = next;
    }
}

const REMOVES: &str = "\
A project can be removed if it was created with x-conformance: true, as `accord check` does, or if
it holds no package, fact, session, blob, task or live session. Any other project can be archived.
The key needs admin for all projects. The numbers of its events are not used again.";
