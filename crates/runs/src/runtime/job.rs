//! One turn for one worker, and its possible endings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value, count_of};
use accord_process::Cancel;
use accord_runs_core::config::{Config, Runtime};
use accord_runs_core::dispatch;
use accord_runs_core::state::Turn;

/// The default time until the first output of a worker.
const STARTUP: Duration = Duration::from_secs(180);
/// The default time that a worker may be silent.
const SILENCE: Duration = Duration::from_secs(600);
/// The time limit of a turn without a deadline.
const WHOLE: Duration = Duration::from_secs(2 * 3600);

/// A dispatched turn, for its worker.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The run.
    pub run_id: &'a str,
    /// Its phase.
    pub phase: &'a str,
    /// The turn.
    pub turn: &'a Turn,
    /// Its runtime.
    pub runtime: &'a Runtime,
    /// The prompt.
    pub prompt: &'a str,
    /// The context: what has happened in the run.
    pub context: &'a str,
    /// The time limits.
    pub limits: Limits,
    /// Cancels the work.
    pub cancel: Option<&'a Cancel>,
    /// Set once the turn is at another attempt, so that the result is no longer needed.
    pub over: &'a Cancel,
}

/// The time limits of a worker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Until its first output.
    pub startup: Duration,
    /// Without output.
    pub silence: Duration,
    /// In total.
    pub whole: Duration,
}

/// The result of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEnd {
    /// A person does the work; this process does not wait.
    ByHand,
    /// The worker staged its result itself.
    Written,
    /// The worker answered with its result, which is not staged yet.
    Answered(Object),
}

/// An observation of a worker while it works.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum WorkerSignal<'a> {
    /// Its process started.
    Started {
        /// The process.
        pid: u32,
    },
    /// Its first output.
    FirstOutput {
        /// Where: `stdout`, `staged_result` or `request`.
        stream: &'a str,
    },
    /// Output.
    Output {
        /// Whether it was written to standard error.
        error: bool,
        /// The bytes.
        bytes: &'a [u8],
    },
}

impl Job<'_> {
    /// The folder of the turn's bundle.
    pub fn bundle(&self) -> PathBuf {
        self.root.join(dispatch::bundle_folder(self.turn.id()))
    }

    /// Where the result must be staged.
    pub fn staging(&self) -> PathBuf {
        self.root.join(dispatch::staging_path(self.turn.id()))
    }

    /// Whether a result is staged.
    pub fn is_staged(&self) -> bool {
        // Anything there counts, also a broken link: acceptance must see and refuse it.
        self.staging().symlink_metadata().is_ok()
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
        let folder = self.bundle();
        let members = [
            ("run_id", Value::from(self.run_id)),
            ("turn_id", self.turn.id().as_str().into()),
            ("role", self.turn.role().into()),
            ("phase", self.phase.into()),
            ("runtime_id", self.runtime.id.as_str().into()),
            ("dispatch_dir", shown(&folder)),
            ("prompt", self.prompt.into()),
            ("context", self.context.into()),
        ];
        let named = members.into_iter().map(|(name, value)| (name.to_owned(), value));
        named.collect()
    }

    /// A failure of the worker.
    pub(super) fn failure(&self, code: Code, message: impl Into<String>) -> Failure {
        Failure::new(code, message)
            .with("turn_id", self.turn.id().as_str())
            .with("runtime_id", self.runtime.id.as_str())
    }

    /// The work was cancelled.
    pub(super) fn cancelled(&self) -> Failure {
        let message = format!("the work on {} was cancelled", self.turn.id());
        self.failure(Code::XchainWorkerCancelled, message)
    }

    /// The turn is at another attempt by now.
    pub(super) fn superseded(&self) -> Failure {
        let message = format!(
            "{} was rejected or reissued before attempt {} was done",
            self.turn.id(),
            self.turn.attempt()
        );
        self.failure(Code::XchainAttemptOver, message)
    }

    /// The time limit of the turn has passed.
    pub(super) fn timed_out(&self, limit: Duration) -> Failure {
        let message =
            format!("the worker of {} was not done after {}", self.turn.id(), span(limit));
        self.failure(Code::XchainWorkerTimedOut, message)
    }
}

impl Limits {
    /// The limits of a turn: those of its runtime, else of the run loop, else the defaults.
    pub fn of(config: &Config, runtime: &Runtime, turn: &Turn, now: Time) -> Self {
        let run_loop = config.document().get("run_loop").and_then(Value::as_object);
        let millis = |settings: Option<&Object>, name: &str| {
            let number = count_of(settings?.get(name)?)?;
            (number > 0).then(|| Duration::from_millis(number))
        };
        let whole = turn
            .deadline()
            .map_or(WHOLE, |deadline| Duration::from_millis(deadline.millis_since(now)));
        let startup = millis(Some(&runtime.settings), "startup_watchdog_ms")
            .or_else(|| millis(run_loop, "startup_watchdog_ms"));
        let silence = millis(run_loop, "stale_turn_threshold_ms");
        Self { startup: startup.unwrap_or(STARTUP), silence: silence.unwrap_or(SILENCE), whole }
    }
}

pub(super) fn shown(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// A duration for people.
pub(super) fn span(duration: Duration) -> String {
    match duration.as_millis() {
        0..10_000 => format!("{} ms", duration.as_millis()),
        _ => format!("{} s", duration.as_secs()),
    }
}
