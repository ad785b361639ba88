//! `accord context orient` and `digest`: summaries of many packages.

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{HostArgs, HostRequest, ProjectArg};
use crate::render;

/// Show an orientation for a newcomer: recent packages, facts, open questions
#[derive(Debug, clap::Args)]
pub(crate) struct OrientArgs {
    /// The number of days to include [default: 14]
    #[arg(long, value_name = "DAYS")]
    window: Option<u32>,

    /// The maximum number of packages [default: 20]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// The maximum size in tokens, for the context of a model
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
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
        let project = self.project.required(&self.host.target)?;
        let request = HostRequest::get(&["v1", "projects", &project, "orient"])
            .with_number("window_days", self.window)
            .with_number("limit", self.limit)
            .with_number("max_tokens", self.max_tokens);
        let answer = self.host.connect()?.send(request)?;
        answer.print(self.host.json, render::orientation)?;
        Ok(Exit::Yes)
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
