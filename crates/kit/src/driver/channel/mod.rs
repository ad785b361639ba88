//! A server under test, judged over a channel: WebSockets, and HTTP requests, MCP tools and pages
//! in a browser beside them.
//!
//! Invariants:
//! - A case has its own sockets and ends at a barrier or an event, never after a time.
//! - Codes of closes, the text of frames and their order are kept as they arrive.
//! - A key is sent only to the named server, the control token only to its control. Neither is in
//!   a report.

mod control;
mod conversation;
mod socket;
mod stop;
mod tab;
mod tools;

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use accord_process::Cancel;

use super::http::{Client, HttpOptions, ServerError};
use super::{Adapter, AdapterInfo, CannotBegin, Driver, DriverKind, DriverOutcome};
use crate::browser::{Browser, BrowserError};
use crate::case::{Case, Channel, Credential, Move, Task};
use crate::corpus::{ChannelList, Protocol};
use crate::exchange::generate::Values;
use crate::exchange::variables::Variables;
use crate::exchange::{End, Exchanged};
use control::Control;
use conversation::Conversation;

/// The conformance control of a server.
#[derive(Clone)]
#[non_exhaustive]
pub struct ControlOptions {
    /// Its base URL.
    pub url: String,
    /// The token that its requests carry.
    pub token: Option<String>,
}

impl ControlOptions {
    /// The control at this URL, without a token.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), token: None }
    }
}

/// A server with a channel, by its URL.
pub struct ChannelServer {
    options: HttpOptions,
    client: Client,
    socket_base: String,
    control: Option<Control>,
    /// The path of the MCP endpoint, if it is not that of the protocol.
    mcp: Option<String>,
    browser: Option<PathBuf>,
    values: Values,
    list: OnceLock<ChannelList>,
}

impl ChannelServer {
    /// Prepares the clients. Nothing is sent yet. Fails when a URL is not valid.
    pub fn new(
        options: HttpOptions,
        control: Option<&ControlOptions>,
    ) -> Result<Self, ServerError> {
        let client = Client::new(&options)?;
        let control = control.map(|control| Control::new(&control.url, control.token.as_deref()));
        Ok(Self {
            // `http` becomes `ws`, and `https` becomes `wss`.
            socket_base: client.base().replacen("http", "ws", 1),
            control: control.transpose()?,
            mcp: None,
            browser: None,
            client,
            options,
            values: Values::new(),
            list: OnceLock::new(),
        })
    }

    /// The same server, with its MCP endpoint at another path than that of the protocol.
    #[must_use]
    pub fn mcp(mut self, path: impl Into<String>) -> Self {
        self.mcp = Some(path.into());
        self
    }

    /// The same server, with this Chromium for the cases about pages, which are else skipped.
    #[must_use]
    pub fn browser(mut self, program: Option<PathBuf>) -> Self {
        self.browser = program;
        self
    }

    /// Why a case cannot be run with the keys of the run.
    fn lacks_key(&self, channel: &Channel) -> Option<&'static str> {
        let uses =
            |wanted: Credential| channel.moves.iter().any(|one| one.credential() == Some(wanted));
        if uses(Credential::Wrong) && self.options.token.is_none() {
            return Some("is about keys, and the run was given none; give one with --token");
        }
        if uses(Credential::Second) && self.options.second_token.is_none() {
            return Some(
                "needs a second key that does not reach the app of the run; give it with \
                 --second-token",
            );
        }
        None
    }
}

impl Adapter for ChannelServer {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        let list = protocol
            .channel()
            .ok_or_else(|| ServerError::NotOverHttp { protocol: protocol.name().to_owned() })?;
        self.client.greet(self.options.request_timeout).map_err(|trouble| {
            let url = self.client.base().to_owned();
            ServerError::Unreachable { url, why: trouble.to_string() }
        })?;
        if let Some(control) = &self.control {
            control.greet(self.options.request_timeout)?;
        }
        self.list.get_or_init(|| list.clone());
        Ok(())
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        let Task::Channel(channel) = &case.task else {
            return Err("needs an adapter, and the run has a server".to_owned());
        };
        if let Some(why) = self.lacks_key(channel) {
            return Err(why.to_owned());
        }
        if self.control.is_none() && channel.moves.iter().any(Move::needs_control) {
            return Err(NO_CONTROL.to_owned());
        }
        if self.browser.is_none() && needs_browser(channel) {
            return Err(NO_BROWSER.to_owned());
        }
        Ok(())
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(ChannelDriver { server: self, cancel: None, browser: None })
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo {
            url: Some(self.client.base().to_owned()),
            ..AdapterInfo::new(DriverKind::Channel, Vec::new())
        }
    }
}

struct ChannelDriver<'a> {
    server: &'a ChannelServer,
    cancel: Option<Cancel>,
    /// Started by the first case that needs it.
    browser: Option<Browser>,
}

impl ChannelDriver<'_> {
    /// Starts the browser, if a case needs it and it does not run.
    fn start_browser(&mut self, channel: &Channel) -> Result<(), BrowserError> {
        if let (Some(program), None) = (&self.server.browser, &self.browser)
            && needs_browser(channel)
        {
            self.browser = Some(Browser::start(program, BROWSER_LIMIT)?);
        }
        Ok(())
    }
}

impl Driver for ChannelDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        let (Some(list), Task::Channel(channel)) = (self.server.list.get(), &case.task) else {
            let why = "a server with a channel cannot run this case".to_owned();
            return Exchanged::nothing(End::Harness(why)).into();
        };
        let mut variables = Variables::of("run", self.server.values.run());
        for (name, generator) in &channel.variables {
            if let Some(value) = self.server.values.make(generator) {
                variables.set(name, value);
            }
        }
        // The start of the browser is not the time of the case.
        if let Err(error) = self.start_browser(channel) {
            return Exchanged::nothing(End::Harness(error.to_string())).into();
        }
        let deadline = Instant::now() + limit;
        let (cancel, browser) = (self.cancel.as_ref(), self.browser.as_ref());
        let conversation =
            Conversation::new(self.server, list, variables, deadline, cancel, browser);
        let exchanged = conversation.run(&channel.moves);
        if matches!(exchanged.end, End::Harness(_)) {
            // A browser that failed is replaced for the next case.
            self.browser = None;
        }
        exchanged.into()
    }

    fn cancel_with(&mut self, cancel: Cancel) {
        self.cancel = Some(cancel);
    }
}

fn needs_browser(channel: &Channel) -> bool {
    channel.moves.iter().any(|one| one.browse.is_some())
}

/// How long a browser may take to start, and to do what it is asked for.
const BROWSER_LIMIT: Duration = Duration::from_secs(120);
const NO_BROWSER: &str = "is about what a person sees, and no Chromium was found; install one, or \
                          name its program with --browser";
const NO_CONTROL: &str = "needs the conformance control of the server to set its sessions up; give \
                          its URL with --control";
