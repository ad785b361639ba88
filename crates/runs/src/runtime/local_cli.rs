//! A worker that is a program. It gets its briefing as an argument, on standard input or from the
//! bundle, and stages its result itself.
//!
//! Two watchdogs observe it. It has started once it prints on standard output or a result is
//! staged; standard error does not count, because programs often print only a complaint there.
//! After that, any output resets the watchdog for silence.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use accord_process::{Ending, RunOutput, Spec, StartError, Watch, WatchDecision, run_watched};
use accord_runs_core::dispatch;

use super::job::{Job, WorkerEnd, WorkerSignal, shown, span};
use super::progress::Progress;

/// The largest argument that the system accepts, with its terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024;
/// How much of a worker's output is kept beside its bundle.
const LOG_LIMIT: usize = 16 * 1024 * 1024;
/// How much of its standard error is in the failure.
const ERRORS_SHOWN: usize = 2_000;
/// The time for a worker to clean up after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
/// The placeholder for the prompt in a command.
const PLACEHOLDER: &str = "{prompt}";

pub(super) fn run(
    job: &Job<'_>,
    signals: &mut dyn FnMut(WorkerSignal<'_>),
) -> Result<WorkerEnd, Failure> {
    let spec = spec(job)?;
    let mut worker = Worker {
        job,
        signals,
        log: Log::open(job),
        progress: Progress::new(job),
        began: Instant::now(),
        last_sign: None,
        cause: None,
    };
    let outcome = run_watched(&spec, &mut worker);
    worker.progress.remove();
    let cause = worker.cause;
    let outcome = outcome.map_err(|error| not_started(job, &error))?;
    judge(job, &outcome, cause)
}

fn spec(job: &Job<'_>) -> Result<Spec, Failure> {
    let mut invocation = super::program(job.runtime, job.root).unwrap_or_else(|| {
        // Runtimes of other types are handled by the caller.
        accord_process::Invocation::new("", Vec::<String>::new())
    });
    let transport = job.runtime.settings.get("prompt_transport");
    let by_stdin = transport.and_then(Value::as_str) == Some("stdin");
    if by_stdin {
        // A prompt on standard input needs no placeholder in the command.
        invocation.args.retain(|word| word != PLACEHOLDER);
    } else {
        let briefing = job.briefing();
        for word in &mut invocation.args {
            let Some(text) = word.to_str().filter(|text| text.contains(PLACEHOLDER)) else {
                continue;
            };
            let filled = text.replace(PLACEHOLDER, &briefing);
            if filled.len() >= LONGEST_ARGUMENT {
                let message = format!(
                    "the briefing of {} has {} bytes, more than an argument can have; \
                     let runtime {} read it with prompt_transport stdin",
                    job.turn.id(),
                    briefing.len(),
                    job.runtime.id
                );
                return Err(job.failure(Code::XchainWorkerNotStarted, message));
            }
            *word = filled.into();
        }
    }
    let variables = [
        ("AGENTXCHAIN_TURN_ID", job.turn.id().as_str().into()),
        ("AGENTXCHAIN_RUN_ID", job.run_id.into()),
        ("AGENTXCHAIN_ROLE", job.turn.role().into()),
        ("AGENTXCHAIN_PHASE", job.phase.into()),
        ("AGENTXCHAIN_PROJECT_ROOT", shown(job.root)),
        ("AGENTXCHAIN_DISPATCH_DIR", shown(&job.bundle())),
        ("AGENTXCHAIN_STAGING_PATH", shown(&job.staging())),
    ];
    for (name, value) in variables {
        invocation = invocation.env(name, value.as_str().unwrap_or_default());
    }
    let mut spec = Spec::new(invocation)
        .time_limit(job.limits.whole)
        // The output goes to the log and the listener, chunk by chunk.
        .stdout_limit(0, accord_process::Overflow::Discard)
        .stderr_limit(ERRORS_SHOWN)
        .grace(GRACE);
    if by_stdin {
        spec = spec.stdin(job.briefing());
    }
    if let Some(cancel) = job.cancel {
        spec = spec.cancel(cancel.clone());
    }
    Ok(spec)
}

/// Why a watchdog stopped a worker.
#[derive(Clone, Copy)]
enum Cause {
    NoSign,
    Quiet,
}

struct Worker<'a, 'b> {
    job: &'a Job<'b>,
    signals: &'a mut dyn FnMut(WorkerSignal<'_>),
    log: Option<Log>,
    progress: Progress,
    began: Instant,
    last_sign: Option<Instant>,
    cause: Option<Cause>,
}

impl Worker<'_, '_> {
    fn heard(&mut self, error: bool, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            log.write(bytes);
        }
        self.progress.output(error, bytes);
        (self.signals)(WorkerSignal::Output { error, bytes });
    }

    fn first_sign(&mut self, stream: &str) {
        if self.last_sign.is_none() {
            self.progress.first_output();
            (self.signals)(WorkerSignal::FirstOutput { stream });
        }
        self.last_sign = Some(Instant::now());
    }
}

impl Watch for Worker<'_, '_> {
    fn started(&mut self, pid: u32) {
        self.began = Instant::now();
        self.progress.started(pid);
        (self.signals)(WorkerSignal::Started { pid });
    }

    fn stdout(&mut self, chunk: &[u8]) {
        self.first_sign("stdout");
        self.heard(false, chunk);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        if self.last_sign.is_some() {
            self.last_sign = Some(Instant::now());
        }
        self.heard(true, chunk);
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        if self.job.over.is_cancelled() {
            return WatchDecision::Stop;
        }
        let limits = self.job.limits;
        let due = match self.last_sign {
            None => self.began + limits.startup,
            Some(last) => last + limits.silence,
        };
        if now < due {
            return WatchDecision::AskAgain(due.min(self.progress.next_note(now)));
        }
        match self.last_sign {
            // Checked only when the time is over: looking at the disk for every chunk would be a
            // waste.
            None if self.job.is_staged() => {
                self.first_sign("staged_result");
                WatchDecision::AskAgain(now + limits.silence)
            }
            None => {
                self.cause = Some(Cause::NoSign);
                WatchDecision::Stop
            }
            Some(_) => {
                self.cause = Some(Cause::Quiet);
                WatchDecision::Stop
            }
        }
    }
}

fn judge(job: &Job<'_>, outcome: &RunOutput, cause: Option<Cause>) -> Result<WorkerEnd, Failure> {
    let turn = job.turn.id();
    let explained = |failure: Failure| {
        let errors = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
        if errors.is_empty() {
            return failure;
        }
        failure.with("stderr", errors)
    };
    if outcome.cancelled {
        return Err(job.cancelled());
    }
    if outcome.timed_out {
        return Err(explained(job.timed_out(job.limits.whole)));
    }
    if outcome.stopped {
        let (code, message) = match cause {
            Some(Cause::NoSign) => (
                Code::XchainWorkerNotStarted,
                format!("the worker of {turn} gave no output within {}", span(job.limits.startup)),
            ),
            // Also a worker whose attempt is over. `run_worker` replaces this failure then.
            _ => (
                Code::XchainWorkerStalled,
                format!("the worker of {turn} was silent for {}", span(job.limits.silence)),
            ),
        };
        return Err(explained(job.failure(code, message)));
    }
    // The exit code does not matter: acceptance judges the result.
    if job.is_staged() {
        return Ok(WorkerEnd::Written);
    }
    let log = format!("{}/{LOG_FILE}", dispatch::bundle_folder(job.turn.id()));
    let message = format!(
        "the worker of {turn} ended ({}) without a result; its output is in {log}",
        outcome.ending
    );
    let failure = job.failure(Code::XchainWorkerWithoutResult, message).with("log", log);
    let failure = match outcome.ending {
        Ending::Exited(code) => failure.with("exit_code", code),
        _ => failure,
    };
    Err(explained(failure))
}

fn not_started(job: &Job<'_>, error: &StartError) -> Failure {
    let message = format!("the worker of {} did not start: {error}", job.turn.id());
    job.failure(Code::XchainWorkerNotStarted, message)
}

/// The file with the output of a worker, beside its bundle.
const LOG_FILE: &str = "stdout.log";

/// The output of a worker, kept beside its bundle.
struct Log {
    file: File,
    left: usize,
}

impl Log {
    fn open(job: &Job<'_>) -> Option<Self> {
        let file = super::progress::create(&job.bundle().join(LOG_FILE)).ok()?;
        Some(Self { file, left: LOG_LIMIT })
    }

    /// A failure to write the log does not stop the worker.
    fn write(&mut self, bytes: &[u8]) {
        if self.left == 0 {
            return;
        }
        let kept = bytes.len().min(self.left);
        self.left -= kept;
        let _ = self.file.write_all(&bytes[..kept]);
        if self.left == 0 {
            let _ = self.file.write_all(b"\n[the rest is not kept]\n");
        }
    }
}
