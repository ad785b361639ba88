//! The process of an agent, watched.

use std::time::{Duration, Instant};

use accord_process::{
    Cancel, Ending, Invocation, Overflow, RunOutput, Spec, Watch, WatchDecision, run_watched,
};
use accord_tasks_core::message::PREFIX;

use super::leftover::Record;
use super::lines::Messages;
use super::{AgentCommand, Ended, WorkSignal, Worker, agent_of, report};
use crate::Result;
use crate::operations::Claimed;
use crate::tree::is_unavailable;

/// The largest argument that the system accepts, with its terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024;
/// How much of its standard error is in the failure.
const ERRORS_SHOWN: usize = 2_000;
/// The time for an agent to clean up after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
/// The time for an agent to end by itself after its report was taken.
const AFTER_REPORT: Duration = Duration::from_secs(60);
/// The pause after a heartbeat that could not be written.
const BEAT_AGAIN: Duration = Duration::from_secs(1);

const PROMPT: &str = "{prompt}";
const AGENT: &str = "{agent}";

/// The variables of a worker's environment that name its task.
pub(crate) const VARIABLES: [&str; 6] = [
    "ACCORD_TASK_ID",
    "ACCORD_TASK_DIR",
    "ACCORD_TASK_RUN_ID",
    "ACCORD_TASK_AGENT",
    "ACCORD_PROJECT",
    // Otherwise it would be that of the person who started the worker.
    "ACCORD_ACTOR",
];

pub(super) fn run(
    worker: &Worker,
    claimed: &Claimed,
    command: &AgentCommand,
    briefing: &str,
    cancel: &Cancel,
    signals: &mut dyn FnMut(WorkSignal<'_>),
) -> Result<Ended> {
    let spec = match spec(worker, claimed, command, briefing) {
        Ok(spec) => spec.cancel(cancel.clone()),
        Err(error) => return Ok(Ended::Without(error)),
    };
    let seconds = u64::try_from(worker.times.heartbeat_seconds / 3).unwrap_or(1).max(1);
    let now = Instant::now();
    let mut watched = Watched {
        worker,
        claimed,
        signals,
        messages: Messages::default(),
        record: None,
        every: Duration::from_secs(seconds),
        next: now + Duration::from_secs(seconds),
        end_by: None,
        is_lost: false,
        tail: Vec::new(),
    };
    let outcome = run_watched(&spec, &mut watched);
    if let Some(line) = watched.messages.finish() {
        watched.deliver(&line);
    }
    drop(watched.record.take());
    Ok(match outcome {
        Ok(outcome) if outcome.cancelled => Ended::Cancelled,
        Ok(outcome) if outcome.ending == Ending::Exited(0) && !outcome.timed_out => {
            Ended::Well(last_lines(&watched.tail))
        }
        Ok(outcome) => Ended::Without(described(command, &outcome)),
        Err(error) => Ended::Without(format!("the agent did not start: {error}")),
    })
}

fn spec(
    worker: &Worker,
    claimed: &Claimed,
    command: &AgentCommand,
    briefing: &str,
) -> Result<Spec, String> {
    let Some((program, arguments)) = command.argv.split_first() else {
        return Err("the agent did not start: its command is empty".to_owned());
    };
    let (task, agent) = (claimed.task.task(), agent_of(&claimed.task));
    let has_prompt = arguments.iter().any(|argument| argument.contains(PROMPT));
    let mut filled = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let argument = argument.replace(AGENT, agent).replace(PROMPT, briefing);
        if argument.len() >= LONGEST_ARGUMENT {
            let message = "the agent did not start: the briefing is longer than an argument can \
                           be; \
                           leave {prompt} out, and the agent gets it on standard input";
            return Err(message.to_owned());
        }
        filled.push(argument);
    }
    let folder = worker.folder(task.id);
    let mut invocation =
        Invocation::new(program, filled).cwd(command.cwd.as_ref().unwrap_or(&folder));
    for (name, value) in &command.env {
        invocation = invocation.env(name, value);
    }
    let run_id = claimed.run.run_id.as_deref().unwrap_or_default();
    let id = task.id.to_string();
    let (folder, actor) = (folder.into_os_string(), format!("agent:{agent}"));
    let project = worker.project.as_str();
    let values = [id.into(), folder, run_id.into(), agent.into(), project.into(), actor.into()];
    for (name, value) in VARIABLES.into_iter().zip(values) {
        invocation = invocation.env(name, value);
    }
    let spec = Spec::new(invocation)
        .time_limit(command.time_limit)
        .stdout_limit(0, Overflow::Discard)
        .stderr_limit(ERRORS_SHOWN)
        .grace(GRACE);
    Ok(if has_prompt { spec } else { spec.stdin(briefing) })
}

/// How an agent ended, for the case that it left no report.
fn described(command: &AgentCommand, outcome: &RunOutput) -> String {
    let mut text = if outcome.timed_out {
        format!("the agent was ended after {} s", command.time_limit.as_secs())
    } else {
        match outcome.ending {
            Ending::Exited(code) => format!("the agent ended with exit code {code}"),
            ending => format!("the agent ended ({ending})"),
        }
    };
    text.push_str(" without a report");
    let errors = String::from_utf8_lossy(&outcome.stderr);
    if !errors.trim().is_empty() {
        text = format!("{text}: {}", errors.trim());
    }
    text
}

fn last_lines(tail: &[u8]) -> String {
    let text = String::from_utf8_lossy(tail);
    match text.split_once('\n') {
        // The first line is cut off.
        Some((_, rest)) if tail.len() >= ERRORS_SHOWN => rest.to_owned(),
        _ => text.into_owned(),
    }
}

struct Watched<'w> {
    worker: &'w Worker,
    claimed: &'w Claimed,
    signals: &'w mut dyn FnMut(WorkSignal<'_>),
    messages: Messages,
    /// What the next process needs to end this agent if this one dies.
    record: Option<Record>,
    every: Duration,
    next: Instant,
    /// When an agent that has reported must have ended.
    end_by: Option<Instant>,
    is_lost: bool,
    tail: Vec<u8>,
}

impl Watched<'_> {
    fn keep(&mut self, chunk: &[u8]) {
        self.tail.extend_from_slice(chunk);
        let excess = self.tail.len().saturating_sub(ERRORS_SHOWN);
        self.tail.drain(..excess);
    }

    fn deliver(&mut self, line: &str) {
        let json = line.strip_prefix(PREFIX).unwrap_or(line);
        let outcome = match accord_canon::read(json.as_bytes()) {
            Ok(message) => self.worker.tree.worker_message(&report::in_run(self.claimed, message)),
            // Refused with an event that says what is wrong.
            Err(_) => self.worker.tree.worker_text(line),
        };
        (self.signals)(WorkSignal::Message(outcome.as_ref().err()));
        self.next = Instant::now();
    }

    fn beat(&mut self, now: Instant) {
        if self.end_by.is_some() {
            return;
        }
        match self.worker.tree.beat(self.claimed, self.worker.times) {
            Ok(()) => {
                self.next = now + self.every;
                (self.signals)(WorkSignal::Beat);
            }
            // A tree that cannot be written now may be writable again before the heartbeat ends.
            Err(failure) if is_unavailable(&failure) => {
                self.next = now + BEAT_AGAIN;
            }
            // The agent reported by itself: it may end in peace. In any other case the task is
            // no longer its own.
            Err(_) => match self.worker.tree.has_reported(self.claimed) {
                Ok(true) => self.end_by = Some(now + AFTER_REPORT),
                _ => self.is_lost = true,
            },
        }
    }
}

impl Watch for Watched<'_> {
    fn started(&mut self, id: u32) {
        self.record = Record::write(self.worker, self.claimed, id);
        (self.signals)(WorkSignal::Started(id));
    }

    fn stdout(&mut self, chunk: &[u8]) {
        self.keep(chunk);
        (self.signals)(WorkSignal::Output { error: false, bytes: chunk });
        for line in self.messages.push(chunk) {
            self.deliver(&line);
        }
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.keep(chunk);
        (self.signals)(WorkSignal::Output { error: true, bytes: chunk });
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        if now >= self.next {
            self.beat(now);
        }
        if self.is_lost || self.end_by.is_some_and(|end| now >= end) {
            return WatchDecision::Stop;
        }
        WatchDecision::AskAgain(self.end_by.unwrap_or(self.next))
    }
}
