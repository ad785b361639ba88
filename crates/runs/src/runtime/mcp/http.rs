//! An MCP server behind an address: each message is a POST, whose answer is a message or a stream
//! of them.

use std::io::{BufReader, Read as _};
use std::time::{Duration, Instant};

use accord_contract::wire::{Object, Value};
use accord_process::Cancel;

use super::{Heard, MAX_MESSAGE, Transport, Trouble, VERSION, cut, hear};
use crate::runtime::job::Job;
use crate::web;

/// How long the goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// The header that names a session.
const SESSION: &str = "Mcp-Session-Id";

pub(super) struct Address {
    way: Way,
    cancel: Option<Cancel>,
}

/// What every request to the server has in common.
#[derive(Clone)]
struct Way {
    url: String,
    headers: Vec<(String, String)>,
    session: Option<String>,
    /// The version that was agreed on, once it was.
    version: Option<String>,
}

impl Address {
    pub(super) fn new(job: &Job<'_>) -> Result<Self, Trouble> {
        let settings = &job.runtime.settings;
        let url = settings.get("url").and_then(Value::as_str);
        Ok(Self {
            way: Way {
                url: url.unwrap_or_default().to_owned(),
                headers: web::headers(settings).map_err(Trouble::Unreachable)?,
                session: None,
                version: None,
            },
            cancel: job.cancel.cloned(),
        })
    }

    fn post(&self, id: Option<u64>, message: &Value, deadline: Instant) -> Result<Reply, Trouble> {
        let (way, body) = (self.way.clone(), message.to_string());
        let reply = web::patiently(self.cancel.as_ref(), move || {
            let limit = deadline.saturating_duration_since(Instant::now());
            Ok(way.post(id, &body, limit))
        });
        match reply {
            Ok(reply) => reply,
            Err(trouble) => Err(known(trouble)),
        }
    }
}

impl Transport for Address {
    fn ask(&mut self, id: u64, request: &Value, deadline: Instant) -> Result<Object, Trouble> {
        let reply = self.post(Some(id), request, deadline)?;
        if self.way.version.is_none() {
            self.way.session = reply.session;
            let answer = reply.answer.as_ref();
            let agreed = answer.and_then(|answer| answer.get("result")?.get("protocolVersion"));
            let agreed = agreed.and_then(Value::as_str).unwrap_or(VERSION);
            self.way.version = Some(agreed.to_owned());
        }
        // What the server asks on the way is answered by posts of their own.
        for asked in &reply.asked {
            self.tell(asked, deadline)?;
        }
        reply
            .answer
            .ok_or_else(|| Trouble::Failed("it ended its answer before it had answered".to_owned()))
    }

    fn tell(&mut self, notice: &Value, deadline: Instant) -> Result<(), Trouble> {
        self.post(None, notice, deadline).map(|_| ())
    }

    fn close(self: Box<Self>) {
        let Some(session) = &self.way.session else {
            return;
        };
        let mut request = web::agent(GOODBYE).delete(&self.way.url);
        for (name, value) in &self.way.headers {
            request = request.header(name, value);
        }
        let _ = request.header(SESSION, session).call();
    }
}

/// What came back for a message.
#[derive(Default)]
struct Reply {
    session: Option<String>,
    answer: Option<Object>,
    asked: Vec<Value>,
}

impl Way {
    fn post(&self, id: Option<u64>, body: &str, limit: Duration) -> Result<Reply, Trouble> {
        let mut request = web::agent(limit)
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        if let Some(version) = &self.version {
            request = request.header("MCP-Protocol-Version", version);
        }
        let sent = request.send(body);
        let mut response = sent.map_err(|error| known(web::trouble(error)))?;
        let status = response.status();
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let session = header(SESSION);
        let streams =
            header("Content-Type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let body = response.body_mut().as_reader().take(MAX_MESSAGE as u64 + 1);
        if !status.is_success() {
            let mut words = Vec::new();
            let _ = body.take(MAX_REFUSAL).read_to_end(&mut words);
            let words = String::from_utf8_lossy(&words);
            let message = format!("it answered {}: {}", status.as_u16(), cut(words.trim()));
            return Err(Trouble::Failed(message));
        }
        let mut reply = Reply {
            session,
            ..Reply::default()
        };
        let Some(id) = id else {
            return Ok(reply);
        };
        if streams {
            reply.read_stream(id, BufReader::new(body))?;
        } else {
            let mut text = Vec::new();
            let mut body = body;
            body.read_to_end(&mut text).map_err(broken)?;
            if text.len() > MAX_MESSAGE {
                return Err(too_large());
            }
            reply.take(hear(id, &text)?);
        }
        Ok(reply)
    }
}

impl Reply {
    /// Takes the events of a stream until the answer is there.
    fn read_stream(&mut self, id: u64, stream: impl std::io::BufRead) -> Result<(), Trouble> {
        let mut data: Vec<u8> = Vec::new();
        let mut taken = 0;
        let mut stream = stream;
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
                self.take(hear(id, &std::mem::take(&mut data))?);
                if self.answer.is_some() {
                    return Ok(());
                }
            }
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Answer(answer) => self.answer = Some(answer),
            Heard::Asked(reply) => self.asked.push(reply),
            Heard::Told => {}
        }
    }
}

/// How much of a refusal is read.
const MAX_REFUSAL: u64 = 4096;

fn too_large() -> Trouble {
    Trouble::Failed(format!("it answered more than {MAX_MESSAGE} bytes"))
}

fn broken(error: std::io::Error) -> Trouble {
    if error.kind() == std::io::ErrorKind::TimedOut {
        return Trouble::TimedOut;
    }
    Trouble::Failed(format!("its answer broke off: {error}"))
}

fn known(trouble: web::Trouble) -> Trouble {
    match trouble {
        web::Trouble::TimedOut => Trouble::TimedOut,
        web::Trouble::Cancelled => Trouble::Cancelled,
        web::Trouble::Failed(why) => Trouble::Unreachable(why),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stream_is_read_until_the_answer() {
        let events = concat!(
            ": hello\r\n\r\n",
            "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n",
            "data: {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"ping\"}\n\n",
            "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{\"ok\":true}}\n\n",
            "data: never read\n\n",
        );
        let mut reply = Reply::default();
        assert!(reply.read_stream(7, events.as_bytes()).is_ok());
        let answer = reply.answer.map(Value::Object).unwrap();
        assert_eq!(answer["result"], json!({"ok": true}));
        assert_eq!(
            reply.asked,
            [json!({"jsonrpc": "2.0", "id": "s1", "result": {}})]
        );
    }
}
