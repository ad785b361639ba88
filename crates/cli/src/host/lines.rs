//! Responses that arrive line by line while the host works.

use accord_api::body::Lines;
use accord_contract::Code;
use accord_contract::wire::Message;
use accord_memory_core::operations::ProgressLine;
use hyper::header::CONTENT_TYPE;

use super::{Connection, HostRequest};
use crate::{CliError, Result};

pub(crate) enum Update<I> {
    Progress { done: u64, total: u64 },
    Item(I),
}

/// Sends a request for long work, passes on the updates, and returns the summary. A host without
/// updates answers with the summary alone.
pub(crate) async fn follow<S: Message, I: Message>(
    host: &Connection,
    request: HostRequest,
    mut on_update: impl FnMut(Update<I>) -> Result<()>,
) -> Result<S> {
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
            let ProgressLine { kind, done, total, code, message, .. } = read(&line)?;
            match kind.as_str() {
                "progress" => {
                    let (done, total) = (done.unwrap_or(0), total.unwrap_or(0));
                    on_update(Update::Progress { done, total })?;
                }
                "failure" => {
                    let code = code.as_deref().and_then(Code::parse);
                    let code = code.unwrap_or(Code::HostProtocol);
                    return Err(CliError::new(code, message.unwrap_or_default()));
                }
                "summary" => last = Some(read(&line)?),
                _ => on_update(Update::Item(read(&line)?))?,
            }
        }
    }
    match last {
        None if !is_lines => read(&held),
        // A stream that ends without its summary was cut off, even if every line was complete.
        last => last.ok_or_else(cut_short),
    }
}

fn read<M: Message>(line: &[u8]) -> Result<M> {
    let line = std::str::from_utf8(line).map_err(|_| cut_short())?;
    Lines::decode(line).map_err(|_| cut_short())
}

fn cut_short() -> CliError {
    CliError::new(Code::HostProtocol, "the response ended before the work did; the rest is unknown")
}
