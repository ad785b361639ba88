//! One turn for one worker, and its possible endings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_base::ProjectId;
use accord_base::worker::SOCKET_VARIABLE;
use accord_contract::{Code, Failure, Object, Value};
use accord_process::{Cancel, Confinement, Invocation, Sandbox, StartError};
use accord_runs_core::liveness::{Limit, WorkerLimits};
use accord_runs_core::{Runtime, Turn, build, dispatch};

/// Where roles that only review write.
const REVIEWS: &str = ".agentxchain/reviews";

#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub root: &'a Path,
    pub run_id: &'a str,
    pub phase: &'a str,
    pub turn: &'a Turn,
    pub runtime: &'a Runtime,
    pub prompt: &'a str,
    pub context: &'a str,
    pub limits: WorkerLimits,
    pub cancel: Option<&'a Cancel>,
    /// Set once the turn is at another attempt, so that the result is no longer needed.
    pub over: &'a Cancel,
    /// Set once a person stopped the run. The turn goes on later.
    pub stopped: &'a Cancel,
    /// The socket through which the worker reaches a project of a host.
    pub socket: Option<(&'a ProjectId, &'a Path)>,
    /// What a program may see and change; `None` if there is no place to keep its state.
    pub confinement: Option<Confinement>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEnd {
    /// A person does the work; this process does not wait.
    ByHand,
    /// The worker staged its result itself.
    Written,
    /// The worker answered with its result, which is not staged yet.
    Answered(Object),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkerSignal<'a> {
    Started { pid: u32, sandbox: &'a Sandbox },
    // The stream is `stdout`, `staged_result` or `request`.
    FirstOutput { stream: &'a str },
    // `error`: it was written to standard error.
    Output { error: bool, bytes: &'a [u8] },
}

impl Job<'_> {
    pub fn bundle(&self) -> PathBuf {
        self.root.join(dispatch::bundle_folder(self.turn.id()))
    }

    pub fn staging(&self) -> PathBuf {
        self.root.join(dispatch::staging_path(self.turn.id()))
    }

    pub fn is_staged(&self) -> bool {
        // Anything there counts, also a broken link: acceptance must see and refuse it.
        self.staging().symlink_metadata().is_ok()
    }

    /// The program of the worker, if its runtime has one.
    pub(super) fn program(&self) -> Option<Invocation> {
        let program = super::program(self.runtime, self.root)?;
        let program = program.as_worker(self.root, self.turn.id().as_str());
        Some(match self.socket {
            Some((project, socket)) => {
                program.env("ACCORD_PROJECT", project.as_str()).env(SOCKET_VARIABLE, socket)
            }
            None => program,
        })
    }

    /// A program in its sandbox. It may write its result and reviews.
    pub(super) fn confine(&self, program: Invocation) -> Result<(Invocation, Sandbox), StartError> {
        let Some(mut confinement) = self.confinement.clone() else {
            return Ok((program, Sandbox::Off("there is no state folder".to_owned())));
        };
        let staging = dispatch::staging_folder(self.turn.id());
        let written = [staging.as_str(), REVIEWS].map(|path| confinement.tree.join(path));
        confinement.writable.extend(written);
        confinement.apply(program)
    }

    /// The complete briefing of the worker, as one text.
    pub fn briefing(&self) -> String {
        if self.context.is_empty() {
            return self.prompt.to_owned();
        }
        format!("{}\n---\n\n{}", self.prompt, self.context)
    }

    /// The description of the turn for a remote agent or a tool.
    pub(super) fn envelope(&self) -> Object {
        build([
            ("run_id", self.run_id.into()),
            ("turn_id", self.turn.id().as_str().into()),
            ("role", self.turn.role().into()),
            ("phase", self.phase.into()),
            ("runtime_id", self.runtime.id.as_str().into()),
            ("dispatch_dir", shown(&self.bundle())),
            ("prompt", self.prompt.into()),
            ("context", self.context.into()),
        ])
    }

    pub(super) fn failure(&self, code: Code, message: impl Into<String>) -> Failure {
        Failure::new(code, message)
            .with("turn_id", self.turn.id().as_str())
            .with("runtime_id", self.runtime.id.as_str())
    }

    pub(super) fn cancelled(&self) -> Failure {
        let turn = self.turn.id();
        let message = match self.stopped.is_cancelled() {
            true => format!("a person stopped the run while {turn} was worked on"),
            false => format!("the work on {turn} was cancelled"),
        };
        self.failure(Code::XchainWorkerCancelled, message)
    }

    pub(super) fn superseded(&self) -> Failure {
        let (turn, attempt) = (self.turn.id(), self.turn.attempt());
        let message = format!("{turn} was rejected or reissued before attempt {attempt} was done");
        self.failure(Code::XchainAttemptOver, message)
    }

    /// Ends the worker: the work was cancelled, the run was stopped, or the turn is at another
    /// attempt.
    pub(super) fn stop(&self) -> Cancel {
        let both = self.over.or(self.stopped);
        self.cancel.map_or_else(|| both.clone(), |cancel| cancel.or(&both))
    }

    pub(super) fn timed_out(&self) -> Failure {
        let (turn, after) = (self.turn.id(), span(self.limits.whole));
        let message = format!(
            "the worker of {turn} was not done after {after}, the time of the turn \
             (timeouts.per_turn_minutes)"
        );
        self.failure(Code::XchainWorkerTimedOut, message)
    }

    pub(super) fn passed(&self, code: Code, what: &str, limit: &Limit) -> Failure {
        let (turn, after) = (self.turn.id(), span(limit.after));
        let message = format!("the worker of {turn} {what} {after}; {}", limit.shown());
        limit.explain(self.failure(code, message))
    }
}

pub(super) fn shown(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

pub(super) fn span(duration: Duration) -> String {
    match duration.as_millis() {
        0..10_000 => format!("{} ms", duration.as_millis()),
        _ => format!("{} s", duration.as_secs()),
    }
}
