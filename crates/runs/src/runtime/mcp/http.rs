//! An MCP server behind a URL. Each message is a POST; the response is a message or a stream of
//! messages.

use std::io::{BufReader, Read as _};
use std::time::{Duration, Instant};

use accord_client::{ClientError, blocking};
use accord_contract::{Object, Value};
use accord_process::Cancel;
use bytes::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request};

use super::{MAX_MESSAGE, NotDone, ServerMessage, Transport, VERSION, cut, read_message};
use crate::runtime::job::Job;
use crate::web::{self, WebError};

/// The timeout of the request that ends the session.
const GOODBYE: Duration = Duration::from_secs(2);
const SESSION: &str = "Mcp-Session-Id";

pub(super) struct Address {
    url: String,
    /// Headers of every request: those of the configuration, and the session.
    headers: Vec<(String, String)>,
    has_session: bool,
    /// Whether the first answer, which settles session and version, has been received.
    is_open: bool,
    stop: Cancel,
}

impl Address {
    pub(super) fn new(job: &Job<'_>) -> Result<Self, NotDone> {
        let settings = &job.runtime.settings;
        let url = settings.get("url").and_then(Value::as_str);
        Ok(Self {
            url: url.unwrap_or_default().to_owned(),
            headers: web::headers(settings).map_err(NotDone::Unreachable)?,
            has_session: false,
            is_open: false,
            stop: job.stop(),
        })
    }

    fn post(&self, id: Option<u64>, message: &Value, deadline: Instant) -> Result<Reply, NotDone> {
        let mut headers = self.headers.clone();
        let accepted = "application/json, text/event-stream";
        headers.push(("Accept".to_owned(), accepted.to_owned()));
        let request = web::post(&self.url, &headers, message.to_string())?;
        exchange(id, request, deadline, &self.stop)
    }
}

impl Transport for Address {
    fn ask(&mut self, id: u64, request: &Value, deadline: Instant) -> Result<Object, NotDone> {
        let reply = self.post(Some(id), request, deadline)?;
        if !self.is_open {
            self.is_open = true;
            self.has_session = reply.session.is_some();
            let session = reply.session.map(|session| (SESSION.to_owned(), session));
            self.headers.extend(session);
            let answer = reply.answer.as_ref();
            // MCP requires session and version in every request after the first.
            let agreed = answer.and_then(|answer| answer.get("result")?.get("protocolVersion"));
            let agreed = agreed.and_then(Value::as_str).unwrap_or(VERSION).to_owned();
            self.headers.push(("MCP-Protocol-Version".to_owned(), agreed));
        }
        // Requests of the server are answered in POSTs of their own.
        for asked in &reply.asked {
            self.notify(asked, deadline)?;
        }
        let ended = || NotDone::Failed("it ended the stream before the response".to_owned());
        reply.answer.ok_or_else(ended)
    }

    fn notify(&mut self, notice: &Value, deadline: Instant) -> Result<(), NotDone> {
        self.post(None, notice, deadline).map(drop)
    }

    fn close(self: Box<Self>) {
        // MCP ends a session with DELETE; a server without sessions has nothing to end.
        if !self.has_session {
            return;
        }
        let request = web::request(Method::DELETE, &self.url, &self.headers, Bytes::new());
        if let Ok(request) = request {
            let _ = web::exchange(request, GOODBYE, None, MAX_MESSAGE);
        }
    }
}

#[derive(Default)]
struct Reply {
    session: Option<String>,
    answer: Option<Object>,
    asked: Vec<Value>,
}

fn exchange(
    id: Option<u64>,
    request: Request<Bytes>,
    deadline: Instant,
    stop: &Cancel,
) -> Result<Reply, NotDone> {
    let is_cancelled = || stop.is_cancelled();
    let response = blocking::send(request, deadline, &is_cancelled).map_err(WebError::from)?;
    let status = response.status();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let session = header(SESSION);
    let media_type = header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let streams = media_type.starts_with("text/event-stream");
    let mut body = response.into_body().take(MAX_MESSAGE as u64 + 1);
    if !status.is_success() {
        let mut words = Vec::new();
        let _ = body.take(MAX_REFUSAL).read_to_end(&mut words);
        let words = String::from_utf8_lossy(&words);
        let message = format!("it answered {}: {}", status.as_u16(), cut(words.trim()));
        return Err(NotDone::Failed(message));
    }
    let mut reply = Reply { session, ..Reply::default() };
    // A notification is answered with 202 and no message.
    let Some(id) = id else { return Ok(reply) };
    if streams {
        reply.read_stream(id, BufReader::new(body))?;
    } else {
        let mut text = Vec::new();
        body.read_to_end(&mut text).map_err(broken)?;
        if text.len() > MAX_MESSAGE {
            return Err(too_large());
        }
        reply.take(read_message(id, &text)?);
    }
    Ok(reply)
}

impl Reply {
    fn read_stream(&mut self, id: u64, mut stream: impl std::io::BufRead) -> Result<(), NotDone> {
        let (mut data, mut taken) = (Vec::new(), 0);
        loop {
            let mut line = Vec::new();
            let read = stream.read_until(b'\n', &mut line).map_err(broken)?;
            taken += read;
            if taken > MAX_MESSAGE {
                return Err(too_large());
            }
            let text = line.trim_ascii_end();
            if let Some(more) = text.strip_prefix(b"data:") {
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(more.strip_prefix(b" ").unwrap_or(more));
            } else if text.is_empty() && !data.is_empty() {
                self.take(read_message(id, &std::mem::take(&mut data))?);
                if self.answer.is_some() {
                    return Ok(());
                }
            }
            // At the end `text` is empty as well, so the last event counts without its empty line.
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, heard: ServerMessage) {
        match heard {
            ServerMessage::Response(answer) => self.answer = Some(answer),
            ServerMessage::Request(reply) => self.asked.push(reply),
            ServerMessage::Notification => {}
        }
    }
}

const MAX_REFUSAL: u64 = 4096;

fn too_large() -> NotDone {
    NotDone::Failed(format!("its response is longer than {MAX_MESSAGE} bytes"))
}

fn broken(error: std::io::Error) -> NotDone {
    match error.downcast::<ClientError>().map(WebError::from) {
        Ok(WebError::Failed(why)) => NotDone::Failed(why),
        Ok(ended) => ended.into(),
        Err(other) => NotDone::Failed(other.to_string()),
    }
}

impl From<WebError> for NotDone {
    fn from(error: WebError) -> Self {
        match error {
            WebError::TimedOut => Self::TimedOut,
            WebError::Cancelled => Self::Cancelled,
            WebError::Failed(why) => Self::Unreachable(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Fuzz target for server-sent events with MCP messages.
    #[test]
    fn any_stream_is_read_without_a_panic() {
        const PIECES: [&str; 16] = [
            "data:",
            "data: ",
            "event: message",
            "id: 1",
            ":",
            "\n",
            "\r\n",
            "\n\n",
            "{",
            "}",
            ",",
            "\"jsonrpc\":\"2.0\"",
            "\"id\":7",
            "\"method\":\"ping\"",
            "\"result\":{}",
            "\u{feff}",
        ];
        bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
            let text = accord_contract::testing::assemble(&PIECES, input);
            for stream in [input, text.as_bytes()] {
                let mut reply = Reply::default();
                if reply.read_stream(7, stream).is_ok()
                    && let Some(answer) = reply.answer
                {
                    assert_eq!(answer["id"], 7);
                }
            }
        });
    }

    #[test]
    fn a_stream_is_read_until_the_answer() {
        let events = concat!(
            ": hello\r\n\r\n",
            "event: message\r\ndata: {\"jsonrpc\":\"2.0\",",
            "\"method\":\"notifications/progress\"}\r\n\r\n",
            "data: {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"ping\"}\n\n",
            "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{\"ok\":true}}\n\n",
            "data: never read\n\n",
        );
        let mut reply = Reply::default();
        assert!(reply.read_stream(7, events.as_bytes()).is_ok());
        let answer = reply.answer.map(Value::Object).unwrap();
        assert_eq!(answer["result"], json!({"ok": true}));
        assert_eq!(reply.asked, [json!({"jsonrpc": "2.0", "id": "s1", "result": {}})]);
    }
}
