//! `accord project`: projects, which packages, facts and sessions belong to.

mod default;
mod edge_decision;
mod edges;
mod link;
mod runs;

use accord_api::{Answered, Call, Json, NoParams, Verbatim};
use accord_contract::{Code, Field, Object};
use accord_memory_core::Project;
use accord_memory_core::operations::{
    ArchiveProject, ChangeProject, CreateProject, ListProjects, ProjectParams, ReadProject,
    RemoveProject, UnarchiveProject,
};
use accord_memory_core::project::{ProjectChange, ProjectRequest};

use crate::host::{
    HostArgs, PageArgs, ProjectArg, id_of, in_project, print_answer, print_items, text_as,
};
use crate::render::{self, Page, clean};
use crate::{Exit, Result, print_note};

subcommands! {
    /// Create, list, choose, rename, archive, restore, link and remove projects
    pub(crate) ProjectArgs, ProjectCommand {
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
        Edges(edges::EdgesArgs),
        Runs(runs::RunsArgs),
        /// List the folders with tasks that are linked to projects
        Links(HostArgs) => link::links,
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

    #[command(flatten)]
    page: PageArgs,
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
    fn run(self) -> Result<Exit> {
        let asked = ProjectRequest {
            project_id: Field::Value(id_of("project_id", &self.id)?),
            name: self.name.map(|text| text_as("name", text)).transpose()?.into(),
            description: self.description.into(),
            extra: Object::new(),
        };
        let call = Call::<CreateProject>::new(NoParams, NoParams, Verbatim::from(&asked));
        print(&self.host.connect_or_create()?.call(&call)?, self.host.json)
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit> {
        let (include_archived, PageArgs { limit, cursor }) = (self.include_archived, self.page);
        let asked = ProjectParams { include_archived, limit, cursor, max_tokens: None };
        print_items(
            self.host.json,
            &self.host.connect()?.ask::<ListProjects>(NoParams, asked)?,
            |page, list| render::projects(page, &list.projects),
            || "no projects; `accord project create` or the first deposit creates one".to_owned(),
        )
    }
}

impl ShowArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let id = ProjectArg { project: self.id }.required(&self.host.target, &host)?;
        print(&host.ask::<ReadProject>(in_project(&id)?, NoParams)?, self.host.json)
    }
}

impl RenameArgs {
    fn run(self) -> Result<Exit> {
        let change = ProjectChange {
            name: Some(text_as("name", self.name)?),
            description: self.description.into(),
            extra: Object::new(),
        };
        let body = Verbatim::from(&change);
        let call = Call::<ChangeProject>::new(in_project(&self.id)?, NoParams, body);
        print(&self.host.connect()?.call(&call)?, self.host.json)
    }
}

impl OneArgs {
    fn run(self, verb: &str) -> Result<Exit> {
        let (host, path) = (self.host.connect()?, in_project(&self.id)?);
        let answered = match verb {
            "archive" => host.ask::<ArchiveProject>(path, NoParams)?,
            _ => host.ask::<UnarchiveProject>(path, NoParams)?,
        };
        print(&answered, self.host.json)
    }
}

fn print(answered: &Answered<Json<Project>>, json: bool) -> Result<Exit> {
    print_answer(json, answered, |page, answer| render::project(page, &answer.0))
}

impl RemoveArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let remove = |id: &str| {
            let removed = host.ask::<RemoveProject>(in_project(id)?, NoParams)?;
            let render = |page: &mut Page, Json(it): &Json<_>| render::removed_project(page, it);
            print_answer(self.host.json, &removed, render).map(drop)
        };
        if !self.conformance {
            self.ids.iter().try_for_each(|id| remove(id))?;
            return Ok(Exit::Yes);
        }
        let marked = host.every_project()?.0.into_iter().filter(Project::is_for_conformance);
        let ids: Vec<_> = marked.map(|project| project.project_id.into_string()).collect();
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

const REMOVES: &str = "\
A project can be removed if it was created with x-conformance: true, as `accord check` does, or if
it holds no package, fact, session, blob, task or live session. Any other project can be archived.
The key needs admin for all projects. The numbers of its events are not used again.";
