//! `accord task init`: the tree of a project, and its settings.

use std::path::Path;

use accord_api::Json;
use accord_tasks_core::operations::{
    ApplyMode, IdForm, InitAnswer, InitRequest, InitTasks, LayoutName, ReviewMode,
};

use super::names::name_parser;
use super::place::PlaceArgs;
use crate::host::ActorArg;
use crate::render::{self, Page, clean};
use crate::{Exit, Result};

/// Make the tree of a project, or change its settings
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  accord task init --project shop\n  \
                        accord task init --root . --project shop --apply session-end")]
pub(super) struct InitArgs {
    /// The title of the project [default: its id]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// The team that owns the project
    #[arg(long, value_name = "NAME")]
    team: Option<String>,

    /// Who leads the project
    #[arg(long, value_name = "NAME")]
    lead: Option<String>,

    /// When a report moves its task [default: at-once]
    #[arg(long, value_name = "WHEN", value_parser = name_parser::<ApplyMode>())]
    apply: Option<ApplyMode>,

    /// Who may end a review: a person, or anyone as in the guide of AOF [default: human]
    #[arg(long, value_name = "WHO", value_parser = name_parser::<ReviewMode>())]
    review: Option<ReviewMode>,

    /// Where run artifacts are: runs/ (guide) or state/runs/ (upstream) [default: guide]
    #[arg(long, value_name = "LAYOUT", value_parser = name_parser::<LayoutName>())]
    layout: Option<LayoutName>,

    /// What tells the ids of tasks of one day apart: numbers, or random letters, with which clones
    /// never make the same id. Readers by the pattern of AOF's guide refuse random ids
    /// [default: number]
    #[arg(long, value_name = "FORM", value_parser = name_parser::<IdForm>())]
    ids: Option<IdForm>,

    /// How long a lease lasts, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    lease: Option<u64>,

    /// How long a heartbeat lasts, in seconds [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    heartbeat: Option<u64>,

    /// How many tasks may be in progress
    #[arg(long, value_name = "N")]
    max_running: Option<u64>,

    /// How often a task is tried before it becomes a dead letter
    #[arg(long, value_name = "N")]
    max_attempts: Option<u64>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl InitArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open_new()?;
        let milliseconds = |seconds: Option<u64>| seconds.map(|seconds| seconds * 1_000);
        let body = InitRequest {
            title: self.title,
            team: self.team,
            lead: self.lead,
            apply: self.apply,
            review: self.review,
            layout: self.layout,
            ids: self.ids,
            lease_ttl_ms: milliseconds(self.lease),
            heartbeat_ttl_ms: milliseconds(self.heartbeat),
            max_running: self.max_running,
            max_attempts: self.max_attempts,
            ..InitRequest::default()
        };
        let answer = place.change::<InitTasks>(place.tasks()?, Json(body), &actor)?;
        let next = match self.place.is_found() {
            true => "accord task create TITLE".to_owned(),
            false => place.command("create TITLE"),
        };
        place.print(answer, |page, answer| made(page, answer, &next))
    }
}

fn made(page: &mut Page, answer: &InitAnswer, next: &str) {
    page.line(format!("the tasks of {} are in", clean(&answer.project_id)));
    page.line(format!("  {}", clean(&answer.root)));
    let pieces = [
        format!("apply {}", answer.apply),
        format!("review {}", answer.review),
        format!("lease {} s", answer.lease_ttl_ms / 1_000),
        format!("heartbeat {} s", answer.heartbeat_ttl_ms / 1_000),
    ];
    page.pieces(&pieces);
    if let Some(last) = answer.goes_on_after {
        page.line(format!(
            "  a tree of these tasks was here before and is gone: ids and events go on after event \
             {last}"
        ));
    }
    if answer.ids == Some(IdForm::Random) {
        page.line("  ids are random: readers by the pattern of AOF's guide refuse them");
    }
    let root = Path::new(&answer.root);
    if answer.created && root.ancestors().any(|above| above.join(".git").exists()) {
        page.line("  commit it with git; after a merge of two clones: accord task merge");
        if answer.ids != Some(IdForm::Random) {
            page.line(
                "  (two clones can give out one id; accord task init --ids random avoids that)",
            );
        }
    }
    render::next(page, next);
}
