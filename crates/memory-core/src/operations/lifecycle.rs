//! The lifecycle of a package: flag, review, resubmit, complete, and its log.

use accord_api::{Decision, Json, Maybe, Need, Verbatim, operation};
use accord_contract::{Code, message};

use super::{ExpectedVersion, OfPackage, PackageWithin, ReviewWithin};
use crate::lifecycle::{FlagRequest, MoveRequest, ReviewRequest, Revision};
use crate::package::PackageFields;

const OF_CHANGES: &[Code] = &[
    Code::AgenticInvalidSchema,
    Code::AgenticInvalidTransition,
    Code::DecisionStale,
    Code::AgenticPackageNotFound,
    Code::AgenticAmbiguousPackageId,
    Code::AgenticProjectArchived,
    Code::AgenticIntegrityError,
    Code::NotForWorkers,
];

message! {
    /// The revisions of a package.
    pub struct RevisionList("RevisionList", open) {
        /// The revisions, oldest first.
        required revisions: Vec<Revision> = "revisions", "revisions";
    }
}

operation! {
    /// Asks for a review of a package.
    pub struct FlagPackage("flag", Post "/v1/packages/{package_id}/flag") of Agentic {
        path OfPackage;
        query PackageWithin;
        headers ExpectedVersion;
        body Verbatim<FlagRequest>;
        needs Need::Write;
        answers 200 "The updated package.", Json<PackageFields>;
        refuses [OF_CHANGES];
    }

    /// Ends a review of a package. Needs the verb review. If a human review was requested and an
    /// agent or a script ends it, the answer has a warning. The review of a person is recorded as
    /// a decision.
    pub struct ReviewPackage("review", Post "/v1/packages/{package_id}/review") of Agentic {
        path OfPackage;
        query ReviewWithin;
        headers ExpectedVersion;
        body Verbatim<ReviewRequest>;
        needs Need::Decide(Decision::PeerReview);
        answers 200 "The updated package.", Json<PackageFields>;
        refuses [OF_CHANGES];
    }

    /// Asks for another review after a revision.
    pub struct ResubmitPackage("resubmit", Post "/v1/packages/{package_id}/resubmit") of Agentic {
        path OfPackage;
        query PackageWithin;
        headers ExpectedVersion;
        body Maybe<Verbatim<MoveRequest>>;
        needs Need::Write;
        answers 200 "The updated package.", Json<PackageFields>;
        refuses [OF_CHANGES];
    }

    /// Completes a package without a review.
    pub struct CompletePackage("complete", Post "/v1/packages/{package_id}/complete") of Agentic {
        path OfPackage;
        query PackageWithin;
        headers ExpectedVersion;
        body Maybe<Verbatim<MoveRequest>>;
        needs Need::Write;
        answers 200 "The updated package.", Json<PackageFields>;
        refuses [OF_CHANGES];
    }

    /// Lists the revisions of a package.
    pub struct ListRevisions("revisions", Get "/v1/packages/{package_id}/revisions") of Agentic {
        path OfPackage;
        query PackageWithin;
        needs Need::Read;
        answers 200 "The revisions.", Json<RevisionList>;
        refuses [&[Code::AgenticPackageNotFound, Code::AgenticAmbiguousPackageId]];
    }
}
