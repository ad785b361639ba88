//! `accord context orient` and `digest`: summaries of many packages.

use accord_api::NoParams;
use accord_api::body::OneOf;
use accord_memory_core::operations::{DigestParams, Orchestrate, Orient, OrientParams};
use accord_memory_core::query;

use crate::host::{
    HostArgs, ProjectArg, id_of, in_project, print_answer, print_document, print_lines,
};
use crate::render;
use crate::{CliError, Exit, Result};

/// Show a briefing: rules, the latest handoff, reviews, questions, facts, recent work
#[derive(Debug, clap::Args)]
pub(crate) struct OrientArgs {
    /// What to show first, in plain words
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,

    /// The number of days that recent work goes back [default: 14]
    #[arg(long, value_name = "DAYS")]
    window: Option<u32>,

    /// The maximum size in tokens, at least 300; of a bundle at least 2000 [default: 2000; no limit
    /// for a bundle]
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,

    /// The maximum number of packages of a bundle [default: 20]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// A briefing in Markdown or JSON, or the bundle of the protocol [default: briefing; with
    /// --json: bundle]
    #[arg(long, value_enum)]
    format: Option<OrientFormat>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

/// What `accord context orient` prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum OrientFormat {
    Briefing,
    BriefingJson,
    Bundle,
}

/// Summarize recent work, in one project or in all
#[derive(Debug, clap::Args)]
pub(crate) struct DigestArgs {
    /// A search text; adds matching parts of packages
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,

    /// The maximum number of matching parts [default: 25]
    #[arg(long, value_name = "N", requires = "focus")]
    snippets: Option<u32>,

    /// The number of days to include [default: 14]
    #[arg(long, value_name = "DAYS")]
    window: Option<u32>,

    /// All projects, even if ACCORD_PROJECT is set
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Include archived projects
    #[arg(long)]
    include_archived: bool,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl OrientArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let format = match (self.format, self.host.json) {
            (None, false) => OrientFormat::Briefing,
            (None, true) => OrientFormat::Bundle,
            (Some(OrientFormat::Briefing), true) => {
                let message = "--json prints a document, and --format briefing is Markdown; use \
                    --format briefing-json";
                return Err(CliError::usage(message));
            }
            (Some(format), _) => format,
        };
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let asked = OrientParams {
            format: Some(match format {
                OrientFormat::Briefing => query::OrientFormat::Briefing,
                OrientFormat::BriefingJson => query::OrientFormat::BriefingJson,
                OrientFormat::Bundle => query::OrientFormat::Bundle,
            }),
            focus: self.focus,
            window_days: self.window,
            limit: self.limit,
            max_tokens: self.max_tokens,
        };
        let answered = host.ask::<Orient>(in_project(&project)?, asked)?;
        match answered.answer {
            OneOf::One(_) => print_document(true, &answered.text, |_| {}),
            OneOf::Other(briefing) => print_lines(&briefing.text),
        }
    }
}

impl DigestArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let project = self.project.get(&self.host.target)?.filter(|_| !self.all);
        let asked = DigestParams {
            project: project.map(|id| id_of("project", &id)).transpose()?,
            focus: self.focus,
            snippets: self.snippets,
            window_days: self.window,
            include_archived: self.include_archived,
            ..DigestParams::default()
        };
        let answered = self.host.connect()?.ask::<Orchestrate>(NoParams, asked)?;
        print_answer(self.host.json, &answered, |page, digest| render::digest(page, &digest.0))
    }
}
