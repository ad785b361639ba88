//! One child, its process group and its three pipes, served by one `poll(2)` loop.
//!
//! Dropping a [`Group`] kills the whole process group.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::error::StartError;
use crate::invocation::Invocation;
use crate::live;
use crate::record::Record;
use crate::supervisor::{end_child, end_orphans, start_child};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    Exited(i32),
    /// A signal ended it; 9 when we killed it.
    Signalled(i32),
    /// It was killed, but the system has not reaped it yet.
    Unreaped,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signalled(signal) => write!(f, "killed by signal {signal}"),
            Self::Unreaped => f.write_str("killed, but not yet gone"),
        }
    }
}

/// Receives what the child prints.
pub(crate) trait Listener {
    fn stdout(&mut self, chunk: &[u8]);
    fn stderr(&mut self, chunk: &[u8]);
}

/// A running child that leads a process group.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    pid: Pid,
    /// Becomes readable when the leader ends. Systems without such a descriptor are polled every
    /// [`POLL_INTERVAL`].
    watch: Option<OwnedFd>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    input: Vec<u8>,
    sent: usize,
    close_stdin_when_sent: bool,
    scratch: Vec<u8>,
    ending: Option<Ending>,
    /// Whether the child is the launcher of a worker.
    is_launcher: bool,
    /// The processes of the worker.
    record: Option<Record>,
}

impl Group {
    pub(crate) fn start(invocation: &Invocation) -> Result<Self, StartError> {
        let record = invocation.record();
        let started = start_child(|| invocation.spawn(record.as_ref()));
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                record.into_iter().for_each(|record| record.close(&[]));
                return Err(error);
            }
        };
        let pid = Pid::from_child(&child);
        // Before anything that can fail, so that `end_all` reaches every child that was started.
        let is_launcher = invocation.launcher().is_some();
        live::enter(pid, is_launcher);
        let group = Self {
            pid,
            watch: watch_end_of(pid),
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            input: Vec::new(),
            sent: 0,
            close_stdin_when_sent: false,
            scratch: vec![0; CHUNK],
            ending: None,
            is_launcher,
            record,
        };
        // From here on a failure drops the group, which kills the child.
        group.make_pipes_nonblocking().map_err(|source| invocation.failed(source))?;
        Ok(group)
    }

    /// Queues bytes for the child's stdin.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // Bytes that were written are dropped here, so that a long conversation does not keep all
        // its input.
        self.input.drain(..self.sent);
        self.sent = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Closes stdin once all queued bytes are written.
    pub(crate) fn close_stdin_when_sent(&mut self) {
        self.close_stdin_when_sent = true;
        self.close_stdin_if_done();
    }

    /// Waits until something happens or `deadline` passes, and serves it.
    pub(crate) fn step(
        &mut self,
        deadline: Instant,
        listener: &mut dyn Listener,
    ) -> io::Result<()> {
        let [stdin, stdout, stderr] = self.wait_for_events(deadline)?;
        if stdin {
            self.write_some();
        }
        if stdout {
            self.read_stdout(listener)?;
        }
        if stderr {
            self.read_stderr(listener)?;
        }
        Ok(())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn ask_to_end(&self) {
        // An error means that the group has ended.
        let _ = match self.is_launcher {
            // It asks all that the worker started.
            true => kill_process(self.pid, Signal::TERM),
            false => kill_process_group(self.pid, Signal::TERM),
        };
    }

    /// Kills the whole group and returns how the leader ended. Later calls return the same.
    pub(crate) fn finish(&mut self) -> Ending {
        if let Some(ending) = self.ending {
            return ending;
        }
        if self.is_launcher {
            self.end_launcher();
        }
        // An error means that the group is empty already.
        let _ = kill_process_group(self.pid, Signal::KILL);
        // Before the leader is reaped: `end_all` must never signal an id that another process may
        // have.
        live::leave(self.pid);
        let ending = self.reap();
        end_child(self.pid);
        let is_killed = self.is_launcher && ending == Ending::Signalled(Signal::KILL.as_raw());
        let left = if is_killed { end_orphans() } else { Vec::new() };
        self.record.take().into_iter().for_each(|record| record.close(&left));
        self.ending = Some(ending);
        self.stdin = None;
        ending
    }

    /// Reads what is left in the pipes without waiting. Bounded, because a process that left the
    /// group may still be printing.
    pub(crate) fn drain(&mut self, listener: &mut dyn Listener) -> io::Result<()> {
        type ReadPipe = fn(&mut Group, &mut dyn Listener) -> io::Result<usize>;
        for read_some in [Self::read_stdout as ReadPipe, Self::read_stderr] {
            let mut budget = DRAIN_LIMIT;
            while budget > 0 {
                match read_some(self, listener)? {
                    0 => break,
                    read => budget = budget.saturating_sub(read),
                }
            }
        }
        Ok(())
    }

    /// Whether the leader has ended. It stays unreaped, so that the group's id is not reused.
    pub(crate) fn leader_ended(&self) -> bool {
        if self.ending.is_some() {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // A child that cannot be waited for any more was reaped.
        waitid(WaitId::Pid(self.pid), options).map_or(true, |status| status.is_some())
    }

    pub(crate) fn stdout_closed(&self) -> bool {
        self.stdout.is_none()
    }

    /// Lets a launcher kill all that its worker started.
    fn end_launcher(&self) {
        if !self.leader_ended() {
            let _ = kill_process(self.pid, Signal::INT);
            self.wait_for_end(LAUNCHER_LIMIT);
        }
    }

    /// Whether the leader ends within a time.
    fn wait_for_end(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.leader_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            // Only the end of the leader matters now.
            let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(1);
            push(&mut fds, self.watch.as_ref(), PollFlags::IN);
            let _ = poll_until(&mut fds, deadline, self.watch.is_some());
        }
        true
    }

    fn reap(&mut self) -> Ending {
        if !self.wait_for_end(REAP_LIMIT) {
            return Ending::Unreaped;
        }
        let Ok(Some(status)) = self.child.try_wait() else { return Ending::Unreaped };
        match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, Some(signal)) => Ending::Signalled(signal),
            (None, None) => Ending::Unreaped,
        }
    }

    /// Waits, and returns whether stdin, stdout and stderr have an event.
    fn wait_for_events(&self, deadline: Instant) -> io::Result<[bool; 3]> {
        let stdin = self.stdin.as_ref().filter(|_| self.sent < self.input.len());
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4);
        let places = [
            push(&mut fds, stdin, PollFlags::OUT),
            push(&mut fds, self.stdout.as_ref(), PollFlags::IN),
            push(&mut fds, self.stderr.as_ref(), PollFlags::IN),
        ];
        // Nothing is read from it; it only ends the wait when the leader ends.
        push(&mut fds, self.watch.as_ref(), PollFlags::IN);
        poll_until(&mut fds, deadline, self.watch.is_some())?;
        // Any event counts, also HUP and ERR: reading or writing then finds the end of the pipe.
        Ok(places.map(|at| at.is_some_and(|at| !fds[at].revents().is_empty())))
    }

    /// Writes as much as the pipe accepts. A child that does not read its input is not an error:
    /// its answer decides.
    fn write_some(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(&self.input[self.sent..]) {
            Ok(written) => self.sent += written,
            Err(error) if is_transient(&error) => {}
            Err(_) => {
                self.stdin = None;
                self.sent = self.input.len();
            }
        }
        self.close_stdin_if_done();
    }

    fn close_stdin_if_done(&mut self) {
        if self.close_stdin_when_sent && self.sent == self.input.len() {
            self.stdin = None;
        }
    }

    fn read_stdout(&mut self, listener: &mut dyn Listener) -> io::Result<usize> {
        let read = read_some(&mut self.stdout, &mut self.scratch)?;
        listener.stdout(&self.scratch[..read]);
        Ok(read)
    }

    fn read_stderr(&mut self, listener: &mut dyn Listener) -> io::Result<usize> {
        let read = read_some(&mut self.stderr, &mut self.scratch)?;
        listener.stderr(&self.scratch[..read]);
        Ok(read)
    }

    fn make_pipes_nonblocking(&self) -> io::Result<()> {
        set_nonblocking(self.stdin.as_ref())?;
        set_nonblocking(self.stdout.as_ref())?;
        set_nonblocking(self.stderr.as_ref())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.finish();
    }
}

fn push<'fd>(
    fds: &mut Vec<PollFd<'fd>>,
    fd: Option<&'fd impl AsFd>,
    flags: PollFlags,
) -> Option<usize> {
    fds.push(PollFd::new(fd?, flags));
    Some(fds.len() - 1)
}

fn poll_until(fds: &mut [PollFd<'_>], deadline: Instant, watched: bool) -> io::Result<()> {
    let mut wait = deadline.saturating_duration_since(Instant::now());
    if !watched {
        wait = wait.min(POLL_INTERVAL);
    }
    let wait = Timespec::try_from(wait.min(LONGEST_WAIT)).map_err(io::Error::other)?;
    match poll(fds, Some(&wait)) {
        // The callers loop with a deadline, so an interrupted wait is a short one.
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads once. Returns 0 if nothing is available, and 0 at the end of the pipe, which also closes
/// it.
fn read_some<R: Read>(pipe: &mut Option<R>, scratch: &mut [u8]) -> io::Result<usize> {
    let Some(open) = pipe else { return Ok(0) };
    match open.read(scratch) {
        Ok(0) => {
            *pipe = None;
            Ok(0)
        }
        Ok(read) => Ok(read),
        Err(error) if is_transient(&error) => Ok(0),
        Err(error) => Err(error),
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn set_nonblocking(fd: Option<&impl AsFd>) -> io::Result<()> {
    if let Some(fd) = fd {
        // `poll` may report a pipe as ready that accepts less than a whole write. A blocking write
        // would then stop the loop, while the child waits for its output to be read.
        fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
pub(crate) fn watch_end_of(pid: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    // Fails on kernels before 5.3 and in some sandboxes. Polling does the same, only later.
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn watch_end_of(_: Pid) -> Option<OwnedFd> {
    None
}

const CHUNK: usize = 64 * 1024;
/// The largest capacity that a pipe can get without privileges on Linux.
const DRAIN_LIMIT: usize = 1024 * 1024;
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// A killed process that sleeps in the kernel can take long to end. This bounds the wait.
const REAP_LIMIT: Duration = Duration::from_secs(2);
/// The same for a launcher, which ends others before itself.
const LAUNCHER_LIMIT: Duration = Duration::from_secs(5);
