//! Bounded waits, and the processes that tests wait for.
//!
//! A wait polls for an event and fails with the name of that event. No test relies on how long
//! something takes: the suite also runs on machines with far more work than cores.

use std::fmt::Display;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::undeclared::check_codes;

/// Much longer than any command needs on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(240);

/// How often a wait looks again.
const POLL: Duration = Duration::from_millis(5);

/// Waits until `found` gives a value.
#[track_caller]
pub(crate) fn wait_for<T>(what: impl Display, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {LIMIT:?} for {what}");
        std::thread::sleep(POLL);
    }
}

/// Waits until `condition` is true.
#[track_caller]
pub(crate) fn wait_until(what: impl Display, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

/// Waits for the end of a child process. A child that does not end is killed.
#[track_caller]
pub(crate) fn exit_of(child: &mut Child, what: impl Display) -> ExitStatus {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            panic!("waited {LIMIT:?} for the end of {what}");
        }
        std::thread::sleep(POLL);
    }
}

/// Waits for the end of a child process and for everything that it printed. Fails if it refused
/// with a code that its operation does not declare.
#[track_caller]
pub(crate) fn output_of(mut child: Child, what: impl Display) -> Output {
    let stdout = child.stdout.take().map(read_to_end);
    let stderr = child.stderr.take().map(read_to_end);
    let status = exit_of(&mut child, &what);
    let receive = |pipe: Option<Receiver<Vec<u8>>>| match pipe {
        Some(pipe) => pipe
            .recv_timeout(LIMIT)
            .unwrap_or_else(|_| panic!("waited {LIMIT:?} for the end of the output of {what}")),
        None => Vec::new(),
    };
    let output = Output { status, stdout: receive(stdout), stderr: receive(stderr) };
    check_codes(&output.stderr);
    output
}

/// Reads a pipe in a thread of its own, so that the child never blocks on it.
pub(crate) fn read_to_end(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// The id that a process wrote into a file, once the whole line is there.
#[track_caller]
pub(crate) fn pid_in(file: &std::path::Path) -> String {
    wait_for(format_args!("a process id in {}", file.display()), || {
        let text = std::fs::read_to_string(file).ok()?;
        Some(text.strip_suffix('\n')?.to_owned())
    })
}

/// Sends a signal, such as `-TERM`.
#[track_caller]
pub(crate) fn signal(pid: u32, signal: &str) {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success(), "kill {signal} {pid}");
}

/// Waits until a process no longer runs. A process that was not reaped yet has ended.
#[track_caller]
pub(crate) fn wait_for_end_of(pid: &str) {
    wait_until(format_args!("the end of process {pid}"), || !is_running(pid));
}

/// Whether a process runs.
pub(crate) fn is_running(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The name in parentheses may contain anything; the state of the first thread follows it.
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    !state.starts_with(['Z', 'X']) || threads > 1
}

/// Whether a process ignores SIGHUP. The kernel then drops the signal, so that nothing that the
/// process does later can depend on it.
pub(crate) fn ignores_hangup(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("a mask of ignored signals");
    u128::from_str_radix(mask.trim(), 16).expect("a number") & 1 == 1
}
