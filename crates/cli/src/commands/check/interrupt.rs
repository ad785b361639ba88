//! Being told to end in the middle of a run.

use std::io;
use std::path::PathBuf;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Ends adapters and then this process when it is told to end: adapters have
/// process groups of their own, which the terminal's Ctrl-C does not reach. `folder` is gone then, too.
pub(super) fn end_with_adapters(folder: Option<PathBuf>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            accord_kit::abandon();
            if let Some(folder) = folder {
                // Nobody is left to be told that it could not be removed.
                let _ = std::fs::remove_dir_all(folder);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
