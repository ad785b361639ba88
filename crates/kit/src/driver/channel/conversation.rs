//! One case on its sockets: makes the moves, and stops at the first that is not met.

mod closing;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use accord_contract::text::{excerpt, percent_encoded};
use accord_contract::{Object, Value, Wire as _};
use accord_process::Cancel;
use parking_lot::Mutex;
use serde_json::json;
use tungstenite::Message;
use tungstenite::http::Uri;

use super::ChannelServer;
use super::socket::{Arrival, Closed, Opened, Patience, Socket};
use super::stop::Stop;
use super::tab::Tabs;
use super::tools::{Called, Tools};
use crate::browser::Browser;
use crate::case::{
    Browse, Check, Credential, FrameCheck, InsteadOfPass, Move, Opening, SessionField, Step,
    ToolCall,
};
use crate::corpus::ChannelList;
use crate::exchange::answer::Answer;
use crate::exchange::checks::{self, Unmet};
use crate::exchange::variables::Variables;
use crate::exchange::{End, Engine, ExchangeError, Exchanged};
use crate::lines::{Lines, fits};
use crate::report::Difference;

pub(super) struct Conversation<'a> {
    pub(super) server: &'a ChannelServer,
    pub(super) list: &'a ChannelList,
    pub(super) variables: Variables,
    pub(super) deadline: Instant,
    pub(super) cancel: Option<&'a Cancel>,
    sockets: BTreeMap<String, Socket>,
    tools: BTreeMap<Credential, Tools<'a>>,
    tabs: Option<Tabs<'a>>,
    barriers: u64,
    transcript: Vec<Value>,
}

/// The names of variables, each with the place of its value.
type Captures = BTreeMap<String, String>;

impl<'a> Conversation<'a> {
    pub(super) fn new(
        server: &'a ChannelServer,
        list: &'a ChannelList,
        variables: Variables,
        deadline: Instant,
        cancel: Option<&'a Cancel>,
        browser: Option<&'a Browser>,
    ) -> Self {
        Self {
            server,
            list,
            variables,
            deadline,
            cancel,
            sockets: BTreeMap::new(),
            tools: BTreeMap::new(),
            tabs: browser.map(|browser| Tabs::new(browser, server.client.base())),
            barriers: 0,
            transcript: Vec::new(),
        }
    }

    pub(super) fn run(mut self, moves: &[Move]) -> Exchanged {
        for (index, one) in moves.iter().enumerate() {
            let made = (1..=one.repeat.unwrap_or(1)).try_for_each(|n| {
                if one.repeat.is_none() {
                    return self.one_move(one);
                }
                self.variables.set("n", n);
                let begun = Instant::now();
                self.one_move(one)?;
                // A slow server may take long for many repetitions. Each has the limit of the case.
                self.deadline += begun.elapsed();
                Ok(())
            });
            let end = match made {
                Ok(()) => continue,
                Err(Stop::End(End::Met)) => break,
                Err(Stop::End(end)) => end,
                Err(Stop::Unknown(unknown)) => End::Harness(unknown.to_string()),
            };
            let about = one.about.as_ref().map(|about| format!(" ({about})")).unwrap_or_default();
            let action = one.actions().join(" and ");
            let exchanged = Exchanged {
                step: format!("move {} of {}{about}: {action}", index + 1, moves.len()),
                actual: json!({"transcript": self.last_entries()}),
                ..Exchanged::nothing(end)
            };
            self.close_all();
            return exchanged;
        }
        self.close_all();
        Exchanged::nothing(End::Met)
    }

    fn one_move(&mut self, one: &Move) -> Result<(), Stop> {
        let socket = one.socket();
        if let Some(setup) = &one.setup {
            self.setup(setup, one.capture.as_ref())?;
        }
        if let Some(step) = &one.refused_setup {
            self.refused_setup(step)?;
        }
        if let Some(field) = &one.field {
            self.field(field)?;
        }
        if let Some(open) = &one.open {
            self.open(socket, open)?;
        }
        for frame in one.send.iter().flatten() {
            let text = self.variables.value(frame)?.to_string();
            self.send(socket, Message::text(text))?;
        }
        if let Some(text) = &one.send_text {
            let text = self.variables.text(text)?;
            self.send(socket, Message::text(text))?;
        }
        if let Some(text) = &one.send_binary {
            let text = self.variables.text(text)?;
            self.send(socket, Message::binary(text.into_bytes()))?;
        }
        match (&one.closed, &one.expect) {
            (Some(closed), check) => self.closed(socket, closed, check.as_ref())?,
            (None, Some(check)) => self.expect(socket, check)?,
            (None, None) => {}
        }
        if one.close == Some(true) {
            self.close(socket)?;
        }
        if let Some(step) = &one.http {
            self.http(step)?;
        }
        if let Some(tool) = &one.tool {
            self.tool(tool)?;
        }
        if let Some(browse) = &one.browse {
            self.browse(socket, browse)?;
        }
        Ok(())
    }

    fn browse(&mut self, name: &str, browse: &Browse) -> Result<(), Stop> {
        let limit = self.limit()?.min(PAGE_LIMIT);
        self.note(json!({"on": name, "browse": browse.encode()}));
        // A case that needs a browser runs only where there is one.
        let tabs = self.tabs.as_mut().ok_or_else(|| Stop::harness(super::NO_BROWSER))?;
        tabs.make(name, browse, &self.variables, limit)
    }

    fn setup(&mut self, step: &Object, capture: Option<&Captures>) -> Result<(), Stop> {
        let (step, answer) = self.control_step(step)?;
        if !answer.is_success() {
            let kind = step.get("kind").and_then(Value::as_str).unwrap_or_default();
            let text = excerpt(&answer.text, 300);
            let refused = format!("refused the setup step {kind:?} with {}", answer.status);
            let why = format!("the conformance control {refused}: {text}");
            let verdict = InsteadOfPass::Skip;
            return Err(Stop::End(End::Excused { verdict, route: "setup".to_owned(), why }));
        }
        let document: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        self.capture(capture, &document)
    }

    /// A step that asks for something that the server must refuse.
    fn refused_setup(&mut self, step: &Object) -> Result<(), Stop> {
        let (_, answer) = self.control_step(step)?;
        if answer.is_success() {
            let expected = json!("a refusal of the step");
            return Err(Stop::unmet(vec![Difference::new("/status", expected, answer.status)]));
        }
        Ok(())
    }

    fn control_step(&mut self, step: &Object) -> Result<(Object, Answer), Stop> {
        let step = self.variables.object(step)?;
        self.note(json!({"setup": step}));
        let limit = self.limit()?;
        // A case that needs the control runs only where there is one.
        let Some(control) = &self.server.control else {
            return Err(Stop::harness(super::NO_CONTROL));
        };
        let answer = control.setup(&step, limit)?;
        let text = excerpt(&answer.text, LONGEST_FRAME);
        self.note(json!({"status": answer.status, "answered": text}));
        Ok((step, answer))
    }

    fn field(&mut self, field: &SessionField) -> Result<(), Stop> {
        let session = self.variables.text(&field.session)?;
        let name = self.variables.text(&field.name)?;
        let limit = self.limit()?;
        let Some(control) = &self.server.control else {
            return Err(Stop::harness(super::NO_CONTROL));
        };
        let answer = control.field(&session, &name, limit)?;
        self.note(json!({"field": name, "status": answer.status, "body": answer.text}));
        let document: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        let expected = json!({"value": self.variables.value(&field.value)?});
        let found = accord_contract::fixture::differences(&expected, &document);
        met(found.into_iter().map(Difference::from).collect())
    }

    fn open(&mut self, name: &str, open: &Opening) -> Result<(), Stop> {
        let mut query = Vec::new();
        for (key, value) in open.query.iter().flatten() {
            let value = self.variables.text(value)?;
            query.push(format!("{}={}", percent_encoded(key), percent_encoded(&value)));
        }
        let credential = open.credential.unwrap_or(Credential::Main);
        let key = self.server.client.key(credential);
        if let (Some(name), Some(key)) = (&open.key_in, key) {
            query.push(format!("{}={}", percent_encoded(name), percent_encoded(key)));
        }
        let mut target = format!("{}{}", self.server.socket_base, self.list.path);
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let uri: Uri = target.parse().map_err(|error| {
            Stop::End(End::Harness(format!("the URL of the socket is not valid: {error}")))
        })?;
        let mut headers = Vec::new();
        for (key, value) in open.headers.iter().flatten() {
            headers.push((key.clone(), self.variables.text(value)?));
        }
        if let (None, Some(key)) = (&open.key_in, key) {
            headers.push(("authorization".to_owned(), format!("Bearer {key}")));
        }
        self.note(json!({"on": name, "opened": self.list.path}));
        let opened = Socket::open(&uri, &headers, self.patience())?;
        match (opened, &open.refused) {
            (Opened::Socket(socket), None) => {
                self.sockets.insert(name.to_owned(), *socket);
                Ok(())
            }
            (Opened::Refused(status), Some(statuses)) if statuses.contains(&status.into()) => {
                self.note(json!({"on": name, "refused": status}));
                Ok(())
            }
            (Opened::Refused(404 | 405 | 501), None) => {
                Err(Stop::End(End::Missing { route: self.list.path.clone() }))
            }
            (Opened::Refused(status), None) => {
                Err(Stop::unmet(vec![Difference::new("/status", json!(101), status)]))
            }
            (opened, Some(statuses)) => {
                let status = if let Opened::Refused(status) = opened { status } else { 101 };
                let expected = json!({"one_of": statuses});
                Err(Stop::unmet(vec![Difference::new("/status", expected, status)]))
            }
        }
    }

    fn send(&mut self, name: &str, message: Message) -> Result<(), Stop> {
        let shown = String::from_utf8_lossy(message.clone().into_data().as_ref()).into_owned();
        let kind = if message.is_binary() { "sent_binary" } else { "sent" };
        self.note(json!({"on": name, kind: excerpt(&shown, LONGEST_FRAME)}));
        self.socket(name)?.send(message);
        Ok(())
    }

    /// Reads what arrives next. A frame that is no JSON is a string.
    fn read(
        &mut self,
        name: &str,
        what: &str,
        patience: Patience<'_>,
    ) -> Result<Result<Value, Closed>, Stop> {
        let arrived = self.socket(name)?.read(patience, what)?;
        let (entry, read) = match arrived {
            Arrival::Text(text) => {
                let entry = json!({"on": name, "received": excerpt(&text, LONGEST_FRAME)});
                let frame = serde_json::from_str(&text).unwrap_or(Value::String(text));
                (entry, Ok(frame))
            }
            Arrival::Binary(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let entry = json!({"on": name, "received_binary": excerpt(&text, LONGEST_FRAME)});
                (entry, Ok(json!({"binary": text})))
            }
            Arrival::Closed(closed) => {
                let entry = json!({"on": name, "closed": closed.code, "reason": closed.reason});
                (entry, Err(closed))
            }
        };
        self.note(entry);
        Ok(read)
    }

    /// Judges the frames up to a barrier, or up to a frame that is waited for.
    fn expect(&mut self, name: &str, check: &FrameCheck) -> Result<(), Stop> {
        let until = match &check.until {
            Some(until) => self.variables.value(until)?,
            None => self.raise_barrier(name)?,
        };
        let what = match &check.until {
            Some(until) => format!("a frame like {until}"),
            None => "the answer to the barrier".to_owned(),
        };
        let mut patience = self.patience();
        if check.until.is_some() {
            let limit = Instant::now() + self.server.options.request_timeout;
            patience.until = patience.until.min(limit);
        }
        let mut frames = Vec::new();
        loop {
            let read = match self.read(name, &what, patience) {
                // A frame that does not come is a failure. Without an answer to the barrier,
                // nothing is known.
                Err(Stop::End(End::Failed(ExchangeError::TimedOut(_))))
                    if check.until.is_some() =>
                {
                    let actual = json!({"frames": frames});
                    return Err(Stop::unmet(vec![Difference::new("/frames", until, actual)]));
                }
                read => read?,
            };
            match read {
                Ok(frame) if fits(&until, &frame) => {
                    // The answer to the barrier is no frame of the case.
                    if check.until.is_some() {
                        frames.push(frame);
                    }
                    break;
                }
                Ok(frame) => frames.push(frame),
                Err(closed) => {
                    let closed = json!({"code": closed.code, "reason": closed.reason});
                    let actual = json!({"closed": closed, "frames": frames});
                    return Err(Stop::unmet(vec![Difference::new("/frames", until, actual)]));
                }
            }
        }
        self.judge(check, frames)
    }

    fn raise_barrier(&mut self, name: &str) -> Result<Value, Stop> {
        self.barriers += 1;
        let barrier = &self.list.barrier;
        let mut variables = self.variables.clone();
        variables.set("barrier", format!("barrier-{}", self.barriers));
        let (send, until) = (variables.value(&barrier.send)?, variables.value(&barrier.until)?);
        self.send(name, Message::text(send.to_string()))?;
        Ok(until)
    }

    fn judge(&mut self, check: &FrameCheck, frames: Vec<Value>) -> Result<(), Stop> {
        let mut differences = Lines::from(check).judge(&frames, "/frames", &self.variables)?;
        let document = json!({"frames": frames});
        differences.extend(self.checks(check.checks.as_deref(), &document, None)?);
        for (name, capture) in check.capture.iter().flatten() {
            let wanted = self.variables.value(&capture.frame)?;
            let frame = frames.iter().find(|frame| fits(&wanted, frame));
            match frame.and_then(|frame| frame.pointer(&capture.at)) {
                Some(value) => self.variables.set(name, value.clone()),
                None => {
                    let expected = json!({"frame": wanted, "at": capture.at});
                    let shown = document["frames"].clone();
                    differences.push(Difference::new("/frames", expected, shown));
                }
            }
        }
        met(differences)
    }

    fn checks(&self, all: Option<&[Check]>, document: &Value, answer: Option<&Answer>) -> Unmet {
        let (headers, text) = (BTreeMap::new(), document.to_string());
        let frames = Answer { status: 101, headers, text, protected: false };
        let answer = answer.unwrap_or(&frames);
        let mut differences = Vec::new();
        for check in all.unwrap_or_default() {
            differences.extend(checks::unmet(check, answer, document, &self.variables)?);
        }
        Ok(differences)
    }

    fn http(&mut self, step: &Step) -> Result<(), Stop> {
        let (present, written) = (BTreeSet::new(), Mutex::new(BTreeSet::new()));
        let engine = Engine {
            routes: self.list.requests(),
            transport: &self.server.client,
            present: &present,
            request_limit: self.server.options.request_timeout,
            deadline: self.deadline,
            cancel: self.cancel,
            written: &written,
        };
        let exchanged = engine.run(std::slice::from_ref(step), &mut self.variables);
        self.note(json!({"http": exchanged.step, "exchange": exchanged.actual}));
        match exchanged.end {
            End::Met => Ok(()),
            other => Err(Stop::End(other)),
        }
    }

    fn tool(&mut self, tool: &ToolCall) -> Result<(), Stop> {
        let arguments = self.variables.object(&tool.args.clone().unwrap_or_default())?;
        let resource = tool.resource.as_ref().map(|uri| self.variables.text(uri)).transpose()?;
        let limit = self.limit()?;
        let credential = tool.credential.unwrap_or(Credential::Main);
        let operation = tool.operation();
        self.note(json!({"mcp": operation, "arguments": arguments, "resource": resource}));
        let mut tools = match self.tools.remove(&credential) {
            Some(tools) => tools,
            None => {
                let path = self.server.mcp.as_ref().unwrap_or(&self.list.mcp);
                Tools::begin(&self.server.client, path, credential, limit)?
            }
        };
        let called = match &resource {
            Some(uri) => tools.read(uri, limit),
            None => tools.call(operation, arguments, limit),
        };
        self.tools.insert(credential, tools);
        let Called::Outcome { document, answer } = called? else {
            return Err(Stop::End(End::Missing { route: operation.to_owned() }));
        };
        let text = excerpt(&answer.text, LONGEST_FRAME);
        self.note(json!({"status": answer.status, "answered": text}));
        let is_refused = document["refused"] == json!(true);
        let excuses = tool.excused_by.iter().flatten();
        if let Some(code) = excuses.filter(|_| is_refused).find(|code| answer.contains(code)) {
            let why = format!("the tool {operation} cannot do this here: {code}");
            let (verdict, route) = (InsteadOfPass::Skip, operation.to_owned());
            return Err(Stop::End(End::Excused { verdict, route, why }));
        }
        let mut nearest = None;
        for expected in &tool.expect {
            let wanted = Value::Object(self.variables.object(&expected.outcome)?);
            let found = accord_contract::fixture::differences(&wanted, &document).into_iter();
            let mut differences: Vec<Difference> = found.map(Difference::from).collect();
            let checks = expected.checks.as_deref();
            differences.extend(self.checks(checks, &document, Some(&answer))?);
            if differences.is_empty() {
                self.capture(expected.capture.as_ref(), &document)?;
                let is_done = expected.done == Some(true);
                return if is_done { Err(Stop::End(End::Met)) } else { Ok(()) };
            }
            nearest.get_or_insert(differences);
        }
        met(nearest.unwrap_or_default())
    }

    fn capture(&mut self, captures: Option<&Captures>, document: &Value) -> Result<(), Stop> {
        let mut missing = Vec::new();
        for (name, pointer) in captures.into_iter().flatten() {
            match document.pointer(pointer) {
                Some(value) => self.variables.set(name, value.clone()),
                None => {
                    missing.push(Difference::missing(pointer, json!("a value to go on with")));
                }
            }
        }
        met(missing)
    }

    fn socket(&mut self, name: &str) -> Result<&mut Socket, Stop> {
        let missing = || Stop::End(End::Harness(format!("the socket `{name}` is not open")));
        self.sockets.get_mut(name).ok_or_else(missing)
    }

    fn patience(&self) -> Patience<'a> {
        Patience { until: self.deadline, cancel: self.cancel }
    }

    /// How long a request may take.
    fn limit(&self) -> Result<Duration, Stop> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(ExchangeError::Cancelled.into());
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let why = "the time limit of the case had passed before this move".to_owned();
            return Err(ExchangeError::TimedOut(why).into());
        }
        // A tool may wait for events, so only the case limits it.
        Ok(left)
    }

    fn note(&mut self, entry: Value) {
        self.transcript.push(entry);
    }

    fn last_entries(&self) -> &[Value] {
        let from = self.transcript.len().saturating_sub(LONGEST_TRANSCRIPT);
        &self.transcript[from..]
    }
}

fn met(differences: Vec<Difference>) -> Result<(), Stop> {
    if differences.is_empty() { Ok(()) } else { Err(Stop::unmet(differences)) }
}

const LONGEST_FRAME: usize = 4_000;
/// How many entries of a transcript are in a report.
const LONGEST_TRANSCRIPT: usize = 40;
/// How long a page may take to load, or to show what a case expects.
const PAGE_LIMIT: Duration = Duration::from_secs(30);
