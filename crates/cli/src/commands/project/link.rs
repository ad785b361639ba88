//! `accord project link`, `unlink` and `links`: task trees outside the data folder.

use std::path::PathBuf;

use accord_api::{Answered, Call, Json, NoParams};
use accord_contract::{Code, Failure, Object};
use accord_tasks_core::operations::{
    InProject, LinkTaskTree, ListTaskTrees, TaskTreeEnvelope, TaskTreeLink, TaskTreeRequest,
    UnlinkTaskTree,
};

use crate::host::{HostArgs, print_answer, project_id};
use crate::render::clean;
use crate::{Exit, Result};

/// Link a folder with a task tree to a project; `accord serve` schedules its tasks
#[derive(Debug, clap::Args)]
pub(super) struct LinkArgs {
    /// The project id
    id: String,

    /// The folder with the task tree, on the machine of the server
    #[arg(long, value_name = "DIR")]
    tasks: PathBuf,

    #[command(flatten)]
    host: HostArgs,
}

/// Remove the link of a project to a folder; the files stay where they are
#[derive(Debug, clap::Args)]
pub(super) struct UnlinkArgs {
    /// The project id
    id: String,

    #[command(flatten)]
    host: HostArgs,
}

impl LinkArgs {
    pub(super) fn run(self) -> Result<Exit> {
        // A path of this machine, unless it does not exist here: then it is one of the server.
        let folder = self.tasks.canonicalize().unwrap_or(self.tasks);
        let folder = folder.to_str().ok_or_else(|| {
            Failure::new(Code::WireFieldValue, format!("{} is not UTF-8", folder.display()))
        })?;
        let path = InProject { project: project_id(&self.id)? };
        let body = Json(TaskTreeRequest { folder: folder.to_owned(), extra: Object::new() });
        let call = Call::<LinkTaskTree>::new(path, NoParams, body);
        print_link(self.host.json, &self.host.connect()?.call(&call)?)
    }
}

impl UnlinkArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let path = InProject { project: project_id(&self.id)? };
        print_link(self.host.json, &self.host.connect()?.ask::<UnlinkTaskTree>(path, NoParams)?)
    }
}

pub(super) fn links(host: HostArgs) -> Result<Exit> {
    let listed = host.connect()?.ask::<ListTaskTrees>(NoParams, NoParams)?;
    print_answer(host.json, &listed, |page, answer| {
        answer.0.links.iter().for_each(|link| page.line(line(link)));
    })
}

fn print_link(json: bool, answered: &Answered<Json<TaskTreeEnvelope>>) -> Result<Exit> {
    print_answer(json, answered, |page, answer| page.line(line(&answer.0.link)))
}

fn line(link: &TaskTreeLink) -> String {
    let folder = link.folder.as_deref().unwrap_or("no link");
    clean(&format!("{}  {folder}", link.project_id.as_str()))
}
