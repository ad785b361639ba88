//! `accord project link`, `unlink` and `links`: task trees outside the data folder.

use std::path::PathBuf;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use serde_json::json;

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{HostArgs, HostRequest};
use crate::render::clean;

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

/// List the folders with tasks that are linked to projects
#[derive(Debug, clap::Args)]
pub(super) struct LinksArgs {
    #[command(flatten)]
    host: HostArgs,
}

impl LinkArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        // A path of this machine, unless it does not exist here: then it is one of the server.
        let folder = self.tasks.canonicalize().unwrap_or(self.tasks);
        let folder = folder.to_str().ok_or_else(|| {
            let message = format!("{} is not UTF-8", folder.display());
            Failure::new(Code::WireFieldValue, message)
        })?;
        let path = ["accord", "v1", "projects", &self.id, "task-tree"];
        let request = HostRequest::new(hyper::Method::PUT, &path);
        let request = request.document(json!({"folder": folder}).to_string());
        let answer = self.host.connect()?.send(request)?;
        answer.print(self.host.json, |page, answer| page.line(line(&answer["link"])))?;
        Ok(Exit::Yes)
    }
}

impl UnlinkArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let path = ["accord", "v1", "projects", &self.id, "task-tree"];
        let answer = self.host.connect()?.send(HostRequest::new(hyper::Method::DELETE, &path))?;
        answer.print(self.host.json, |page, answer| page.line(line(&answer["link"])))?;
        Ok(Exit::Yes)
    }
}

impl LinksArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let request = HostRequest::get(&["accord", "v1", "task-trees"]);
        let answer = self.host.connect()?.send(request)?;
        answer.print(self.host.json, |page, answer| {
            let links = answer["links"].as_array().into_iter().flatten();
            links.for_each(|link| page.line(line(link)));
        })?;
        Ok(Exit::Yes)
    }
}

fn line(link: &Value) -> String {
    let project = clean(link["project_id"].as_str().unwrap_or_default());
    match link["folder"].as_str() {
        Some(folder) => format!("{project}  {}", clean(folder)),
        None => format!("{project}  no link"),
    }
}
