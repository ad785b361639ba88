//! `accord live list`: sessions, and what they wait for.

use super::place::PlaceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::print_note;
use crate::render::{self, clean};

/// List live sessions, the newest first: who asks, for what, and until when
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only sessions that wait for a person, the longest wait first
    #[arg(long)]
    waiting: bool,

    /// The maximum number of entries [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let request = place.get(&[if self.waiting { "asks" } else { "sessions" }]);
        let request = request.with_number("limit", self.limit).with("cursor", self.cursor.as_ref());
        let answer = place.send(request)?;
        answer.print_list(
            place.json,
            |page, document| match self.waiting {
                true => render::live_asks(page, &document["result"]["asks"]),
                false => render::live_sessions(page, &document["result"]["sessions"]),
            },
            || match self.waiting {
                true => format!("no live session of {} waits for a person", place.project),
                false => format!(
                    "{} has no live sessions; an agent starts one with ggui_handshake and \
                     ggui_render over MCP",
                    place.project
                ),
            },
        )?;
        if !place.json
            && let Some(cursor) = answer.value()?["result"]["next_cursor"].as_str()
        {
            print_note(format!("there are more: --cursor {}", clean(cursor)));
        }
        Ok(Exit::Yes)
    }
}
