//! Asking an address: bounded in time and size, no redirects, no proxy, and whoever waits can be
//! told to give up.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use accord_contract::wire::{Object, Value};
use accord_process::Cancel;
use ureq::Agent;

/// Why an address gave no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Trouble {
    TimedOut,
    Cancelled,
    Failed(String),
}

/// What an address answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// What to ask, and how much to wait and take for it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) limit: Duration,
    pub(crate) most: usize,
}

/// Posts JSON.
pub(crate) fn post(question: &Question) -> Result<Answered, Trouble> {
    let agent = agent(question.limit);
    let mut request = agent
        .post(&question.url)
        .header("Content-Type", "application/json");
    for (name, value) in &question.headers {
        request = request.header(name, value);
    }
    let mut response = request.send(&question.body).map_err(trouble)?;
    let status = response.status().as_u16();
    let most = u64::try_from(question.most).unwrap_or(u64::MAX);
    let body = response.body_mut().with_config().limit(most).read_to_vec();
    Ok(Answered {
        status,
        body: body.map_err(trouble)?,
    })
}

/// Does what may take long on a thread of its own, and stops waiting for it when told to. What was
/// begun then ends at its own time limit.
pub(crate) fn patiently<T: Send + 'static>(
    cancel: Option<&Cancel>,
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let Some(cancel) = cancel else {
        return work();
    };
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Nobody listens any more when the work was given up.
        let _ = sender.send(work());
    });
    loop {
        match receiver.recv_timeout(LOOK_AGAIN) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                return Err(Trouble::Cancelled);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Trouble::Failed("the request broke off".to_owned()));
            }
        }
    }
}

/// Somebody who asks addresses.
pub(crate) fn agent(limit: Duration) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .proxy(None)
        .timeout_global(Some(limit))
        .user_agent(concat!("accord/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

pub(crate) fn trouble(error: ureq::Error) -> Trouble {
    match error {
        ureq::Error::Timeout(_) => Trouble::TimedOut,
        ureq::Error::BodyExceedsLimit(limit) => {
            Trouble::Failed(format!("the address answered more than {limit} bytes"))
        }
        other => Trouble::Failed(format!("the address cannot be asked: {other}")),
    }
}

/// The headers that a configuration declares, with variables put in.
pub(crate) fn headers(settings: &Object) -> Result<Vec<(String, String)>, String> {
    let declared = settings.get("headers").and_then(Value::as_object);
    let declared = declared.into_iter().flatten();
    let texts = declared.filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts
        .map(|(name, value)| Ok((name.clone(), expand(value, &[])?)))
        .collect()
}

/// Puts variables in: those that are given first, then those of the process. The value may be a
/// secret, so that no message repeats it.
pub(crate) fn expand(value: &str, variables: &[(String, String)]) -> Result<String, String> {
    let mut expanded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind
            .split_once('}')
            .ok_or("a header has ${ without an end")?;
        let own = variables.iter().find(|(own, _)| own == name);
        let found = own.map(|(_, value)| value.clone());
        let found = found.or_else(|| std::env::var(name).ok());
        let found = found.ok_or_else(|| {
            format!("a header needs the variable {name}, which is not in the environment")
        })?;
        expanded.push_str(before);
        expanded.push_str(&found);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_put_in_or_named() {
        let own = [("TOKEN".to_owned(), "t".to_owned())];
        assert_eq!(expand("Bearer ${TOKEN}!", &own).unwrap(), "Bearer t!");
        assert_eq!(expand("plain", &own).unwrap(), "plain");
        let missing = expand("${ACCORD_NO_SUCH_VARIABLE}", &own).unwrap_err();
        assert!(missing.contains("ACCORD_NO_SUCH_VARIABLE"), "{missing}");
        assert!(expand("${TOKEN", &own).is_err());
    }
}
