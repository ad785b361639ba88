//! Runtimes: whether they can be used here, and running the worker of a turn.
//!
//! A worker never holds the lock of the repository. A runtime only passes a turn to its worker and
//! returns a result; acceptance judges it.

mod file_changes;
mod job;
mod local_cli;
mod mcp;
mod progress;
mod remote_agent;
mod result;

use std::path::Path;

use accord_contract::{Code, Failure, Object, Value};
use accord_process::Invocation;
use accord_runs_core::{Result, Runtime, RuntimeType};

use crate::agents::Preset;

pub use job::{Job, WorkerEnd, WorkerSignal};

pub const SUPPORTED: &[RuntimeType] =
    &[RuntimeType::Manual, RuntimeType::LocalCli, RuntimeType::Mcp, RuntimeType::RemoteAgent];

/// The program of a runtime, with its arguments and folder; `None` if the runtime has none.
pub fn program(runtime: &Runtime, root: &Path) -> Option<Invocation> {
    match runtime.kind {
        RuntimeType::LocalCli => {}
        RuntimeType::Mcp if text(&runtime.settings, "transport") != Some("streamable_http") => {}
        _ => return None,
    }
    let mut words = words(&runtime.settings, "command");
    words.extend(text(&runtime.settings, "command").map(str::to_owned));
    words.extend(self::words(&runtime.settings, "args"));
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    let folder = text(&runtime.settings, "cwd");
    let folder = folder.map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    Some(Invocation::new(program, words).cwd(folder))
}

/// Checks whether a runtime can be used here; called before a dispatch and by the check-up. Fails
/// with `runtime_not_supported` or `runtime_unavailable`.
pub fn check(runtime: &Runtime, root: &Path) -> Result<()> {
    if !SUPPORTED.contains(&runtime.kind) {
        let message = format!("runtime {} has the type {}", runtime.id, runtime.kind);
        return Err(Failure::new(Code::XchainRuntimeNotSupported, message)
            .with("runtime_id", runtime.id.as_str())
            .with("runtime_type", runtime.kind.as_str()));
    }
    let Some(program) = program(runtime, root) else { return Ok(()) };
    if let Some(folder) = program.cwd.as_ref().filter(|folder| !folder.is_dir()) {
        let why = format!("its folder {} does not exist", folder.display());
        return Err(unavailable(runtime, &why));
    }
    program.locate().map(drop).map_err(|error| {
        let failure = unavailable(runtime, &error.to_string());
        match Preset::of_program(&program.program) {
            Some(preset) => preset.advise(failure),
            None => failure,
        }
    })
}

/// The same, and whether the variables in its headers are set.
pub fn check_all(runtime: &Runtime, root: &Path) -> Result<()> {
    check(runtime, root)?;
    let headers = crate::web::headers(&runtime.settings);
    headers.map(drop).map_err(|why| unavailable(runtime, &why))
}

fn unavailable(runtime: &Runtime, why: &str) -> Failure {
    let message = format!("runtime {}: {why}", runtime.id);
    let failure = Failure::new(Code::XchainRuntimeUnavailable, message);
    failure.with("runtime_id", runtime.id.as_str())
}

/// Runs the worker of a turn and waits for it, passing observations to `signals`. Fails with
/// `worker_not_started`, `worker_stalled`, `worker_timed_out`, `worker_without_result`,
/// `worker_failed`, `worker_cancelled` or `attempt_over`. No process of the worker is left then.
pub fn run_worker(job: &Job<'_>, signals: &mut dyn FnMut(WorkerSignal<'_>)) -> Result<WorkerEnd> {
    let ended = match job.runtime.kind {
        RuntimeType::Manual => Ok(WorkerEnd::ByHand),
        RuntimeType::LocalCli => local_cli::run(job, signals),
        RuntimeType::RemoteAgent => remote_agent::run(job, signals),
        RuntimeType::Mcp => mcp::run(job, signals),
        RuntimeType::ApiProxy => {
            // `check` always refuses this type, because it is not in `SUPPORTED`.
            Err(check(job.runtime, job.root).err().unwrap_or_else(|| job.cancelled()))
        }
    };
    // No matter how the worker ended: a result of another attempt must not be used.
    if job.over.is_cancelled() { Err(job.superseded()) } else { ended }
}

fn text<'a>(settings: &'a Object, name: &str) -> Option<&'a str> {
    settings.get(name).and_then(Value::as_str)
}

fn words(settings: &Object, name: &str) -> Vec<String> {
    let items = settings.get(name).and_then(Value::as_array);
    let words = items.into_iter().flatten().filter_map(Value::as_str);
    words.map(str::to_owned).collect()
}
