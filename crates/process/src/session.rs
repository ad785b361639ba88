//! A long-lived child that answers one line with one line.
//!
//! A session that failed is over: its group is killed at once, and every later request fails.

use std::time::Duration;

use crate::cancel::Cancel;
use crate::conversation::{Conversation, SessionLimits};
use crate::error::{SessionError, StartError};
use crate::group::Ending;
use crate::invocation::Invocation;

/// A running child that answers one line per request.
#[derive(Debug)]
pub struct Session(Conversation);

impl Session {
    pub fn start(invocation: &Invocation, limits: SessionLimits) -> Result<Self, StartError> {
        Conversation::start(invocation, limits).map(Self)
    }

    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> Self {
        Self(self.0.cancel(cancel))
    }

    /// Sends a line (the newline is added) and waits for the line that answers it.
    pub fn request(&mut self, line: &[u8], limit: Duration) -> Result<Vec<u8>, SessionError> {
        let answer = self.ask(line, limit);
        if answer.is_err() {
            self.0.kill();
        }
        answer
    }

    /// Closes the child's stdin and waits a short time for it to end before its group is killed.
    /// Further output on stdout is an error.
    pub fn close(mut self, limit: Duration) -> Result<Ending, SessionError> {
        // Any output breaks the contract of one line per request: nothing is waited for after it.
        let ending = self.0.end(limit, <[u8]>::is_empty)?;
        self.refuse_unasked()?;
        Ok(ending)
    }

    pub fn stderr(&self) -> &[u8] {
        self.0.stderr()
    }

    fn ask(&mut self, line: &[u8], limit: Duration) -> Result<Vec<u8>, SessionError> {
        // Output from before the request would be taken for its answer.
        self.0.catch_up()?;
        self.refuse_unasked()?;
        self.0.say(line)?;
        let answer = self.0.hear(limit)?;
        self.refuse_unasked()?;
        Ok(answer)
    }

    fn refuse_unasked(&self) -> Result<(), SessionError> {
        let surplus = self.0.unheard();
        if surplus.is_empty() {
            return Ok(());
        }
        let start = &surplus[..surplus.len().min(UNASKED_SHOWN)];
        Err(SessionError::Unasked { start: String::from_utf8_lossy(start).into_owned() })
    }
}

const UNASKED_SHOWN: usize = 200;
