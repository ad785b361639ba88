//! The ends of sockets: by the server, by the case, and after the case.

use std::time::{Duration, Instant};

use accord_contract::Value;
use serde_json::json;

use super::super::socket::{Arrival, Closed, NO_CLOSE_FRAME, Patience};
use super::super::stop::Stop;
use super::Conversation;
use crate::case::{FrameCheck, ServerClose};
use crate::exchange::{End, ExchangeError};
use crate::report::Difference;

impl Conversation<'_> {
    /// Judges the frames before the close, and the close.
    pub(super) fn closed(
        &mut self,
        name: &str,
        expected: &ServerClose,
        check: Option<&FrameCheck>,
    ) -> Result<(), Stop> {
        let wanted = json!({"code": expected.code});
        let (frames, closed) = self.until_closed(name, wanted)?;
        let reason = expected.reason.as_ref().map(|text| self.variables.text(text)).transpose()?;
        let is_code = expected.code.contains(&closed.code.into());
        if !is_code || reason.as_ref().is_some_and(|reason| *reason != closed.reason) {
            let wanted = json!({"code": expected.code, "reason": reason});
            let actual = json!({"code": closed.code, "reason": closed.reason});
            return Err(Stop::unmet(vec![Difference::new("/close", wanted, actual)]));
        }
        match check {
            Some(check) => self.judge(check, frames),
            None => Ok(()),
        }
    }

    /// Reads the frames before the end of a socket, and its end.
    fn until_closed(&mut self, name: &str, wanted: Value) -> Result<(Vec<Value>, Closed), Stop> {
        let mut frames = Vec::new();
        let patience = self.patience();
        loop {
            match self.read(name, "the close of the socket", patience) {
                Ok(Ok(frame)) => frames.push(frame),
                Ok(Err(closed)) => {
                    self.sockets.remove(name);
                    return Ok((frames, closed));
                }
                Err(Stop::End(End::Failed(ExchangeError::TimedOut(_)))) => {
                    let still = Difference::new("/close", wanted, json!("still open"));
                    return Err(Stop::unmet(vec![still]));
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Closes a socket, and waits for the answer to the close.
    pub(super) fn close(&mut self, name: &str) -> Result<(), Stop> {
        self.note(json!({"on": name, "closing": true}));
        self.socket(name)?.close();
        let wanted = json!("a close frame");
        let (_, closed) = self.until_closed(name, wanted.clone())?;
        if closed.code == NO_CLOSE_FRAME {
            let actual = json!("the end of the connection");
            return Err(Stop::unmet(vec![Difference::new("/close", wanted, actual)]));
        }
        Ok(())
    }

    /// Closes what the case left open, so that the next case finds no socket of this one.
    pub(super) fn close_all(&mut self) {
        let until = Instant::now() + CLOSING_LIMIT;
        for socket in self.sockets.values_mut() {
            socket.close();
            let patience = Patience { until, cancel: self.cancel };
            // What still arrives is not judged.
            while let Ok(Arrival::Text(_) | Arrival::Binary(_)) = socket.read(patience, "") {}
        }
        self.sockets.clear();
    }
}

/// How long the sockets of a case may take to close after it.
const CLOSING_LIMIT: Duration = Duration::from_secs(2);
