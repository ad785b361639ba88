//! The lifecycle of a package: flag, review, resubmit, complete, and its log.

use accord_base::{Decision, Need};
use accord_contract::codes::{Code, Failure};
use accord_contract::message;
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::{
    self, Change, FlagRequest, Move, MoveRequest, ReviewRequest, Revision,
};
use accord_memory_core::package::PackageFields;
use accord_memory_core::query::PROJECT_ID;
use hyper::StatusCode;

use super::answer::{self, List};
use super::{PathId, Query};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::{Context, Reply};
use accord_serving::table::Content;

message! {
    /// The revisions of a package.
    pub struct RevisionList("RevisionList", open) {
        /// The revisions, oldest first.
        required revisions: Vec<Revision> = "revisions", "revisions";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        change(
            "flag",
            "/v1/packages/{package_id}/flag",
            "Asks for a review of a package.",
            lifecycle::flag,
        )
        .needs(Need::Write)
        .takes(Content::json::<FlagRequest>()),
        change(
            "review",
            "/v1/packages/{package_id}/review",
            "Ends a review of a package. Needs the verb review. If a human review was requested \
             and an agent or a script ends it, the answer has a warning.",
            lifecycle::review,
        )
        .needs(Need::Decide(Decision::PeerReview))
        .takes(Content::json::<ReviewRequest>()),
        change(
            "resubmit",
            "/v1/packages/{package_id}/resubmit",
            "Asks for another review after a revision.",
            |sent| lifecycle::plain(Change::Resubmit, sent),
        )
        .needs(Need::Write)
        .may_take(Content::json::<MoveRequest>()),
        change(
            "complete",
            "/v1/packages/{package_id}/complete",
            "Completes a package without a review.",
            |sent| lifecycle::plain(Change::Complete, sent),
        )
        .needs(Need::Write)
        .may_take(Content::json::<MoveRequest>()),
        Route::get(
            "revisions",
            "/v1/packages/{package_id}/revisions",
            "Lists the revisions of a package.",
            revisions,
        )
        .query(PROJECT_ID, WHOSE)
        .answers(200, "The revisions.", Content::json::<RevisionList>())
        .refuses(&[Code::AgenticPackageNotFound, Code::AgenticAmbiguousPackageId]),
    ]
}

const WHOSE: &str = "The project; needed if several projects have a package with this id.";

/// The route of a change; `read` reads what is asked for.
fn change(
    name: &'static str,
    path: &'static str,
    summary: &'static str,
    read: fn(&[u8]) -> Result<Move, Failure>,
) -> Route {
    let handler = move |Context { host, caller, .. }: Context,
                        PathId(id): PathId<PackageId>,
                        query: Query,
                        Document(sent): Document| async move {
        let within = query.project()?;
        let moved = host.memory().transition(&caller, within, id, read(&sent)?).await?;
        Reply::Ok(answer::package(StatusCode::OK, moved))
    };
    Route::post(name, path, summary, handler)
        .query(PROJECT_ID, WHOSE)
        .answers(200, "The updated package.", Content::json::<PackageFields>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticInvalidTransition,
            Code::AgenticPackageNotFound,
            Code::AgenticAmbiguousPackageId,
            Code::AgenticProjectArchived,
            Code::AgenticIntegrityError,
            Code::XchainNotForWorkers,
        ])
}

async fn revisions(
    Context { host, caller, .. }: Context,
    PathId(id): PathId<PackageId>,
    query: Query,
) -> Reply {
    let within = query.project()?;
    let log = host.memory().revisions(&caller, within, id).await?;
    Ok(List::new("revisions", log.iter().map(String::as_str)).answer())
}
