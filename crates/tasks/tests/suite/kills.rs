//! Processes that are killed at any moment, again and again.
//!
//! The short form runs with the other tests. The long form:
//!
//! ```text
//! ACCORD_KILL_ROUNDS=500 cargo test -p accord-tasks --test suite kills -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use accord_contract::{Code, Failure, Value};
use accord_tasks::Tree;
use accord_tasks_core::operations::{ClaimRequest, PollRequest};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::processes::{Worker, say};
use crate::support::{
    agent, all_events, create_ready, human, is_clean, open, poll, satisfies_the_checker, task_files,
};

/// How long a lease lasts.
const A_DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const WORKERS: usize = 4;
/// The rounds of the short form.
const ROUNDS: usize = 8;
/// A tree is used for this many rounds, so that checking it stays fast.
const ROUNDS_PER_TREE: usize = 20;

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// The work of a process: the life of tasks, until it is killed.
pub(crate) fn live(folder: &Path, number: usize) {
    let mut worker = Agent {
        tree: open(folder),
        name: format!("w{number}"),
        ready: Vec::new(),
        held: Vec::new(),
    };
    let mut chance = Chance(number as u64);
    // A worker whose test was stopped ends by itself.
    for step in 0..2_000 {
        let done = match chance.below(7) {
            0 | 1 => {
                worker.create(&format!("{}-{step}", worker.name));
                Ok(())
            }
            2 => worker.claim(),
            3 => worker.report(),
            4 => worker.hand_off(&format!("{}-{step}-child", worker.name)),
            5 => worker.note(&format!("{}-{step}-note", worker.name)),
            _ => worker.tree.poll(&PollRequest::default(), &human()).map(drop),
        };
        if let Err(failure) = done {
            say(&format!("failed {} {}", failure.code.as_str(), failure.message));
        }
    }
}

struct Agent {
    tree: Tree,
    name: String,
    ready: Vec<TaskId>,
    held: Vec<(TaskId, String)>,
}

impl Agent {
    fn create(&mut self, title: &str) {
        let id = create_ready(&self.tree, title);
        say(&format!("created {id} {title}"));
        self.ready.push(id);
    }

    fn claim(&mut self) -> Result<(), Failure> {
        let Some(id) = self.ready.pop() else { return Ok(()) };
        // A killed worker renews nothing. On a busy machine the rounds of a tree take longer than
        // the usual times, and the poll of the check would recover its task.
        let request = ClaimRequest {
            lease_ttl_ms: Some(A_DAY_MS),
            heartbeat_ttl_ms: Some(A_DAY_MS),
            ..ClaimRequest::default()
        };
        let run = self.tree.claim(&id.to_string(), &request, &agent(&self.name))?.run_id;
        say(&format!("claimed {id} {run}"));
        self.held.push((id, run));
        Ok(())
    }

    fn report(&mut self) -> Result<(), Failure> {
        let Some((id, run)) = self.held.pop() else { return Ok(()) };
        let payload = json!({
            "outcome": "done",
            "summaryRef": "outputs/summary.md",
            "tests": {"total": 1, "passed": 1, "failed": 0},
            "notes": "ok",
        });
        self.send("completion.report", id, &run, &payload)?;
        say(&format!("reported {id} {run}"));
        Ok(())
    }

    fn hand_off(&mut self, title: &str) -> Result<(), Failure> {
        let Some((parent, run)) = self.held.last().cloned() else { return Ok(()) };
        let child = create_ready(&self.tree, title);
        say(&format!("created {child} {title}"));
        let payload = json!({
            "taskId": child.to_string(),
            "parentTaskId": parent.to_string(),
            "fromAgent": self.name,
            "toAgent": "ops",
            "dueBy": "2099-01-01T00:00:00.000Z",
        });
        self.send("handoff.request", child, &run, &payload)?;
        say(&format!("handed {child} {parent}"));
        Ok(())
    }

    fn note(&mut self, text: &str) -> Result<(), Failure> {
        let Some((id, run)) = self.held.last().cloned() else { return Ok(()) };
        let payload = json!({"taskId": id.to_string(), "agentId": self.name, "progress": text});
        self.send("status.update", id, &run, &payload)?;
        say(&format!("noted {id} {text}"));
        Ok(())
    }

    fn send(&self, kind: &str, id: TaskId, run: &str, payload: &Value) -> Result<(), Failure> {
        let message = json!({
            "protocol": "aof",
            "version": 1,
            "type": kind,
            "projectId": "shop",
            "taskId": id.to_string(),
            "fromAgent": self.name,
            "toAgent": "dispatcher",
            "sentAt": accord_system::now().to_string(),
            "runId": run,
            "payload": payload,
        });
        self.tree.message(&message, &agent(&self.name)).map(drop)
    }
}

/// Everything that was acknowledged to workers.
#[derive(Default)]
struct Acknowledged {
    lines: Vec<(String, TaskId, String)>,
}

impl Acknowledged {
    fn add(&mut self, line: &str) {
        let mut words = line.splitn(3, ' ');
        let (verb, id, rest) = (words.next(), words.next(), words.next());
        assert!(!line.starts_with("failed"), "a worker was refused: {line}");
        let id = TaskId::parse(id.unwrap()).unwrap();
        self.lines.push((verb.unwrap().to_owned(), id, rest.unwrap().to_owned()));
    }

    /// Checks that a tree has all of it, once.
    fn check(&self, folder: &Path) {
        let tree = open(folder);
        poll(&tree);
        is_clean(&tree);
        satisfies_the_checker(folder);
        let files = task_files(folder);
        let events = all_events(folder);
        let created = events.iter().filter(|event| event["type"] == "task.created");
        let created: Vec<&str> = created.map(|event| event["taskId"].as_str().unwrap()).collect();
        let known: Vec<String> = files.keys().map(ToString::to_string).collect();
        let mut sorted = created.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, known, "each task has one event, and each event a task");
        let reported: BTreeMap<TaskId, &str> = self
            .lines
            .iter()
            .filter(|(verb, ..)| verb == "reported")
            .map(|(_, id, run)| (*id, run.as_str()))
            .collect();
        for (verb, id, rest) in &self.lines {
            let file = files.get(id).unwrap_or_else(|| panic!("{id} is lost"));
            let task = file.task();
            let companion = folder.join(format!("tasks/{}/{id}", task.status));
            match verb.as_str() {
                "created" => assert_eq!(task.title, *rest),
                // A report may have been committed before its worker could print it.
                "claimed" => {
                    assert!(matches!(task.status, Status::InProgress | Status::Review), "{id}");
                    assert_eq!(artifact(folder, *id, "run.json")["runId"], rest.as_str());
                    let is_reported = reported.contains_key(id);
                    assert!(!is_reported || task.status == Status::Review, "{id}");
                }
                "reported" => {
                    assert_eq!(artifact(folder, *id, "run_result.json")["runId"], rest.as_str());
                }
                "handed" => {
                    assert_eq!(task.agent(), Some("ops"));
                    let text = fs::read_to_string(companion.join("inputs/handoff.json")).unwrap();
                    let document: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(document["parentTaskId"], rest.as_str());
                }
                "noted" => assert!(file.body().contains(rest.as_str()), "{id}: {rest}"),
                other => panic!("what is {other}?"),
            }
        }
    }
}

fn artifact(folder: &Path, id: TaskId, name: &str) -> Value {
    let text = fs::read_to_string(folder.join(format!("runs/{id}/{name}"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn whatever_is_killed_the_tree_is_clean_and_has_everything_acknowledged() {
    let rounds = std::env::var("ACCORD_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let mut chance = Chance(12);
    let (mut folder, mut acknowledged) = (tempfile::tempdir().unwrap(), Acknowledged::default());
    let mut total = 0;
    for round in 0..rounds {
        if round % ROUNDS_PER_TREE == 0 {
            folder = tempfile::tempdir().unwrap();
            acknowledged = Acknowledged::default();
            open(folder.path());
        }
        let start = |number| Worker::start(folder.path(), "live", round * WORKERS + number);
        let mut workers: Vec<Worker> = (0..WORKERS).map(start).collect();
        workers.iter_mut().for_each(Worker::go);
        // One after another, while the others go on. Another worker's lines decide when, so that
        // a worker is killed anywhere in its work.
        while let Some(last) = workers.len().checked_sub(1) {
            let pace = chance.below(workers.len());
            for _ in 0..=chance.below(12) {
                acknowledged.add(&workers[pace].line().expect("a worker ended by itself"));
            }
            let victim = workers.swap_remove(chance.below(last + 1));
            victim.kill().iter().for_each(|line| acknowledged.add(line));
        }
        acknowledged.check(folder.path());
        total += 1;
    }
    let lines = acknowledged.lines.len();
    assert!(total == rounds && lines > rounds.min(ROUNDS_PER_TREE), "{lines} lines are too few");
    println!("{rounds} rounds; the last tree has {lines} acknowledgements");
}

/// A worker that is refused stops the test.
#[test]
#[should_panic(expected = "a worker was refused")]
fn a_refusal_is_not_taken_for_an_acknowledgement() {
    Acknowledged::default().add(&format!("failed {} x", Code::AofTaskNotFound.as_str()));
}
