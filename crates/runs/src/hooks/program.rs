//! A hook that is a program.

use std::path::Path;
use std::time::Duration;

use accord_process::{Ending, Invocation, Overflow, Spec};
use accord_runs_core::hooks::{Execution, working_folder};

use super::MAX_OUTPUT;
use crate::Environment;

/// How long a hook can still end by itself after its limit. It is timed out then, but keeps its
/// exit code. The reference runner waits as long.
const OVERTIME: Duration = Duration::from_secs(2);

const MAX_ERRORS: usize = 64 * 1024;

pub(super) fn run(
    command: &[String],
    timeout_ms: u64,
    input: String,
    root: &Path,
    variables: &[(String, String)],
    environment: &Environment,
) -> Execution {
    let Some((program, arguments)) = command.split_first() else {
        return super::failed("the hook names no program".to_owned());
    };
    let invocation = Invocation::new(program, arguments).cwd(working_folder(root));
    let mut invocation = invocation.as_worker(root, "a hook");
    for (name, value) in variables {
        invocation = invocation.env(name, value);
    }
    // Its program may be a file of the repository, which a worker can change.
    let invocation = match environment.confined(invocation, root) {
        Ok(invocation) => invocation,
        Err(error) => return super::failed(error.to_string()),
    };
    let mut spec = Spec::new(invocation)
        .stdin(input)
        .time_limit(Duration::from_millis(timeout_ms))
        .overtime(OVERTIME)
        .stdout_limit(MAX_OUTPUT, Overflow::Kill)
        .stderr_limit(MAX_ERRORS);
    if let Some(cancel) = environment.cancel_token() {
        spec = spec.cancel(cancel.clone());
    }
    let outcome = match accord_process::run(&spec) {
        Ok(outcome) => outcome,
        Err(error) => return super::failed(error.to_string()),
    };
    let cancelled = outcome.cancelled.then(|| "the hook was cancelled with the command".to_owned());
    let too_long = || format!("the hook wrote more than {MAX_OUTPUT} bytes");
    let failure = cancelled.or_else(|| outcome.stdout_truncated.then(too_long));
    Execution {
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        exit_code: match outcome.ending {
            Ending::Exited(code) => Some(code.into()),
            _ => None,
        },
        timed_out: outcome.timed_out,
        failure,
        output: outcome.stdout,
        errors: String::from_utf8_lossy(&outcome.stderr).into_owned(),
        tampered: Vec::new(),
    }
}
