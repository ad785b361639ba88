//! One turn for one worker, and what may become of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value, count_of};
use accord_process::Cancel;
use accord_runs_core::config::{Config, Runtime};
use accord_runs_core::dispatch;
use accord_runs_core::state::Turn;

/// How long a worker may take to give its first sign of life when nothing is said.
const STARTUP: Duration = Duration::from_secs(180);
/// How long a worker may be quiet when nothing is said.
const SILENCE: Duration = Duration::from_secs(600);
/// How long a turn without a deadline may take.
const WHOLE: Duration = Duration::from_secs(2 * 3600);

/// A turn that was dispatched, for its worker.
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
    /// What carries it.
    pub runtime: &'a Runtime,
    /// What to do.
    pub prompt: &'a str,
    /// What has happened.
    pub context: &'a str,
    /// How long the worker may take.
    pub limits: Limits,
    /// The word that ends the work early.
    pub cancel: Option<&'a Cancel>,
    /// The word that the turn is no longer at this try, so that nobody waits for its result.
    pub over: &'a Cancel,
}

/// How long a worker may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Until its first sign of life.
    pub startup: Duration,
    /// Without a sign of life.
    pub silence: Duration,
    /// In all.
    pub whole: Duration,
}

/// What a worker did for a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEnd {
    /// A person does the work; there is nothing to wait for here.
    ByHand,
    /// It staged its result itself.
    Written,
    /// It answered with its result, which is still to be staged.
    Answered(Object),
}

/// Something that is seen of a worker while it works.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum WorkerSignal<'a> {
    /// Its process runs.
    Started {
        /// The process.
        pid: u32,
    },
    /// It gave its first sign of life.
    FirstOutput {
        /// Where: `stdout`, `staged_result` or `request`.
        stream: &'a str,
    },
    /// It wrote something.
    Output {
        /// Whether that was on standard error.
        error: bool,
        /// What.
        bytes: &'a [u8],
    },
}

impl Job<'_> {
    /// The folder of the turn's bundle.
    pub fn bundle(&self) -> PathBuf {
        self.root.join(dispatch::bundle_folder(self.turn.id()))
    }

    /// Where the result is to be staged.
    pub fn staging(&self) -> PathBuf {
        self.root.join(dispatch::staging_path(self.turn.id()))
    }

    /// Whether a result is staged.
    pub fn is_staged(&self) -> bool {
        self.staging().symlink_metadata().is_ok()
    }

    /// Everything that the worker is told, as one text.
    pub fn briefing(&self) -> String {
        if self.context.is_empty() {
            return self.prompt.to_owned();
        }
        format!("{}\n---\n\n{}", self.prompt, self.context)
    }

    /// What a worker behind an address or a tool is told about the turn.
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
        let named = members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        named.collect()
    }

    /// A failure of the worker.
    pub(super) fn failure(&self, code: Code, message: impl Into<String>) -> Failure {
        Failure::new(code, message)
            .with("turn_id", self.turn.id().as_str())
            .with("runtime_id", self.runtime.id.as_str())
    }

    /// The work was given up.
    pub(super) fn cancelled(&self) -> Failure {
        let message = format!("the work on {} was given up", self.turn.id());
        self.failure(Code::XchainWorkerCancelled, message)
    }

    /// The turn went on without this try.
    pub(super) fn superseded(&self) -> Failure {
        let message = format!(
            "{} was rejected or taken back before try {} was done",
            self.turn.id(),
            self.turn.attempt()
        );
        self.failure(Code::XchainAttemptOver, message)
    }

    /// The turn's time is over.
    pub(super) fn timed_out(&self, limit: Duration) -> Failure {
        let message = format!(
            "the worker of {} was not done after {}",
            self.turn.id(),
            span(limit)
        );
        self.failure(Code::XchainWorkerTimedOut, message)
    }
}

impl Limits {
    /// The limits of a turn: what its runtime says, else the run loop, else the usual.
    pub fn of(config: &Config, runtime: &Runtime, turn: &Turn, now: Time) -> Self {
        let run_loop = config.document().get("run_loop").and_then(Value::as_object);
        let millis = |settings: Option<&Object>, name: &str| {
            let number = count_of(settings?.get(name)?)?;
            (number > 0).then(|| Duration::from_millis(number))
        };
        let whole = turn.deadline().map_or(WHOLE, |deadline| {
            Duration::from_millis(deadline.millis_since(now))
        });
        let startup = millis(Some(&runtime.settings), "startup_watchdog_ms")
            .or_else(|| millis(run_loop, "startup_watchdog_ms"));
        let silence = millis(run_loop, "stale_turn_threshold_ms");
        Self {
            startup: startup.unwrap_or(STARTUP),
            silence: silence.unwrap_or(SILENCE),
            whole,
        }
    }
}

pub(super) fn shown(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// A duration as people say it.
pub(super) fn span(duration: Duration) -> String {
    match duration.as_millis() {
        0..10_000 => format!("{} ms", duration.as_millis()),
        _ => format!("{} s", duration.as_secs()),
    }
}
