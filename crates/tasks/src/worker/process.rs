//! The process of an agent, watched.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use accord_base::worker::{Attempt, AttemptSocket, RUN_FILES, SOCKET_VARIABLE, TASK_FILES};
use accord_base::{ActorId, IdError, ProjectId};
use accord_contract::{Code, Failure};
use accord_process::{
    Cancel, Ending, GitAccess, Invocation, Overflow, RunOutput, Sandbox, Spec, StartError, Watch,
    WatchDecision, run_watched, user_state_folder,
};
use accord_tasks_core::message::PREFIX;
use accord_tasks_core::operations::{AgentExit, HeartbeatRequest};
use accord_tasks_core::run::RunStatus;

use super::leftover::Record;
use super::lines::Messages;
use super::{AgentCommand, AgentRun, WorkSignal};
use crate::Result;
use crate::operations::ms;
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

/// Runs the command of an agent to its end. Returns how it ended, and what to say without a report.
pub(super) fn run(
    agent: &AgentRun<'_>,
    command: &AgentCommand,
    briefing: &str,
    cancel: &Cancel,
    signals: &mut dyn FnMut(WorkSignal<'_>),
) -> (AgentExit, Option<String>) {
    let prepared = socket(agent, command).and_then(|socket| {
        let path = socket.as_ref().map(|socket| socket.path());
        let (spec, sandbox) = spec(agent, command, briefing, path)?;
        Ok((spec.cancel(cancel.clone()), sandbox, socket))
    });
    // The socket is there until the agent has ended.
    let (spec, sandbox, socket) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return (AgentExit::Failure, Some(error)),
    };
    let seconds = u64::try_from(agent.times.heartbeat_seconds / 3).unwrap_or(1).max(1);
    let now = Instant::now();
    let mut watched = Watched {
        agent,
        sandbox,
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
    drop((watched.record.take(), socket));
    match outcome {
        Ok(outcome) if outcome.cancelled => (AgentExit::Cancelled, None),
        Ok(outcome) if outcome.ending == Ending::Exited(0) && !outcome.timed_out => {
            (AgentExit::Success, Some(last_lines(&watched.tail)))
        }
        Ok(outcome) => (AgentExit::Failure, Some(described(command, &outcome))),
        Err(error) => (AgentExit::Failure, Some(format!("the agent did not start: {error}"))),
    }
}

/// The socket of this attempt, if the agent gets one.
fn socket(
    agent: &AgentRun<'_>,
    command: &AgentCommand,
) -> Result<Option<Box<dyn AttemptSocket>>, String> {
    let Some(sockets) = &command.sockets else { return Ok(None) };
    let attempt = || {
        let project = ProjectId::new(agent.project)?;
        let work = agent.run.task.to_string();
        Ok(Attempt { project, agent: ActorId::new(agent.run.agent.as_str())?, work })
    };
    let opened = attempt().map_err(|error: IdError| Failure::from(error));
    let opened = opened.and_then(|attempt| sockets.open(&attempt));
    opened.map(Some).map_err(|failure| format!("the agent did not start: {}", failure.message))
}

fn spec(
    run: &AgentRun<'_>,
    command: &AgentCommand,
    briefing: &str,
    socket: Option<&Path>,
) -> Result<(Spec, Sandbox), String> {
    let Some((program, arguments)) = command.argv.split_first() else {
        return Err("the agent did not start: its command is empty".to_owned());
    };
    let agent = run.run.agent.as_str();
    let has_prompt = arguments.iter().any(|argument| argument.contains(PROMPT));
    let mut filled = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let argument = argument.replace(AGENT, agent).replace(PROMPT, briefing);
        if argument.len() >= LONGEST_ARGUMENT {
            let message = "the agent did not start: the briefing is longer than an argument can \
                           be; leave {prompt} out, and the agent gets it on standard input";
            return Err(message.to_owned());
        }
        filled.push(argument);
    }
    let folder = run.folder();
    let mut invocation =
        Invocation::new(program, filled).cwd(command.cwd.as_ref().unwrap_or(&folder)).as_worker();
    for (name, value) in &command.env {
        invocation = invocation.env(name, value);
    }
    let (id, run_id) = (run.run.task.to_string(), run.run.run_id.as_str());
    let (folder, actor) = (folder.into_os_string(), format!("agent:{agent}"));
    let project = run.project;
    let values = [id.into(), folder, run_id.into(), agent.into(), project.into(), actor.into()];
    for (name, value) in VARIABLES.into_iter().zip(values) {
        invocation = invocation.env(name, value);
    }
    if let Some(socket) = socket {
        invocation = invocation.env(SOCKET_VARIABLE, socket);
    }
    let confined = confine(run, command, invocation);
    let (invocation, sandbox) =
        confined.map_err(|error| format!("the agent did not start: {error}"))?;
    let spec = Spec::new(invocation)
        .time_limit(command.time_limit)
        .stdout_limit(0, Overflow::Discard)
        .stderr_limit(ERRORS_SHOWN)
        .grace(GRACE);
    Ok((if has_prompt { spec } else { spec.stdin(briefing) }, sandbox))
}

/// The agent in its sandbox. It may change the folder that it works in, and of the tree of tasks
/// only the files that it leaves.
fn confine(
    run: &AgentRun<'_>,
    command: &AgentCommand,
    agent: Invocation,
) -> Result<(Invocation, Sandbox), StartError> {
    let Some(state) = user_state_folder() else {
        return Ok((agent, Sandbox::Off("there is no state folder".to_owned())));
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(&run.folder());
    let tree = command.cwd.as_deref().map_or_else(|| folder.clone(), real);
    let rules = &command.sandbox;
    let mut confinement = rules.confine(&tree, GitAccess::Commit, &state.join("accord"));
    let root = real(&run.root);
    let judging = TASK_FILES.map(|name| root.join(name)).into_iter();
    let judging = judging.chain([folder.join("inputs")]).chain(RUN_FILES.map(|it| tree.join(it)));
    confinement.protected.extend(judging.filter(|path| path.exists()));
    confinement.writable.extend(["work", "outputs"].map(|name| folder.join(name)));
    // A script that is an argument. The command comes from a person. What is in the work tree is
    // visible, but a link there comes from a worker, and is not followed.
    let named = command.argv.iter().map(|word| plain(&tree.join(word)));
    let named =
        named.filter(|path| !path.starts_with(&tree)).filter_map(|it| it.canonicalize().ok());
    confinement.visible.extend(named.filter(|path| path.is_file()));
    confinement.apply(agent)
}

/// A path without `..`, whatever links it has.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
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
    agent: &'w AgentRun<'w>,
    sandbox: Sandbox,
    signals: &'w mut dyn FnMut(WorkSignal<'_>),
    messages: Messages,
    /// What the next process needs to end this agent if this one dies.
    record: Option<Record>,
    every: Duration,
    next: Instant,
    /// When an agent that has reported must have ended.
    end_by: Option<Instant>,
    is_lost: bool,
    /// The end of the output.
    tail: Vec<u8>,
}

impl Watched<'_> {
    /// Keeps the end of the output.
    fn keep(&mut self, chunk: &[u8]) {
        self.tail.extend_from_slice(chunk);
        let excess = self.tail.len().saturating_sub(ERRORS_SHOWN);
        self.tail.drain(..excess);
    }

    /// Carries a message of the agent out.
    fn deliver(&mut self, line: &str) {
        let json = line.strip_prefix(PREFIX).unwrap_or(line);
        let outcome = match accord_canon::read(json.as_bytes()) {
            Ok(message) => {
                self.agent.operations.message(&self.agent.run.message(message).to_string())
            }
            // Refused with an event that says what is wrong.
            Err(_) => self.agent.operations.message(line),
        };
        (self.signals)(WorkSignal::Message(outcome.as_ref().err()));
        self.next = Instant::now();
    }

    fn beat(&mut self, now: Instant) {
        if self.end_by.is_some() {
            return;
        }
        let AgentRun { operations, run, times, .. } = self.agent;
        let request = HeartbeatRequest {
            agent: Some(run.agent.clone()),
            run_id: Some(run.run_id.clone()),
            lease_ttl_ms: ms(times.lease_seconds),
            heartbeat_ttl_ms: ms(times.heartbeat_seconds),
        };
        match operations.heartbeat(run.task, &request) {
            Ok(()) => {
                self.next = now + self.every;
                (self.signals)(WorkSignal::Beat);
            }
            // It may be possible again before the heartbeat ends.
            Err(failure) if is_for_now(&failure) => self.next = now + BEAT_AGAIN,
            // The agent reported by itself and may end in peace, or lost the task.
            Err(_) => match self.has_reported() {
                Ok(true) => self.end_by = Some(now + AFTER_REPORT),
                _ => self.is_lost = true,
            },
        }
    }

    /// Whether a result of this run is recorded.
    fn has_reported(&self) -> Result<bool> {
        let run = &self.agent.run;
        let Some(last) = self.agent.operations.last_run(run.task)? else { return Ok(false) };
        let is_own = |id: Option<&str>| id == Some(run.run_id.as_str());
        let is_over = is_own(last.run_id.as_deref()) && last.status == RunStatus::Completed;
        Ok(is_over || last.result.is_some_and(|result| is_own(result.run_id.as_deref())))
    }
}

/// Whether a heartbeat failed because of the tree or its host, and not because of the run.
fn is_for_now(failure: &Failure) -> bool {
    is_unavailable(failure) || failure.code == Code::HostUnreachable
}

impl Watch for Watched<'_> {
    fn started(&mut self, id: u32) {
        self.record = Record::write(self.agent, id);
        (self.signals)(WorkSignal::Started(id, &self.sandbox));
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
