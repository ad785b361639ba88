//! Runs one child from start to end, under a time limit and output limits, optionally with a watch.

use std::io;
use std::time::{Duration, Instant};

use crate::cancel::{self, Cancel};
use crate::error::StartError;
use crate::group::{Ending, Group, Listener};
use crate::invocation::Invocation;
use crate::keep::{Head, Tail};
use crate::watch::{Unwatched, Watch, WatchDecision};

/// What to run, and the limits that it runs under.
#[derive(Clone, Debug)]
pub struct Spec {
    pub invocation: Invocation,
    pub stdin: Vec<u8>,
    /// The time limit. The whole group is killed after it and the overtime.
    pub time_limit: Duration,
    /// How many bytes of stdout are kept, from the start.
    pub stdout_limit: usize,
    /// How many bytes of stderr are kept, from the end.
    pub stderr_limit: usize,
    /// What happens when stdout passes its limit.
    pub overflow: Overflow,
    pub cancel: Option<Cancel>,
    /// The time between SIGTERM and SIGKILL for a group that must end.
    pub grace: Duration,
    /// The time after the time limit in which the child can still end by itself.
    pub overtime: Duration,
}

/// What happens to a child whose stdout passes the limit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overflow {
    /// It runs on; output beyond the limit is read and discarded.
    #[default]
    Discard,
    /// The group is killed: the caller cannot use such an output.
    Kill,
}

impl Spec {
    /// A run without input, of at most 30 seconds, 1 MiB of stdout and 64 KiB of stderr.
    pub fn new(invocation: Invocation) -> Self {
        Self {
            invocation,
            stdin: Vec::new(),
            time_limit: Duration::from_secs(30),
            stdout_limit: 1024 * 1024,
            stderr_limit: 64 * 1024,
            overflow: Overflow::Discard,
            cancel: None,
            grace: Duration::ZERO,
            overtime: Duration::ZERO,
        }
    }

    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Sets how many bytes of stdout are kept, and what happens beyond the limit.
    #[must_use]
    pub fn stdout_limit(mut self, bytes: usize, overflow: Overflow) -> Self {
        self.stdout_limit = bytes;
        self.overflow = overflow;
        self
    }

    #[must_use]
    pub fn stderr_limit(mut self, bytes: usize) -> Self {
        self.stderr_limit = bytes;
        self
    }

    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    #[must_use]
    pub fn overtime(mut self, overtime: Duration) -> Self {
        self.overtime = overtime;
        self
    }
}

#[derive(Clone, Debug)]
pub struct RunOutput {
    pub ending: Ending,
    /// The time limit passed. The child ended by itself in the overtime, or the group was killed.
    pub timed_out: bool,
    /// The run was cancelled and the group was killed.
    pub cancelled: bool,
    pub stopped: bool,
    pub stdout: Vec<u8>,
    /// Whether stdout had more bytes than were kept.
    pub stdout_truncated: bool,
    pub stderr: Vec<u8>,
    /// Whether stderr had more bytes than were kept.
    pub stderr_truncated: bool,
    /// The time from the start until the group was gone.
    pub duration: Duration,
}

/// Runs a child to its end. No process of its group is left.
pub fn run(spec: &Spec) -> Result<RunOutput, StartError> {
    run_watched(spec, &mut Unwatched)
}

/// Like [`run`], with a watch on the child's output.
pub fn run_watched(spec: &Spec, watch: &mut dyn Watch) -> Result<RunOutput, StartError> {
    let started = Instant::now();
    let limit = started + spec.time_limit.min(LONGEST_RUN);
    let deadline = limit + spec.overtime.min(LONGEST_RUN);
    let mut group = Group::start(&spec.invocation)?;
    group.send(&spec.stdin);
    group.close_stdin_when_sent();
    watch.started(group.id());
    let (stdout, stderr) = (Head::new(spec.stdout_limit), Tail::new(spec.stderr_limit));
    let mut kept = Kept { stdout, stderr, watch };
    let (mut timed_out, mut cancelled, mut stopped) = (false, false, false);
    let word = spec.cancel.as_ref();
    let system = |source| spec.invocation.failed(source);
    // The end of the leader ends the run, not the end of its output: a background process may keep
    // the pipes open for hours.
    while !group.leader_ended() {
        let now = Instant::now();
        timed_out = now >= limit;
        cancelled = cancel::is_set(word);
        let full = kept.stdout.truncated() && spec.overflow == Overflow::Kill;
        let verdict = kept.watch.decide(now);
        stopped = verdict == WatchDecision::Stop;
        if now >= deadline || cancelled || full || stopped {
            ask_to_end(&mut group, spec.grace, &mut kept).map_err(system)?;
            break;
        }
        let next = cancel::next_check(word, if timed_out { deadline } else { limit });
        let next = match verdict {
            WatchDecision::AskAgain(at) => next.min(at),
            WatchDecision::Continue | WatchDecision::Stop => next,
        };
        group.step(next, &mut kept).map_err(system)?;
    }
    // Also after a normal end: no process of the group may outlive the run.
    let ending = group.finish();
    // A pipe that breaks here is treated as its end.
    let _ = group.drain(&mut kept);
    Ok(RunOutput {
        ending,
        timed_out,
        cancelled,
        stopped,
        stdout_truncated: kept.stdout.truncated(),
        stdout: kept.stdout.into_bytes(),
        stderr_truncated: kept.stderr.truncated(),
        stderr: kept.stderr.bytes().to_vec(),
        duration: started.elapsed(),
    })
}

/// Gives a group time to end by itself and keeps reading its output.
fn ask_to_end(group: &mut Group, grace: Duration, kept: &mut Kept<'_>) -> io::Result<()> {
    if grace.is_zero() {
        return Ok(());
    }
    group.ask_to_end();
    let deadline = Instant::now() + grace.min(LONGEST_RUN);
    while !group.leader_ended() && Instant::now() < deadline {
        group.step(deadline, kept)?;
    }
    Ok(())
}

struct Kept<'a> {
    stdout: Head,
    stderr: Tail,
    watch: &'a mut dyn Watch,
}

impl Listener for Kept<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        self.stdout.push(chunk);
        if !chunk.is_empty() {
            self.watch.stdout(chunk);
        }
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stderr.push(chunk);
        if !chunk.is_empty() {
            self.watch.stderr(chunk);
        }
    }
}

/// Keeps `Instant::now() + limit` from overflowing.
const LONGEST_RUN: Duration = Duration::from_secs(365 * 24 * 3600);
