//! A worker behind a URL: it gets the turn in a POST and answers with the result.

use accord_contract::{Code, Value};

use super::job::{Job, WorkerEnd, WorkerSignal};
use super::progress::Progress;
use super::result;
use crate::web::{self, WebError};
use accord_runs_core::Result;

pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;
const BODY_SHOWN: usize = 500;

pub(super) fn run(job: &Job<'_>, signals: &mut dyn FnMut(WorkerSignal<'_>)) -> Result<WorkerEnd> {
    let failed = |message: String| job.failure(Code::XchainWorkerFailed, message);
    let settings = &job.runtime.settings;
    let limit = job.limits.response.after.min(job.limits.whole);
    let headers = web::headers(settings).map_err(|why| {
        job.failure(Code::XchainWorkerNotStarted, format!("runtime {}: {why}", job.runtime.id))
    })?;
    let url = settings.get("url").and_then(Value::as_str);
    let url = url.unwrap_or_default();
    let request = web::post(url, &headers, Value::Object(job.envelope()).to_string());
    let mut progress = Progress::new(job);
    progress.asked();
    let answer =
        request.and_then(|request| web::exchange(request, limit, Some(&job.stop()), MAX_ANSWER));
    progress.remove();
    let answer = answer.map_err(|error| match error {
        WebError::TimedOut if limit < job.limits.response.after => job.timed_out(),
        WebError::TimedOut => {
            job.passed(Code::XchainWorkerTimedOut, "gave no response within", &job.limits.response)
        }
        WebError::Cancelled => job.cancelled(),
        WebError::Failed(why) => {
            let message = format!("the agent of {} gave no response: {why}", job.turn.id());
            job.failure(Code::XchainWorkerNotStarted, message)
        }
    })?;
    signals(WorkerSignal::FirstOutput { stream: "request" });
    if !answer.is_success() {
        let body = String::from_utf8_lossy(&answer.body);
        let shown: String = body.chars().take(BODY_SHOWN).collect();
        let message = format!("the agent of {} answered {}", job.turn.id(), answer.status);
        return Err(failed(message).with("status", answer.status).with("body", shown));
    }
    match accord_canon::read(&answer.body) {
        Ok(Value::Object(document)) if result::is_one(&document) => {
            Ok(WorkerEnd::Answered(document))
        }
        Ok(_) => {
            let message = "the agent answered with JSON that is not a turn result: it needs \
                schema_version, run_id or turn_id, and status, role or runtime_id";
            Err(failed(message.to_owned()))
        }
        Err(error) => Err(failed(format!("the agent did not answer with JSON: {error}"))),
    }
}
