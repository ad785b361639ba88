//! The page of live sessions in a real browser, on a real server: an agent over MCP, the command
//! that prints the link, the socket, and Chromium.
//!
//! The tests of the crate `pages` have a stub in the place of the server; these have what a person
//! has.

mod agent;
mod answering;
mod blocked;
mod code;
mod frames;
#[expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]
#[path = "../../../../pages/tests/suite/browser/hooks.rs"]
mod hooks;
mod killing;
mod links;
mod origins;
#[path = "../../../../pages/tests/suite/browser/scripts.rs"]
mod scripts;
mod tabs;
mod texts;
mod world;

use std::io::Write as _;
use std::path::Path;

use accord_kit::browser::{Browser, SharedChromium, find};

use crate::wait::LIMIT;

/// One process for all tests: to start one takes longer than most of them.
static CHROMIUM: SharedChromium = SharedChromium::new();

/// Runs a test with a browser; not, with a message, where no Chromium is installed. With CI set
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
    let browser = CHROMIUM.browser(&program, LIMIT).expect("a browser");
    test(&browser);
}
