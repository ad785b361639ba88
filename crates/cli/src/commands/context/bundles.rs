//! `accord context orient` and `digest`: summaries of many packages.

use accord_contract::codes::Code;

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{HostArgs, HostRequest, ProjectArg};
use crate::render;

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
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let format = match (self.format, self.host.json) {
            (None, false) => OrientFormat::Briefing,
            (None, true) => OrientFormat::Bundle,
            (Some(OrientFormat::Briefing), true) => {
                let message = "--json prints a document, and --format briefing is Markdown; use \
                    --format briefing-json";
                return Err(CliError::new(Code::Usage, message));
            }
            (Some(format), _) => format,
        };
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let request = HostRequest::get(&["v1", "projects", &project, "orient"])
            .with("format", Some(format.name()))
            .with("focus", self.focus.as_ref())
            .with_number("window_days", self.window)
            .with_number("limit", self.limit)
            .with_number("max_tokens", self.max_tokens);
        let answer = host.send(request)?;
        if format == OrientFormat::Briefing {
            answer.print_lines()?;
        } else {
            answer.print(true, |_, _| {})?;
        }
        Ok(Exit::Yes)
    }
}

impl OrientFormat {
    /// Its name in the query.
    fn name(self) -> &'static str {
        match self {
            Self::Briefing => "briefing",
            Self::BriefingJson => "briefing-json",
            Self::Bundle => "bundle",
        }
    }
}

impl DigestArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let project = self.project.get(&self.host.target)?.filter(|_| !self.all);
        let request = HostRequest::get(&["v1", "orchestrate"])
            .with("project", project)
            .with("focus", self.focus.as_ref())
            .with_number("snippets", self.snippets)
            .with_number("window_days", self.window)
            .with_flag("include_archived", self.include_archived);
        let answer = self.host.connect()?.send(request)?;
        answer.print(self.host.json, render::digest)?;
        Ok(Exit::Yes)
    }
}
