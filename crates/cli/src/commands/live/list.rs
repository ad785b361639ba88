//! `accord live list`: sessions, and what they wait for.

use accord_live_core::operations::questions::{ListLiveAsks, ListLiveSessions};
use accord_live_core::operations::questions::{LiveAsksQuery, LiveSessionsQuery};

use super::place::PlaceArgs;
use crate::host::{PageArgs, print_items};
use crate::render;
use crate::{Exit, Result};

/// List live sessions, the newest first: who asks, for what, and until when
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only sessions that wait for a person, the longest wait first
    #[arg(long)]
    waiting: bool,

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let path = place.sessions()?;
        let PageArgs { limit, cursor } = self.page;
        if self.waiting {
            let listed = place.host.ask::<ListLiveAsks>(path, LiveAsksQuery { limit, cursor })?;
            return print_items(
                place.json,
                &listed,
                |page, list| render::live_asks(page, &list.result.asks),
                || format!("no live session of {} waits for a person", place.project),
            );
        }
        let query = LiveSessionsQuery { prefix: None, limit, cursor };
        print_items(
            place.json,
            &place.host.ask::<ListLiveSessions>(path, query)?,
            |page, list| render::live_sessions(page, &list.result.sessions),
            || {
                let how =
                    "`accord live ask \"Question?\"` starts one, and so does an agent over MCP";
                format!("{} has no live sessions; {how}", place.project)
            },
        )
    }
}
