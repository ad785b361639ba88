//! `accord live list`: sessions, and what they wait for.

use accord_api::body::Json;
use accord_live_core::operations::questions::{
    ListLiveAsks, ListLiveSessions, LiveAsksEnvelope, LiveAsksQuery, LiveSessionsEnvelope,
    LiveSessionsQuery,
};

use super::place::PlaceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::print_list;
use crate::output::print_note;
use crate::render::{self, Page, clean};

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
        let next_cursor = match self.waiting {
            true => {
                let query = LiveAsksQuery { limit: self.limit, cursor: self.cursor };
                let listed = place.host.ask::<ListLiveAsks>(place.sessions()?, query)?;
                let none = format!("no live session of {} waits for a person", place.project);
                let render = |page: &mut Page, list: &Json<LiveAsksEnvelope>| {
                    render::live_asks(page, &list.0.result.asks);
                };
                print_list(place.json, &listed, render, &clean(&none))?;
                listed.answer.0.result.next_cursor
            }
            false => {
                let (limit, cursor) = (self.limit, self.cursor);
                let query = LiveSessionsQuery { prefix: None, limit, cursor };
                let listed = place.host.ask::<ListLiveSessions>(place.sessions()?, query)?;
                let none = format!(
                    "{} has no live sessions; an agent starts one with ggui_handshake and \
                     ggui_render over MCP",
                    place.project
                );
                let render = |page: &mut Page, list: &Json<LiveSessionsEnvelope>| {
                    render::live_sessions(page, &list.0.result.sessions);
                };
                print_list(place.json, &listed, render, &clean(&none))?;
                listed.answer.0.result.next_cursor
            }
        };
        if let Some(cursor) = next_cursor.filter(|_| !place.json) {
            print_note(format!("there are more: --cursor {}", clean(&cursor)));
        }
        Ok(Exit::Yes)
    }
}
