//! Responses that arrive line by line while the host works.

use accord_contract::codes::Code;
use accord_contract::wire::Value;
use hyper::header::CONTENT_TYPE;

use super::{Connection, HostRequest};
use crate::error::CliError;

/// A line of such a response.
pub(crate) enum Update {
    /// How far the work is.
    Progress {
        /// Units of work that are done.
        done: u64,
        /// All units of work.
        total: u64,
    },
    /// A result, such as a problem that was found.
    Item(Value),
}

/// Sends a request for long work, passes on the updates, and returns the summary. A host without
/// updates answers with the summary alone.
pub(crate) async fn follow(
    host: &Connection,
    request: HostRequest,
    mut on_update: impl FnMut(Update) -> Result<(), CliError>,
) -> Result<Value, CliError> {
    let mut answer = host.stream(request.for_lines().takes_long()).await?;
    let kind = answer.headers.get(CONTENT_TYPE).cloned();
    let is_lines = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-ndjson"));
    let mut held: Vec<u8> = Vec::new();
    let mut last = None;
    while let Some(piece) = answer.next().await? {
        held.extend_from_slice(&piece);
        // A piece of the body can end anywhere, also in the middle of a line.
        while is_lines && let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let rest = held.split_off(end + 1);
            let line = std::mem::replace(&mut held, rest);
            let line: Value = serde_json::from_slice(&line).map_err(|_| cut_short())?;
            match line["kind"].as_str() {
                Some("progress") => {
                    let number = |name: &str| line[name].as_u64().unwrap_or(0);
                    on_update(Update::Progress { done: number("done"), total: number("total") })?;
                }
                Some("failure") => return Err(failure(&line)),
                Some("summary") => last = Some(line),
                _ => on_update(Update::Item(line))?,
            }
        }
    }
    match last {
        None if !is_lines => serde_json::from_slice(&held).map_err(|_| cut_short()),
        // A stream that ends without its summary was cut off, even if every line was complete.
        last => last.ok_or_else(cut_short),
    }
}

fn failure(line: &Value) -> CliError {
    let code = line["code"].as_str().and_then(Code::parse);
    let message = line["message"].as_str().unwrap_or_default();
    CliError::new(code.unwrap_or(Code::HostProtocol), message)
}

fn cut_short() -> CliError {
    CliError::new(Code::HostProtocol, "the response ended before the work did; the rest is unknown")
}
