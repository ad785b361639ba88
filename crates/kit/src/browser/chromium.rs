//! The process of a headless Chromium, and where it listens.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use accord_process::{Cancel, Invocation, RunOutput, Spec, StartError, os_user, run};

use super::error::BrowserError;
use crate::driver::workplace::{Workplace, temporary_folder};

/// The names under which systems install Chromium, in the order in which they are looked for.
pub const FOUND_BY_NAME: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// The program of Chromium: the named one, else the first of [`FOUND_BY_NAME`] in `PATH`.
pub fn find(named: Option<&Path>) -> Result<PathBuf, BrowserError> {
    if let Some(program) = named {
        return Ok(Invocation::new(program, [""; 0]).locate()?);
    }
    let mut names = FOUND_BY_NAME.iter();
    let found = names.find_map(|name| Invocation::new(*name, [""; 0]).locate().ok());
    found.ok_or(BrowserError::NotFound)
}

/// A running Chromium. Its process group ends when this is dropped.
#[derive(Debug)]
pub(super) struct Chromium {
    debugger: Debugger,
    cancel: Cancel,
    running: Option<JoinHandle<Result<RunOutput, StartError>>>,
    // Removed after the process has ended.
    profile: Workplace,
}

/// Where the debugging protocol is spoken.
#[derive(Clone, Debug)]
pub(super) struct Debugger {
    pub(super) address: SocketAddr,
    pub(super) path: String,
}

impl Chromium {
    pub(super) fn start(program: &Path, limit: Duration) -> Result<Self, BrowserError> {
        let profile =
            temporary_folder().map_err(|error| BrowserError::Unusable(error.to_string()))?;
        let cancel = Cancel::new();
        let spec = Spec::new(invocation(program, profile.path()))
            .time_limit(LONGEST_RUN)
            .cancel(cancel.clone());
        let running = thread::spawn(move || run(&spec));
        let mut chromium = Self {
            // Replaced below, once Chromium has written it.
            debugger: Debugger { address: ([127, 0, 0, 1], 0).into(), path: String::new() },
            cancel,
            running: Some(running),
            profile,
        };
        chromium.debugger = chromium.wait_for_debugger(limit)?;
        Ok(chromium)
    }

    pub(super) fn address(&self) -> &Debugger {
        &self.debugger
    }

    fn wait_for_debugger(&mut self, limit: Duration) -> Result<Debugger, BrowserError> {
        let file = self.profile.path().join(PROFILE).join("DevToolsActivePort");
        let deadline = Instant::now() + limit;
        loop {
            if let Some(debugger) = fs::read_to_string(&file).ok().as_deref().and_then(parse) {
                return Ok(debugger);
            }
            if self.running.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(self.ended());
            }
            if Instant::now() >= deadline {
                let what = "the browser to listen".to_owned();
                return Err(BrowserError::TimedOut { what, limit, last: None });
            }
            thread::sleep(POLL);
        }
    }

    fn ended(&mut self) -> BrowserError {
        match self.running.take().map(JoinHandle::join) {
            Some(Ok(Ok(output))) => {
                let log = String::from_utf8_lossy(&output.stderr);
                let last = log.trim_end().lines().last().unwrap_or_default();
                BrowserError::Unusable(format!("it ended with {}: {last}", output.ending))
            }
            Some(Ok(Err(error))) => error.into(),
            Some(Err(_)) | None => BrowserError::Unusable("it has ended".to_owned()),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(running) = self.running.take() {
            // An error is of no interest any more.
            let _ = running.join();
        }
    }
}

/// The file has the port and the path in its two lines. It can be read before it is complete.
fn parse(file: &str) -> Option<Debugger> {
    let (port, path) = file.split_once('\n')?;
    let path = path.trim_end();
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().ok()?));
    path.starts_with("/devtools/browser/").then(|| Debugger { address, path: path.to_owned() })
}

fn invocation(program: &Path, profile: &Path) -> Invocation {
    let mut args: Vec<String> = ARGUMENTS.iter().map(|&arg| arg.to_owned()).collect();
    args.push(format!("--user-data-dir={}", profile.join(PROFILE).display()));
    args.push("about:blank".to_owned());
    if os_user() == "root" {
        // Chromium refuses to start as root with its sandbox.
        args.push("--no-sandbox".to_owned());
    }
    Invocation::new(program, args)
        // What it keeps besides the profile goes to the same folder.
        .env("HOME", profile)
        .env("XDG_CONFIG_HOME", profile)
        .env("XDG_CACHE_HOME", profile)
        .env("TMPDIR", profile)
}

const ARGUMENTS: &[&str] = &[
    "--headless=new",
    // Port 0: the system selects a free one.
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--disable-gpu",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    // Otherwise input before the first frame of a page is dropped.
    "--allow-pre-commit-input",
    // A tab in the background runs like one in front.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Pictures must not depend on the display.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--lang=en-US",
];

/// The folder of the profile, which Chromium creates. It writes there where it listens.
const PROFILE: &str = "profile";
/// A browser that nobody ends must not run forever.
const LONGEST_RUN: Duration = Duration::from_secs(4 * 3600);
const POLL: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_file_that_is_not_complete_is_not_read() {
        assert!(parse("").is_none());
        assert!(parse("1234").is_none());
        assert!(parse("1234\n").is_none());
        let debugger = parse("1234\n/devtools/browser/abc\n").unwrap();
        assert_eq!(debugger.address.port(), 1234);
        assert_eq!(debugger.path, "/devtools/browser/abc");
    }
}
