//! The project of a command that names none: the only one of the host.

use accord_api::NoParams;
use accord_base::ProjectId;
use accord_contract::Object;
use accord_memory_core::operations::{ListProjects, ProjectParams};
use serde_json::json;

use super::open::Connection;
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// How many projects a refusal lists.
const LISTED: usize = 20;

/// How a command names its project.
const HELP: &str = "use --project or ACCORD_PROJECT, or set a default with `accord project use ID`";

impl Connection {
    /// The only project of the host. Says which one it is, once.
    pub(crate) fn only_project(&self) -> Result<String> {
        if let Some(project) = self.only.get() {
            return Ok(project.clone());
        }
        let mut projects = self.some_projects()?;
        let project = match projects.len() {
            0 => return Err(none_exists()),
            1 => projects.remove(0),
            _ => return Err(several(projects)),
        };
        print_note(clean(&format!("using the project {project}, the only one")));
        Ok(self.only.get_or_init(|| project).clone())
    }

    /// The first projects, without archived ones: one more than a refusal lists. Without the store,
    /// the projects that have tasks.
    fn some_projects(&self) -> Result<Vec<String>> {
        if let Some(trees) = &self.trees {
            let ids = trees.projects().into_iter().take(LISTED + 1);
            return Ok(ids.map(ProjectId::into_string).collect());
        }
        let limit = u32::try_from(LISTED + 1).ok();
        let asked = ProjectParams { limit, ..ProjectParams::default() };
        let projects = self.ask::<ListProjects>(NoParams, asked)?.answer.0.projects;
        Ok(projects.into_iter().map(|project| project.project_id.into_string()).collect())
    }
}

fn none_exists() -> CliError {
    CliError::usage("no project given, and there is none yet").help(format!(
        "{HELP}; the first write to a project creates it, for example `accord task init --project \
         ID` or `accord context deposit --project ID …`"
    ))
}

fn several(mut projects: Vec<String>) -> CliError {
    let more = if projects.len() > LISTED { ", …" } else { "" };
    projects.truncate(LISTED);
    let message = format!("no project given, and there are several: {}{more}", projects.join(", "));
    let details = Object::from_iter([("projects".to_owned(), json!(projects))]);
    CliError::usage(clean(&message)).help(HELP).with_details(details)
}
