//! `accord context flag`, `review`, `resubmit` and `complete`: changes the status of a package.

use accord_api::{Call, Json, Maybe, Operation, Verbatim};
use accord_base::{Actor, Door};
use accord_contract::{Field, Object};
use accord_memory_core::lifecycle::{FlagRequest, MoveRequest, ReviewRequest, Reviewer};
use accord_memory_core::operations::{
    CompletePackage, FlagPackage, ListRevisions, OfPackage, PackageWithin, ResubmitPackage,
    ReviewPackage, ReviewWithin,
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

    /// The number of the revision that you read; refused if the package has another one by now
    #[arg(long, value_name = "REVISION")]
    expect: Option<u64>,

    #[command(flatten)]
    to: WriteArgs,
}

impl FlagArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let (review_type, extra) = (self.review, Object::new());
        self.package.change::<FlagPackage>(same, |note, actor, expect| {
            Verbatim::from(&FlagRequest { review_type, note, actor, expect, extra })
        })
    }
}

impl ReviewArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let outcome = self.outcome;
        let by_command =
            |within: PackageWithin| ReviewWithin { project: within.project, door: Some(Door::Cli) };
        self.package.change::<ReviewPackage>(by_command, |note, actor, expect| {
            Verbatim::from(&ReviewRequest { outcome, note, actor, expect, extra: Object::new() })
        })
    }
}

/// The query of a change that is no decision.
fn same(within: PackageWithin) -> PackageWithin {
    within
}

fn plain(
    note: Field<String>,
    actor: Field<Actor>,
    expect: Option<u64>,
) -> Maybe<Verbatim<MoveRequest>> {
    Maybe(Some(Verbatim::from(&MoveRequest { note, actor, expect, extra: Object::new() })))
}

impl PackageArgs {
    /// Runs a verb that needs nothing more.
    pub(crate) fn run(self, verb: &str) -> Result<Exit> {
        match verb {
            "resubmit" => self.change::<ResubmitPackage>(same, plain),
            _ => self.change::<CompletePackage>(same, plain),
        }
    }

    fn change<O>(
        self,
        query: impl FnOnce(PackageWithin) -> O::Query,
        body: impl FnOnce(Field<String>, Field<Actor>, Option<u64>) -> O::Body,
    ) -> Result<Exit>
    where
        O: Operation<Path = OfPackage, Answer = Json<PackageFields>>,
    {
        let host = self.to.host.connect()?;
        let author = self.to.author(&host)?;
        let project = self.to.project.get(&self.to.host.target)?;
        let id = host.package_id(&self.id, project.as_deref())?;
        let path = OfPackage { package: id_of("package_id", &id)? };
        let project = project.map(|id| id_of("project_id", &id)).transpose()?;
        let within = PackageWithin { project };
        let expect = self.expect.or_else(|| {
            // A key that may only review cannot read it.
            let listed = host.ask::<ListRevisions>(path.clone(), within.clone()).ok()?;
            Some(listed.answer.0.revisions.last()?.seq)
        });
        let body = body(self.note.into(), author.into(), expect);
        let call = Call::<O>::new(path, query(within), body);
        print_noted(self.to.host.json, &host.call(&call)?, render::brief)
    }
}
