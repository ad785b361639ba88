//! `accord task` commands that are killed at any moment: nothing that one acknowledged is lost.
//!
//! The short form runs with the other tests. The long form:
//!
//! ```text
//! ACCORD_KILL_ROUNDS=50 cargo test -p accord-cli --test suite task_kills -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accord::Ran;
use crate::task_place::Tasks;
use crate::wait::output_of;

/// How many commands run at the same time.
const CALLERS: u64 = 4;
/// How many tasks each caller begins in a round.
const TASKS: u64 = 5;

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Runs commands, and kills some of them.
struct Killer<'t> {
    tasks: &'t Tasks,
    chance: Chance,
    /// How long a command takes: a command is killed at a random moment within that.
    usual: Duration,
    killed: &'t AtomicU64,
}

impl Killer<'_> {
    /// What a command printed, if it succeeded before it was killed.
    fn ran(&mut self, words: &str) -> Option<String> {
        let mut command = self.tasks.command(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().expect("accord starts");
        if self.chance.below(2) == 0 {
            let share = u32::try_from(self.chance.below(1_000)).expect("a small number");
            std::thread::sleep(self.usual * share / 1_000);
            child.kill().expect("it can be killed");
            let output = output_of(child, words);
            if output.status.code().is_none() {
                self.killed.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let ran: Ran = output.into();
            assert_eq!(ran.code, 0, "task {words}: {ran:?}");
            return Some(ran.stdout);
        }
        let ran: Ran = output_of(child, words).into();
        self.usual = began.elapsed();
        assert_eq!(ran.code, 0, "task {words}: {ran:?}");
        Some(ran.stdout)
    }

    fn result(&mut self, words: &str) -> Option<Value> {
        let document: Value = serde_json::from_str(&self.ran(words)?).expect("a document");
        Some(document["result"].clone())
    }

    /// Carries one task as far as no command is killed. Adds what was acknowledged.
    fn carry(&mut self, title: &str, agent: &str, kept: &mut Kept) -> Option<()> {
        let id = self.ran(&format!("create '{title}' --ready --id-only"))?.trim().to_owned();
        kept.created.insert(id.clone(), title.to_owned());
        let claim = self.result(&format!("claim {id} --as {agent} --json"))?;
        let run = claim["run_id"].as_str().expect("a run").to_owned();
        kept.claimed.insert(id.clone(), run.clone());
        let note = format!("note about {title}");
        let payload = json!({"taskId": id, "agentId": agent, "progress": note});
        self.send("status.update", &id, agent, &run, &payload)?;
        kept.noted.insert(id.clone(), note);
        let payload = json!({
            "outcome": "done", "summaryRef": "outputs/summary.md", "notes": title,
            "tests": {"total": 0, "passed": 0, "failed": 0},
        });
        self.send("completion.report", &id, agent, &run, &payload)?;
        kept.reported.insert(id.clone(), run);
        self.ran(&format!("approve {id} --yes"))?;
        kept.approved.push(id);
        Some(())
    }

    fn send(&mut self, kind: &str, id: &str, from: &str, run: &str, about: &Value) -> Option<()> {
        let message = json!({
            "protocol": "aof", "version": 1, "type": kind, "taskId": id, "fromAgent": from,
            "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z", "runId": run,
            "payload": about,
        });
        let quoted = shell_words::quote(&message.to_string()).into_owned();
        self.ran(&format!("message {quoted}")).map(drop)
    }
}

/// What was acknowledged, by task.
#[derive(Default)]
struct Kept {
    created: BTreeMap<String, String>,
    claimed: BTreeMap<String, String>,
    noted: BTreeMap<String, String>,
    reported: BTreeMap<String, String>,
    approved: Vec<String>,
}

impl Kept {
    fn add(&mut self, other: Self) {
        self.created.extend(other.created);
        self.claimed.extend(other.claimed);
        self.noted.extend(other.noted);
        self.reported.extend(other.reported);
        self.approved.extend(other.approved);
    }

    /// Checks that the tree has all of it, and each task once.
    fn check(&self, tasks: &Tasks) {
        tasks.yes("lint");
        let list = tasks.json("list --all --limit 500");
        let all = list["tasks"].as_array().expect("a list");
        let mut titles: Vec<&str> =
            all.iter().map(|task| task["title"].as_str().expect("a title")).collect();
        let count = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count, "a task is there twice");
        for (id, title) in &self.created {
            let shown = tasks.json(&format!("show {id}"));
            let task = &shown["task"];
            assert_eq!(task["title"], title.as_str());
            if let Some(run) = self.claimed.get(id) {
                assert_eq!(task["run"]["run_id"], run.as_str(), "{id}");
            }
            if let Some(note) = self.noted.get(id) {
                assert!(task["body"].as_str().is_some_and(|body| body.contains(note)), "{shown}");
            }
            if self.reported.contains_key(id) {
                assert_eq!(task["run"]["result"]["notes"], title.as_str(), "{id}");
                assert!(task["status"] == "review" || task["status"] == "done", "{shown}");
            }
            if self.approved.contains(id) {
                assert_eq!(task["status"], "done", "{shown}");
            }
        }
    }
}

#[test]
fn commands_that_are_killed_lose_nothing() {
    let rounds = std::env::var("ACCORD_KILL_ROUNDS");
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().expect("a number"));
    let (killed, mut acknowledged) = (AtomicU64::new(0), 0);
    for round in 0..rounds {
        let tasks = Tasks::new();
        tasks.yes("init");
        let began = Instant::now();
        tasks.yes("lint");
        let usual = began.elapsed();
        let mut kept = Kept::default();
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|caller| {
                    let (tasks, killed) = (&tasks, &killed);
                    scope.spawn(move || {
                        let chance = Chance(round * CALLERS + caller);
                        let mut killer = Killer { tasks, chance, usual, killed };
                        let mut kept = Kept::default();
                        for number in 0..TASKS {
                            let title = format!("Task {caller}-{number}");
                            let _ = killer.carry(&title, &format!("dev-{caller}"), &mut kept);
                        }
                        kept
                    })
                })
                .collect();
            callers.into_iter().for_each(|caller| kept.add(caller.join().expect("a caller")));
        });
        kept.check(&tasks);
        acknowledged += kept.created.len() + kept.claimed.len() + kept.reported.len();
    }
    let killed = killed.into_inner();
    assert!(killed >= rounds && acknowledged > 0, "{killed} killed, {acknowledged} acknowledged");
    println!("{rounds} rounds: {killed} commands killed, {acknowledged} acknowledgements kept");
}
