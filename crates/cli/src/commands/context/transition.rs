//! `accord context flag`, `review`, `resubmit` and `complete`: moves a package through its life.

use accord_contract::wire::{Object, Value};

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{ActorArg, Ask, HostArgs, ProjectArg, SessionArg};
use crate::show;

/// Ask for a review of a package
#[derive(Debug, clap::Args)]
pub(crate) struct FlagArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// Who is to review it
    #[arg(long, value_name = "WHO", value_parser = ["human", "agent"])]
    review: String,
}

/// Say how a review ended
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// What the package goes to
    #[arg(value_name = "OUTCOME", value_parser = ["complete", "revision_requested"])]
    outcome: String,
}

/// Ask for another review, after a revision was requested
#[derive(Debug, clap::Args)]
pub(crate) struct ResubmitArgs {
    #[command(flatten)]
    package: PackageArgs,
}

/// Complete a package; from then on it never changes
#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    package: PackageArgs,
}

/// Which package, and what goes into its log.
#[derive(Debug, clap::Args)]
struct PackageArgs {
    /// The id of the package
    #[arg(value_name = "ID")]
    id: String,

    /// What whoever reads its log should know
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
        self.package.go("flag", Some(asked))
    }
}

impl ReviewArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let asked = ("outcome", self.outcome);
        self.package.go("review", Some(asked))
    }
}

impl ResubmitArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.go("resubmit", None)
    }
}

impl CompleteArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        self.package.go("complete", None)
    }
}

impl PackageArgs {
    fn go(self, verb: &str, asked: Option<(&str, String)>) -> Result<Exit, CliError> {
        let mut body = Object::new();
        if let Some((name, value)) = asked {
            body.insert(name.to_owned(), value.into());
        }
        if let Some(note) = self.note {
            body.insert("note".to_owned(), note.into());
        }
        // Who moves it is worth knowing, and the protocol does not demand it.
        if let Some(actor) = self.actor.get()? {
            let session = self.session.get();
            body.insert("actor".to_owned(), actor.document(session.as_deref()));
        }
        let ask = Ask::post(&["v1", "packages", &self.id, verb], &Value::Object(body))
            .with("project_id", self.project.get());
        let answer = self.host.connect()?.ask(ask)?;
        answer.print(self.host.json, show::brief)?;
        Ok(Exit::Yes)
    }
}
