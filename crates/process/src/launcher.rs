//! The launcher of a worker: a process between the supervisor and the worker.
//!
//! - It leads a session of its own, without a terminal. A worker cannot type into a person's shell.
//! - It passes no file on except standard input, output and error.
//! - On Linux it gets every process that the worker leaves behind. When the worker ends, it ends
//!   all of them before it ends itself. It does the same when the supervisor dies.
//!
//! A worker that may leave programs behind has two launchers. The one between it and the supervisor
//! stays with these programs. The other one ends for the supervisor as the worker did.
//!
//! SIGTERM asks the worker and all that it started to end; SIGINT kills them. The launcher ends as
//! its worker did: with the same exit code, or by the same signal.
//!
//! A tool such as git may finish after its supervisor died, because it would leave its lock files
//! if it was killed. The system then sends SIGHUP to its launcher, which kills it after a limit.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, setsid, waitid,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::descendants::{descendants, end_descendants, reap_one, signal_descendants};
use crate::error::StartError;
use crate::group::{Ending, watch_end_of};
use crate::invocation::Invocation;
use crate::kept::kept_processes;
use crate::record::Record;
use crate::sandbox::{Attempt, HeldMounts};
use crate::supervisor::{END_LIMIT, supervise};
use crate::table::{Process, ProcessTable};

/// How often processes that the worker left behind, and that have ended, are reaped, and how often
/// those that run are recorded.
const REAP_INTERVAL: Duration = Duration::from_secs(1);
/// How often the end of the worker is looked for where no descriptor tells it.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long a tool may take to finish when its supervisor died.
const FINISH_LIMIT: Duration = Duration::from_secs(60);

/// How long the list of the mounts of a worker is looked for again and again.
const START_LIMIT: Duration = Duration::from_secs(10);

static PROGRAM: OnceLock<OsString> = OnceLock::new();

/// How the launcher treats its worker.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The folder of the attempt, which is removed at the end.
    pub attempt: Option<PathBuf>,
    /// The file that names the processes of the worker.
    pub record: Option<PathBuf>,
    /// The programs that may live on after the worker.
    pub keep: Vec<String>,
    /// Another launcher started this one, which stays with what is kept.
    pub is_keeper: bool,
    /// The program only starts the worker. It is not asked to end, because it would kill the worker
    /// at once.
    pub is_wrapped: bool,
    /// The program may finish if the supervisor dies.
    pub finishes: bool,
    /// Mounts inside that must stay. The worker is ended if one comes off.
    pub held: Vec<PathBuf>,
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
    if !options.keep.is_empty() && !options.is_keeper {
        return launch_keeper(worker, options);
    }
    let system = |source: io::Error| worker.failed(source);
    // Kept until all processes have ended, also if the supervisor was killed.
    let attempt = options.attempt.as_deref().map(Attempt::join);
    let _attempt = attempt.transpose().map_err(system)?;
    // Before the session begins: from then on the supervisor can send signals to it.
    let asked = on_signal(SIGTERM).map_err(system)?;
    let killed = on_signal(SIGINT).map_err(system)?;
    let died = options.finishes.then(|| on_signal(SIGHUP)).transpose().map_err(system)?;
    prepare(if options.finishes { Signal::HUP } else { Signal::INT }).map_err(system)?;
    let mut record = options.record.as_deref().and_then(Record::join);
    let child = worker.start_attached()?;
    // Closed when this process ends, which is soon after the worker.
    let stderr = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3);
    forget_streams().map_err(system)?;
    let worker_pid = Pid::from_child(&child);
    let mut held = HeldMounts::new(&options.held);
    let streams = Streams { asked: &asked, killed: &killed, died: died.as_ref() };
    let ending = wait(worker_pid, options.is_wrapped, &streams, record.as_mut(), &mut held);
    let ending = ending.map_err(system)?;
    if let (Some(path), Ok(stderr)) = (held.lost().map_err(system)?, stderr) {
        let line = lost_mount(path);
        // Nobody reads it any more if that fails.
        let _ = File::from(stderr).write_all(line.as_bytes());
    }
    let kept = match options.is_keeper && record.is_some() {
        true => kept_processes(&options.keep),
        false => BTreeSet::new(),
    };
    let left = end_descendants(Instant::now() + END_LIMIT, &kept);
    let Some(mut record) = record else { return Ok(ending) };
    if !kept.is_empty() {
        stay(&mut record, ending, &left, (&asked, &killed)).map_err(system)?;
    }
    record.close(&left);
    Ok(ending)
}

/// What the supervisor shows of a worker that lost a mount.
fn lost_mount(path: &Path) -> String {
    format!(
        "\naccord: another program replaced {} while the worker ran, so that the worker could \
         change it; the worker was ended; look at that file, then start the work again\n",
        path.display()
    )
}

/// Stays with programs that are kept, until they have ended. The other launcher ends meanwhile.
fn stay(
    record: &mut Record,
    ending: Ending,
    left: &[Process],
    (asked, killed): (&UnixStream, &UnixStream),
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(None)?;
    record.update(left);
    record.keep(ending);
    // The other launcher waits for this, lets this process continue, and ends.
    kill_process(rustix::process::getpid(), Signal::STOP)?;
    let own = std::process::id().into();
    while ProcessTable::read().is_some_and(|table| !descendants(&table, own).is_empty()) {
        sleep_until_event((None, None), REAP_INTERVAL, &[asked, killed])?;
        while reap_one().is_some() {}
        if has_byte(killed) {
            end_descendants(Instant::now() + END_LIMIT, &BTreeSet::new());
        } else if has_byte(asked) {
            signal_descendants(Signal::TERM, None);
        }
    }
    Ok(())
}

/// Starts the launcher that stays with what the worker leaves, and ends as the worker does.
fn launch_keeper(worker: &Invocation, options: &LaunchOptions) -> Result<Ending, StartError> {
    let system = |source: io::Error| worker.failed(source);
    let asked = on_signal(SIGTERM).map_err(system)?;
    let killed = on_signal(SIGINT).map_err(system)?;
    let changed = on_signal(SIGCHLD).map_err(system)?;
    prepare(Signal::INT).map_err(system)?;
    let mut words: Vec<OsString> = vec!["launch".into(), "--keeper".into()];
    for (flag, path) in [("--attempt", &options.attempt), ("--record", &options.record)] {
        words.extend(path.iter().flat_map(|path| [flag.into(), path.into()]));
    }
    words.extend(options.keep.iter().flat_map(|program| ["--keep".into(), program.into()]));
    words.extend(["--".into(), worker.program.clone()]);
    words.extend(worker.args.iter().cloned());
    let child = Invocation::new("/proc/self/exe", words).start_attached()?;
    forget_streams().map_err(system)?;
    let keeper = Pid::from_child(&child);
    let states = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
    loop {
        let state = waitid(WaitId::Pid(keeper), states).map_err(|error| system(error.into()))?;
        match state {
            Some(state) if state.stopped() => {
                let ending = options.record.as_deref().and_then(Record::ending);
                let _ = kill_process(keeper, Signal::CONT);
                if let Some(ending) = ending {
                    return Ok(ending);
                }
            }
            Some(state) => {
                let signal = state.terminating_signal().map(Ending::Signalled);
                let code = state.exit_status().unwrap_or(1);
                return Ok(signal.unwrap_or(Ending::Exited(code)));
            }
            None => {}
        }
        sleep_until_event((None, None), REAP_INTERVAL, &[&asked, &killed, &changed])
            .map_err(system)?;
        has_byte(&changed);
        for (signal, stream) in [(Signal::INT, &killed), (Signal::TERM, &asked)] {
            if has_byte(stream) {
                let _ = kill_process(keeper, signal);
            }
        }
    }
}

/// Ends this process by a signal, as its worker ended.
pub fn end_by(signal: i32) {
    // No core file of the launcher: the worker wrote its own.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Begins a session. The system sends this signal when the supervisor dies.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn prepare(at_death: Signal) -> io::Result<()> {
    setsid()?;
    supervise();
    // Descriptors that a shell or a job runner left open would pass every sandbox.
    close_fds::set_fds_cloexec(3, &[]);
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(at_death))?;
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

/// The signals that a launcher has got.
struct Streams<'a> {
    asked: &'a UnixStream,
    killed: &'a UnixStream,
    /// The supervisor died, and the program may finish.
    died: Option<&'a UnixStream>,
}

/// Waits until the worker has ended, and reaps what it left behind meanwhile.
fn wait(
    worker: Pid,
    is_wrapped: bool,
    streams: &Streams<'_>,
    mut record: Option<&mut Record>,
    held: &mut HeldMounts<'_>,
) -> io::Result<Ending> {
    let watch = watch_end_of(worker);
    let (begun, mut next_look) = (Instant::now(), Instant::now());
    let signals: Vec<_> = [streams.asked, streams.killed].into_iter().chain(streams.died).collect();
    let mut finish_until = None;
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
            let own = std::process::id().into();
            if let Some(table) = ProcessTable::read() {
                record.update(&descendants(&table, own));
            }
        }
        if held.is_awaited() {
            held.find(worker.as_raw_nonzero().get().unsigned_abs().into());
        }
        let is_soon = watch.is_none() || (held.is_awaited() && begun.elapsed() < START_LIMIT);
        let wait = if is_soon { POLL_INTERVAL } else { REAP_INTERVAL };
        sleep_until_event((watch.as_ref(), held.list()), wait, &signals)?;
        if streams.died.is_some_and(has_byte) {
            finish_until = Some(Instant::now() + FINISH_LIMIT);
        }
        let is_late = finish_until.is_some_and(|limit| Instant::now() >= limit);
        if has_byte(streams.killed) || is_late || held.lost()?.is_some() {
            // The others are killed when it has ended.
            let _ = kill_process(worker, Signal::KILL);
        } else if has_byte(streams.asked) {
            signal_descendants(Signal::TERM, is_wrapped.then_some(worker));
        }
    }
}

fn sleep_until_event(
    (watch, mounts): (Option<&OwnedFd>, Option<&File>),
    wait: Duration,
    streams: &[&UnixStream],
) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> =
        streams.iter().map(|stream| PollFd::new(*stream, PollFlags::IN)).collect();
    fds.extend(watch.map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)));
    fds.extend(mounts.map(|list| PollFd::from_borrowed_fd(list.as_fd(), PollFlags::PRI)));
    let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
    match poll(&mut fds, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn has_byte(mut stream: &UnixStream) -> bool {
    stream.read(&mut [0; 16]).is_ok_and(|read| read > 0)
}
