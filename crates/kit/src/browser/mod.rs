//! Chromium, driven over its debugging protocol (CDP): for the cases that judge what a person sees.
//!
//! A [`Browser`] is a headless Chromium with a profile of its own. A [`Page`] is one tab. The
//! module knows no protocol that the kit tests.
//!
//! Invariants:
//! - Every wait has a limit, and its error names what was waited for.
//! - The browser is a process group that ends when the [`Browser`] is dropped. Its profile is
//!   removed. Browsers of a [`SharedChromium`] have one process, which ends with the last of them.
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
mod shared;

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;
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
pub use self::shared::SharedChromium;

/// A running headless Chromium.
#[derive(Debug)]
pub struct Browser {
    connection: RefCell<Connection>,
    limit: Duration,
    wait_limit: Cell<Duration>,
    /// The cookies and storage of its tabs, if other browsers use the process, too.
    context: Option<String>,
    // Dropped after the connection.
    _process: Arc<Chromium>,
}

impl Browser {
    /// Starts a Chromium. `limit` is for its start, every command and every wait in a page.
    pub fn start(program: &std::path::Path, limit: Duration) -> Result<Self, BrowserError> {
        Self::of(Arc::new(Chromium::start(program, limit)?), limit)
    }

    fn of(process: Arc<Chromium>, limit: Duration) -> Result<Self, BrowserError> {
        let connection = Connection::open(process.address(), limit)?;
        Ok(Self {
            connection: RefCell::new(connection),
            limit,
            wait_limit: Cell::new(limit),
            context: None,
            _process: process,
        })
    }

    /// Opens an empty tab. It shares cookies and storage with the other tabs of the browser.
    pub fn page(&self) -> Result<Page<'_>, BrowserError> {
        self.open(self.context.as_deref())
    }

    /// Opens an empty tab that shares nothing with other tabs.
    pub fn private_page(&self) -> Result<Page<'_>, BrowserError> {
        let context = self.create_context()?;
        self.open(Some(&context))
    }

    /// Sets the limit of every later wait for something in a page.
    pub fn limit_waits(&self, limit: Duration) {
        self.wait_limit.set(limit);
    }

    /// Creates a place for cookies and storage. It lasts as long as the connection.
    fn create_context(&self) -> Result<String, BrowserError> {
        let params = json!({"disposeOnDetach": true});
        let created = self.call(None, "Target.createBrowserContext", params)?;
        Ok(text_of(&created["browserContextId"]))
    }

    fn open(&self, context: Option<&str>) -> Result<Page<'_>, BrowserError> {
        let mut params = json!({"url": "about:blank"});
        if let Some(context) = context {
            params["browserContextId"] = context.into();
        }
        let target = self.call(None, "Target.createTarget", params)?;
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
