//! `accord live answers`: answers that no agent has read.

use accord_api::NoParams;
use accord_live_core::operations::questions::ListLiveAnswers;

use super::place::PlaceArgs;
use crate::host::print_items;
use crate::render;
use crate::{Exit, Result};

/// List the answers that no agent has read, also those of sessions that have ended
#[derive(Debug, clap::Args)]
pub(super) struct AnswersArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

impl AnswersArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        print_items(
            place.json,
            &place.host.ask::<ListLiveAnswers>(place.sessions()?, NoParams)?,
            |page, list| render::live_answers(page, &list.result.answers),
            || format!("agents have read all answers of {}", place.project),
        )
    }
}
