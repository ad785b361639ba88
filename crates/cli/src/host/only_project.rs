//! The project of a command that names none: the only one of the host. And of one that may have
//! mistyped its name: the nearest one.

use std::path::Path;
use std::sync::Once;

use accord_api::NoParams;
use accord_base::ProjectId;
use accord_contract::closest::closest;
use accord_contract::{Code, Object};
use accord_memory_core::operations::{ListProjects, ProjectParams};
use serde_json::json;

use super::answer::Answer;
use super::open::{Connection, holds_store};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// How many projects are compared with a name that may be mistyped.
const COMPARED: u32 = 200;

/// The refusals of a project that is unknown.
const UNKNOWN: [Code; 2] = [Code::AgenticProjectNotFound, Code::AofNoTaskTree];

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
            0 => return Err(none_exists(self.is_of_tasks_alone())),
            1 => projects.remove(0),
            _ => return Err(several(projects)),
        };
        // A command that works for long connects many times.
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            print_note(clean(&format!("using the project {project}, the only one")));
        });
        Ok(self.only.get_or_init(|| project).clone())
    }

    /// The first projects, without archived ones: one more than a refusal lists.
    fn some_projects(&self) -> Result<Vec<String>> {
        self.first_projects(u32::try_from(LISTED + 1).unwrap_or(COMPARED))
    }

    /// The first projects, without archived ones. Without the store, the projects that have tasks.
    fn first_projects(&self, most: u32) -> Result<Vec<String>> {
        if let Some(trees) = &self.trees {
            let ids = trees.projects().into_iter().take(most as usize);
            return Ok(ids.map(ProjectId::into_string).collect());
        }
        let asked = ProjectParams { limit: Some(most), ..ProjectParams::default() };
        let projects = self.ask::<ListProjects>(NoParams, asked)?.answer.0.projects;
        Ok(projects.into_iter().map(|project| project.project_id.into_string()).collect())
    }

    /// The other project that may have been meant.
    fn near(&self, project: &str) -> Option<String> {
        // Who may not list projects learns of none.
        let others = self.first_projects(COMPARED).unwrap_or_default();
        let others = others.iter().map(String::as_str).filter(|other| *other != project);
        closest(project, others).map(str::to_owned)
    }

    /// A refusal of a project that is unknown, with the one that may have been meant.
    pub(super) fn naming_the_near(&self, error: CliError, project: Option<String>) -> CliError {
        let code = error.code().filter(|code| UNKNOWN.contains(code));
        let Some((code, project)) = code.zip(project) else { return error };
        match self.near(&project) {
            Some(near) => error.help(format!("did you mean {}? {}", clean(&near), code.meaning())),
            None => error,
        }
    }

    /// Says so if a request created its project.
    pub(super) fn note_if_new(&self, answer: &Answer) {
        if let Some(project) = &answer.new_project {
            self.note_new_project("new project", project);
        }
    }

    /// Says that a command created a project, and which other one may have been meant.
    fn note_new_project(&self, what: &str, project: &str) {
        let near = self.near(project);
        let meant = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        print_note(clean(&format!("{what} {project} in {}{meant}", self.place)));
    }

    /// Whether a project has no tasks yet, as far as this process has the trees.
    pub(crate) fn lacks_tasks(&self, project: &ProjectId) -> bool {
        let tree = self.trees.as_ref().map(|trees| trees.find(project));
        matches!(tree, Some(Ok(None)))
    }

    /// Says that a command created the first tasks of a project.
    pub(crate) fn note_first_tasks(&self, project: &str) {
        let is_known = self.is_of_tasks_alone();
        let what = if is_known { "first tasks of the project" } else { "new project" };
        self.note_new_project(what, project);
    }

    /// Whether there is a store that is not opened, and may have other projects.
    fn is_of_tasks_alone(&self) -> bool {
        self.trees.is_some() && holds_store(Path::new(&self.place))
    }
}

fn none_exists(of_tasks: bool) -> CliError {
    let none = if of_tasks { "none has tasks yet" } else { "there is none yet" };
    CliError::usage(format!("no project given, and {none}")).help(format!(
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
