//! A hook behind a URL: one POST, no redirects, no proxy.

use std::time::{Duration, Instant};

use accord_process::Cancel;
use accord_runs_core::hooks::{Execution, Hook};

use super::MAX_OUTPUT;
use crate::web::{self, WebError};

pub(super) fn post(
    hook: &Hook,
    url: &str,
    headers: &[(String, String)],
    body: &str,
    cancel: Option<&Cancel>,
) -> Execution {
    let started = Instant::now();
    let headers = headers.iter().map(|(name, value)| {
        let value = web::expand(value, &hook.env).map_err(WebError::Failed)?;
        Ok((name.clone(), value))
    });
    let answer = headers.collect::<Result<Vec<_>, WebError>>().and_then(|headers| {
        let request = web::post(url, &headers, body.to_owned())?;
        web::exchange(request, Duration::from_millis(hook.timeout_ms), cancel, MAX_OUTPUT)
    });
    let mut ran = match answer {
        Ok(answer) => {
            let is_refused = !answer.is_success();
            Execution {
                // As an exit code, so that one rule judges both kinds of hooks.
                exit_code: Some(i64::from(is_refused)),
                failure: is_refused.then(|| format!("the address answered {}", answer.status)),
                output: answer.body,
                ..Execution::default()
            }
        }
        Err(WebError::TimedOut) => Execution { timed_out: true, ..Execution::default() },
        Err(WebError::Failed(why)) => super::failed(why),
        Err(WebError::Cancelled) => super::failed("the hook was cancelled".to_owned()),
    };
    ran.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    ran
}
