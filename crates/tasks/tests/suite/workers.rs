//! Running agents on claimed tasks. The agents are small scripts.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use accord_process::Cancel;
use accord_tasks::executor::{CommandExecutor, Executor as _, Manual, Started};
use accord_tasks::schedule::Scheduler;
use accord_tasks::worker::{AgentCommand, REPORT, WorkEnd, WorkSignal, Worker, end_leftovers};
use accord_tasks_core::board::Limits;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::operations::{ApproveRequest, CreateRequest};
use accord_tasks_core::{Status, TaskId};
use accord_trees::lock::still_runs;
use serde_json::{Value, json};

use crate::support::{self, AGENT, human, moved};

const REPORTS: &str = r#"echo '{"outcome":"done"}' > outputs/report.json"#;

struct Case {
    case: support::Case,
    worker: Worker,
}

fn case() -> Case {
    let case = support::Case::new();
    let worker = Worker::new(case.tree.clone(), case.folder.path().to_owned(), "Shop");
    Case { case, worker }
}

impl std::ops::Deref for Case {
    type Target = support::Case;

    fn deref(&self) -> &support::Case {
        &self.case
    }
}

/// A command that a shell runs: the agent of the test.
fn script(text: &str) -> AgentCommand {
    AgentCommand::new(["sh", "-c", text].map(str::to_owned).to_vec())
}

impl Case {
    fn ready(&self) -> TaskId {
        let mut new = support::ready("x");
        new.agent = Some(AGENT.to_owned());
        self.tree.create(&new, &human()).unwrap().task.id
    }

    fn work(&self, script: &AgentCommand) -> (TaskId, WorkEnd) {
        let id = self.ready();
        let claimed = self.worker.claim(id).unwrap();
        let cancel = Cancel::new();
        let end = self.worker.work(&claimed, script, "Do it.", &cancel, &mut |_| {}).unwrap();
        (id, end)
    }
}

#[test]
fn the_report_file_of_an_agent_is_sent() {
    let case = case();
    let check = format!(
        "test \"$ACCORD_TASK_AGENT\" = {AGENT} && test \"$ACCORD_PROJECT\" = Shop && \
         test \"$PWD\" = \"$ACCORD_TASK_DIR\" && test -n \"$ACCORD_TASK_RUN_ID\" && \
         test \"$(cat)\" = 'Do it.' && {REPORTS}; exit 3"
    );
    let (id, end) = case.work(&script(&check));
    assert!(matches!(end, WorkEnd::Reported(Status::Review)), "{end:?}");
    let text = case.file(Status::Review, id);
    assert!(!text.contains("lease:"), "{text}");
    case.is_clean();
    // The report is that of this run alone.
    assert!(!case.folder.path().join("state/accord/workers").read_dir().unwrap().any(|_| true));
}

#[test]
fn a_line_with_the_prefix_is_a_message() {
    let case = case();
    let message = json!({
        "protocol": "aof", "version": 1, "type": "completion.report", "taskId": "ID",
        "fromAgent": AGENT, "toAgent": "accord", "sentAt": "2026-02-09T21:00:00.000Z",
        "payload": {"outcome": "blocked", "summaryRef": "", "notes": "",
            "tests": {"total": 0, "passed": 0, "failed": 0}, "blockers": ["no key"]},
    });
    let print = format!(
        "echo working; echo 'AOF/1 {}' | sed \"s/ID/$ACCORD_TASK_ID/\"; echo 'AOF/1 {{nope'",
        message
    );
    let (id, end) = case.work(&script(&print));
    assert!(matches!(end, WorkEnd::Reported(Status::Blocked)), "{end:?}");
    assert!(case.file(Status::Blocked, id).contains("no key"));
    // The line that is no message is on record.
    let rejected =
        case.events().into_iter().find(|event| event["type"] == "protocol.message.rejected");
    assert_eq!(rejected.unwrap()["payload"]["reason"], "invalid_json");
}

/// Also with white space before the document that only some readers skip.
#[test]
fn a_message_in_the_name_of_another_agent_is_refused() {
    let case = case();
    let mut new = support::ready("Of another agent");
    new.agent = Some("qa".to_owned());
    let other = case.tree.create(&new, &human()).unwrap().task.id;
    let message = json!({
        "protocol": "aof", "version": 1, "type": "status.update",
        "taskId": other.to_string(),
        "fromAgent": "qa", "toAgent": "dispatcher", "sentAt": "2026-02-09T21:00:00.000Z",
        "payload": {"agentId": "qa", "status": "blocked", "progress": "", "blockers": [],
            "notes": ""},
    });
    let blanks = [" ", "  ", " \u{a0}", " \u{2003}", " \u{feff}", " \u{b}", ""];
    let lines: String =
        blanks.iter().map(|blank| format!("echo 'AOF/1{blank}{message}'\n")).collect();
    case.work(&script(&lines));
    assert!(case.file(Status::Ready, other).contains("Of another agent"));
    let of_qa = case.events().into_iter().filter(|event| event["payload"]["agentId"] == "qa");
    assert_eq!(of_qa.count(), 0);
}

#[test]
fn an_exit_without_a_report_is_a_failed_run() {
    let case = case();
    let (id, end) = case.work(&script("echo 'no disk left' >&2; exit 7"));
    let WorkEnd::Failed { error, status: Status::Blocked, .. } = end else { panic!("{end:?}") };
    assert_eq!(error, "the agent ended with exit code 7 without a report: no disk left");
    let text = case.file(Status::Blocked, id);
    assert!(text.contains("no disk left") && text.contains("retryCount: 1"), "{text}");
    // It is ready again after the pause, and the third failure ends that.
    for failures in 2..=3 {
        case.clock.add(1_200);
        assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
        let claimed = case.worker.claim(id).unwrap();
        let (cancel, command) = (Cancel::new(), script("exit 1"));
        let end = case.worker.work(&claimed, &command, "", &cancel, &mut |_| {}).unwrap();
        let expected = if failures == 3 { Status::Deadletter } else { Status::Blocked };
        let WorkEnd::Failed { status, .. } = end else { panic!("{end:?}") };
        assert_eq!(status, expected);
    }
    let last = case.events().pop().unwrap();
    assert_eq!(
        (&last["type"], &last["payload"]["failureCount"]),
        (&json!("task.deadlettered"), &json!(3))
    );
    case.is_clean();
}

#[test]
fn the_report_of_an_earlier_run_is_not_used() {
    let case = case();
    let id = case.ready();
    let claimed = case.worker.claim(id).unwrap();
    fs::write(case.worker.folder(id).join(REPORT), r#"{"outcome":"done"}"#).unwrap();
    let (cancel, command) = (Cancel::new(), script("exit 1"));
    let end = case.worker.work(&claimed, &command, "", &cancel, &mut |_| {}).unwrap();
    assert!(matches!(end, WorkEnd::Failed { .. }), "{end:?}");
}

#[test]
fn a_program_that_does_not_exist_and_one_that_takes_too_long_fail() {
    let case = case();
    let missing = AgentCommand::new(vec!["/no/such/agent".to_owned()]);
    let (_, end) = case.work(&missing);
    let WorkEnd::Failed { error, .. } = end else { panic!("{end:?}") };
    assert!(error.starts_with("the agent did not start"), "{error}");
    let mut slow = script("sleep 60");
    slow.time_limit = Duration::from_millis(50);
    let (_, end) = case.work(&slow);
    let WorkEnd::Failed { error, .. } = end else { panic!("{end:?}") };
    assert!(error.starts_with("the agent was ended after"), "{error}");
}

#[test]
fn a_running_agent_beats_and_a_cancelled_one_is_released() {
    let mut case = case();
    case.worker.times = LeaseTimes { lease_seconds: 6, heartbeat_seconds: 3 };
    let id = case.ready();
    let claimed = case.worker.claim(id).unwrap();
    let cancel = Cancel::new();
    let (mut beats, mut pid) = (0, 0);
    let end =
        case.worker.work(&claimed, &script("sleep 60"), "", &cancel, &mut |signal| match signal {
            WorkSignal::Started(started, _) => pid = started,
            WorkSignal::Beat => {
                beats += 1;
                // The clock moves on: without the heartbeat the run would be taken back.
                case.clock.add(2);
                assert_eq!(case.poll().moves, []);
                if beats == 3 {
                    cancel.cancel();
                }
            }
            _ => {}
        });
    assert!(matches!(end.unwrap(), WorkEnd::Released));
    assert!(case.file(Status::Ready, id).contains("status: ready"));
    assert!(!still_runs(pid.into(), i64::MAX), "the agent still runs");
    let run = fs::read_to_string(case.folder.path().join(format!("runs/{id}/run.json"))).unwrap();
    assert!(run.contains("abandoned"), "{run}");
}

#[test]
fn a_worker_whose_task_was_taken_away_ends_its_agent_and_changes_nothing() {
    let mut case = case();
    case.worker.times = LeaseTimes { lease_seconds: 3, heartbeat_seconds: 3 };
    let id = case.ready();
    let claimed = case.worker.claim(id).unwrap();
    case.clock.add(3);
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    let second = case.worker.claim(id).unwrap();
    assert_ne!(claimed.run.run_id, second.run.run_id);
    let command = script(&format!("{REPORTS}; sleep 60"));
    let end = case.worker.work(&claimed, &command, "", &Cancel::new(), &mut |_| {}).unwrap();
    assert!(matches!(end, WorkEnd::Lost(_)), "{end:?}");
    assert!(case.file(Status::InProgress, id).contains("status: in-progress"));
}

/// Waits for what an executor says at the end of a run.
fn ended(ends: &Receiver<(TaskId, String)>) -> (TaskId, String) {
    ends.recv_timeout(Duration::from_secs(60)).unwrap()
}

fn executor(
    command: AgentCommand,
    limit: usize,
) -> (Arc<CommandExecutor>, Receiver<(TaskId, String)>) {
    let (sender, ends) = channel();
    let executor = CommandExecutor::new(command, limit, move |_, id, end| {
        drop(sender.send((id, format!("{:?}", end.as_ref().unwrap()))));
    });
    (Arc::new(executor), ends)
}

#[test]
fn the_command_executor_works_through_a_graph() {
    let case = case();
    let first = case.ready();
    let new = CreateRequest {
        title: "second".to_owned(),
        role: Some("tester".to_owned()),
        depends_on: Some(vec![first.to_string()]),
        review_required: Some(false),
        ..CreateRequest::default()
    };
    let second = case.tree.create(&new, &human()).unwrap().task.id;
    let (executor, ends) = executor(script(REPORTS), 1);
    let scheduler = Scheduler {
        worker: case.worker.clone(),
        executor: Arc::clone(&executor) as _,
        limits: Limits::default(),
    };
    assert_eq!(scheduler.look().unwrap().started, 1);
    assert_eq!(ended(&ends), (first, "Reported(Review)".to_owned()));
    // The first waits for a person: nothing can start.
    assert_eq!(scheduler.look().unwrap().started, 0);
    case.tree.approve(&first.to_string(), &ApproveRequest::default(), &human()).unwrap();
    let looked = scheduler.look().unwrap();
    assert_eq!(moved(&looked.polled.moves), [(second, Status::Ready)]);
    assert_eq!(scheduler.look().unwrap().started, 1);
    assert_eq!(ended(&ends), (second, "Reported(Done)".to_owned()));
    case.is_clean();
}

#[test]
fn the_executor_has_a_limit_and_releases_its_leases() {
    let case = case();
    let (one, two) = (case.ready(), case.ready());
    let (executor, ends) = executor(script("sleep 60"), 1);
    assert_eq!(executor.start(&case.worker, one).unwrap(), Started::Yes);
    assert_eq!(executor.start(&case.worker, two).unwrap(), Started::Later);
    executor.shut_down();
    assert_eq!(ended(&ends), (one, "Released".to_owned()));
    assert!(case.file(Status::Ready, one).contains("status: ready"));
    assert_eq!(executor.start(&case.worker, two).unwrap(), Started::Later);
    assert_eq!(Manual.start(&case.worker, two).unwrap(), Started::ByHand);
}

/// Starts an agent as a worker that is then killed would: the agent runs, the record stays, and
/// its worker is a process that has ended.
fn leftover(case: &Case, script: &str) -> (TaskId, std::process::Child, PathBuf) {
    use std::os::unix::process::CommandExt as _;
    let id = case.ready();
    let claimed = case.worker.claim(id).unwrap();
    let child = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(case.worker.folder(id))
        .env("ACCORD_TASK_RUN_ID", claimed.run.run_id.as_deref().unwrap())
        .process_group(0)
        .spawn()
        .unwrap();
    let started = accord_trees::lock::process_start(child.id().into()).unwrap();
    let record = json!({
        "taskId": id.to_string(), "runId": claimed.run.run_id, "pid": child.id(),
        "startedMs": started, "worker": {"pid": 1, "startedMs": 1},
    });
    let folder = case.folder.path().join("state/accord/workers");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.json"));
    fs::write(&path, record.to_string()).unwrap();
    (id, child, path)
}

#[test]
fn what_a_killed_worker_left_is_ended_and_its_report_counts() {
    let case = case();
    let (id, mut child, record) = leftover(&case, &format!("{REPORTS}; sleep 60"));
    let report = case.worker.folder(id).join(REPORT);
    let end = Instant::now() + Duration::from_secs(60);
    while fs::read_to_string(&report).map_or(true, |text| !text.ends_with('\n')) {
        assert!(Instant::now() < end, "the agent wrote no report");
        thread::sleep(Duration::from_millis(5));
    }
    let (silent, mut other, _) = leftover(&case, "sleep 60");
    let mut ended = end_leftovers(&case.worker).unwrap();
    ended.sort_by_key(|(id, _)| *id);
    let [(first, WorkEnd::Reported(Status::Review)), (second, WorkEnd::Reclaimed(Status::Ready))] =
        &ended[..]
    else {
        panic!("{ended:?}");
    };
    assert_eq!((*first, *second), (id, silent));
    assert!(!child.wait().unwrap().success() && !other.wait().unwrap().success());
    assert!(!record.exists());
    // Nothing says that the work failed: it goes on without a pause, and the run counts.
    let text = case.file(Status::Ready, silent);
    assert!(text.contains("retryCount: 1") && !text.contains("retryAt"), "{text}");
    // Nothing is left to do, and a record of a worker that runs is left alone.
    assert!(end_leftovers(&case.worker).unwrap().is_empty());
    let (third, mut running, record) = leftover(&case, "sleep 60");
    let own = std::process::id();
    let started = accord_trees::lock::process_start(own.into()).unwrap();
    let mut document: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    document["worker"] = json!({"pid": own, "startedMs": started});
    fs::write(&record, document.to_string()).unwrap();
    assert!(end_leftovers(&case.worker).unwrap().is_empty());
    assert!(record.exists() && case.file(Status::InProgress, third).contains("lease:"));
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn a_record_that_names_another_process_ends_nothing() {
    let case = case();
    let (_, mut person, record) = leftover(&case, "sleep 60");
    let mut document: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    document["runId"] = json!("forged");
    fs::write(&record, document.to_string()).unwrap();
    end_leftovers(&case.worker).unwrap();
    assert!(!record.exists());
    assert!(person.try_wait().unwrap().is_none(), "it was ended");
    person.kill().unwrap();
    person.wait().unwrap();
}

#[test]
fn an_agent_that_outlived_its_worker_ends_before_another_begins_on_its_task() {
    let case = case();
    let (id, mut child, record) = leftover(&case, "sleep 60");
    case.clock.add(600);
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    let claimed = case.worker.claim(id).unwrap();
    let (cancel, agent) = (Cancel::new(), script(REPORTS));
    let end = case.worker.work(&claimed, &agent, "Do it.", &cancel, &mut |_| {}).unwrap();
    assert!(matches!(end, WorkEnd::Reported(Status::Review)), "{end:?}");
    // It would have slept on, and ended well.
    assert!(!child.wait().unwrap().success());
    assert!(!record.exists());
}
