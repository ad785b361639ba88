//! What is put together from many rows: orient and orchestrate; and what the host says that it can do.

use accord_base::{ActorId, ActorType, Caller, ProjectId};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Number, Value, Wire as _};
use accord_memory_core::conformance::Conformance;
use accord_memory_core::package::{PackageFields, PackageType};
use accord_memory_core::query::{DigestQuery, OrientQuery};
use accord_memory_core::{Fact, PackageId, Project};
use axum::Extension;
use axum::extract::State;
use hyper::StatusCode;

use super::{InProject, Query};
use crate::http::reply::json;
use crate::http::table::{Content, Route};
use crate::http::{Host, Reply};

message! {
    /// What somebody needs to begin.
    pub struct OrientationBundle("OrientationBundle", open) {
        /// The project.
        required project: Project = "project", "project";
        /// Its newest packages within the window.
        required recent_packages: Vec<PackageFields> = "recent_packages", "packages";
        /// The facts that have no end.
        required active_facts: Vec<Fact> = "active_facts", "facts";
        /// The questions that the packages of the window leave open.
        required open_questions: Vec<String> = "open_questions", "questions";
        /// How many days it looks back.
        required window_days: u64 = "window_days", "days";
        /// When it was put together.
        required generated_at: Timestamp = "generated_at", "time:rfc-3339-utc";
    }
}

message! {
    /// What happened in a project, or in all that a key covers.
    pub struct DigestBundle("DigestBundle", open) {
        /// The project; null for all of them.
        required_or_null project: Project = "project", "project";
        /// project or global.
        required scope: String = "scope", "digest-scope";
        /// How many days it looks back.
        required window_days: u64 = "window_days", "days";
        /// When it was put together.
        required generated_at: Timestamp = "generated_at", "time:rfc-3339-utc";
        /// What was done, in numbers, and what of it matters most.
        required summary: DigestSummary = "summary", "digest-summary";
        /// The facts that have no end.
        required active_facts: Vec<Fact> = "active_facts", "facts";
        /// The questions that the packages of the window leave open.
        required open_questions: Vec<String> = "open_questions", "questions";
        /// What there is about the focus.
        required snippets: Vec<DigestSnippet> = "snippets", "snippets";
        /// What each project has.
        required projects: Vec<DigestProject> = "projects", "digest-projects";
    }
}

message! {
    /// What was done, in numbers, and what of it matters most.
    pub struct DigestSummary("DigestSummary", open) {
        /// How many packages were made.
        required package_count: u64 = "package_count", "count";
        /// How many of each type.
        required by_type: Value = "by_type", "counts";
        /// How many by each actor.
        required by_actor: Vec<DigestActor> = "by_actor", "counts";
        /// What matters most.
        required highlights: Vec<DigestHighlight> = "highlights", "highlights";
    }
}

message! {
    /// What an actor did.
    pub struct DigestActor("DigestActor", open) {
        /// The actor.
        required id: ActorId = "id", "actor-id";
        /// What kind of actor it is.
        required kind: ActorType = "type", "actor-type";
        /// How many packages it made.
        required package_count: u64 = "package_count", "count";
    }
}

message! {
    /// A package that matters.
    pub struct DigestHighlight("DigestHighlight", open) {
        /// The project that it belongs to.
        required project_id: ProjectId = "project_id", "project-id";
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// What it is about.
        required title: String = "title", "text-for-people";
        /// What kind of package it is.
        required package_type: PackageType = "package_type", "package-type";
        /// How much it matters.
        required significance: u64 = "significance", "significance";
        /// When it was made.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
    }
}

message! {
    /// A part of a package about the focus.
    pub struct DigestSnippet("DigestSnippet", open) {
        /// The project that the package belongs to.
        required project_id: ProjectId = "project_id", "project-id";
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// How well it fits; more is better.
        required score: Number = "score", "score";
        /// The part.
        required text: String = "text", "text-for-people";
        /// The member that it is from.
        required field: String = "field", "member-name";
    }
}

message! {
    /// What a project has.
    pub struct DigestProject("DigestProject", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// Its packages within the window.
        required package_count: u64 = "package_count", "count";
        /// The questions that they leave open.
        required open_question_count: u64 = "open_question_count", "count";
        /// Its packages that await a review.
        required awaiting_review_count: u64 = "awaiting_review_count", "count";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "orient",
            "/v1/projects/{project_id}/orient",
            "Reads what a new session needs: recent packages, active facts, open questions.",
            orient,
        )
        .query(
            "window_days",
            "How many days to look back, from 1 to 3660; 14 where it does not say.",
        )
        .query(
            "limit",
            "At most so many packages, from 1 to 200; 20 where it does not say.",
        )
        .query("max_tokens", "At most so many tokens, from 2000 on.")
        .answers(
            200,
            "The orientation.",
            Content::json::<OrientationBundle>(),
        )
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticIntegrityError,
        ]),
        Route::get(
            "orchestrate",
            "/v1/orchestrate",
            "Reads a digest of one project, or of all that the key covers.",
            orchestrate,
        )
        .query("project", "The project; all of them where it does not say.")
        .query("project_id", "The same as project.")
        .query("focus", "What to look for.")
        .query(
            "snippets",
            "At most so many snippets about the focus, from 0 to 200; 25 where it does not say.",
        )
        .query(
            "window_days",
            "How many days to look back, from 1 to 3660; 14 where it does not say.",
        )
        .query("include_archived", "true: archived projects, too.")
        .answers(200, "The digest.", Content::json::<DigestBundle>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticIntegrityError,
        ]),
        Route::get(
            "conformance",
            "/v1/conformance",
            "Reads what this server says that it can do.",
            conformance,
        )
        .answers(200, "The descriptor.", Content::json::<Conformance>()),
    ]
}

async fn orient(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = OrientQuery::parse(&query.params()?)?;
    let bundle = host.memory().orient(&caller, &project, asked).await?;
    Ok(json(StatusCode::OK, bundle))
}

async fn orchestrate(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Reply {
    let asked = DigestQuery::parse(&query.params()?)?;
    let digest = host.memory().orchestrate(&caller, asked).await?;
    Ok(json(StatusCode::OK, digest))
}

async fn conformance(State(host): State<Host>) -> Reply {
    let descriptor = host.memory().conformance();
    Ok(json(StatusCode::OK, descriptor.encode().to_string()))
}
