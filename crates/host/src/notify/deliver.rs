//! The delivery of one message: a request, or a program.

use std::path::Path;
use std::time::{Duration, Instant};

use accord_client::{Reach, blocking};
use accord_notify::{Format, MailAddresses, Message, Sent, ntfy_topic};
use accord_process::{Cancel, Ending, Invocation, Spec, run};
use accord_tasks::notify::{DELIVERY, SIGNATURE, signature};
use bytes::Bytes;
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

use super::receiver::{Place, Receiver};

const ANSWER_LIMIT: usize = 64 * 1024;
/// The most bytes of what a program says on standard error.
const ERRORS: usize = 500;

/// Delivers a message. Says what failed, without secrets.
pub(super) fn deliver(
    receiver: &Receiver,
    message: &Message,
    cancel: &Cancel,
) -> Result<(), String> {
    let addresses = MailAddresses { to: &receiver.to, from: receiver.from.as_deref() };
    match &receiver.place {
        Place::Command(argv) => {
            let sent = receiver.format.write(message, "", addresses);
            let about = [
                ("ACCORD_NOTICE_ID", message.id.clone()),
                ("ACCORD_NOTICE_COUNT", message.told().len().to_string()),
                ("ACCORD_NOTICE_URGENCY", message.urgency().number().to_string()),
            ];
            start(argv, &about, sent.body, receiver.timeout, cancel)
        }
        Place::Url { url, secret_file, token_file } => {
            let (url, topic) = match receiver.format {
                Format::Ntfy => ntfy_topic(url).ok_or("its URL has no topic")?,
                _ => (url.as_str(), ""),
            };
            let sent = receiver.format.write(message, topic, addresses);
            let request = request(url, message, &sent, secret_file.as_deref())?;
            let request = with_token(request, token_file.as_deref())?;
            let reach = receiver.person.as_ref().map_or(Reach::Any, |person| person.reach);
            post(request, sent, receiver.timeout, reach, cancel)
        }
    }
}

fn request(
    url: &str,
    message: &Message,
    sent: &Sent,
    secret_file: Option<&Path>,
) -> Result<hyper::http::request::Builder, String> {
    let mut request =
        Request::post(url).header(CONTENT_TYPE, sent.content_type).header(DELIVERY, &message.id);
    if let Some(path) = secret_file {
        let now = accord_system::now().unix_seconds();
        let secret = secret(path)?;
        request = request.header(SIGNATURE, signature(secret.as_bytes(), now, &sent.body));
    }
    Ok(request)
}

fn with_token(
    request: hyper::http::request::Builder,
    token_file: Option<&Path>,
) -> Result<hyper::http::request::Builder, String> {
    let Some(path) = token_file else { return Ok(request) };
    let mut token = HeaderValue::try_from(format!("Bearer {}", secret(path)?))
        .map_err(|_| format!("{} has no token", path.display()))?;
    token.set_sensitive(true);
    Ok(request.header(AUTHORIZATION, token))
}

/// A secret, read for each request, so that a new one needs no restart.
fn secret(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.trim().to_owned())
}

fn post(
    request: hyper::http::request::Builder,
    sent: Sent,
    timeout: Duration,
    reach: Reach,
    cancel: &Cancel,
) -> Result<(), String> {
    let request = request.body(Bytes::from(sent.body)).map_err(|error| error.to_string())?;
    let is_cancelled = || cancel.is_cancelled();
    let response = blocking::send_within(request, Instant::now() + timeout, &is_cancelled, reach)
        .map_err(|error| error.to_string())?;
    let status = response.status();
    // Read, so that the server can finish its answer. What it says does not matter.
    drop(response.into_body().read_to_limit(ANSWER_LIMIT));
    // A redirect is not followed, and is a failure.
    if status.is_success() { Ok(()) } else { Err(format!("the server answered {status}")) }
}

/// Starts a program with variables, and a text on standard input.
pub(super) fn start(
    argv: &[String],
    variables: &[(&str, String)],
    body: String,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
    let invocation = Invocation::new(program, arguments);
    let set = |invocation: Invocation, (name, value): &(&str, String)| invocation.env(name, value);
    let invocation = variables.iter().fold(invocation, set);
    let spec = Spec::new(invocation)
        .stdin(body)
        .time_limit(timeout)
        .stderr_limit(ERRORS)
        .cancel(cancel.clone());
    let outcome = run(&spec).map_err(|error| error.to_string())?;
    match outcome.ending {
        _ if outcome.timed_out => Err(format!("it was ended after {} ms", timeout.as_millis())),
        Ending::Exited(0) => Ok(()),
        ending => {
            let errors = String::from_utf8_lossy(&outcome.stderr);
            Err(format!("it ended ({ending}): {}", errors.trim()))
        }
    }
}
