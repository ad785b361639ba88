//! The process of an agent, watched.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use accord_base::client_output::ClientOutput;
use accord_base::worker::{Attempt, AttemptSocket, RUN_FILES, SOCKET_VARIABLE, TASK_FILES};
use accord_base::{ActorId, IdError, ProjectId};
use accord_contract::{Code, Failure};
use accord_process::{
    Cancel, Confinement, Ending, GitAccess, Invocation, Overflow, RunOutput, Sandbox, SandboxMode,
    Spec, StartError, Watch, WatchDecision, run_watched, user_state_folder,
};
use accord_tasks_core::message::PREFIX;
use accord_tasks_core::operations::{AgentExit, TaskObserved};

use super::changes::ChangedFile;
use super::leftover::Record;
use super::lines::Messages;
use super::observe::Observer;
use super::operations::is_for_now;
use super::{AgentCommand, AgentRun, WorkSignal};
use crate::Result;
use crate::report::RunOfAgent;

/// The largest argument that the system accepts, with its terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024;
/// How much of its standard error is in the failure.
const ERRORS_SHOWN: usize = 2_000;
/// The time for an agent to clean up after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
/// The time for an agent to end by itself after its report was taken.
const AFTER_REPORT: Duration = Duration::from_secs(60);
/// How often it is looked whether somebody moved the task. A cancelled agent ends soon after.
const LOOK: Duration = Duration::from_secs(1);
/// The first and the longest pause after a request that may succeed later.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

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

/// How an agent ended.
pub(super) struct Ended {
    pub(super) exit: AgentExit,
    /// What to say without a report.
    pub(super) text: Option<String>,
    /// What was observed, if the agent started.
    pub(super) observed: Option<TaskObserved>,
    /// What the agent changed in the repository, if that is told.
    pub(super) changes: Option<Vec<ChangedFile>>,
}

/// What a program may do in its sandbox, besides reading.
pub(super) enum Rights {
    /// What an agent may.
    Agent,
    /// What a check may: it cannot change git, nor Accord's data.
    Check,
}

/// Runs the command of an agent to its end, then the checks of its task.
pub(super) fn run(
    agent: &AgentRun<'_>,
    command: &AgentCommand,
    briefing: &str,
    cancel: &Cancel,
    signals: &mut dyn FnMut(WorkSignal<'_>),
) -> Ended {
    let failed = |text: String| {
        let exit = AgentExit::Failure;
        Ended { exit, text: Some(text), observed: None, changes: None }
    };
    let observer = Observer { agent, command, cancel };
    let prepared = socket(agent, command).and_then(|socket| {
        let path = socket.as_ref().map(|socket| socket.path());
        let (spec, sandbox) = spec(agent, command, briefing, path)?;
        Ok((spec.cancel(cancel.clone()), sandbox, socket))
    });
    // The socket is there until the agent has ended.
    let (spec, sandbox, socket) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return failed(error),
    };
    let base = observer.commit();
    let before = agent.describe.and(base.as_deref()).and_then(|base| observer.before(base));
    let guards = confinement(agent, command, &Rights::Agent).map(|confined| confined.guards());
    let (every, now) = (agent.beat_every(), Instant::now());
    let mut watched = Watched {
        agent,
        sandbox,
        signals,
        messages: Messages::default(),
        record: None,
        every,
        next: now + every,
        look: now,
        seen: None,
        end_by: None,
        pause: PAUSES.0,
        is_lost: false,
        has_expired: false,
        tail: Vec::new(),
        output: ClientOutput::default(),
    };
    let outcome = run_watched(&spec, &mut watched);
    if let Some(line) = watched.messages.finish() {
        watched.deliver(&line);
    }
    drop((watched.record.take(), socket));
    let Watched { sandbox, tail, mut output, has_expired, .. } = watched;
    output.finish();
    let (exit, text) = match outcome {
        // As if the worker had been killed: nothing says that the agent failed.
        Ok(_) if has_expired => (AgentExit::WorkerKilled, None),
        Ok(outcome) if outcome.cancelled => (AgentExit::Cancelled, None),
        Ok(outcome) if outcome.ending == Ending::Exited(0) && !outcome.timed_out => {
            // The end of a stream of JSON is nothing for people.
            let said = output.message().map(str::to_owned);
            (AgentExit::Success, Some(said.unwrap_or_else(|| last_lines(&tail, ERRORS_SHOWN))))
        }
        Ok(outcome) => (AgentExit::Failure, Some(described(command, &outcome))),
        Err(error) => return failed(format!("the agent did not start: {error}")),
    };
    // What the sandbox has put into the work tree goes with it.
    let cost = output.cost();
    drop(spec);
    let executed = guards.map(|guards| guards.changed()).unwrap_or_default();
    let observed = observer.observe((&sandbox, base), (cost, executed), exit, signals);
    let known = before.zip(observed.base.as_deref());
    let changes = known.and_then(|(before, base)| observer.changes(base, &before));
    Ended { exit, text, observed: Some(observed), changes }
}

/// The socket of this attempt, if the agent gets one.
fn socket(
    agent: &AgentRun<'_>,
    command: &AgentCommand,
) -> Result<Option<Box<dyn AttemptSocket>>, String> {
    let Some(sockets) = &command.sockets else { return Ok(None) };
    let attempt = || {
        let project = ProjectId::new(agent.project)?;
        let (work, id) = (agent.run.task.to_string(), Some(agent.run.run_id.clone()));
        Ok(Attempt { project, agent: ActorId::new(agent.run.agent.as_str())?, work, id })
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
    let invocation = Invocation::new(program, filled);
    let mut invocation = invocation.cwd(command.cwd.as_ref().unwrap_or(&folder));
    for (name, value) in &command.env {
        invocation = invocation.env(name, value);
    }
    invocation = marked(run, invocation);
    if let Some(socket) = socket {
        invocation = invocation.env(SOCKET_VARIABLE, socket);
    }
    let confined = confine(run, command, invocation, Rights::Agent);
    let (invocation, sandbox) =
        confined.map_err(|error| format!("the agent did not start: {error}"))?;
    let spec = Spec::new(invocation)
        .time_limit(command.time_limit)
        .stdout_limit(0, Overflow::Discard)
        .stderr_limit(ERRORS_SHOWN)
        .grace(GRACE);
    Ok((if has_prompt { spec } else { spec.stdin(briefing) }, sandbox))
}

/// A program as a worker on the task, with the variables that name it.
pub(super) fn marked(run: &AgentRun<'_>, mut program: Invocation) -> Invocation {
    let RunOfAgent { task, agent, run_id } = &run.run;
    let (folder, actor) = (run.folder().into_os_string(), format!("agent:{agent}"));
    let (id, project) = (task.to_string(), run.project);
    program = program.as_worker(&run.root, &id);
    let values = [id.into(), folder, run_id.into(), agent.into(), project.into(), actor.into()];
    for (name, value) in VARIABLES.into_iter().zip(values) {
        program = program.env(name, value);
    }
    program
}

/// A program in its sandbox. It may change the folder that the agent works in, and of the tree of
/// tasks only the files that the agent leaves.
pub(super) fn confine(
    run: &AgentRun<'_>,
    command: &AgentCommand,
    program: Invocation,
    rights: Rights,
) -> Result<(Invocation, Sandbox), StartError> {
    let Some(confinement) = confinement(run, command, &rights) else {
        let why = "there is no state folder; set HOME or XDG_STATE_HOME".to_owned();
        let is_required =
            matches!(command.sandbox.mode, SandboxMode::Bubblewrap | SandboxMode::Landlock);
        return match is_required {
            true => Err(StartError::Sandbox { why }),
            false => Ok((program, Sandbox::Off(why))),
        };
    };
    // It was real when the command was made. A worker of a folder above could replace it.
    if let Some(cwd) = command.cwd.as_ref().filter(|cwd| **cwd != confinement.tree) {
        let why = format!("{} is a link now, or is behind one", cwd.display());
        return Err(StartError::Sandbox { why });
    }
    confinement.apply(program)
}

/// What a program may see and change; `None` without a folder for the state of the user.
fn confinement(run: &AgentRun<'_>, command: &AgentCommand, rights: &Rights) -> Option<Confinement> {
    let state = user_state_folder()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(&run.folder());
    let tree = command.cwd.as_deref().map_or_else(|| folder.clone(), real);
    let rules = &command.sandbox;
    let mut confinement = rules.confine(&tree, GitAccess::Commit, &state.join("accord"));
    confinement.tree.clone_from(&tree);
    let root = real(&run.root);
    let judging = TASK_FILES.map(|name| root.join(name)).into_iter();
    let judging = judging.chain([folder.join("inputs")]).chain(RUN_FILES.map(|it| tree.join(it)));
    confinement.protected.extend(judging.filter(|path| path.exists()));
    confinement.writable.extend(["work", "outputs"].map(|name| folder.join(name)));
    // A script that is an argument. The command of the agent comes from a person, that of a check
    // may come from an agent. What is in the work tree is visible, but a link there comes from a
    // worker, and is not followed.
    let argv = match rights {
        Rights::Agent => command.argv.as_slice(),
        Rights::Check => {
            confinement.git = GitAccess::Read;
            confinement.shows_program = false;
            &[]
        }
    };
    let named = argv.iter().map(|word| plain(&tree.join(word)));
    let named =
        named.filter(|path| !path.starts_with(&tree)).filter_map(|it| it.canonicalize().ok());
    confinement.visible.extend(named.filter(|path| path.is_file()));
    Some(confinement)
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

/// The whole lines of the end of an output, of which at most `kept` bytes were kept.
pub(super) fn last_lines(tail: &[u8], kept: usize) -> String {
    let text = String::from_utf8_lossy(tail);
    match text.split_once('\n') {
        // The first line is cut off.
        Some((_, rest)) if tail.len() >= kept => rest.to_owned(),
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
    /// When it is looked again whether somebody moved the task.
    look: Instant,
    /// The last event that was seen.
    seen: Option<u64>,
    /// When an agent that has reported must have ended.
    end_by: Option<Instant>,
    /// How long to wait after the next request that may succeed later.
    pause: Duration,
    is_lost: bool,
    /// Whether the lease may be over, and the host could not be asked.
    has_expired: bool,
    /// The end of the output.
    tail: Vec<u8>,
    /// What the client of the agent says in it.
    output: ClientOutput,
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
        // As the messages of a tree are read.
        let json = line.strip_prefix(PREFIX).unwrap_or(line).trim();
        let outcome = match accord_canon::read(json.as_bytes()) {
            Ok(message) if self.agent.run.is_of_another(&message) => {
                let message = "a message of the agent names another agent as its sender";
                Err(Failure::new(Code::AccessDenied, message))
            }
            Ok(message) => {
                self.agent.operations.message(&self.agent.run.message(message).to_string())
            }
            // Refused with an event that says what is wrong.
            Err(_) => self.agent.operations.message(line),
        };
        (self.signals)(WorkSignal::Message(outcome.as_ref().err()));
        self.next = Instant::now();
    }

    /// Looks whether somebody moved the task since the last look. A move is what a heartbeat finds
    /// out sooner or later; it only comes sooner.
    fn look(&mut self, now: Instant) {
        self.look = now + LOOK;
        let AgentRun { operations, run, .. } = self.agent;
        let is_first = self.seen.is_none();
        let (last, has_moved) = match operations.moved_since(run.task, self.seen) {
            Ok(found) => found,
            Err(failure) if is_for_now(&failure) => return self.look = self.later(now),
            // The next look or heartbeat says why.
            Err(_) => return,
        };
        self.seen = Some(last);
        // What moved before the first look is not among the events.
        if has_moved || (is_first && matches!(self.agent.is_over(), Ok(true))) {
            self.beat(now);
        }
    }

    /// When to try again what failed for now.
    fn later(&mut self, now: Instant) -> Instant {
        let pause = self.pause.min(self.every);
        self.pause = (self.pause * 2).min(PAUSES.1);
        now + pause
    }

    fn beat(&mut self, now: Instant) {
        if self.end_by.is_some() {
            return;
        }
        let AgentRun { operations, run, .. } = self.agent;
        match operations.heartbeat(run.task, &self.agent.heartbeat()) {
            Ok(()) => {
                self.next = now + self.every;
                self.pause = PAUSES.0;
                (self.signals)(WorkSignal::Beat);
            }
            // It may be possible again before the heartbeat ends.
            Err(failure) if is_for_now(&failure) => {
                let until = operations.held_until();
                if until.is_some_and(|until| Instant::now() >= until) {
                    (self.is_lost, self.has_expired) = (true, true);
                } else {
                    let next = self.later(now);
                    self.next = until.map_or(next, |until| until.min(next));
                }
            }
            // The agent reported by itself and may end in peace, or lost the task.
            Err(_) => match self.agent.has_reported() {
                Ok(true) => self.end_by = Some(now + AFTER_REPORT),
                _ => self.is_lost = true,
            },
        }
    }
}

impl Watch for Watched<'_> {
    fn started(&mut self, id: u32) {
        self.record = Record::write(self.agent, id);
        (self.signals)(WorkSignal::Started(id, &self.sandbox));
    }

    fn stdout(&mut self, chunk: &[u8]) {
        self.keep(chunk);
        self.output.feed(false, chunk);
        (self.signals)(WorkSignal::Output { error: false, bytes: chunk });
        for line in self.messages.push(chunk) {
            self.deliver(&line);
        }
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.keep(chunk);
        self.output.feed(true, chunk);
        (self.signals)(WorkSignal::Output { error: true, bytes: chunk });
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        if now >= self.next {
            self.beat(now);
        } else if now >= self.look && self.end_by.is_none() {
            self.look(now);
        }
        if self.is_lost || self.end_by.is_some_and(|end| now >= end) {
            return WatchDecision::Stop;
        }
        WatchDecision::AskAgain(self.end_by.unwrap_or(self.next.min(self.look)))
    }
}
