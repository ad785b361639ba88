//! Checks of tasks, and what Accord observes beside the words of an agent.

use std::fs;
use std::path::Path;
use std::process::Command;

use accord_base::By;
use accord_contract::{Code, Field};
use accord_process::Cancel;
use accord_tasks::worker::{AgentCommand, WorkSignal, Worker};
use accord_tasks_core::operations::{
    AgentExit, ApproveRequest, CreateRequest, EditRequest, EndRunRequest, SendBackRequest,
    ShowAnswer, ShowQuery, TaskObserved,
};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::support::{self, AGENT, Case, agent, human};

const REPORTS: &str = r#"echo '{"outcome":"done"}' > "$ACCORD_TASK_DIR/outputs/report.json""#;

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn ready(case: &Case, checks: &[&[&str]], by: &str) -> TaskId {
    let checks = checks.iter().map(|words| list(words)).collect();
    let new = CreateRequest { checks: Some(checks), ..support::ready("x") };
    let new = CreateRequest { agent: Some(AGENT.to_owned()), ..new };
    let by = if by == "human" { human() } else { agent(by) };
    case.tree.create(&new, &by).unwrap().task.id
}

/// Runs a script as the agent of a task, in a folder.
fn work(case: &Case, id: TaskId, script: &str, cwd: Option<&Path>) {
    watch(case, id, script, cwd, &mut |_| {});
}

fn watch(
    case: &Case,
    id: TaskId,
    script: &str,
    cwd: Option<&Path>,
    signals: &mut dyn FnMut(WorkSignal<'_>),
) {
    let worker = Worker::new(case.tree.clone(), case.folder.path().to_owned(), "shop");
    let claimed = worker.claim(id).unwrap();
    let mut command = AgentCommand::new(list(&["sh", "-c", script]));
    command.cwd = cwd.map(Path::to_owned);
    worker.work(&claimed, &command, "", &Cancel::new(), signals).unwrap();
}

fn show(case: &Case, id: TaskId) -> ShowAnswer {
    case.tree.show(&id.to_string(), &ShowQuery::default(), &human()).unwrap()
}

#[test]
fn checks_run_after_the_report_and_are_shown_in_the_review() {
    let case = Case::new();
    let worker = ["sh", "-c", "test -n \"$ACCORD_TASK_ID\" && test -f made && echo found"];
    let id =
        ready(&case, &[&worker, &["sh", "-c", "echo broken >&2; exit 3"], &["/no/such"]], "human");
    let declares = r#"{"outcome":"done","deliverables":["made","outputs/absent.md"]}"#;
    work(&case, id, &format!("touch made; echo '{declares}' > outputs/report.json"), None);
    let shown = show(&case, id);
    assert_eq!(shown.task.status, Status::Review);
    let observed = shown.observed.unwrap();
    let ended: Vec<_> = observed.checks.iter().map(|check| check.exit_code).collect();
    assert_eq!(ended, [Some(0), Some(3), None]);
    assert_eq!(observed.checks[0].output, "found\n");
    assert_eq!(observed.checks[1].output, "broken\n");
    assert!(observed.checks[2].problem.is_some());
    // The tests have no launcher of workers.
    let line = shown.sandbox.unwrap();
    assert!(
        line.starts_with("none (") && line.ends_with("): the agent had the rights of your user")
    );
    assert_eq!(shown.missing, ["outputs/absent.md"]);
    let findings = shown.findings.join("\n");
    for part in ["exit code 3", "check failed: /no/such", "does not exist: outputs/absent.md"] {
        assert!(findings.contains(part), "{findings}");
    }
    let event = case.events().into_iter().find(|event| event["type"] == "task.observed").unwrap();
    assert_eq!(event["payload"]["checks"][1]["exitCode"], 3);
    case.is_clean();
}

#[test]
fn an_agent_that_failed_or_was_not_started_by_accord_has_no_checks() {
    let case = Case::new();
    let id = ready(&case, &[&["true"]], "human");
    work(&case, id, "exit 1", None);
    assert_eq!(show(&case, id).observed.unwrap().checks, []);
    let id = ready(&case, &[&["true"]], "human");
    case.claim(id);
    case.tree.message(&case.report(id, "done"), &agent(AGENT)).unwrap();
    let shown = show(&case, id);
    assert_eq!(shown.sandbox.as_deref(), Some("not known: Accord did not start the agent"));
    assert!(shown.findings[0].starts_with("1 check not run"), "{:?}", shown.findings);
}

#[test]
fn an_agent_cannot_say_what_was_observed() {
    let case = Case::new();
    let id = ready(&case, &[&["false"]], "human");
    case.claim(id);
    let run_id = show(&case, id).task.run.unwrap().run_id.unwrap();
    let observed = TaskObserved {
        run_id: run_id.clone(),
        sandbox: "bubblewrap".to_owned(),
        checks: Vec::new(),
        work_tree: "/".to_owned(),
        base: None,
        commits: Vec::new(),
        files: Vec::new(),
        left_out: 0,
        cost: None,
        executed: None,
        elsewhere: None,
        said_by: None,
        checked_here: None,
        changes: None,
    };
    let (exit, observed) = (AgentExit::Success, Some(observed));
    let request = EndRunRequest {
        agent: None,
        run_id,
        exit,
        text: None,
        observed,
        uploads: None,
        changes: None,
    };
    let refused = case.tree.end_run(&id.to_string(), &request, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofUnauthorizedAgent);
    let shown = show(&case, id);
    assert_eq!((shown.task.status, shown.observed), (Status::InProgress, None));
    // What was seen on another machine is recorded as the words of the agent.
    let elsewhere = EndRunRequest { uploads: Some(true), ..request.clone() };
    case.tree.end_run(&id.to_string(), &elsewhere, &agent(AGENT)).unwrap();
    let shown = show(&case, id);
    assert_eq!(shown.observed.unwrap().said_by.as_deref(), Some(AGENT));
    assert_eq!(shown.sandbox.unwrap(), format!("bubblewrap, says the machine of {AGENT}"));
    let event = case.events().into_iter().find(|event| event["type"] == "task.observed").unwrap();
    assert!(event.to_string().contains(&format!("\"saidBy\":\"{AGENT}\"")), "{event}");
    // What is seen here stays beside it, and is not replaced by further words.
    let said = show(&case, id).observed;
    let here = EndRunRequest { agent: Some(AGENT.to_owned()), observed: said, ..request };
    case.tree.end_run(&id.to_string(), &here, &human()).unwrap();
    let observed = show(&case, id).observed.unwrap();
    assert_eq!((observed.said_by.as_deref(), observed.checked_here), (Some(AGENT), Some(true)));
    case.tree.end_run(&id.to_string(), &elsewhere, &agent(AGENT)).unwrap();
    assert_eq!(show(&case, id).observed.unwrap(), observed);
}

#[test]
fn edits_of_checks_and_observations_are_put_back() {
    let case = Case::new();
    let id = ready(&case, &[&["false"]], "human");
    // While the agent works: the check, and a forged observation.
    let file =
        r#"f="$ACCORD_TASK_DIR.md"; sed -i 's/- "false"/- "true"/' "$f"; grep -q true "$f";"#;
    work(&case, id, &format!("{file} {REPORTS}"), None);
    let shown = show(&case, id);
    assert_eq!(shown.task.metadata["checks"], json!([["false"]]));
    assert_eq!(shown.observed.unwrap().checks[0].exit_code, Some(1));
    assert!(case.events().iter().any(|event| event["type"] == "task.edit_refused"));
    // In review, nobody changes what was observed.
    let path = case.folder.path().join(format!("tasks/review/{id}.md"));
    let text = fs::read_to_string(&path).unwrap();
    let forged = text.replace("exit_code: 1", "exit_code: 0");
    assert_ne!(forged, text);
    fs::write(&path, forged).unwrap();
    assert_eq!(show(&case, id).observed.unwrap().checks[0].exit_code, Some(1));
    // Nor the checks, which somebody may run again.
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("- \"false\"", "- \"true\""))
        .unwrap();
    assert_eq!(show(&case, id).task.metadata["checks"], json!([["false"]]));
}

#[test]
fn the_author_sets_checks_until_the_task_is_claimed_and_a_person_always() {
    let case = Case::new();
    let id = ready(&case, &[&["false"]], AGENT);
    let edit = |words: &[&str]| EditRequest {
        checks: Field::Value(vec![list(words)]),
        ..EditRequest::default()
    };
    let set = |words: &[&str], by: By| case.tree.edit(&id.to_string(), &edit(words), &by);
    set(&["test", "1"], agent(AGENT)).unwrap();
    assert!(set(&["true"], agent("other")).is_err());
    case.claim(id);
    let refused = set(&["true"], agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    set(&["test", "2"], human()).unwrap();
    assert_eq!(show(&case, id).task.metadata["checks"], json!([["test", "2"]]));
    assert_eq!(set(&[], human()).unwrap_err().code, Code::WireFieldValue);
    let forged = json!({"observed": {}}).as_object().cloned();
    let new = CreateRequest { metadata: forged, ..support::ready("x") };
    assert_eq!(case.tree.create(&new, &human()).unwrap_err().code, Code::WireFieldValue);
}

#[test]
fn a_decision_before_the_checks_are_recorded_is_about_other_evidence() {
    let case = Case::new();
    let id = ready(&case, &[&["false"]], "human");
    // The agent reports by a message, and ends later.
    let message = case.report(id, "done").to_string();
    let script = format!("echo 'AOF/1 {message}'; exit 0");
    let mut seen = String::new();
    watch(&case, id, &script, None, &mut |signal| {
        if let WorkSignal::Check(_) = signal {
            let shown = show(&case, id);
            assert_eq!((shown.task.status, shown.observed), (Status::Review, None));
            seen = shown.evidence;
        }
    });
    let shown = show(&case, id);
    assert_eq!(shown.observed.as_ref().unwrap().checks[0].exit_code, Some(1));
    let approve = |expect: &str| {
        let request =
            ApproveRequest { expect: Some(expect.to_owned()), ..ApproveRequest::default() };
        case.tree.approve(&id.to_string(), &request, &human())
    };
    assert_eq!(approve(&seen).unwrap_err().code, Code::XchainEvidenceChanged);
    let request =
        SendBackRequest { reason: "again".to_owned(), expect: None, despite_leftovers: None };
    case.tree.send_back(&id.to_string(), &request, &human()).unwrap();
    assert_eq!(show(&case, id).reworks, 1);
}

#[test]
fn a_declared_file_that_vanishes_changes_the_evidence() {
    let case = Case::new();
    let id = ready(&case, &[], "human");
    let tree = tempfile::tempdir().unwrap();
    let declares = r#"{"outcome":"done","deliverables":["made"]}"#;
    let script =
        format!("touch made; echo '{declares}' > \"$ACCORD_TASK_DIR/outputs/report.json\"");
    work(&case, id, &script, Some(tree.path()));
    let before = show(&case, id);
    assert_eq!(before.missing, Vec::<String>::new());
    fs::remove_file(tree.path().join("made")).unwrap();
    let after = show(&case, id);
    assert_eq!(after.missing, ["made"]);
    assert_ne!(before.evidence, after.evidence);
}

#[test]
fn commits_and_changed_files_of_the_work_tree_are_observed() {
    let case = Case::new();
    let tree = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let ran = Command::new("git").args(words).current_dir(tree.path()).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    if !git(&["init", "-q"]) {
        assert!(std::env::var_os("CI").is_none(), "git is missing");
        eprintln!("skipped: git is missing");
        return;
    }
    let commit = "git -c user.name=a -c user.email=a@example.com commit -q -m";
    assert!(git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "first"
    ]));
    let id = ready(&case, &[], "human");
    let script = format!("echo 1 > kept; git add kept; {commit} second; echo 2 > left; {REPORTS}");
    work(&case, id, &script, Some(tree.path()));
    let observed = show(&case, id).observed.unwrap();
    assert_eq!(observed.files, ["kept", "left"]);
    assert_eq!(observed.work_tree, tree.path().display().to_string());
    assert_eq!(observed.commits.len(), 1);
    assert!(observed.commits[0].ends_with(" second"), "{:?}", observed.commits);
}

#[test]
fn what_the_clients_of_all_runs_cost_is_shown() {
    let case = Case::new();
    let id = ready(&case, &[], "human");
    work(&case, id, "true", None);
    assert_eq!(show(&case, id).observed.unwrap().cost, None);
    let id = ready(&case, &[], "human");
    let paid = |more: &str| {
        let usage = r#""usage":{"input_tokens":10,"output_tokens":5}"#;
        let line = r#"{"type":"result","result":"Which port?","total_cost_usd":0.25,"#;
        format!("echo '{line}{usage}}}'; {more}")
    };
    // A run that failed cost, too.
    work(&case, id, &paid("exit 1"), None);
    case.tree.unblock(&id.to_string(), &Default::default(), &human()).unwrap();
    work(&case, id, &paid("true"), None);
    let shown = show(&case, id);
    let cost = shown.observed.unwrap().cost.unwrap();
    assert_eq!((cost.micro_usd, cost.input_tokens, cost.output_tokens), (Some(500_000), 20, 10));
    // Without a report, the last message is the note.
    let notes = shown.task.run.unwrap().result.unwrap().notes;
    assert!(notes.ends_with("Which port?") && !notes.contains("total_cost"), "{notes}");
}

#[test]
fn what_accord_writes_in_the_repository_is_no_work_of_the_agent() {
    let case = Case::new();
    let git = |words: &[&str]| {
        let ran = Command::new("git").args(words).current_dir(case.folder.path()).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    let names = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    if !git(&["init", "-q"]) || !git(&["add", "-A"]) {
        assert!(std::env::var_os("CI").is_none(), "git is missing");
        eprintln!("skipped: git is missing");
        return;
    }
    assert!(git(&[&names[..], &["commit", "-q", "-m", "first"]].concat()));
    // The tree is in the repository that the agent works on.
    let id = ready(&case, &[], "human");
    let script = format!("mkdir -p src; echo 1 > src/made; {REPORTS}");
    work(&case, id, &script, Some(case.folder.path()));
    let observed = show(&case, id).observed.unwrap();
    assert_eq!(observed.files, ["src/made"]);
    assert_eq!(observed.work_tree, case.folder.path().display().to_string());
    // The record says where that is in every copy of the repository.
    let text = case.file(Status::Review, id);
    assert!(text.contains("work_tree: ") && !text.contains(&observed.work_tree), "{text}");
}
