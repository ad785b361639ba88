//! The lifecycle of a package: flag, review, resubmit, complete, and its log.

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use accord_contract::message;
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::{
    self, Change, FlagRequest, Move, MoveRequest, ReviewRequest, Revision,
};
use accord_memory_core::package::PackageFields;
use accord_memory_core::query::PROJECT_ID;
use axum::Extension;
use axum::extract::State;
use hyper::StatusCode;

use super::answer::{self, List};
use super::{PathId, Query};
use crate::http::body::Document;
use crate::http::table::{Content, Route};
use crate::http::{Host, Reply};

message! {
    /// The revisions of a package.
    pub struct RevisionList("RevisionList", open) {
        /// The revisions, oldest first.
        required revisions: Vec<Revision> = "revisions", "revisions";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let moves = [
        Route::post(
            "flag",
            "/v1/packages/{package_id}/flag",
            "Asks for a review of a package.",
            flag,
        )
        .takes(Content::json::<FlagRequest>()),
        Route::post(
            "review",
            "/v1/packages/{package_id}/review",
            "Ends a review of a package. Needs the verb review. If a human review was requested \
             and an agent or a script ends it, the answer has a warning.",
            review,
        )
        .takes(Content::json::<ReviewRequest>()),
        Route::post(
            "resubmit",
            "/v1/packages/{package_id}/resubmit",
            "Asks for another review after a revision.",
            resubmit,
        )
        .may_take(Content::json::<MoveRequest>()),
        Route::post(
            "complete",
            "/v1/packages/{package_id}/complete",
            "Completes a package without a review.",
            complete,
        )
        .may_take(Content::json::<MoveRequest>()),
    ];
    let moves = moves.into_iter().map(|route| {
        route
            .query(PROJECT_ID, WHOSE)
            .answers(200, "The updated package.", Content::json::<PackageFields>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticInvalidTransition,
                Code::AgenticPackageNotFound,
                Code::AgenticAmbiguousPackageId,
                Code::AgenticProjectArchived,
                Code::AgenticIntegrityError,
            ])
    });
    let log = Route::get(
        "revisions",
        "/v1/packages/{package_id}/revisions",
        "Lists the revisions of a package.",
        revisions,
    )
    .query(PROJECT_ID, WHOSE)
    .answers(200, "The revisions.", Content::json::<RevisionList>())
    .refuses(&[Code::AgenticPackageNotFound, Code::AgenticAmbiguousPackageId]);
    moves.chain([log]).collect()
}

const WHOSE: &str = "The project; needed if several projects have a package with this id.";

async fn flag(
    host: State<Host>,
    caller: Extension<Caller>,
    id: PathId<PackageId>,
    query: Query,
    Document(sent): Document,
) -> Reply {
    go(host, caller, id, query, lifecycle::flag(&sent)).await
}

async fn review(
    host: State<Host>,
    caller: Extension<Caller>,
    id: PathId<PackageId>,
    query: Query,
    Document(sent): Document,
) -> Reply {
    go(host, caller, id, query, lifecycle::review(&sent)).await
}

async fn resubmit(
    host: State<Host>,
    caller: Extension<Caller>,
    id: PathId<PackageId>,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let asked = lifecycle::plain(Change::Resubmit, &sent);
    go(host, caller, id, query, asked).await
}

async fn complete(
    host: State<Host>,
    caller: Extension<Caller>,
    id: PathId<PackageId>,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let asked = lifecycle::plain(Change::Complete, &sent);
    go(host, caller, id, query, asked).await
}

async fn go(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    PathId(id): PathId<PackageId>,
    query: Query,
    asked: Result<Move, Failure>,
) -> Reply {
    let within = query.project()?;
    let moved = host.memory().transition(&caller, within, id, asked?).await?;
    Ok(answer::package(StatusCode::OK, moved))
}

async fn revisions(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    PathId(id): PathId<PackageId>,
    query: Query,
) -> Reply {
    let within = query.project()?;
    let log = host.memory().revisions(&caller, within, id).await?;
    Ok(List::new("revisions", log.iter().map(String::as_str)).answer())
}
