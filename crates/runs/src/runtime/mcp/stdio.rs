//! An MCP server that is a program: one message per line.

use std::time::{Duration, Instant};

use accord_contract::{Object, Value};
use accord_process::{Conversation, Invocation, SessionError, SessionLimits};

use super::{MAX_MESSAGE, NotDone, ServerMessage, Transport, WORDS_SHOWN, cut, read_message};
use crate::runtime::job::{Job, WorkerSignal};

/// The time for a server to end after its input was closed.
const GOODBYE: Duration = Duration::from_secs(2);

pub(super) struct Program {
    conversation: Conversation,
    /// It has the folder of the worker's sandbox.
    _invocation: Invocation,
}

impl Program {
    pub(super) fn start(
        job: &Job<'_>,
        signals: &mut dyn FnMut(WorkerSignal<'_>),
    ) -> Result<Self, NotDone> {
        let invocation = job
            .program()
            .ok_or_else(|| NotDone::Unreachable("it names no program".to_owned()))?
            .env("AGENTXCHAIN_TURN_ID", job.turn.id().as_str());
        let (invocation, sandbox) =
            job.confine(invocation).map_err(|error| NotDone::Unreachable(error.to_string()))?;
        let limits = SessionLimits::new(MAX_MESSAGE, WORDS_SHOWN);
        let conversation = Conversation::start(&invocation, limits)
            .map_err(|error| NotDone::Unreachable(error.to_string()))?
            .cancel(job.stop());
        if let Some(pid) = conversation.id() {
            signals(WorkerSignal::Started { pid, sandbox: &sandbox });
        }
        Ok(Self { conversation, _invocation: invocation })
    }

    fn say(&mut self, message: &Value) -> Result<(), NotDone> {
        let line = message.to_string();
        self.conversation.say(line.as_bytes()).map_err(|error| self.not_done(&error))
    }

    fn not_done(&self, error: &SessionError) -> NotDone {
        match error {
            SessionError::TimedOut { .. } => NotDone::TimedOut,
            SessionError::Cancelled => NotDone::Cancelled,
            other => {
                let errors = String::from_utf8_lossy(self.conversation.stderr());
                match errors.trim() {
                    "" => NotDone::Failed(other.to_string()),
                    errors => NotDone::Failed(format!("{other}: {}", cut(errors))),
                }
            }
        }
    }
}

impl Transport for Program {
    fn ask(&mut self, id: u64, request: &Value, deadline: Instant) -> Result<Object, NotDone> {
        self.say(request)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = self.conversation.hear(left);
            let line = heard.map_err(|error| self.not_done(&error))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match read_message(id, &line)? {
                ServerMessage::Response(answer) => return Ok(answer),
                ServerMessage::Request(reply) => self.say(&reply)?,
                ServerMessage::Notification => {}
            }
        }
    }

    fn notify(&mut self, notice: &Value, _: Instant) -> Result<(), NotDone> {
        self.say(notice)
    }

    fn close(self: Box<Self>) {
        let _ = self.conversation.close(GOODBYE);
    }
}
