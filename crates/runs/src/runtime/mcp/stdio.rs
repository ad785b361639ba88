//! An MCP server that is a program: one message a line.

use std::time::{Duration, Instant};

use accord_contract::wire::{Object, Value};
use accord_process::{Conversation, SessionError, SessionLimits};

use super::{Heard, MAX_MESSAGE, Transport, Trouble, WORDS_SHOWN, cut, hear};
use crate::runtime::job::{Job, Sign};

/// How long a server may take to end once its input has.
const GOODBYE: Duration = Duration::from_secs(2);

pub(super) struct Program {
    conversation: Conversation,
}

impl Program {
    pub(super) fn start(job: &Job<'_>, signs: &mut dyn FnMut(Sign<'_>)) -> Result<Self, Trouble> {
        let invocation = crate::runtime::program(job.runtime, job.root)
            .ok_or_else(|| Trouble::Unreachable("it names no program".to_owned()))?;
        let limits = SessionLimits::new(MAX_MESSAGE, WORDS_SHOWN);
        let mut conversation = Conversation::start(&invocation, limits)
            .map_err(|error| Trouble::Unreachable(error.to_string()))?;
        if let Some(cancel) = job.cancel {
            conversation = conversation.cancel(cancel.clone());
        }
        if let Some(pid) = conversation.id() {
            signs(Sign::Started { pid });
        }
        Ok(Self { conversation })
    }

    fn say(&mut self, message: &Value) -> Result<(), Trouble> {
        let line = message.to_string();
        self.conversation
            .say(line.as_bytes())
            .map_err(|error| self.trouble(&error))
    }

    fn trouble(&self, error: &SessionError) -> Trouble {
        match error {
            SessionError::TimedOut { .. } => Trouble::TimedOut,
            SessionError::Cancelled => Trouble::Cancelled,
            other => {
                let errors = String::from_utf8_lossy(self.conversation.stderr());
                match errors.trim() {
                    "" => Trouble::Failed(other.to_string()),
                    errors => Trouble::Failed(format!("{other}: {}", cut(errors))),
                }
            }
        }
    }
}

impl Transport for Program {
    fn ask(&mut self, id: u64, request: &Value, deadline: Instant) -> Result<Object, Trouble> {
        self.say(request)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = self.conversation.hear(left);
            let line = heard.map_err(|error| self.trouble(&error))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match hear(id, &line)? {
                Heard::Answer(answer) => return Ok(answer),
                Heard::Asked(reply) => self.say(&reply)?,
                Heard::Told => {}
            }
        }
    }

    fn tell(&mut self, notice: &Value, _: Instant) -> Result<(), Trouble> {
        self.say(notice)
    }

    fn close(self: Box<Self>) {
        let _ = self.conversation.close(GOODBYE);
    }
}
