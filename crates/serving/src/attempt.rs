//! The worker for whom a request is passed on.
//!
//! The supervisor of a worker serves a socket for its attempt, and passes on what comes through it
//! with the header [`ATTEMPT`]. The header only takes rights away: a request with it is that of the
//! worker, in one project, as one agent, and decides nothing. So every client may send it.

use accord_base::worker::Attempt;
use accord_base::{ActorId, Caller, ProjectId};
use accord_contract::text::{percent_decoded, percent_encoded};
use accord_contract::{Code, Failure};
use hyper::HeaderMap;
use hyper::header::HeaderValue;

/// The header that names the attempt: project, agent and work, each percent-encoded, with blanks
/// between them.
pub const ATTEMPT: &str = "x-accord-attempt";

/// The value of the header.
pub(crate) fn header(attempt: &Attempt) -> HeaderValue {
    let Attempt { project, agent, work } = attempt;
    let words = [project.as_str(), agent.as_str(), work].map(|word| percent_encoded(word));
    let [project, agent, work] = words;
    HeaderValue::try_from(format!("{project} {agent} {work}")).expect("percent-encoded is ASCII")
}

/// The attempt that the headers of a request name. Fails if a header cannot be read: the request
/// must not count as that of somebody with more rights.
pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Attempt>, Failure> {
    let mut sent = headers.get_all(ATTEMPT).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => read(value).map(Some).ok_or_else(malformed),
        (Some(_), Some(_)) => Err(malformed()),
    }
}

/// The caller, as the worker of the attempt if there is one.
pub(crate) fn narrow(caller: Caller, attempt: Option<&Attempt>) -> Result<Caller, Failure> {
    match attempt {
        Some(attempt) => caller.for_worker(attempt),
        None => Ok(caller),
    }
}

fn read(value: &HeaderValue) -> Option<Attempt> {
    let mut words = value.to_str().ok()?.split(' ').map(percent_decoded);
    let attempt = Attempt {
        project: ProjectId::new(words.next()??).ok()?,
        agent: ActorId::new(words.next()??).ok()?,
        work: words.next()??,
    };
    words.next().is_none().then_some(attempt)
}

fn malformed() -> Failure {
    Failure::new(Code::HttpMalformed, format!("the header {ATTEMPT} cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_read_as_it_was_written_or_refused() {
        let attempt = Attempt {
            project: ProjectId::new("a shop/ü").expect("an id"),
            agent: ActorId::new("dev:2 %").expect("an id"),
            work: "TASK-2026-02-09-001".into(),
        };
        let mut headers = HeaderMap::new();
        assert_eq!(of(&headers), Ok(None));
        headers.insert(ATTEMPT, header(&attempt));
        assert_eq!(of(&headers), Ok(Some(attempt.clone())));
        headers.append(ATTEMPT, header(&attempt));
        assert!(of(&headers).is_err(), "two attempts");
        for wrong in ["", "shop", "shop dev", " dev TASK", "shop dev TASK more", "shop %zz TASK"] {
            headers.insert(ATTEMPT, HeaderValue::from_static(wrong));
            assert!(of(&headers).is_err(), "{wrong:?}");
        }
    }
}
