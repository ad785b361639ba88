//! A hook behind an address: one POST, no redirects, no proxy.

use std::time::{Duration, Instant};

use accord_runs_core::hooks::Execution;

use super::MAX_OUTPUT;
use crate::web::{self, Question, Trouble};

pub(super) fn post(
    url: &str,
    headers: &[(String, String)],
    variables: &[(String, String)],
    timeout_ms: u64,
    body: &str,
) -> Execution {
    let started = Instant::now();
    let mut ran = match ask(url, headers, variables, timeout_ms, body) {
        Ok(answer) => Execution {
            exit_code: Some(i64::from(!answer.is_good())),
            failure: (!answer.is_good()).then(|| format!("the address answered {}", answer.status)),
            output: answer.body,
            ..Execution::default()
        },
        Err(Trouble::TimedOut) => Execution {
            timed_out: true,
            ..Execution::default()
        },
        Err(Trouble::Failed(why)) => failed(why),
        Err(Trouble::Cancelled) => failed("the hook was given up".to_owned()),
    };
    ran.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    ran
}

fn ask(
    url: &str,
    headers: &[(String, String)],
    variables: &[(String, String)],
    timeout_ms: u64,
    body: &str,
) -> Result<web::Answered, Trouble> {
    let headers = headers.iter().map(|(name, value)| {
        let value = web::expand(value, variables).map_err(Trouble::Failed)?;
        Ok((name.clone(), value))
    });
    web::post(&Question {
        url: url.to_owned(),
        headers: headers.collect::<Result<_, _>>()?,
        body: body.to_owned(),
        limit: Duration::from_millis(timeout_ms),
        most: MAX_OUTPUT,
    })
}

fn failed(why: String) -> Execution {
    Execution {
        failure: Some(why),
        ..Execution::default()
    }
}
