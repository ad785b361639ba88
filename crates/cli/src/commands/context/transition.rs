//! `accord context flag`, `review`, `resubmit` and `complete`: changes the status of a package.

use crate::commands::document;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{HostRequest, WriteArgs};
use crate::render;

/// Request a review of a package
#[derive(Debug, clap::Args)]
pub(crate) struct FlagArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// The reviewer
    #[arg(long, value_name = "WHO", value_parser = ["human", "agent"])]
    review: String,
}

/// Record the outcome of a review
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// The new status
    #[arg(value_name = "OUTCOME", value_parser = ["complete", "revision_requested"])]
    outcome: String,
}

// The package, and the entry in its log.
#[derive(Debug, clap::Args)]
pub(crate) struct PackageArgs {
    /// The id of the package, or its beginning
    #[arg(value_name = "ID")]
    id: String,

    /// A note for the log of the package
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    #[command(flatten)]
    to: WriteArgs,
}

impl FlagArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.post("flag", ("review_type", Some(self.review)))
    }
}

impl ReviewArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.post("review", ("outcome", Some(self.outcome)))
    }
}

impl PackageArgs {
    /// Runs a verb that needs nothing more.
    pub(crate) fn run(self, verb: &str) -> Result<Exit, CliError> {
        self.post(verb, ("", None))
    }

    fn post(self, verb: &str, asked: (&str, Option<String>)) -> Result<Exit, CliError> {
        let host = self.to.host.connect()?;
        let body = document([
            (asked.0, asked.1.into()),
            ("note", self.note.into()),
            ("actor", self.to.author(&host)?.into()),
        ]);
        let project = self.to.project.get(&self.to.host.target)?;
        let id = host.package_id(&self.id, project.as_deref())?;
        let request =
            HostRequest::post(&["v1", "packages", &id, verb], &body).with("project_id", project);
        let answer = host.send(request)?;
        answer.print(self.to.host.json, render::brief)?;
        Ok(Exit::Yes)
    }
}
