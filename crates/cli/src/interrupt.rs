//! Being told to end in the middle of something.
//!
//! Invariants:
//! - what was asked for with [`at_end`] is done before the process ends by a signal, and only then;
//! - SIGHUP stays ignored where whoever started us had us ignore it, as `nohup` does.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

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

/// Ends adapters before the process ends by a signal: they have process groups of their own, which the
/// terminal's Ctrl-C does not reach. `folder` is gone then, too.
///
/// # Errors
/// When signals cannot be listened to.
pub(crate) fn end_with_adapters(folder: Option<PathBuf>) -> Result<(), CliError> {
    end_with(move || folder.into_iter().collect()).map(drop)
}

/// Ends the programs that this process runs before it ends by a signal; what `folders` names at that moment
/// is gone then, too.
///
/// # Errors
/// When signals cannot be listened to.
pub(crate) fn end_with(
    folders: impl FnOnce() -> Vec<PathBuf> + Send + 'static,
) -> Result<Told, CliError> {
    let told = Told::default();
    let words = told.clone();
    at_end(move || {
        words.0.store(true, Ordering::SeqCst);
        leave_nothing(folders);
    })?;
    Ok(told)
}

/// Whether this process was told to end.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<AtomicBool>);

impl Told {
    /// Goes on, or waits for the end: programs that were ended have answered nothing that could be passed on.
    pub(crate) fn go_on(&self) {
        while self.0.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}

/// Ends the programs that this process runs, and removes folders that they worked in.
pub(crate) fn leave_nothing(folders: impl FnOnce() -> Vec<PathBuf>) {
    accord_kit::abandon();
    for folder in folders() {
        // Whoever works in it may still write a last word, on which a removal breaks off. Nobody is left to be
        // told that it could not be removed.
        for _ in 0..ATTEMPTS {
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != ErrorKind::NotFound => std::thread::sleep(PAUSE),
                _ => break,
            }
        }
    }
}

/// The signals that end a command.
pub(crate) fn signals_to_heed() -> Vec<i32> {
    let all = [SIGHUP, SIGINT, SIGTERM];
    all.into_iter()
        .filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP))
        .collect()
}

/// Whether this process ignores a signal. A system that does not tell is taken to deliver it.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok());
    (mask.unwrap_or(0) >> (signal - 1)) & 1 == 1
}

/// How often a folder is removed, and how long to wait in between.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

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
    let signals = Signals::new(signals_to_heed());
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
