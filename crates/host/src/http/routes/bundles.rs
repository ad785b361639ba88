//! Documents that summarise many rows (orient, orchestrate), and the conformance descriptor.

use std::collections::BTreeMap;

use accord_base::{ActorId, ActorType, ProjectId};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Number, Wire as _};
use accord_memory_core::conformance::Conformance;
use accord_memory_core::package::{PackageFields, PackageType};
use accord_memory_core::query::{
    BriefingForm, DigestQuery, FOCUS, FORMAT, INCLUDE_ARCHIVED, Orientation, PROJECT, PROJECT_ID,
    RECENT, SNIPPETS, TOKENS, WINDOW_DAYS,
};
use accord_memory_core::{Fact, PackageId, Project};
use axum::extract::State;
use hyper::StatusCode;

use super::briefing::Briefing;
use super::{InProject, Query};
use crate::http::Route;
use crate::http::reply::{MARKDOWN, json, markdown};
use crate::http::{Context, Host, Reply};
use accord_serving::table::Content;

message! {
    /// What a new session needs to know about a project.
    pub struct OrientationBundle("OrientationBundle", open) {
        /// The project.
        required project: Project = "project", "project";
        /// Its newest packages within the window.
        required recent_packages: Vec<PackageFields> = "recent_packages", "packages";
        /// The current facts.
        required active_facts: Vec<Fact> = "active_facts", "facts";
        /// The open questions of the packages within the window.
        required open_questions: Vec<String> = "open_questions", "questions";
        /// The length of the window in days.
        required window_days: u64 = "window_days", "days";
        /// When it was generated.
        required generated_at: Timestamp = "generated_at", "time:rfc-3339-utc";
        /// The superseded ones among the packages: for each id the ids of the packages that
        /// supersede it, newest first.
        optional superseded: BTreeMap<String, Vec<PackageId>> =
            "x-superseded", "superseded-packages";
    }
}

message! {
    /// A digest of a project, or of all projects that a key covers.
    pub struct DigestBundle("DigestBundle", open) {
        /// The project; null for all projects.
        required_or_null project: Project = "project", "project";
        /// project or global.
        required scope: String = "scope", "digest-scope";
        /// The length of the window in days.
        required window_days: u64 = "window_days", "days";
        /// When it was generated.
        required generated_at: Timestamp = "generated_at", "time:rfc-3339-utc";
        /// Numbers and highlights.
        required summary: DigestSummary = "summary", "digest-summary";
        /// The current facts.
        required active_facts: Vec<Fact> = "active_facts", "facts";
        /// The open questions of the packages within the window.
        required open_questions: Vec<String> = "open_questions", "questions";
        /// Passages about the focus.
        required snippets: Vec<DigestSnippet> = "snippets", "snippets";
        /// The numbers of each project.
        required projects: Vec<DigestProject> = "projects", "digest-projects";
    }
}

message! {
    /// Numbers and highlights of a digest.
    pub struct DigestSummary("DigestSummary", open) {
        /// The number of packages.
        required package_count: u64 = "package_count", "count";
        /// The number of packages of each type.
        required by_type: BTreeMap<String, u64> = "by_type", "counts";
        /// The number of packages of each actor.
        required by_actor: Vec<DigestActor> = "by_actor", "counts";
        /// The most significant packages.
        required highlights: Vec<DigestHighlight> = "highlights", "highlights";
    }
}

message! {
    /// The packages of an actor.
    pub struct DigestActor("DigestActor", open) {
        /// The actor.
        required id: ActorId = "id", "actor-id";
        /// The type of the actor.
        required kind: ActorType = "type", "actor-type";
        /// The number of its packages.
        required package_count: u64 = "package_count", "count";
    }
}

message! {
    /// A significant package.
    pub struct DigestHighlight("DigestHighlight", open) {
        /// The project that it belongs to.
        required project_id: ProjectId = "project_id", "project-id";
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// Its title.
        required title: String = "title", "text-for-people";
        /// The type of the package.
        required package_type: PackageType = "package_type", "package-type";
        /// Its significance.
        required significance: u64 = "significance", "significance";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// The packages that supersede it, newest first; absent if there are none.
        optional superseded_by: Vec<PackageId> = "superseded_by", "package-ids";
    }
}

message! {
    /// A passage of a package about the focus.
    pub struct DigestSnippet("DigestSnippet", open) {
        /// The project that the package belongs to.
        required project_id: ProjectId = "project_id", "project-id";
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// How well it matches; higher is better.
        required score: Number = "score", "score";
        /// The passage.
        required text: String = "text", "text-for-people";
        /// The member that it comes from.
        required field: String = "field", "member-name";
        /// The packages that supersede the package, newest first; absent if there are none.
        optional superseded_by: Vec<PackageId> = "superseded_by", "package-ids";
    }
}

message! {
    /// The numbers of a project.
    pub struct DigestProject("DigestProject", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// Its packages within the window.
        required package_count: u64 = "package_count", "count";
        /// Their open questions.
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
            FORMAT,
            "bundle: whole packages. briefing: Markdown, sorted by what matters. briefing-json: \
             the same as JSON.",
        )
        .query(WINDOW_DAYS, "How many days to look back.")
        .query(RECENT, "bundle: the most packages.")
        .query(FOCUS, "briefing: what to show first, in plain words.")
        .query(
            TOKENS,
            "The most tokens. bundle: at least 2000; no limit by default. briefing: 2000 by \
             default.",
        )
        .answers(
            200,
            "The bundle; with format=briefing or briefing-json, the briefing.",
            Content::either::<OrientationBundle, Briefing>(),
        )
        .answers(200, "The briefing.", Content::Text(MARKDOWN))
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticIntegrityError,
        ]),
        Route::get(
            "orchestrate",
            "/v1/orchestrate",
            "Reads a digest of one project, or of all projects that the key covers.",
            orchestrate,
        )
        .query(PROJECT, "The project; default: all projects.")
        .query(PROJECT_ID, "The same as project.")
        .query(FOCUS, "What to search for.")
        .query(SNIPPETS, "The most snippets about the focus.")
        .query(WINDOW_DAYS, "How many days to look back.")
        .query(INCLUDE_ARCHIVED, "Whether to include archived projects.")
        .answers(200, "The digest.", Content::json::<DigestBundle>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticIntegrityError,
        ]),
    ]
}

/// The route of the conformance descriptor.
pub(crate) fn descriptor() -> Vec<Route> {
    vec![
        Route::get(
            "conformance",
            "/v1/conformance",
            "Reads the conformance descriptor: what this server supports.",
            conformance,
        )
        .answers(200, "The descriptor.", Content::json::<Conformance>()),
    ]
}

async fn orient(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = match Orientation::parse(&query.params()?)? {
        Orientation::Bundle(asked) => {
            let bundle = host.memory().orient(&caller, &project, asked).await?;
            return Ok(json(StatusCode::OK, bundle));
        }
        Orientation::Briefing(asked) => asked,
    };
    let form = asked.form;
    let briefing = host.memory().brief(&caller, &project, asked).await?;
    Ok(match form {
        BriefingForm::Markdown => markdown(briefing),
        BriefingForm::Json => json(StatusCode::OK, briefing),
    })
}

async fn orchestrate(Context { host, caller, .. }: Context, query: Query) -> Reply {
    let asked = DigestQuery::parse(&query.params()?)?;
    let digest = host.memory().orchestrate(&caller, asked).await?;
    Ok(json(StatusCode::OK, digest))
}

async fn conformance(State(host): State<Host>) -> Reply {
    let descriptor = host.memory().conformance().await;
    Ok(json(StatusCode::OK, descriptor.encode().to_string()))
}
