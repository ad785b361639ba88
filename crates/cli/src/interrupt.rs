//! Being told to end in the middle of something.
//!
//! Invariant: what was asked for with [`at_end`] is done before the process ends by a signal, and only then.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use accord_contract::codes::Code;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::CliError;

type Task = Box<dyn FnOnce() + Send>;

/// What is to be done before the end.
static TASKS: Mutex<Vec<Task>> = Mutex::new(Vec::new());

/// Whether somebody listens, or why nobody can.
static LISTENING: OnceLock<Result<(), String>> = OnceLock::new();

/// Does this before the process ends by a signal. From the first call on, signals end it in this way alone.
///
/// # Errors
/// When signals cannot be listened to.
pub(crate) fn at_end(task: impl FnOnce() + Send + 'static) -> Result<(), CliError> {
    making(|| Ok(((), task)))
}

/// Makes something, and does what goes with it before the process ends by a signal. A signal that comes
/// meanwhile waits until it is made.
///
/// # Errors
/// When it cannot be made, or signals cannot be listened to.
pub(crate) fn making<T, F: FnOnce() + Send + 'static>(
    make: impl FnOnce() -> Result<(T, F), CliError>,
) -> Result<T, CliError> {
    be_listening()?;
    let mut tasks = tasks();
    let (made, task) = make()?;
    tasks.push(Box::new(task));
    Ok(made)
}

fn be_listening() -> Result<(), CliError> {
    let listening = LISTENING.get_or_init(listen);
    listening.clone().map_err(|error| {
        CliError::new(
            Code::KitHarness,
            format!("signals cannot be watched: {error}"),
        )
    })
}

fn listen() -> Result<(), String> {
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for task in tasks().drain(..) {
                task();
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

fn tasks() -> MutexGuard<'static, Vec<Task>> {
    TASKS.lock().unwrap_or_else(PoisonError::into_inner)
}
