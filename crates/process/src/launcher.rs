//! The launcher of a worker: a process between the supervisor and the worker.
//!
//! - It leads a session of its own, without a terminal. A worker cannot type into a person's shell.
//! - It passes no file on except standard input, output and error.
//! - On Linux it gets every process that the worker leaves behind. When the worker ends, it ends
//!   all of them before it ends itself. It does the same when the supervisor dies.
//!
//! SIGTERM asks the worker and all that it started to end; SIGINT kills them. The launcher ends as
//! its worker did: with the same exit code, or by the same signal.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit, setsid};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::descendants::{descendants, end_descendants, reap_one, signal_descendants};
use crate::error::StartError;
use crate::group::{Ending, watch_end_of};
use crate::invocation::Invocation;
use crate::record::Record;
use crate::sandbox::Attempt;
use crate::supervisor::{END_LIMIT, supervise};
use crate::table::ProcessTable;

/// How often processes that the worker left behind, and that have ended, are reaped, and how often
/// those that run are recorded.
const REAP_INTERVAL: Duration = Duration::from_secs(1);
/// How often the end of the worker is looked for where no descriptor tells it.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

static PROGRAM: OnceLock<OsString> = OnceLock::new();

/// How the launcher treats its worker.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The folder of the attempt, which is removed at the end.
    pub attempt: Option<PathBuf>,
    /// The file that names the processes of the worker.
    pub record: Option<PathBuf>,
    /// The program only starts the worker. It is not asked to end, because it would kill the worker
    /// at once.
    pub is_wrapped: bool,
}

/// Sets the program that starts workers. Its verb `launch` calls [`launch`], its verb `restrict`
/// calls [`restrict`](crate::restrict), its verb `verify-mounts` calls
/// [`verify_mounts`](crate::verify_mounts), each with a program and its arguments. A process that
/// starts workers calls this once.
pub fn set_launcher(program: impl Into<OsString>) {
    // A second call would name the same program.
    let _ = PROGRAM.set(program.into());
}

/// The program that starts workers. `None` if this process has none: workers then lead a process
/// group only.
pub(crate) fn launcher() -> Option<&'static OsStr> {
    PROGRAM.get().map(OsString::as_os_str)
}

/// Runs a worker to its end, and ends what it leaves behind. The calling process must have one
/// thread and no children.
pub fn launch(worker: &Invocation, options: &LaunchOptions) -> Result<Ending, StartError> {
    let system = |source: io::Error| worker.failed(source);
    // Kept until all processes have ended, also if the supervisor was killed.
    let attempt = options.attempt.as_deref().map(Attempt::join);
    let _attempt = attempt.transpose().map_err(system)?;
    // Before the session begins: from then on the supervisor can send signals to it.
    let asked = on_signal(SIGTERM).map_err(system)?;
    let killed = on_signal(SIGINT).map_err(system)?;
    prepare().map_err(system)?;
    let mut record = options.record.as_deref().and_then(Record::join);
    let child = worker.start_attached()?;
    forget_streams().map_err(system)?;
    let worker_pid = Pid::from_child(&child);
    let ending = wait(worker_pid, options.is_wrapped, (&asked, &killed), record.as_mut());
    let left = end_descendants(Instant::now() + END_LIMIT);
    record.into_iter().for_each(|record| record.close(&left));
    ending.map_err(system)
}

/// Ends this process by a signal, as its worker ended.
pub fn end_by(signal: i32) {
    // No core file of the launcher: the worker wrote its own.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

fn prepare() -> io::Result<()> {
    setsid()?;
    supervise();
    // Descriptors that a shell or a job runner left open would pass every sandbox.
    close_fds::set_fds_cloexec(3, &[]);
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::INT))?;
    Ok(())
}

/// A stream that has a byte for each signal.
fn on_signal(signal: i32) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal, writer)?;
    Ok(reader)
}

/// The worker's pipes end when the worker closes them, not when its launcher ends.
fn forget_streams() -> io::Result<()> {
    let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// Waits until the worker has ended, and reaps what it left behind meanwhile.
fn wait(
    worker: Pid,
    is_wrapped: bool,
    (asked, killed): (&UnixStream, &UnixStream),
    mut record: Option<&mut Record>,
) -> io::Result<Ending> {
    let watch = watch_end_of(worker);
    let mut next_look = Instant::now();
    loop {
        while let Some((pid, status)) = reap_one() {
            if pid == worker {
                return Ok(match status.terminating_signal() {
                    Some(signal) => Ending::Signalled(signal),
                    None => Ending::Exited(status.exit_status().unwrap_or(1)),
                });
            }
        }
        if let Some(record) = record.as_mut().filter(|_| Instant::now() >= next_look) {
            next_look = Instant::now() + REAP_INTERVAL;
            let table = ProcessTable::read();
            let own = std::process::id().into();
            record.update(&table.map(|table| descendants(&table, own)).unwrap_or_default());
        }
        sleep_until_event(watch.as_ref(), asked, killed)?;
        if has_byte(killed) {
            // The others are killed when it has ended.
            let _ = kill_process(worker, Signal::KILL);
        } else if has_byte(asked) {
            signal_descendants(Signal::TERM, is_wrapped.then_some(worker));
        }
    }
}

fn sleep_until_event(
    watch: Option<&OwnedFd>,
    asked: &UnixStream,
    killed: &UnixStream,
) -> io::Result<()> {
    let mut fds = vec![PollFd::new(asked, PollFlags::IN), PollFd::new(killed, PollFlags::IN)];
    fds.extend(watch.map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)));
    let wait = if watch.is_some() { REAP_INTERVAL } else { POLL_INTERVAL };
    let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
    match poll(&mut fds, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn has_byte(mut stream: &UnixStream) -> bool {
    stream.read(&mut [0; 16]).is_ok_and(|read| read > 0)
}
