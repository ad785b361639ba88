//! A worker that is a program. It gets its briefing as an argument, on standard input or from the
//! bundle, and stages its result itself.
//!
//! It is ended if it gives no sign of life for too long; [`accord_runs_core::liveness`] decides.
//! Its output is observed as it comes. CPU time and changed files are measured every few seconds.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use accord_contract::{Code, Failure, Value};
use accord_process::{
    Ending, RunOutput, Sandbox, Spec, StartError, Watch, WatchDecision, group_cpu_time, run_watched,
};
use accord_runs_core::liveness::{Liveness, Stall};
use accord_runs_core::{Result, dispatch};

use super::file_changes::FileChanges;
use super::job::{Job, WorkerEnd, WorkerSignal, shown};
use super::progress::Progress;

/// The largest argument that the system accepts, with its terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024;
/// How much of a worker's output is kept beside its bundle.
const LOG_LIMIT: usize = 16 * 1024 * 1024;
/// How much of its standard error is in the failure.
const ERRORS_SHOWN: usize = 2_000;
/// The time for a worker to clean up after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
const PLACEHOLDER: &str = "{prompt}";

pub(super) fn run(job: &Job<'_>, signals: &mut dyn FnMut(WorkerSignal<'_>)) -> Result<WorkerEnd> {
    let (spec, sandbox) = spec(job)?;
    let mut worker = Worker {
        job,
        sandbox,
        signals,
        log: Log::open(job),
        progress: Progress::new(job),
        pid: None,
        began: Instant::now(),
        began_at: wall_clock(),
        liveness: Liveness::new(&job.limits),
        files: FileChanges::new(job),
        stall: None,
    };
    let outcome = run_watched(&spec, &mut worker);
    worker.progress.remove();
    let stall = worker.stall;
    let outcome = outcome.map_err(|error| not_started(job, &error))?;
    judge(job, &outcome, stall)
}

fn spec(job: &Job<'_>) -> Result<(Spec, Sandbox)> {
    let mut invocation = job.program().unwrap_or_else(|| {
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
            let text = word.to_str().filter(|text| text.contains(PLACEHOLDER));
            let Some(text) = text else { continue };
            let filled = text.replace(PLACEHOLDER, &briefing);
            if filled.len() >= LONGEST_ARGUMENT {
                let (turn, length, runtime) = (job.turn.id(), briefing.len(), &job.runtime.id);
                let message = format!(
                    "the briefing of {turn} has {length} bytes, more than an argument can have; \
                     let runtime {runtime} read it with prompt_transport stdin"
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
        // Otherwise it would be that of the person who started the worker.
        ("ACCORD_ACTOR", format!("agent:{}", job.turn.role()).into()),
    ];
    for (name, value) in variables {
        invocation = invocation.env(name, value.as_str().unwrap_or_default());
    }
    let (invocation, sandbox) =
        job.confine(invocation).map_err(|error| not_started(job, &error))?;
    let mut spec = Spec::new(invocation)
        .time_limit(job.limits.whole)
        // The output goes to the log and the listener, chunk by chunk.
        .stdout_limit(0, accord_process::Overflow::Discard)
        .stderr_limit(ERRORS_SHOWN)
        .grace(GRACE);
    if by_stdin {
        spec = spec.stdin(job.briefing());
    }
    Ok((spec.cancel(job.stop()), sandbox))
}

struct Worker<'a, 'b> {
    job: &'a Job<'b>,
    sandbox: Sandbox,
    signals: &'a mut dyn FnMut(WorkerSignal<'_>),
    log: Option<Log>,
    progress: Progress,
    pid: Option<u32>,
    /// When it started, by both clocks: files have the time of the second.
    began: Instant,
    began_at: SystemTime,
    liveness: Liveness,
    files: FileChanges,
    stall: Option<Stall>,
}

impl Worker<'_, '_> {
    fn heard(&mut self, error: bool, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            log.write(bytes);
        }
        self.progress.output(error, bytes);
        (self.signals)(WorkerSignal::Output { error, bytes });
    }

    fn output(&mut self, stream: &str) {
        if self.liveness.output(self.began.elapsed()) {
            self.progress.first_output();
            (self.signals)(WorkerSignal::FirstOutput { stream });
        }
    }

    /// Measures CPU time and files.
    fn sample(&mut self, at: Duration, is_last: bool) {
        let cpu = self.pid.and_then(group_cpu_time);
        let since = self.began_at + self.liveness.last_sign();
        let changed = if is_last { self.files.last_look(since) } else { self.files.look(since) };
        // A clock that was set back has no difference; the next change counts.
        let changed = changed.and_then(|changed| changed.duration_since(self.began_at).ok());
        if self.liveness.sample(at, cpu, changed) {
            self.progress.busy();
        }
    }
}

impl Watch for Worker<'_, '_> {
    fn started(&mut self, pid: u32) {
        self.pid = Some(pid);
        self.began = Instant::now();
        self.began_at = wall_clock();
        self.progress.started(pid);
        (self.signals)(WorkerSignal::Started { pid, sandbox: &self.sandbox });
    }

    fn stdout(&mut self, chunk: &[u8]) {
        self.output("stdout");
        self.heard(false, chunk);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.liveness.complaint(self.began.elapsed());
        self.heard(true, chunk);
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        let at = now.saturating_duration_since(self.began);
        if at >= self.liveness.next_sample() {
            self.sample(at, false);
        }
        match self.liveness.stalled(at) {
            // Checked only when the time is over, not for every chunk.
            Some(Stall::Startup) if self.job.is_staged() => self.output("staged_result"),
            Some(_) => self.sample(at, true),
            None => {}
        }
        self.stall = self.liveness.stalled(at);
        if self.stall.is_some() {
            return WatchDecision::Stop;
        }
        let next = self.began + self.liveness.next_sample().min(self.liveness.due());
        WatchDecision::AskAgain(next.min(self.progress.next_note(now)))
    }
}

fn judge(job: &Job<'_>, outcome: &RunOutput, stall: Option<Stall>) -> Result<WorkerEnd> {
    let turn = job.turn.id();
    let explained = |failure: Failure| {
        let errors = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
        if errors.is_empty() { failure } else { failure.with("stderr", errors) }
    };
    if outcome.cancelled {
        return Err(job.cancelled());
    }
    if outcome.timed_out {
        return Err(explained(job.timed_out()));
    }
    if let Some(stall) = stall.filter(|_| outcome.stopped) {
        let what = "gave no sign of life (output, CPU time, changed files) for";
        let failure = match stall {
            Stall::Startup => job.passed(Code::XchainWorkerNotStarted, what, &job.limits.startup),
            Stall::Silence => job.passed(Code::XchainWorkerStalled, what, &job.limits.silence),
        };
        return Err(explained(failure));
    }
    // The exit code does not matter: acceptance judges the result.
    if job.is_staged() {
        return Ok(WorkerEnd::Written);
    }
    let (log, ending) = (format!("{}/{LOG_FILE}", dispatch::bundle_folder(turn)), outcome.ending);
    let message =
        format!("the worker of {turn} ended ({ending}) without a result; its output is in {log}");
    let mut failure = job.failure(Code::XchainWorkerWithoutResult, message).with("log", log);
    if let Ending::Exited(code) = outcome.ending {
        failure = failure.with("exit_code", code);
    }
    Err(explained(failure))
}

/// The system's clock, which files have their times from.
fn wall_clock() -> SystemTime {
    let millis = u64::try_from(accord_system::now().unix_millis()).unwrap_or_default();
    UNIX_EPOCH + Duration::from_millis(millis)
}

fn not_started(job: &Job<'_>, error: &StartError) -> Failure {
    let message = format!("the worker of {} did not start: {error}", job.turn.id());
    job.failure(Code::XchainWorkerNotStarted, message)
}

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
