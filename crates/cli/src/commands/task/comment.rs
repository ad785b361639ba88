//! `accord task comment`: what people and agents say about a task.

use accord_api::Json;
use accord_tasks_core::operations::{CommentOnTask, CommentRequest};

use super::place::PlaceArgs;
use crate::commands::words;
use crate::host::ActorArg;
use crate::render;
use crate::{Exit, Result};

/// Say something about a task; the agent that works on it reads it, and the next one
#[derive(Debug, clap::Args)]
pub(super) struct CommentArgs {
    /// The task
    id: String,

    /// The text
    #[arg(value_parser = words)]
    text: String,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl CommentArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open()?;
        let body = Json(CommentRequest { text: self.text });
        let answer = place.change::<CommentOnTask>(place.task(&self.id)?, body, &actor)?;
        place.print(answer, render::commented_task)
    }
}
