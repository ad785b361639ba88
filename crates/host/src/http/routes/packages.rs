//! Packages: deposit and pull.

use accord_base::Caller;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::Value;
use accord_memory::{PackagePage, SearchBy, Served};
use accord_memory_core::PackageId;
use accord_memory_core::package::PackageFields;
use accord_memory_core::query::{Latest, Pull};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};

use super::answer::{self, List};
use super::{InProject, PathId, Query};
use crate::http::body::Document;
use crate::http::table::{Content, Route};
use crate::http::{Host, Reply};

/// The packages of a project.
const PACKAGES: &str = "/v1/projects/{project_id}/packages";

/// One package.
const PACKAGE: &str = "/v1/packages/{package_id}";

message! {
    /// A page of packages.
    pub struct PackageList("PackageList", open) {
        /// The packages.
        required packages: Vec<PackageFields> = "packages", "packages";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let whose = "The project; needed if several projects have a package with this id.";
    vec![
        Route::post("deposit", PACKAGES, "Deposits a package.", deposit)
            .query("mint", "1: generate an id if the package has none.")
            .takes(Content::json::<PackageFields>())
            .answers(201, "The package is stored.", Content::json::<PackageFields>())
            .answers(200, "The package was stored before.", Content::json::<PackageFields>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticHashMismatch,
                Code::AgenticDuplicatePackageId,
                Code::AgenticProjectArchived,
                Code::AgenticPayloadTooLarge,
            ]),
        Route::get(
            "pull",
            PACKAGES,
            "Reads packages: the latest, those relevant to a query, or one.",
            pull,
        )
        .query("mode", "latest (default), relevant or specific.")
        .query("limit", "The most items, from 1 to 200; default 5.")
        .query("cursor", "latest: `next_cursor` of the previous page.")
        .query("status", "Only packages with this status.")
        .query("session_id", "Only packages of this session.")
        .query("query", "relevant: the words to search for.")
        .query("search", "relevant: keyword, semantic or hybrid; default: the best available.")
        .query("package_id", "specific: the package.")
        .answers(200, "The packages, or the package.", Content::json::<PackageList>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound,
            Code::AgenticSearchNotSupported,
        ]),
        Route::get(
            "reviews",
            "/v1/projects/{project_id}/reviews",
            "Lists the packages that await a review, newest first.",
            reviews,
        )
        .query("limit", "The most items, from 1 to 200; default 50.")
        .query("cursor", "`next_cursor` of the previous page.")
        .answers(200, "The packages.", Content::json::<PackageList>())
        .refuses(&[Code::AgenticInvalidCursor, Code::AgenticProjectNotFound]),
        Route::get("package", PACKAGE, "Reads one package.", specific)
            .query("project_id", whose)
            .header("If-None-Match", "The entity tag of the version that the client has.")
            .answers(200, "The package.", Content::json::<PackageFields>())
            .answers_nothing(304, "The client has the current version.")
            .refuses(&[
                Code::AgenticPackageNotFound,
                Code::AgenticAmbiguousPackageId,
                Code::AgenticIntegrityError,
            ]),
    ]
}

/// Clauses: AGENTIC-A-27.
async fn deposit(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let mint = query.params()?.truth("mint")?;
    let deposited = host.memory().deposit(&caller, &project, sent, mint).await?;
    let status = if deposited.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answer::package(status, deposited.package))
}

async fn pull(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
    headers: HeaderMap,
) -> Reply {
    let (memory, params) = (host.memory(), query.params()?);
    match Pull::parse(&params, &project)? {
        Pull::Latest(asked) => {
            let page = memory.latest(&caller, &project, asked).await?;
            Ok(list(&page))
        }
        Pull::Relevant(asked) => {
            let by = SearchBy::parse(&params)?;
            let page = memory.relevant(&caller, &project, asked, by).await?;
            let scores: Vec<Value> = (page.scores.iter())
                .map(|score| {
                    serde_json::json!({
                        "package_id": score.package_id.as_str(),
                        "score": score.score,
                        "matched": score.matched,
                    })
                })
                .collect();
            let mut list = List::new("packages", texts(&page.packages))
                .with("next_cursor", Value::Null)
                .with("scores", scores)
                .without(&page.damaged);
            if !page.ignored.is_empty() {
                list = list.with("x-ignored_words", page.ignored);
            }
            Ok(list.answer())
        }
        Pull::Specific(id) => {
            let served = memory.package(&caller, Some(project), id).await?;
            Ok(answer::package_unless_known(&headers, served))
        }
    }
}

async fn reviews(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = Latest::reviews(&query.params()?, &project)?;
    let page = host.memory().latest(&caller, &project, asked).await?;
    Ok(list(&page))
}

async fn specific(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    PathId(id): PathId<PackageId>,
    query: Query,
    headers: HeaderMap,
) -> Reply {
    let within = query.project()?;
    let served = host.memory().package(&caller, within, id).await?;
    Ok(answer::package_unless_known(&headers, served))
}

/// A page of packages.
fn list(page: &PackagePage) -> Response {
    List::new("packages", texts(&page.packages))
        .with("next_cursor", page.next_cursor.as_deref())
        .without(&page.damaged)
        .answer()
}

fn texts(packages: &[Served]) -> impl Iterator<Item = &str> {
    packages.iter().map(|package| package.text.as_str())
}
