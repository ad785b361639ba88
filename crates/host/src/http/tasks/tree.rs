//! The tree of a project: its settings, the scheduler, its files.

use accord_base::{Decision, Need};
use accord_contract::codes::Code;
use accord_memory_core::query::Number;
use accord_tasks::Tree;
use accord_tasks::requests::LintRequest;

use super::operation::{Operation, on_project, on_tree};
use crate::http::table::Route;
use crate::tasks::{SERVICE, TaskTrees};

const FINDINGS: Number = Number::new("limit", 1, 100_000).or(1_000);

pub(super) fn routes() -> Vec<Route> {
    vec![
        on_project(Need::Admin, TaskTrees::init)
        .post(
            "init_tasks",
            "/accord/v1/projects/{project_id}/tasks/init",
            "Creates the tree of a project, or changes its settings. Needs admin; settings that \
             decide about the work of agents need a person.",
        )
        .refuses(&[Code::AofProjectMismatch]),
        on_tree(Need::Decide(Decision::Approve), Tree::adopt_settings)
            .post(
                "adopt_task_settings",
                "/accord/v1/projects/{project_id}/tasks/adopt-settings",
                "A person takes over what `project.yaml` says about `apply` and `review`.",
            )
            .refuses(&[Code::AofNothingToAdopt, Code::XchainEvidenceChanged]),
        on_tree(Need::Write, Tree::poll).acting_as(|_| Some(SERVICE)).post(
            "poll_tasks",
            "/accord/v1/projects/{project_id}/tasks/poll",
            "Does everything that is due: recovers silent runs, promotes and blocks tasks. A poll \
             that finds nothing writes nothing.",
        ),
        Operation::new(
            Need::Read,
            |asked| {
                let mut request = LintRequest::default();
                request.limit = Some(FINDINGS.read_or_default(asked.params)?.into());
                Ok(request)
            },
            |tree, _, asked, by| tree.lint(asked, by),
        )
        .get(
            "lint_tasks",
            "/accord/v1/projects/{project_id}/tasks/lint",
            "Checks every file of the tree, and changes nothing.",
        )
        .query(FINDINGS, "The most findings; the others are counted."),
    ]
}
