//! The connection to a browser. One thread takes events in while it waits for an answer, and
//! answers the requests of pages that a [`Rule`] matches.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Error, Message, WebSocket};

use super::chromium::Debugger;
use super::error::BrowserError;
use super::observed::Observed;

/// How requests of a page are answered instead of by the network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// The URLs; `*` stands for any text.
    pub url: String,
    /// What the browser wants the answer for, such as `Script` or `Fetch`; anything if absent.
    pub kind: Option<String>,
    /// What the page gets.
    pub answer: Answer,
}

/// What a page gets instead of an answer from the network.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The connection fails.
    Fail,
    /// This answer.
    Body {
        /// The status.
        status: u16,
        /// Names and values of the headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    tabs: HashMap<String, Tab>,
}

#[derive(Debug, Default)]
struct Tab {
    observed: Observed,
    rules: Vec<Rule>,
}

impl Rule {
    /// How requests for these URLs are answered.
    pub fn new(url: impl Into<String>, answer: Answer) -> Self {
        Self { url: url.into(), kind: None, answer }
    }

    /// How requests of a kind are answered, whatever their URL.
    pub fn of_kind(kind: impl Into<String>, answer: Answer) -> Self {
        Self { url: "*".to_owned(), kind: Some(kind.into()), answer }
    }

    fn applies(&self, url: &str, kind: &str) -> bool {
        matches(&self.url, url) && self.kind.as_ref().is_none_or(|wanted| wanted == kind)
    }
}

impl Connection {
    pub(super) fn open(debugger: &Debugger, limit: Duration) -> Result<Self, BrowserError> {
        let broken = |error: &dyn std::fmt::Display| BrowserError::Connection(error.to_string());
        let stream = TcpStream::connect_timeout(&debugger.address, limit);
        let stream = stream.map_err(|error| broken(&error))?;
        stream.set_nodelay(true).map_err(|error| broken(&error))?;
        stream.set_read_timeout(Some(limit)).map_err(|error| broken(&error))?;
        stream.set_write_timeout(Some(limit)).map_err(|error| broken(&error))?;
        let url = format!("ws://{}{}", debugger.address, debugger.path);
        let (socket, _) =
            tungstenite::client(url.as_str(), stream).map_err(|error| broken(&error))?;
        Ok(Self { socket, last_id: 0, tabs: HashMap::new() })
    }

    /// Sends a command and waits for its answer.
    pub(super) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, BrowserError> {
        let id = self.send(session, method, params)?;
        let deadline = Instant::now() + limit;
        loop {
            let Some(mut message) = self.receive(deadline)? else {
                let what = format!("the answer of the browser to {method}");
                return Err(BrowserError::TimedOut { what, limit, last: None });
            };
            if message["id"].as_u64() != Some(id) {
                continue;
            }
            return match message["error"]["message"].as_str() {
                Some(error) => Err(BrowserError::Refused {
                    method: method.to_owned(),
                    message: error.to_owned(),
                }),
                None => Ok(message["result"].take()),
            };
        }
    }

    /// Takes in events for a short time.
    pub(super) fn listen(&mut self, time: Duration) -> Result<(), BrowserError> {
        let deadline = Instant::now() + time;
        while self.receive(deadline)?.is_some() {}
        Ok(())
    }

    /// What a tab has reported since it was opened or since this was last cleared.
    pub(super) fn observed(&mut self, session: &str) -> &mut Observed {
        &mut self.tab(session).observed
    }

    /// Replaces the rules for the requests of a tab.
    pub(super) fn set_rules(&mut self, session: &str, rules: Vec<Rule>) {
        self.tab(session).rules = rules;
    }

    fn tab(&mut self, session: &str) -> &mut Tab {
        self.tabs.entry(session.to_owned()).or_default()
    }

    fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<u64, BrowserError> {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let sent = self.socket.send(Message::text(command.to_string()));
        sent.map_err(|error| BrowserError::Connection(error.to_string()))?;
        Ok(self.last_id)
    }

    /// The next message, after what it asks for was done; nothing once the deadline has passed.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Value>, BrowserError> {
        let broken = |error: &dyn std::fmt::Display| BrowserError::Connection(error.to_string());
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // A timeout of zero would mean none. What has arrived is read also at the deadline.
            let timeout = Some(left.max(Duration::from_millis(1)));
            self.socket.get_mut().set_read_timeout(timeout).map_err(|error| broken(&error))?;
            let message = match self.socket.read() {
                Ok(Message::Text(text)) => text,
                Ok(_) => continue,
                Err(Error::Io(error))
                    if matches!(
                        error.kind(),
                        // A signal of the process, such as the end of a child.
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) =>
                {
                    if left.is_zero() {
                        return Ok(None);
                    }
                    continue;
                }
                Err(error) => return Err(broken(&error)),
            };
            let message: Value = serde_json::from_str(&message).map_err(|error| broken(&error))?;
            self.take_in(&message)?;
            return Ok(Some(message));
        }
    }

    fn take_in(&mut self, message: &Value) -> Result<(), BrowserError> {
        let (Some(method), Some(session)) =
            (message["method"].as_str(), message["sessionId"].as_str())
        else {
            return Ok(());
        };
        let params = &message["params"];
        self.tab(session).observed.add(method, params);
        match method {
            "Fetch.requestPaused" => self.answer_request(session, params),
            "Page.javascriptDialogOpening" => {
                // A dialog stops the page until it is answered.
                let dismiss = json!({"accept": false});
                self.send(Some(session), "Page.handleJavaScriptDialog", dismiss).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn answer_request(&mut self, session: &str, params: &Value) -> Result<(), BrowserError> {
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let kind = params["resourceType"].as_str().unwrap_or_default();
        let rules = &self.tab(session).rules;
        let answer = rules.iter().find(|rule| rule.applies(url, kind)).map(|rule| &rule.answer);
        let id = &params["requestId"];
        let (method, params) = match answer {
            None => ("Fetch.continueRequest", json!({"requestId": id})),
            Some(Answer::Fail) => {
                let fail = json!({"requestId": id, "errorReason": "ConnectionFailed"});
                ("Fetch.failRequest", fail)
            }
            Some(Answer::Body { status, headers, body }) => {
                let headers = headers.iter();
                let headers = headers.map(|(name, value)| json!({"name": name, "value": value}));
                let headers: Vec<Value> = headers.collect();
                let body = data_encoding::BASE64.encode(body);
                let fulfil = json!({"requestId": id, "responseCode": status,
                    "responseHeaders": headers, "body": body});
                ("Fetch.fulfillRequest", fulfil)
            }
        };
        self.send(Some(session), method, params).map(|_| ())
    }
}

/// Whether a URL matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, url: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| url.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_matches_the_whole_url() {
        assert!(matches("*", "http://a/b"));
        assert!(matches("http://a/b", "http://a/b"));
        assert!(!matches("http://a/b", "http://a/bc"));
        assert!(matches("http://a/*.js", "http://a/x/y.js"));
        assert!(!matches("http://a/*.js", "http://a/x/y.json"));
        assert!(matches("*/assets/*", "http://a/assets/page.css"));
        assert!(!matches("*/assets/*", "http://a/live/1"));
        assert!(!matches("http://a*/b*b", "http://a/b"));
    }
}
