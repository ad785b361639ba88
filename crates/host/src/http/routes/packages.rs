//! Packages: deposit and pull.

use std::collections::BTreeMap;

use accord_base::Need;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{Number, Value, Wire as _};
use accord_memory::{PackagePage, SEARCH, SearchBy, Served};
use accord_memory_core::package::PackageFields;
use accord_memory_core::query::{
    CURSOR, Flag, Latest, MODE, PACKAGE_ID, PAGE_TOKENS, PROJECT_ID, PULL_LIMIT, Pull, QUERY,
    REVIEW_LIMIT, SESSION_ID, STATUS,
};
use accord_memory_core::{PackageId, Warning};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};

use super::answer::{self, IF_NONE_MATCH, List, PAGE_BUDGET};
use super::{InProject, PathId, Query};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::{Context, Reply};
use accord_serving::table::Content;

/// The packages of a project.
const PACKAGES: &str = "/v1/projects/{project_id}/packages";

/// Whether to generate an id for a package that has none.
const MINT: Flag = Flag::new("mint");

/// One package.
const PACKAGE: &str = "/v1/packages/{package_id}";

message! {
    /// A page of packages.
    pub struct PackageList("PackageList", open) {
        /// The packages.
        required packages: Vec<PackageFields> = "packages", "packages";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// relevant: how well each package matches, in the same order.
        optional scores: Vec<PackageScore> = "scores", "scores";
        /// relevant: the kind of search that was done.
        optional searched: SearchBy = "x-search", "search-kind";
        /// relevant: words of the query that were not searched for.
        optional ignored_words: Vec<String> = "x-ignored_words", "words";
        /// relevant: why packages may be missing.
        optional warnings: Vec<Warning> = "warnings", "warnings";
        /// The ids of packages that are left out because they are damaged.
        optional integrity_warnings: Vec<PackageId> = "x-integrity_warnings", "package-ids";
        /// The superseded ones among the packages: for each id the ids of the packages that
        /// supersede it, newest first.
        optional superseded: BTreeMap<String, Vec<PackageId>> =
            "x-superseded", "superseded-packages";
    }
}

message! {
    /// How well a package matches a query.
    pub struct PackageScore("PackageScore", open) {
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// More is better. Scores of the same kind of search can be compared.
        required score: Number = "score", "score";
        /// The words of the query that it contains.
        required matched: Vec<String> = "matched", "words";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let whose = "The project; needed if several projects have a package with this id.";
    vec![
        Route::post("deposit", PACKAGES, "Deposits a package.", deposit)
            .needs(Need::Write)
            .query(MINT, "Whether to generate an id if the package has none.")
            .takes(Content::json::<PackageFields>())
            .answers(201, "The package is stored.", Content::json::<PackageFields>())
            .answers(200, "The package was stored before.", Content::json::<PackageFields>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticHashMismatch,
                Code::AgenticDuplicatePackageId,
                Code::AgenticIntegrityError,
                Code::AgenticProjectNotFound,
                Code::AgenticProjectArchived,
                Code::AgenticPayloadTooLarge,
                Code::XchainNotForWorkers,
            ]),
        Route::get(
            "pull",
            PACKAGES,
            "Reads packages: the latest, those relevant to a query, or one.",
            pull,
        )
        .query(MODE, "What to read: the latest packages, those relevant to a query, or one.")
        .query(PULL_LIMIT, "The most items.")
        .query(CURSOR, "latest: `next_cursor` of the previous page.")
        .query(PAGE_TOKENS, PAGE_BUDGET)
        .query(STATUS, "Only packages with this status.")
        .query(SESSION_ID, "Only packages of this session.")
        .query(QUERY, "relevant: the words to search for.")
        .query(SEARCH, "relevant: the kind of search; default: the best available.")
        .query(PACKAGE_ID, "specific: the package.")
        .header(IF_NONE_MATCH, "specific: entity tags of versions that the client has.")
        .answers(
            200,
            "The packages, or the package.",
            Content::either::<PackageList, PackageFields>(),
        )
        .answers_nothing(304, "specific: the client has the current version.")
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound,
            Code::AgenticSearchNotSupported,
            Code::AgenticSearchUnavailable,
            Code::AgenticIntegrityError,
        ]),
        Route::get(
            "reviews",
            "/v1/projects/{project_id}/reviews",
            "Lists the packages that await a review, newest first.",
            reviews,
        )
        .query(REVIEW_LIMIT, "The most items.")
        .query(CURSOR, "`next_cursor` of the previous page.")
        .query(PAGE_TOKENS, PAGE_BUDGET)
        .answers(200, "The packages.", Content::json::<PackageList>())
        .refuses(&[Code::AgenticInvalidCursor, Code::AgenticProjectNotFound]),
        Route::get("package", PACKAGE, "Reads one package.", specific)
            .query(PROJECT_ID, whose)
            .header(IF_NONE_MATCH, "Entity tags of versions that the client has.")
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
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let mint = MINT.read(&query.params()?)?;
    let deposited = host.memory().deposit(&caller, &project, sent, mint).await?;
    let status = if deposited.new { StatusCode::CREATED } else { StatusCode::OK };
    let response = answer::package(status, deposited.package);
    Ok(accord_serving::reply::naming_new(response, deposited.new_project, &project))
}

async fn pull(
    Context { host, caller, .. }: Context,
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
            let by = SEARCH.read(&params)?;
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
                .with("x-search", page.searched.as_str())
                .without(&page.damaged)
                .marked(&page.superseded);
            if !page.ignored.is_empty() {
                list = list.with("x-ignored_words", page.ignored);
            }
            if !page.warnings.is_empty() {
                let warnings: Vec<Value> = page.warnings.iter().map(Warning::encode).collect();
                list = list.with("warnings", warnings);
            }
            Ok(list.answer())
        }
        Pull::Specific(id) => {
            let pulled = memory.package(&caller, Some(project), id).await?;
            Ok(answer::package_unless_known(&headers, pulled))
        }
    }
}

async fn reviews(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = Latest::reviews(&query.params()?, &project)?;
    let page = host.memory().latest(&caller, &project, asked).await?;
    Ok(list(&page))
}

async fn specific(
    Context { host, caller, .. }: Context,
    PathId(id): PathId<PackageId>,
    query: Query,
    headers: HeaderMap,
) -> Reply {
    let within = query.project()?;
    let pulled = host.memory().package(&caller, within, id).await?;
    Ok(answer::package_unless_known(&headers, pulled))
}

/// A page of packages.
fn list(page: &PackagePage) -> Response {
    List::new("packages", texts(&page.packages))
        .with("next_cursor", page.next_cursor.as_deref())
        .budgeted(page.budgeted.as_ref())
        .without(&page.damaged)
        .marked(&page.superseded)
        .answer()
}

fn texts(packages: &[Served]) -> impl Iterator<Item = &str> {
    packages.iter().map(|package| package.text.as_str())
}
