//! `accord task init`: the tree of a project, and its settings.

use clap::builder::PossibleValuesParser;
use hyper::Method;

use super::acting::ActorArgs;
use super::place::PlaceArgs;
use crate::commands::document;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::{self, Page, member};

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
    #[arg(long, value_name = "WHEN",
          value_parser = PossibleValuesParser::new(["at-once", "session-end"]))]
    apply: Option<String>,

    /// Who may end a review: a person, or anyone as in the guide of AOF [default: human]
    #[arg(long, value_name = "WHO",
          value_parser = PossibleValuesParser::new(["human", "guide"]))]
    review: Option<String>,

    /// Where run artifacts are: runs/ (guide) or state/runs/ (upstream) [default: guide]
    #[arg(long, value_name = "LAYOUT",
          value_parser = PossibleValuesParser::new(["guide", "upstream"]))]
    layout: Option<String>,

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
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

impl InitArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open_new()?;
        let milliseconds = |seconds: Option<u64>| seconds.map(|seconds| seconds * 1_000);
        let body = document([
            ("title", self.title.into()),
            ("team", self.team.into()),
            ("lead", self.lead.into()),
            ("apply", self.apply.into()),
            ("review", self.review.into()),
            ("layout", self.layout.into()),
            ("lease_ttl_ms", milliseconds(self.lease).into()),
            ("heartbeat_ttl_ms", milliseconds(self.heartbeat).into()),
            ("max_running", self.max_running.into()),
            ("max_attempts", self.max_attempts.into()),
        ]);
        let next = place.command("create TITLE");
        let answer = place.change(Method::POST, &["init"], &body, &actor)?;
        place.show(&answer, |page, answer| made(page, answer, &next))
    }
}

fn made(page: &mut Page, answer: &serde_json::Value, next: &str) {
    page.line(format!("the tasks of {} are in", member(answer, "project_id")));
    page.line(format!("  {}", member(answer, "root")));
    let seconds = |name: &str| answer[name].as_u64().unwrap_or(0) / 1_000;
    let pieces = [
        format!("apply {}", member(answer, "apply")),
        format!("review {}", member(answer, "review")),
        format!("lease {} s", seconds("lease_ttl_ms")),
        format!("heartbeat {} s", seconds("heartbeat_ttl_ms")),
    ];
    page.pieces(&pieces);
    render::next(page, next);
}
