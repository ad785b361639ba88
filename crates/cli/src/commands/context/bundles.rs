//! `accord context orient` and `digest`: what is put together from many packages.

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Ask, HostArgs, ProjectArg};
use crate::show;

/// Show what one who begins should know: recent packages, facts, open questions
#[derive(Debug, clap::Args)]
pub(crate) struct OrientArgs {
    /// How many days to look back; 14 when absent
    #[arg(long, value_name = "DAYS")]
    window: Option<u32>,

    /// At most so many packages; 20 when absent
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// At most so many tokens, for the context of a model
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

/// Sum up what happened, in one project or in all of them
#[derive(Debug, clap::Args)]
pub(crate) struct DigestArgs {
    /// What to look for; gives the parts of packages that are about it
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,

    /// At most so many of those parts; 25 when absent
    #[arg(long, value_name = "N", requires = "focus")]
    snippets: Option<u32>,

    /// How many days to look back; 14 when absent
    #[arg(long, value_name = "DAYS")]
    window: Option<u32>,

    /// All projects, also where ACCORD_PROJECT names one
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Archived projects, too
    #[arg(long)]
    include_archived: bool,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    host: HostArgs,
}

impl OrientArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let project = self.project.required()?;
        let ask = Ask::get(&["v1", "projects", &project, "orient"])
            .with_number("window_days", self.window)
            .with_number("limit", self.limit)
            .with_number("max_tokens", self.max_tokens);
        let answer = self.host.connect()?.ask(ask)?;
        answer.print(self.host.json, show::orientation)?;
        Ok(Exit::Yes)
    }
}

impl DigestArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let project = self.project.get().filter(|_| !self.all);
        let ask = Ask::get(&["v1", "orchestrate"])
            .with("project", project)
            .with("focus", self.focus.as_ref())
            .with_number("snippets", self.snippets)
            .with_number("window_days", self.window)
            .with_flag("include_archived", self.include_archived);
        let answer = self.host.connect()?.ask(ask)?;
        answer.print(self.host.json, show::digest)?;
        Ok(Exit::Yes)
    }
}
