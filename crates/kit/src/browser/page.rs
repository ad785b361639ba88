//! One tab: going to a page, asking it, waiting for it.

use std::fmt::Display;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::error::BrowserError;
use super::observed::{Observed, exception};
use super::{Browser, text_of};

/// One tab of a browser.
#[derive(Debug)]
pub struct Page<'a> {
    pub(super) browser: &'a Browser,
    target: String,
    session: String,
}

impl<'a> Page<'a> {
    pub(super) fn prepare(
        browser: &'a Browser,
        target: String,
        session: String,
    ) -> Result<Self, BrowserError> {
        let page = Self { browser, target, session };
        for domain in ["Page", "Runtime", "Network", "Log", "Audits"] {
            page.call(&format!("{domain}.enable"), json!({}))?;
        }
        // Two tabs can both have the focus, as two windows of two people have.
        page.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}))?;
        page.take_observed()?;
        Ok(page)
    }

    /// Goes to a URL and waits until the document and its resources are loaded.
    pub fn go(&self, url: &str) -> Result<(), BrowserError> {
        let went = self.call("Page.navigate", json!({"url": url}))?;
        if let Some(error) = went["errorText"].as_str().filter(|text| !text.is_empty()) {
            let method = format!("going to {url}");
            return Err(BrowserError::Refused { method, message: error.to_owned() });
        }
        self.wait_for_load(url)
    }

    /// Loads the page again and waits until it is loaded.
    pub fn reload(&self) -> Result<(), BrowserError> {
        // A mark on the old document tells it from the new one.
        self.evaluate_with_retry("void (globalThis.__accordOldDocument = true)")?;
        self.call("Page.reload", json!({}))?;
        self.wait_until("the page to be loaded again", "!globalThis.__accordOldDocument")?;
        self.wait_for_load("the same page")
    }

    /// The URL of the document.
    pub fn url(&self) -> Result<String, BrowserError> {
        Ok(text_of(&self.evaluate_with_retry("location.href")?))
    }

    /// The value of an expression in the page. A promise is waited for.
    pub fn evaluate(&self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true,
            "userGesture": true});
        let mut answer = self.call("Runtime.evaluate", params)?;
        if answer["exceptionDetails"].is_object() {
            return Err(BrowserError::Script { message: exception(&answer["exceptionDetails"]) });
        }
        Ok(answer["result"]["value"].take())
    }

    /// The value of an expression; a document that is replaced meanwhile is asked again.
    pub fn evaluate_with_retry(&self, expression: &str) -> Result<Value, BrowserError> {
        let deadline = Instant::now() + self.browser.wait_limit.get();
        loop {
            match self.evaluate(expression) {
                Err(BrowserError::Refused { .. }) if Instant::now() < deadline => self.pause()?,
                answer => return answer,
            }
        }
    }

    /// Waits until an expression gives something that is true, and returns it.
    pub fn wait_until(&self, what: impl Display, expression: &str) -> Result<Value, BrowserError> {
        let deadline = Instant::now() + self.browser.wait_limit.get();
        loop {
            // A document that is being replaced cannot be asked; the next one can.
            let value = match self.evaluate(expression) {
                Ok(value) => value,
                Err(BrowserError::Refused { .. }) => Value::Null,
                Err(error) => return Err(error),
            };
            if is_truthy(&value) {
                return Ok(value);
            }
            if Instant::now() >= deadline {
                return Err(self.timed_out(what.to_string()));
            }
            self.pause()?;
        }
    }

    /// Waits a moment before the page is asked again.
    pub(super) fn pause(&self) -> Result<(), BrowserError> {
        self.browser.connection().listen(POLL)
    }

    /// Waits until the visible text of the page contains a text.
    pub fn wait_for_text(&self, text: &str) -> Result<(), BrowserError> {
        let expression = format!("document.body?.innerText.includes({})", json!(text));
        self.wait_until(format_args!("the text {text:?}"), &expression).map(|_| ())
    }

    /// The visible text of the page.
    pub fn text(&self) -> Result<String, BrowserError> {
        Ok(text_of(&self.evaluate_with_retry(TEXT)?))
    }

    /// What the page has reported so far.
    pub fn observed(&self) -> Result<Observed, BrowserError> {
        // The answer to a command comes after the events before it.
        self.evaluate_with_retry("0")?;
        Ok(self.browser.connection().observed(&self.session).clone())
    }

    /// What the page has reported so far. Later calls return only what is reported from now on.
    pub fn take_observed(&self) -> Result<Observed, BrowserError> {
        self.evaluate_with_retry("0")?;
        Ok(std::mem::take(self.browser.connection().observed(&self.session)))
    }

    /// A picture of what is visible, as PNG.
    pub fn screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}))?;
        let data = answer["data"].as_str().unwrap_or_default();
        let picture = data_encoding::BASE64.decode(data.as_bytes());
        picture.map_err(|error| BrowserError::Connection(error.to_string()))
    }

    /// Runs a script in every document of this tab from now on, before the scripts of the document.
    pub fn run_in_new_documents(&self, script: &str) -> Result<(), BrowserError> {
        let params = json!({"source": script});
        self.call("Page.addScriptToEvaluateOnNewDocument", params).map(|_| ())
    }

    /// Puts the tab in front of the others.
    pub fn bring_to_front(&self) -> Result<(), BrowserError> {
        self.call("Page.bringToFront", json!({})).map(|_| ())
    }

    /// Closes the tab.
    pub fn close(self) -> Result<(), BrowserError> {
        let params = json!({"targetId": self.target});
        self.browser.call(None, "Target.closeTarget", params).map(|_| ())
    }

    pub(super) fn call(&self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.browser.call(Some(&self.session), method, params)
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    fn wait_for_load(&self, url: &str) -> Result<(), BrowserError> {
        let loaded = "document.readyState === 'complete'";
        self.wait_until(format_args!("{url} to be loaded"), loaded).map(|_| ())
    }

    /// The error of a wait, with the start of the page's text.
    pub(super) fn timed_out(&self, what: String) -> BrowserError {
        // Not `text`: a page that cannot be asked would take the time of the wait again.
        let text = self.evaluate(TEXT).map(|text| text_of(&text)).unwrap_or_default();
        let start: String = text.chars().take(SHOWN).collect();
        let last = Some(format!("the page shows {start:?}"));
        BrowserError::TimedOut { what, limit: self.browser.wait_limit.get(), last }
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

const TEXT: &str = "document.body?.innerText ?? ''";
/// How long a wait listens before it looks again.
const POLL: Duration = Duration::from_millis(15);
/// How much of a page's text an error shows.
const SHOWN: usize = 600;
