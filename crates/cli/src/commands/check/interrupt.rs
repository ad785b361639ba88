//! Being told to end in the middle of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use accord_contract::codes::Code;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::CliError;

/// Ends adapters and then this process when it is told to end: adapters have
/// process groups of their own, which the terminal's Ctrl-C does not reach. `folder` is gone then, too.
pub(in crate::commands) fn end_with_adapters(folder: Option<PathBuf>) -> Result<(), CliError> {
    end_with(move || folder.into_iter().collect()).map(drop)
}

/// Ends the programs that this process runs, and then the process, when it is told to end; what `folders` names
/// at that moment is gone then, too.
pub(in crate::commands) fn end_with(
    folders: impl FnOnce() -> Vec<PathBuf> + Send + 'static,
) -> Result<Told, CliError> {
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|error| {
        let message = format!("signals cannot be watched: {error}");
        CliError::new(Code::KitHarness, message)
    })?;
    let told = Told::default();
    let words = told.clone();
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            words.0.store(true, Ordering::SeqCst);
            leave_nothing(folders);
            std::process::exit(128 + signal);
        }
    });
    Ok(told)
}

/// Whether this process was told to end.
#[derive(Clone, Default)]
pub(in crate::commands) struct Told(Arc<AtomicBool>);

impl Told {
    /// Goes on, or waits for the end: programs that were ended have answered nothing that could be passed on.
    pub(in crate::commands) fn go_on(&self) {
        while self.0.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}

/// Ends the programs that this process runs, and removes folders that they worked in.
pub(in crate::commands) fn leave_nothing(folders: impl FnOnce() -> Vec<PathBuf>) {
    accord_kit::abandon();
    for folder in folders() {
        // Nobody is left to be told that it could not be removed.
        let _ = std::fs::remove_dir_all(folder);
    }
}
