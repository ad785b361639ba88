//! A long-lived child that both sides write lines to.
//!
//! A conversation that failed is over: the child's group is killed at once, and every later call
//! returns an error.

use std::time::{Duration, Instant};

use crate::cancel::{self, Cancel};
use crate::error::{SessionError, StartError};
use crate::group::{Ending, Group, Listener};
use crate::invocation::Invocation;
use crate::keep::Tail;
use crate::lines::Lines;

#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// The longest line in bytes, without its newline.
    pub line: usize,
    /// How many bytes of stderr are kept, from the end.
    pub stderr: usize,
}

impl SessionLimits {
    /// Limits for lines of at most `line` bytes and the last `stderr` bytes of stderr.
    pub fn new(line: usize, stderr: usize) -> Self {
        Self { line, stderr }
    }
}

/// A running child with which lines are exchanged, in any order.
#[derive(Debug)]
pub struct Conversation {
    group: Option<Group>,
    heard: Heard,
    limits: SessionLimits,
    cancel: Option<Cancel>,
}

impl Conversation {
    pub fn start(invocation: &Invocation, limits: SessionLimits) -> Result<Self, StartError> {
        Ok(Self {
            group: Some(Group::start(invocation)?),
            heard: Heard { lines: Lines::default(), stderr: Tail::new(limits.stderr) },
            limits,
            cancel: None,
        })
    }

    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// The id of the child and of its group, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.group.as_ref().map(Group::id)
    }

    /// Queues a line (the newline is added). It is written while [`hear`](Self::hear) waits.
    pub fn say(&mut self, line: &[u8]) -> Result<(), SessionError> {
        let group = self.group.as_mut().ok_or(SessionError::Over)?;
        group.send(line);
        group.send(b"\n");
        Ok(())
    }

    /// Waits for the next line of the child.
    pub fn hear(&mut self, limit: Duration) -> Result<Vec<u8>, SessionError> {
        let Some(mut group) = self.group.take() else { return Err(SessionError::Over) };
        let line = self.listen(&mut group, limit);
        if line.is_err() {
            // Killed before its pipes are drained, so that there is an end to what it prints.
            group.finish();
            // The last stderr output explains a failure best. A broken pipe has none.
            let _ = group.drain(&mut self.heard);
        } else {
            self.group = Some(group);
        }
        line
    }

    /// Closes the child's stdin and waits a short time for it to end before its group is killed.
    /// Lines that it still writes are discarded.
    pub fn close(mut self, limit: Duration) -> Result<Ending, SessionError> {
        self.end(limit, |_| true)
    }

    pub fn stderr(&self) -> &[u8] {
        self.heard.stderr.bytes()
    }

    /// Received bytes that were not taken yet.
    pub(crate) fn unheard(&self) -> &[u8] {
        self.heard.lines.bytes()
    }

    /// Reads what the child has written so far, without waiting.
    pub(crate) fn catch_up(&mut self) -> Result<(), SessionError> {
        let group = self.group.as_mut().ok_or(SessionError::Over)?;
        group.drain(&mut self.heard).map_err(|source| SessionError::System { source })
    }

    pub(crate) fn kill(&mut self) {
        self.group = None;
    }

    /// Ends the child as [`close`](Self::close) does, while its remaining output stays within the
    /// limits.
    pub(crate) fn end(
        &mut self,
        limit: Duration,
        patient: impl Fn(&[u8]) -> bool,
    ) -> Result<Ending, SessionError> {
        let Some(mut group) = self.group.take() else { return Err(SessionError::Over) };
        group.close_stdin_when_sent();
        let deadline = Instant::now() + limit.min(LONGEST_WAIT);
        let word = self.cancel.clone();
        while !group.leader_ended()
            && Instant::now() < deadline
            && !cancel::is_set(word.as_ref())
            && patient(self.heard.lines.bytes())
        {
            let next = cancel::next_check(word.as_ref(), deadline);
            // A pipe that breaks has no more output.
            if group.step(next, &mut self.heard).is_err() {
                break;
            }
            // Unread output must not fill the memory.
            while self.heard.lines.bytes().len() > self.limits.line {
                // Not a full line yet, and already longer than the limit.
                if self.heard.lines.take().is_none() {
                    self.heard.lines = Lines::default();
                }
            }
        }
        let ending = group.finish();
        let _ = group.drain(&mut self.heard);
        Ok(ending)
    }

    fn listen(&mut self, group: &mut Group, limit: Duration) -> Result<Vec<u8>, SessionError> {
        let deadline = Instant::now() + limit.min(LONGEST_WAIT);
        loop {
            // Lines that were received count before the end of the child and before the deadline.
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            if group.leader_ended() {
                let ending = group.finish();
                // The leader may have written and ended before we looked.
                let _ = group.drain(&mut self.heard);
                return self.take_line()?.ok_or(SessionError::Ended { ending });
            }
            // `poll` would report the closed pipe at once, again and again.
            if group.stdout_closed() {
                return Err(self.silent(group, deadline));
            }
            if cancel::is_set(self.cancel.as_ref()) {
                return Err(SessionError::Cancelled);
            }
            if Instant::now() >= deadline {
                return Err(SessionError::TimedOut { limit });
            }
            let next = cancel::next_check(self.cancel.as_ref(), deadline);
            group.step(next, &mut self.heard).map_err(|source| SessionError::System { source })?;
        }
    }

    /// Stdout is closed. A child that is about to end gets a short time, so that the error can say
    /// how it ended.
    fn silent(&mut self, group: &mut Group, deadline: Instant) -> SessionError {
        let deadline = deadline.min(Instant::now() + MOMENT_TO_END);
        while Instant::now() < deadline {
            if group.leader_ended() {
                return SessionError::Ended { ending: group.finish() };
            }
            if let Err(source) = group.step(deadline, &mut self.heard) {
                return SessionError::System { source };
            }
        }
        SessionError::OutputClosed
    }

    fn take_line(&mut self) -> Result<Option<Vec<u8>>, SessionError> {
        if self.heard.lines.first_len() > self.limits.line {
            return Err(SessionError::LineTooLong { limit: self.limits.line });
        }
        Ok(self.heard.lines.take())
    }
}

#[derive(Debug)]
struct Heard {
    lines: Lines,
    stderr: Tail,
}

impl Listener for Heard {
    fn stdout(&mut self, chunk: &[u8]) {
        self.lines.push(chunk);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stderr.push(chunk);
    }
}

const MOMENT_TO_END: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);
