//! The operations of the protocol, and those that Accord adds to it: what they take, what they
//! answer, what they need, and with which codes they refuse.
//!
//! `crates/memory` carries them out; the host serves them; the command and the MCP tools call them.

mod added;
mod blobs;
mod briefing;
mod bundles;
mod events;
mod export;
mod facts;
mod ids;
mod lifecycle;
mod packages;
mod projects;
mod questions;
mod removal;
mod sessions;
mod verify;

use accord_api::parameter::{DOOR, Id, Segment, Text, Word};
use accord_api::params;
use accord_base::Door;
use accord_contract::TextForm;

pub use added::LeftOutItems;
pub use blobs::{BlobHeaders, BlobWithin, GetBlob, OfBlob, PutBlob, StoredBlob};
pub use briefing::{
    Briefing, BriefingAutomatic, BriefingDamaged, BriefingFact, BriefingLeftOut, BriefingPackage,
    BriefingProject, BriefingQuestion, BriefingSession,
};
pub use bundles::{
    BriefingParams, DigestActor, DigestBundle, DigestHighlight, DigestParams, DigestProject,
    DigestSnippet, DigestSummary, Orchestrate, Orient, OrientParams, OrientationBundle,
    ReadBriefing, ReadConformance,
};
pub use events::{
    EventHeaders, EventParams, FollowEvents, ProjectEvent, WatchEvents, WatchHeaders, WatchQuery,
};
pub use export::{
    ExportProject, ExportedLine, ImportCounts, ImportProject, ImportSummary, LineWarning,
    ProgressLine, RefusedLine,
};
pub use facts::{
    AssertFact, AssertParams, FactList, FactParams, FactWithin, InvalidateFact, InvalidateParams,
    InvalidatedFacts, ListFacts, OfFact, ReadFact,
};
pub use ids::{FindIds, IdsEnvelope, MatchingId};
pub use lifecycle::{
    CompletePackage, FlagPackage, ListRevisions, ResubmitPackage, ReviewPackage, RevisionList,
};
pub use packages::{
    Deposit, DepositParams, ListReviews, PackageList, PackageScore, PullHeaders, PullPackages,
    PullParams, ReadPackage, ReviewParams, SearchBy, WriteHeaders,
};
pub use projects::{
    ArchiveProject, ChangeProject, CreateProject, ListProjects, ProjectList, ProjectParams,
    ReadProject, UnarchiveProject,
};
pub use questions::{ListQuestions, Question, QuestionList, QuestionParams};
pub use removal::{RemoveProject, RemovedProjectEnvelope};
pub use sessions::{
    EndSession, ListSessions, OfSession, ReadSession, SessionList, SessionParams, SessionWithin,
    StartSession,
};
pub use verify::{Problem, Suspect, VerifyEnvelope, VerifyReport, VerifyRequest, VerifyStore};

use crate::{PackageId, ProjectId};

params! {
    /// What a project has.
    pub struct InProject {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
    }

    /// A package.
    pub struct OfPackage {
        /// The package's id.
        required package: Segment<PackageId> = Segment::new("package_id");
    }

    /// Which package is meant.
    #[derive(Default)]
    pub struct PackageWithin {
        /// The project; needed if several projects have a package with this id.
        optional project: Id<ProjectId> = Id::new("project_id");
    }

    /// Which package is reviewed, and by which kind of client.
    #[derive(Default)]
    pub struct ReviewWithin {
        /// The project; needed if several projects have a package with this id.
        optional project: Id<ProjectId> = Id::new("project_id");
        /// Which kind of client asks, for the record of a decision. `cli` counts only through the
        /// socket of the data folder.
        optional door: Word<Door> = DOOR;
    }

    /// What the client has.
    pub struct KnownVersions {
        /// Entity tags of versions that the client has.
        optional known: Text = IF_NONE_MATCH;
    }

    /// Which version a change is about.
    pub struct ExpectedVersion {
        /// Entity tags of which the package must have one.
        optional expected: Text = Text::new("if-match", TextForm::ANY);
    }
}

/// The header with the entity tags of versions that a client has.
const IF_NONE_MATCH: Text = Text::new("if-none-match", TextForm::ANY);

/// A path below a project.
macro_rules! at_project {
    ($rest:literal) => {
        concat!("/v1/projects/{project_id}", $rest)
    };
}
use at_project;
