//! Being told to end in the middle of a run.

use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Ends adapters and then this process when it is told to end: adapters have
/// process groups of their own, which the terminal's Ctrl-C does not reach.
pub(super) fn end_with_adapters() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            accord_kit::abandon();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
