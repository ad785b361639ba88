//! A long-lived child that answers one line with one line.
//!
//! A session that failed is over: its group is killed at once, and every later request says so.

use std::time::{Duration, Instant};

use crate::cancel::{self, Cancel};
use crate::error::{SessionError, StartError};
use crate::group::{Ending, Group, Listener};
use crate::invocation::Invocation;
use crate::keep::Tail;
use crate::lines::Lines;

/// What a session keeps in memory at most.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SessionLimits {
    /// The longest answer in bytes, without its newline.
    pub line: usize,
    /// How many bytes of stderr are kept, from the end.
    pub stderr: usize,
}

impl SessionLimits {
    /// Limits for answers of at most `line` bytes and the last `stderr` bytes of stderr.
    pub fn new(line: usize, stderr: usize) -> Self {
        Self { line, stderr }
    }
}

/// A running child that is asked line by line.
#[derive(Debug)]
pub struct Session {
    group: Option<Group>,
    heard: Heard,
    limits: SessionLimits,
    cancel: Option<Cancel>,
}

impl Session {
    /// Starts the child.
    pub fn start(invocation: &Invocation, limits: SessionLimits) -> Result<Self, StartError> {
        Ok(Self {
            group: Some(Group::start(invocation)?),
            heard: Heard {
                lines: Lines::default(),
                stderr: Tail::new(limits.stderr),
            },
            limits,
            cancel: None,
        })
    }

    /// Has the session end as soon as somebody gives this word.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Sends a line (the newline is added) and waits for the line that answers it.
    pub fn request(&mut self, line: &[u8], limit: Duration) -> Result<Vec<u8>, SessionError> {
        let Some(mut group) = self.group.take() else {
            return Err(SessionError::Over);
        };
        let answer = self.ask(&mut group, line, limit);
        match answer {
            Ok(_) => self.group = Some(group),
            Err(_) => {
                group.finish();
                // The last words on stderr explain a failure best; a broken pipe has none.
                let _ = group.drain(&mut self.heard);
            }
        }
        answer
    }

    /// Ends the child's stdin and gives it a moment to end by itself before its group is killed. What
    /// it still writes to stdout answers nothing, and is refused.
    pub fn close(mut self, limit: Duration) -> Result<Ending, SessionError> {
        let Some(mut group) = self.group.take() else {
            return Err(SessionError::Over);
        };
        group.close_stdin_when_sent();
        let deadline = Instant::now() + limit.min(LONGEST_REQUEST);
        let word = self.cancel.clone();
        while !group.leader_ended()
            && Instant::now() < deadline
            && !cancel::given(word.as_ref())
            && self.heard.lines.bytes().is_empty()
        {
            let look = cancel::next_look(word.as_ref(), deadline);
            // A pipe that breaks has nothing more to say.
            if group.step(look, &mut self.heard).is_err() {
                break;
            }
        }
        let ending = group.finish();
        let _ = group.drain(&mut self.heard);
        self.refuse_unasked()?;
        Ok(ending)
    }

    /// The last bytes that the child wrote to stderr.
    pub fn stderr(&self) -> &[u8] {
        self.heard.stderr.bytes()
    }

    fn ask(
        &mut self,
        group: &mut Group,
        line: &[u8],
        limit: Duration,
    ) -> Result<Vec<u8>, SessionError> {
        let system = |source| SessionError::System { source };
        group.drain(&mut self.heard).map_err(system)?;
        self.refuse_unasked()?;

        let deadline = Instant::now() + limit.min(LONGEST_REQUEST);
        group.send(line);
        group.send(b"\n");
        loop {
            if let Some(answer) = self.take_line()? {
                self.refuse_unasked()?;
                return Ok(answer);
            }
            if group.leader_ended() {
                let ending = group.finish();
                return self.last_line(group, ending);
            }
            if group.stdout_closed() {
                return Err(self.silent(group, deadline));
            }
            if cancel::given(self.cancel.as_ref()) {
                return Err(SessionError::Cancelled);
            }
            if Instant::now() >= deadline {
                return Err(SessionError::TimedOut { limit });
            }
            let look = cancel::next_look(self.cancel.as_ref(), deadline);
            group.step(look, &mut self.heard).map_err(system)?;
        }
    }

    /// The leader may have answered and ended before we looked.
    fn last_line(&mut self, group: &mut Group, ending: Ending) -> Result<Vec<u8>, SessionError> {
        let _ = group.drain(&mut self.heard);
        match self.take_line()? {
            Some(answer) => {
                self.refuse_unasked()?;
                Ok(answer)
            }
            None => Err(SessionError::Ended { ending }),
        }
    }

    /// Stdout is closed. A child that is about to end gets a moment, so that we can say how it ended.
    fn silent(&mut self, group: &mut Group, deadline: Instant) -> SessionError {
        let deadline = deadline.min(Instant::now() + MOMENT_TO_END);
        while Instant::now() < deadline {
            if group.leader_ended() {
                return SessionError::Ended {
                    ending: group.finish(),
                };
            }
            if let Err(source) = group.step(deadline, &mut self.heard) {
                return SessionError::System { source };
            }
        }
        SessionError::OutputClosed
    }

    fn take_line(&mut self) -> Result<Option<Vec<u8>>, SessionError> {
        if self.heard.lines.first_len() > self.limits.line {
            return Err(SessionError::LineTooLong {
                limit: self.limits.line,
            });
        }
        Ok(self.heard.lines.take())
    }

    fn refuse_unasked(&self) -> Result<(), SessionError> {
        let surplus = self.heard.lines.bytes();
        if surplus.is_empty() {
            return Ok(());
        }
        let start = &surplus[..surplus.len().min(UNASKED_SHOWN)];
        Err(SessionError::Unasked {
            start: String::from_utf8_lossy(start).into_owned(),
        })
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
const LONGEST_REQUEST: Duration = Duration::from_secs(365 * 24 * 3600);
const UNASKED_SHOWN: usize = 200;
