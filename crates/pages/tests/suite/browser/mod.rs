//! The page of a live session in a real browser.
//!
//! The host is a stub: rules that answer requests with the fragments of this crate ([`stub`]), and
//! a channel that is a few lines of script (`channel.js`). Hooks of the page (ids, `data-`
//! attributes) are described in the template of its shell.

mod accessibility;
mod answering;
mod axe;
mod bootstrap;
mod code;
mod connection;
mod credentials;
mod frame;
mod hooks;
mod hostile;
mod hostile_texts;
mod login;
mod pictures;
mod scripts;
mod stub;

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use accord_kit::browser::{Browser, SharedChromium, find};

/// Much longer than any step needs on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

/// One process for all tests: to start one takes longer than most of them.
static CHROMIUM: SharedChromium = SharedChromium::new();

/// A browser; none, with a message, where no Chromium is installed. With CI set there must be one.
fn browser() -> Option<Browser> {
    let named = std::env::var_os("ACCORD_BROWSER").filter(|path| !path.is_empty());
    match find(named.as_deref().map(Path::new)) {
        Ok(program) => Some(CHROMIUM.browser(&program, LIMIT).unwrap()),
        Err(error) => {
            skipped(&error.to_string());
            None
        }
    }
}

/// Says that something was skipped. With CI set, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    // Not by a macro: the output of a test that passes would be hidden.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
