//! `accord task message`: a message of AOF/1 arrives.

use std::path::Path;

use accord_api::{Call, Verbatim};
use accord_tasks_core::Status;
use accord_tasks_core::message::{MessageType, sent_at};
use accord_tasks_core::operations::{MessageQuery, SendMessage};
use accord_tasks_core::route::ALREADY_RECORDED;

use super::place::PlaceArgs;
use crate::input::read_file;
use crate::render;
use crate::{Exit, Result};

/// Receive a message of AOF/1: a JSON object, its text, or a text that begins with `AOF/1 `
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  accord task message < report.json\n  accord task message \
                        --now < report-without-a-time.json\n  accord task message \
                        'AOF/1 {\"protocol\":\"aof\",...}'\n\nA text that is no message changes \
                        nothing: applied is false, with the reason not_protocol.")]
pub(super) struct MessageArgs {
    /// The message [default: standard input]
    text: Option<String>,

    /// Set sentAt to the current time
    #[arg(long)]
    now: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

impl MessageArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let text = match self.text {
            Some(text) => text,
            // The host says what is wrong with bytes that are no text.
            None => String::from_utf8_lossy(&read_file(Path::new("-"))?).into_owned(),
        };
        let text = if self.now { sent_at(text, accord_system::now()) } else { text };
        let place = self.place.open()?;
        let body = Verbatim::new("text/plain; charset=utf-8", text);
        let call = Call::<SendMessage>::new(place.tasks()?, MessageQuery::default(), body);
        let answer = place.host.call(&call)?;
        let result = &answer.answer.0.result;
        // A report is recorded, now or before, also if it moves nothing; except that a task that
        // is over gets no new one.
        let is_report = result.kind == Some(MessageType::CompletionReport);
        let is_over = result.status.is_some_and(Status::is_final)
            && result.reason.as_deref() != Some(ALREADY_RECORDED);
        let is_taken = result.applied || (is_report && !is_over);
        place.print(answer, render::received)?;
        Ok(Exit::from_answer(is_taken))
    }
}
