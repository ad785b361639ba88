//! `accord task watch`: events as they happen.

use std::io::Write as _;

use accord_contract::Wire as _;
use accord_tasks_core::operations::{BoardQuery, EventsQuery, TaskBoard, TaskEvents};

use super::place::{Place, PlaceArgs, document};
use crate::render;
use crate::{CliError, Exit, Output, Result};

/// How long a request waits for the next event, in seconds.
const WAIT: u32 = 10;

/// The most events of a request.
const MOST: u32 = 200;

/// The same where every log is read for each request.
const MOST_OF_COPIES: u32 = 1_000;

/// Print the events of the tree as they happen, until Ctrl-C
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Begin after this event; 0 for all [default: the last one now]
    #[arg(long, value_name = "N")]
    after: Option<u64>,

    /// Only the events of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// End after this number of events
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// Print the events that there are, and end; without --after also those of other copies of the
    /// tree, by their times
    #[arg(long)]
    no_wait: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

impl WatchArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let mut after = match self.after {
            Some(after) => after,
            None if self.no_wait => 0,
            None => last_event(&place)?,
        };
        let copies = self.no_wait && self.after.is_none();
        let most = if copies { MOST_OF_COPIES } else { MOST };
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut output = Output::stdout();
        while left > 0 {
            let query = EventsQuery {
                after: Some(after),
                limit: Some(u32::try_from(left).unwrap_or(most).min(most)),
                task_id: self.task.clone(),
                wait_seconds: (!self.no_wait).then_some(WAIT),
                copies,
            };
            let answer = place.host.ask::<TaskEvents>(place.tasks()?, query)?.answer.0.result;
            for event in &answer.events {
                left -= 1;
                output.line(match place.json {
                    true => event.encode().to_string(),
                    false => render::task_event(event),
                })?;
            }
            output.flush().map_err(CliError::from_output)?;
            after = match copies {
                true => after + answer.events.len() as u64,
                false => answer.events.iter().map(|it| it.event_id).max().unwrap_or(after),
            };
            if self.no_wait && !answer.more {
                break;
            }
        }
        output.finish()
    }
}

fn last_event(place: &Place) -> Result<u64> {
    let query = BoardQuery { limit: Some(1), ..BoardQuery::default() };
    let board = document(place.host.ask::<TaskBoard>(place.tasks()?, query)?)?;
    Ok(board.answer.0.result.last_event)
}
