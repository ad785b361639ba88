//! Chromium, driven over its debugging protocol (CDP): for the cases that judge what a person sees.
//!
//! A [`Browser`] is a headless Chromium with a profile of its own. A [`Page`] is one tab. The
//! module knows no protocol that the kit tests.
//!
//! Invariants:
//! - Every wait has a limit, and its error names what was waited for.
//! - The browser is a process group that ends when the [`Browser`] is dropped. Its profile is
//!   removed.
//! - What a page reports (errors, refused content, dialogs, navigations, requests) is kept from its
//!   first moment until it is asked for.

mod chromium;
mod connection;
mod emulation;
mod error;
mod input;
mod keys;
mod observed;
mod page;

use std::cell::{Cell, RefCell, RefMut};
use std::time::Duration;

use serde_json::{Value, json};

use self::chromium::Chromium;
pub use self::chromium::{FOUND_BY_NAME, find};
use self::connection::Connection;
pub use self::connection::{Answer, Rule};
pub use self::emulation::{ColorScheme, Viewport};
pub use self::error::BrowserError;
pub use self::observed::{Observed, Request};
pub use self::page::Page;

/// A running headless Chromium.
#[derive(Debug)]
pub struct Browser {
    connection: RefCell<Connection>,
    /// The limit of every command.
    limit: Duration,
    /// The limit of every wait for something in a page.
    wait_limit: Cell<Duration>,
    // Dropped after the connection.
    _process: Chromium,
}

impl Browser {
    /// Starts a Chromium. `limit` is for its start, for every command, and for every wait for
    /// something in a page.
    pub fn start(program: &std::path::Path, limit: Duration) -> Result<Self, BrowserError> {
        let process = Chromium::start(program, limit)?;
        let connection = Connection::open(process.address(), limit)?;
        Ok(Self {
            connection: RefCell::new(connection),
            limit,
            wait_limit: Cell::new(limit),
            _process: process,
        })
    }

    /// Opens an empty tab. It shares cookies and storage with the other tabs of the browser.
    pub fn page(&self) -> Result<Page<'_>, BrowserError> {
        self.open(json!({"url": "about:blank"}))
    }

    /// Opens an empty tab that shares nothing with other tabs.
    pub fn private_page(&self) -> Result<Page<'_>, BrowserError> {
        let context = self.call(None, "Target.createBrowserContext", json!({}))?;
        let context = &context["browserContextId"];
        self.open(json!({"url": "about:blank", "browserContextId": context}))
    }

    /// Sets the limit of every later wait for something in a page.
    pub fn limit_waits(&self, limit: Duration) {
        self.wait_limit.set(limit);
    }

    fn open(&self, how: Value) -> Result<Page<'_>, BrowserError> {
        let target = self.call(None, "Target.createTarget", how)?;
        let target = text_of(&target["targetId"]);
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach)?;
        Page::prepare(self, target, text_of(&attached["sessionId"]))
    }

    fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, BrowserError> {
        self.connection().call(session, method, params, self.limit)
    }

    fn connection(&self) -> RefMut<'_, Connection> {
        self.connection.borrow_mut()
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
