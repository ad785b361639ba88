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

/// The header that says which attempt of the work it is, percent-encoded, where somebody counts
/// them. Only the record of what a worker leaves depends on it.
const ATTEMPT_ID: &str = "x-accord-attempt-id";

/// Sets the headers that name an attempt, in place of those that a worker sent.
pub(crate) fn set(headers: &mut HeaderMap, attempt: &Attempt) {
    let Attempt { project, agent, work, id } = attempt;
    let value = |text: String| HeaderValue::try_from(text).expect("percent-encoded is ASCII");
    let words = [project.as_str(), agent.as_str(), work].map(|word| percent_encoded(word));
    let [project, agent, work] = words;
    headers.insert(ATTEMPT, value(format!("{project} {agent} {work}")));
    match id {
        Some(id) => drop(headers.insert(ATTEMPT_ID, value(percent_encoded(id).to_string()))),
        None => drop(headers.remove(ATTEMPT_ID)),
    }
}

/// The attempt that the headers of a request name. Fails if a header cannot be read: the request
/// must not count as that of somebody with more rights.
pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Attempt>, Failure> {
    let Some(sent) = only(headers, ATTEMPT)? else { return Ok(None) };
    let attempt = read(sent).ok_or_else(|| malformed(ATTEMPT))?;
    let id = only(headers, ATTEMPT_ID)?.map(|sent| {
        let id = sent.to_str().ok().and_then(percent_decoded);
        id.filter(|id| !id.is_empty()).ok_or_else(|| malformed(ATTEMPT_ID))
    });
    Ok(Some(Attempt { id: id.transpose()?, ..attempt }))
}

/// The value of a header that a request has at most once.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h HeaderValue>, Failure> {
    let mut sent = headers.get_all(name).iter();
    match (sent.next(), sent.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(malformed(name)),
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
        id: None,
    };
    words.next().is_none().then_some(attempt)
}

fn malformed(name: &str) -> Failure {
    Failure::new(Code::HttpMalformed, format!("the header {name} cannot be read"))
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
            id: Some("run 7/ü".into()),
        };
        let mut headers = HeaderMap::new();
        assert_eq!(of(&headers), Ok(None));
        set(&mut headers, &attempt);
        assert_eq!(of(&headers), Ok(Some(attempt.clone())));
        let uncounted = Attempt { id: None, ..attempt };
        set(&mut headers, &uncounted);
        assert_eq!(of(&headers), Ok(Some(uncounted)));
        headers.append(ATTEMPT_ID, HeaderValue::from_static("%zz"));
        assert!(of(&headers).is_err(), "not encoded");
        headers.insert(ATTEMPT_ID, HeaderValue::from_static("1"));
        headers.append(ATTEMPT_ID, HeaderValue::from_static("2"));
        assert!(of(&headers).is_err(), "two numbers");
        headers.remove(ATTEMPT_ID);
        headers.append(ATTEMPT, HeaderValue::from_static("shop dev TASK"));
        assert!(of(&headers).is_err(), "two attempts");
        for wrong in ["", "shop", "shop dev", " dev TASK", "shop dev TASK more", "shop %zz TASK"] {
            headers.insert(ATTEMPT, HeaderValue::from_static(wrong));
            assert!(of(&headers).is_err(), "{wrong:?}");
        }
    }
}
