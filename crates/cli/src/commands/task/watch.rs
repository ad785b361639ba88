//! `accord task watch`: events as they happen.

use std::io::Write as _;

use super::place::{Place, PlaceArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render;

/// How long a request waits for the next event, in seconds.
const WAIT: u32 = 10;

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

    /// Print the events that there are, and end
    #[arg(long)]
    no_wait: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

impl WatchArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let mut after = match self.after {
            Some(after) => after,
            None if self.no_wait => 0,
            None => last_event(&place)?,
        };
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut output = Output::stdout();
        while left > 0 {
            let request = place
                .get(&["events"])
                .with_number("after", Some(after))
                .with_number("limit", Some(left.min(200)))
                .with("task_id", self.task.as_ref())
                .with_number("wait_seconds", (!self.no_wait).then_some(WAIT));
            let answer = place.ask(request)?;
            let events = answer["events"].as_array().map_or(&[][..], Vec::as_slice);
            for event in events {
                left -= 1;
                if place.json {
                    output.line(event.to_string())?;
                } else {
                    output.line(render::task_event(event))?;
                }
            }
            output.flush().map_err(CliError::from_output)?;
            let numbers = events.iter().filter_map(|event| event["eventId"].as_u64());
            after = numbers.max().unwrap_or(after);
            if self.no_wait && answer["more"].as_bool() != Some(true) {
                break;
            }
        }
        output.finish()?;
        Ok(Exit::Yes)
    }
}

/// The number of the last event of the tree.
pub(super) fn last_event(place: &Place) -> Result<u64, CliError> {
    let board = place.ask(place.get(&["board"]).with_number("limit", Some(1)))?;
    Ok(board["last_event"].as_u64().unwrap_or(0))
}
