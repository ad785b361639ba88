//! The end of a run, as a caller reports it that watched the agent itself.

use std::fs;

use accord_contract::Code;
use accord_tasks::Tree;
use accord_tasks_core::operations::{AgentExit, EndRunRequest, RunEnding};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Case, agent, claim, human};

/// A task that the agent claimed, and its run.
fn claimed(case: &Case) -> (TaskId, EndRunRequest) {
    let id = case.ready();
    let run_id = claim(&case.tree, id, AGENT);
    let exit = AgentExit::Success;
    let (text, observed, uploads, changes) = (None, None, None, None);
    (id, EndRunRequest { agent: None, run_id, exit, text, observed, uploads, changes })
}

fn end(tree: &Tree, id: TaskId, request: &EndRunRequest) -> (RunEnding, Status) {
    let answer = tree.end_run(&id.to_string(), request, &agent(AGENT)).unwrap();
    assert_eq!(answer.task_id, id);
    (answer.ending, answer.status)
}

#[test]
fn each_exit_has_its_end() {
    let case = Case::new();
    for (exit, expected) in [
        (AgentExit::Success, (RunEnding::Reported, Status::Review)),
        (AgentExit::Failure, (RunEnding::Failed, Status::Blocked)),
        (AgentExit::Cancelled, (RunEnding::Released, Status::Ready)),
        (AgentExit::WorkerKilled, (RunEnding::Reclaimed, Status::Ready)),
    ] {
        let (id, mut request) = claimed(&case);
        request.exit = exit;
        assert_eq!(end(&case.tree, id, &request), expected);
        assert!(!case.file(expected.1, id).contains("lease:"));
    }
    // A report counts more than the exit.
    let (id, mut request) = claimed(&case);
    let folder = case.folder.path().join(format!("tasks/in-progress/{id}/outputs"));
    fs::write(folder.join("report.json"), r#"{"outcome":"done"}"#).unwrap();
    request.exit = AgentExit::Failure;
    assert_eq!(end(&case.tree, id, &request), (RunEnding::Reported, Status::Review));
    // Again, as a caller does that did not get the answer.
    assert_eq!(end(&case.tree, id, &request), (RunEnding::Reported, Status::Review));
    case.is_clean();
}

#[test]
fn a_run_that_does_not_hold_the_task_ends_nothing() {
    let case = Case::new();
    let (id, mut request) = claimed(&case);
    let before = case.file(Status::InProgress, id);
    let own = std::mem::replace(&mut request.run_id, "another run".to_owned());
    assert_eq!(end(&case.tree, id, &request), (RunEnding::Lost, Status::InProgress));
    request.run_id = own;
    // An agent ends its own run alone; others name the agent.
    let other = case.tree.end_run(&id.to_string(), &request, &agent("other")).unwrap();
    assert_eq!(other.ending, RunEnding::Lost);
    request.agent = Some(AGENT.to_owned());
    let refused = case.tree.end_run(&id.to_string(), &request, &agent("other")).unwrap_err();
    assert_eq!(refused.code, Code::AofUnauthorizedAgent);
    assert_eq!(case.file(Status::InProgress, id), before);
    let ended = case.tree.end_run(&id.to_string(), &request, &human()).unwrap();
    assert_eq!(ended.ending, RunEnding::Reported);
}

#[test]
fn the_project_says_how_often_a_task_is_run() {
    let case = Case::new();
    let path = case.folder.path().join("project.yaml");
    let text = case.text("project.yaml");
    fs::write(path, format!("{text}retry:\n  maxAttempts: 1\n")).unwrap();
    let tree = case.reopened();
    let (id, mut request) = claimed(&case);
    request.exit = AgentExit::Failure;
    request.text = Some("no disk".to_owned());
    let ended = tree.end_run(&id.to_string(), &request, &agent(AGENT)).unwrap();
    assert_eq!(ended.status, Status::Deadletter);
    assert_eq!(ended.error.as_deref(), Some("no disk"));
}
