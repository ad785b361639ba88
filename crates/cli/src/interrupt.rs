//! Cleaning up when a signal ends the command.
//!
//! Invariants:
//! - a task of [`on_signal`] runs before a signal ends the process, and only then;
//! - SIGHUP stays ignored where the process was started with it ignored, as `nohup` does.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use accord_contract::Code;
use accord_process::Cancel;
use parking_lot::Mutex;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{CliError, Result};

type Task = Box<dyn FnOnce() + Send>;

static TASKS: Mutex<Vec<Task>> = Mutex::new(Vec::new());

/// Whether the signal handler is installed, or why it cannot be.
static HANDLER: OnceLock<Result<(), String>> = OnceLock::new();

/// Runs a task before a signal ends the process. The first call installs the signal handler.
pub(crate) fn on_signal(task: impl FnOnce() + Send + 'static) -> Result<()> {
    create_with_cleanup(|| Ok(((), task)))
}

/// Creates something together with the task that removes it when a signal ends the process. A
/// signal that arrives meanwhile waits, so that nothing is created without its task.
pub(crate) fn create_with_cleanup<T, F: FnOnce() + Send + 'static>(
    make: impl FnOnce() -> Result<(T, F)>,
) -> Result<T> {
    install_handler()?;
    // The lock is held while `make` runs. The signal thread needs it for its tasks, so it waits
    // until the new task is in the list.
    let mut tasks = TASKS.lock();
    let (made, task) = make()?;
    tasks.push(Box::new(task));
    Ok(made)
}

/// Stops adapters before a signal ends the process: they have process groups of their own, which
/// the terminal's Ctrl-C does not reach. `folder` is removed, too.
pub(crate) fn stop_adapters_on_signal(folder: Option<PathBuf>) -> Result<()> {
    stop_programs_on_signal(move || folder.into_iter().collect()).map(drop)
}

/// Stops the programs that this process runs before a signal ends it, and removes the folders that
/// `folders` names at that moment.
pub(crate) fn stop_programs_on_signal(
    folders: impl FnOnce() -> Vec<PathBuf> + Send + 'static,
) -> Result<Interrupted> {
    let interrupted = Interrupted::default();
    let flag = interrupted.clone();
    on_signal(move || {
        // Before the programs are stopped: code that waits for one of them must see the flag when
        // it returns.
        flag.0.store(true, Ordering::SeqCst);
        stop_programs(folders);
    })?;
    Ok(interrupted)
}

/// Whether a signal is ending this process.
#[derive(Clone, Default)]
pub(crate) struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Blocks for ever if a signal is ending the process: what a stopped program printed is no
    /// answer, and must not be passed on as one.
    pub(crate) fn block_if_set(&self) {
        while self.0.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}

/// Stops the programs that this process runs, and removes the folders that they worked in.
pub(crate) fn stop_programs(folders: impl FnOnce() -> Vec<PathBuf>) {
    accord_kit::abandon();
    for folder in folders() {
        // A program that is just ending may still write into the folder, and the removal fails.
        // After the last attempt there is nothing left to report to.
        for _ in 0..ATTEMPTS {
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != ErrorKind::NotFound => std::thread::sleep(PAUSE),
                _ => break,
            }
        }
    }
}

/// Cancels the token at the first signal; a second signal ends the process at once.
pub(crate) fn cancel_on_signal(cancel: &Cancel) -> Result<Arc<AtomicI32>> {
    let received = Arc::new(AtomicI32::new(0));
    let signals = Signals::new(handled_signals());
    let mut signals =
        signals.map_err(|error| CliError::usage(format!("signals cannot be watched: {error}")))?;
    let (cancel, noted) = (cancel.clone(), Arc::clone(&received));
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // A second signal: the user does not want to wait until the worker has ended.
            if noted.swap(signal, Ordering::SeqCst) != 0 {
                accord_process::end_all();
                std::process::exit(128 + signal);
            }
            // After the signal is noted: the run returns when it is cancelled, and then reads which
            // signal it was.
            cancel.cancel();
        }
    });
    Ok(received)
}

pub(crate) fn handled_signals() -> Vec<i32> {
    // Installing a handler for an ignored SIGHUP would undo what `nohup` did.
    let all = [SIGHUP, SIGINT, SIGTERM];
    all.into_iter().filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP)).collect()
}

/// Whether this process ignores a signal. Without /proc, the signal counts as not ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok());
    (mask.unwrap_or(0) >> (signal - 1)) & 1 == 1
}

/// How often the removal of a folder is tried, and the pause in between.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

fn install_handler() -> Result<()> {
    HANDLER
        .get_or_init(listen)
        .clone()
        .map_err(|error| CliError::new(Code::KitHarness, format!("cannot handle signals: {error}")))
}

fn listen() -> Result<(), String> {
    let mut signals = Signals::new(handled_signals()).map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is held until the process exits, so that nothing more is created.
            for task in TASKS.lock().drain(..) {
                task();
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
