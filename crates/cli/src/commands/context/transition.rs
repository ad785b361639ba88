//! `accord context flag`, `review`, `resubmit` and `complete`: changes the status of a package.

use accord_contract::wire::{Object, Value};

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{ActorArg, HostArgs, HostRequest, ProjectArg, SessionArg};
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

/// Request another review, after a requested revision
#[derive(Debug, clap::Args)]
pub(crate) struct ResubmitArgs {
    #[command(flatten)]
    package: PackageArgs,
}

/// Complete a package; it can no longer change
#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    package: PackageArgs,
}

/// The package, and the entry in its log.
#[derive(Debug, clap::Args)]
struct PackageArgs {
    /// The id of the package, or its beginning
    #[arg(value_name = "ID")]
    id: String,

    /// A note for the log of the package
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    #[command(flatten)]
    actor: ActorArg,

    #[command(flatten)]
    session: SessionArg,

    #[command(flatten)]
    host: HostArgs,
}

impl FlagArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let asked = ("review_type", self.review);
        self.package.post("flag", Some(asked))
    }
}

impl ReviewArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let asked = ("outcome", self.outcome);
        self.package.post("review", Some(asked))
    }
}

impl ResubmitArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.post("resubmit", None)
    }
}

impl CompleteArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.post("complete", None)
    }
}

impl PackageArgs {
    fn post(self, verb: &str, asked: Option<(&str, String)>) -> Result<Exit, CliError> {
        let mut body = Object::new();
        if let Some((name, value)) = asked {
            body.insert(name.to_owned(), value.into());
        }
        if let Some(note) = self.note {
            body.insert("note".to_owned(), note.into());
        }
        // The protocol does not require an actor here.
        if let Some(actor) = self.actor.get()? {
            let session = self.session.get();
            body.insert("actor".to_owned(), actor.document(session.as_deref()));
        }
        let host = self.host.connect()?;
        let project = self.project.get(&self.host.target)?;
        let id = host.package_id(&self.id, project.as_deref())?;
        let request = HostRequest::post(&["v1", "packages", &id, verb], &Value::Object(body))
            .with("project_id", project);
        let answer = host.send(request)?;
        answer.print(self.host.json, render::brief)?;
        Ok(Exit::Yes)
    }
}
