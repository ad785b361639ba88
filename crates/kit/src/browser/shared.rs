//! One Chromium for several browsers.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::chromium::Chromium;
use super::{Browser, BrowserError};

/// A Chromium that several threads use at once, each with a [`Browser`] that shares nothing.
#[derive(Debug)]
pub struct SharedChromium(Mutex<Weak<Chromium>>);

impl SharedChromium {
    /// None is running yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// A browser in the running process, or in a new one; `limit` as in [`Browser::start`].
    pub fn browser(&self, program: &Path, limit: Duration) -> Result<Browser, BrowserError> {
        let mut browser = Browser::of(self.process(program, limit)?, limit)?;
        browser.context = Some(browser.create_context()?);
        Ok(browser)
    }

    fn process(&self, program: &Path, limit: Duration) -> Result<Arc<Chromium>, BrowserError> {
        let mut shared = self.0.lock();
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Arc::new(Chromium::start(program, limit)?);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }
}

impl Default for SharedChromium {
    fn default() -> Self {
        Self::new()
    }
}
