//! `accord context flag`, `review`, `resubmit` and `complete`: changes the status of a package.

use accord_api::{Call, Json, Maybe, Operation, Verbatim};
use accord_base::Actor;
use accord_contract::{Field, Object};
use accord_memory_core::lifecycle::{FlagRequest, MoveRequest, ReviewRequest, Reviewer};
use accord_memory_core::operations::{
    CompletePackage, FlagPackage, OfPackage, PackageWithin, ResubmitPackage, ReviewPackage,
};
use accord_memory_core::package::{PackageFields, Status};

use super::super::task::names::{name_parser, one_of};
use crate::host::{WriteArgs, id_of, print_noted};
use crate::render;
use crate::{Exit, Result};

/// How a review can end.
const OUTCOMES: &[Status] = &[Status::Complete, Status::RevisionRequested];

/// Request a review of a package
#[derive(Debug, clap::Args)]
pub(crate) struct FlagArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// The reviewer
    #[arg(long, value_name = "WHO", value_parser = name_parser::<Reviewer>())]
    review: Reviewer,
}

/// Record the outcome of a review
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    package: PackageArgs,

    /// The new status
    #[arg(value_name = "OUTCOME", value_parser = one_of(OUTCOMES))]
    outcome: Status,
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
    pub(crate) fn run(self) -> Result<Exit> {
        let (review_type, extra) = (self.review, Object::new());
        self.package.change::<FlagPackage>(|note, actor| {
            Verbatim::from(&FlagRequest { review_type, note, actor, extra })
        })
    }
}

impl ReviewArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let outcome = self.outcome;
        self.package.change::<ReviewPackage>(|note, actor| {
            Verbatim::from(&ReviewRequest { outcome, note, actor, extra: Object::new() })
        })
    }
}

fn plain(note: Field<String>, actor: Field<Actor>) -> Maybe<Verbatim<MoveRequest>> {
    Maybe(Some(Verbatim::from(&MoveRequest { note, actor, extra: Object::new() })))
}

impl PackageArgs {
    /// Runs a verb that needs nothing more.
    pub(crate) fn run(self, verb: &str) -> Result<Exit> {
        match verb {
            "resubmit" => self.change::<ResubmitPackage>(plain),
            _ => self.change::<CompletePackage>(plain),
        }
    }

    fn change<O>(self, body: impl FnOnce(Field<String>, Field<Actor>) -> O::Body) -> Result<Exit>
    where
        O: Operation<Path = OfPackage, Query = PackageWithin, Answer = Json<PackageFields>>,
    {
        let host = self.to.host.connect()?;
        let body = body(self.note.into(), self.to.author(&host)?.into());
        let project = self.to.project.get(&self.to.host.target)?;
        let id = host.package_id(&self.id, project.as_deref())?;
        let path = OfPackage { package: id_of("package_id", &id)? };
        let project = project.map(|id| id_of("project_id", &id)).transpose()?;
        let call = Call::<O>::new(path, PackageWithin { project }, body);
        print_noted(self.to.host.json, &host.call(&call)?, render::brief)
    }
}
