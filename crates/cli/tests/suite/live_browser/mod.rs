//! The page of live sessions in a real browser, on a real server: an agent over MCP, the command
//! that prints the link, the socket, and Chromium.
//!
//! The tests of the crate `pages` have a stub in the place of the server; these have what a person
//! has. They share one Chromium, one after the other.

mod agent;
mod answering;
mod code;
#[expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]
#[path = "../../../../pages/tests/suite/browser/hooks.rs"]
mod hooks;
mod killing;
mod links;
mod origins;
mod tabs;
mod texts;
mod world;

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Weak};

use accord_kit::browser::{Browser, find};
use parking_lot::Mutex;

use crate::wait::LIMIT;

/// The browser of the tests that run now. It ends with the last of them.
static BROWSER: Mutex<Weak<Mutex<Browser>>> = Mutex::new(Weak::new());

/// Runs a test with the browser; not, with a message, where no Chromium is installed. With CI set
/// there must be one.
fn with_browser(test: impl FnOnce(&Browser)) {
    let named = std::env::var_os("ACCORD_BROWSER").filter(|path| !path.is_empty());
    let program = match find(named.as_deref().map(Path::new)) {
        Ok(program) => program,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            // Not by a macro: the output of a test that passes would be hidden.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            return;
        }
    };
    let browser = {
        let mut shared = BROWSER.lock();
        shared.upgrade().unwrap_or_else(|| {
            let browser = Browser::start(&program, LIMIT).expect("a browser");
            let browser = Arc::new(Mutex::new(browser));
            *shared = Arc::downgrade(&browser);
            browser
        })
    };
    let browser = browser.lock();
    test(&browser);
}
