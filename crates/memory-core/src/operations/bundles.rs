//! Documents that summarise many rows (orient, orchestrate), and the conformance descriptor.

use std::collections::BTreeMap;

use accord_api::body::{Either, Markdown, Text as TextBody};
use accord_api::parameter::{Flag, Id, Number, Text, Word};
use accord_api::{Json, Need, operation, params};
use accord_contract::wire::Number as Score;
use accord_contract::{Code, Timestamp, message};

use super::{Briefing, InProject, at_project};
use crate::conformance::Conformance;
use crate::package::{PackageFields, PackageType};
use crate::query::{
    FOCUS, INCLUDE_ARCHIVED, OrientFormat, PROJECT_ID, RECENT, SNIPPETS, TOKENS, WINDOW_DAYS,
};
use crate::{ActorId, ActorType, Fact, PackageId, Project, ProjectId};

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

    /// The packages of an actor.
    pub struct DigestActor("DigestActor", open) {
        /// The actor.
        required id: ActorId = "id", "actor-id";
        /// The type of the actor.
        required kind: ActorType = "type", "actor-type";
        /// The number of its packages.
        required package_count: u64 = "package_count", "count";
    }

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

    /// A passage of a package about the focus.
    pub struct DigestSnippet("DigestSnippet", open) {
        /// The project that the package belongs to.
        required project_id: ProjectId = "project_id", "project-id";
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// How well it matches; higher is better.
        required score: Score = "score", "score";
        /// The passage.
        required text: String = "text", "text-for-people";
        /// The member that it comes from.
        required field: String = "field", "member-name";
        /// The packages that supersede the package, newest first; absent if there are none.
        optional superseded_by: Vec<PackageId> = "superseded_by", "package-ids";
    }

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

params! {
    /// What an orientation shows.
    #[derive(Default)]
    pub struct OrientParams {
        /// bundle: whole packages. briefing: Markdown, sorted by what matters. briefing-json: the
        /// same as JSON.
        optional format: Word<OrientFormat> = Word::new("format").or(OrientFormat::Bundle);
        /// How many days to look back.
        optional window_days: Number = WINDOW_DAYS;
        /// bundle: the most packages; 20 by default.
        optional limit: Number = RECENT;
        /// briefing: what to show first, in plain words.
        optional focus: Text = FOCUS;
        /// The most tokens. bundle: at least 2000; no limit by default. briefing: 2000 by default.
        optional max_tokens: Number = TOKENS;
    }

    /// What a briefing in Markdown shows.
    #[derive(Default)]
    pub struct BriefingParams {
        /// How many days to look back.
        optional window_days: Number = WINDOW_DAYS;
        /// What to show first, in plain words.
        optional focus: Text = FOCUS;
        /// The most tokens; 2000 by default.
        optional max_tokens: Number = TOKENS;
    }

    /// What a digest shows.
    #[derive(Default)]
    pub struct DigestParams {
        /// The project; default: all projects.
        optional project: Id<ProjectId> = Id::new("project");
        /// The same as project.
        optional project_id: Id<ProjectId> = PROJECT_ID;
        /// What to search for.
        optional focus: Text = FOCUS;
        /// The most snippets about the focus.
        optional snippets: Number = SNIPPETS;
        /// How many days to look back.
        optional window_days: Number = WINDOW_DAYS;
        /// Whether to include archived projects.
        flag include_archived: Flag = INCLUDE_ARCHIVED;
    }
}

const OF_BUNDLES: &[Code] =
    &[Code::AgenticInvalidSchema, Code::AgenticProjectNotFound, Code::AgenticIntegrityError];

operation! {
    /// Reads what a new session needs: recent packages, active facts, open questions.
    pub struct Orient("orient", Get at_project!("/orient")) of Agentic {
        path InProject;
        query OrientParams;
        needs Need::Read;
        answers 200 "The bundle; with format=briefing or briefing-json, the briefing.",
            Either<OrientationBundle, Briefing>;
        or 200 "The briefing.", TextBody<Markdown>;
        refuses [OF_BUNDLES];
    }

    /// Reads the briefing of a project in Markdown, as orient with format=briefing does. Clients
    /// that are generated from a document know one media type for each route.
    pub struct ReadBriefing("briefing", Get at_project!("/briefing")) of Agentic {
        path InProject;
        query BriefingParams;
        needs Need::Read;
        answers 200 "The briefing.", TextBody<Markdown>;
        refuses [OF_BUNDLES];
    }

    /// Reads a digest of one project, or of all projects that the key covers.
    pub struct Orchestrate("orchestrate", Get "/v1/orchestrate") of Agentic {
        query DigestParams;
        needs Need::Read;
        answers 200 "The digest.", Json<DigestBundle>;
        refuses [OF_BUNDLES];
    }

    /// Reads the conformance descriptor: what this server supports.
    pub struct ReadConformance("conformance", Get "/v1/conformance") of Agentic {
        needs Need::Read;
        answers 200 "The descriptor.", Json<Conformance>;
        refuses [];
    }
}
