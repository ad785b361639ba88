//! The digest of one project or of all projects of a key: counts and highlights of a window, facts,
//! questions, and snippets about a focus. No language model is involved.

use accord_contract::{Time, Value, Wire as _};

use super::left_out::{LeftOut, Reason};
use super::questions::OpenQuestions;
use super::snippet::Excerpt;
use crate::package::{PackageFields, PackageType};
use crate::query::DigestQuery;
use crate::text::{ObjectText, list};
use crate::{ActorKey, Fact, PackageId, Project, ProjectId};

pub const MAX_HIGHLIGHTS: usize = 10;
pub const MAX_DIGEST_FACTS: usize = 200;
/// The member of a highlight or snippet that names the packages that supersede it.
const SUPERSEDED_BY: &str = "superseded_by";

/// The input of a digest. It never includes drafts.
#[derive(Clone, Debug)]
pub struct DigestRows<'a> {
    /// The project; `None` for all that the key covers.
    pub project: Option<&'a Project>,
    pub by_type: &'a [TypeCount],
    pub by_actor: &'a [ActorCount],
    /// The packages of the window that matter most, in the order of [`Highlight::rank`];
    /// at most [`MAX_HIGHLIGHTS`] are used.
    pub highlights: &'a [Highlight],
    /// Current facts, the most recently asserted first; at most [`MAX_DIGEST_FACTS`] are used.
    pub facts: &'a [Fact],
    pub questions: &'a OpenQuestions,
    /// What was found about the focus, best first.
    pub snippets: &'a [Snippet],
    pub projects: &'a [ProjectCount],
    /// The ids of damaged packages of the window, facts and projects, which are left out.
    pub damaged: &'a [String],
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypeCount {
    pub package_type: PackageType,
    pub count: u64,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActorCount {
    pub actor: ActorKey,
    pub count: u64,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Highlight {
    pub project_id: ProjectId,
    pub package_id: PackageId,
    pub title: String,
    pub package_type: PackageType,
    pub significance: u8,
    pub created_at: accord_contract::time::Timestamp,
    /// The packages that supersede it, newest first.
    pub superseded_by: Vec<PackageId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    pub project_id: ProjectId,
    pub package_id: PackageId,
    /// Its score; more is better.
    pub score: f64,
    pub excerpt: Excerpt,
    /// The packages that supersede it, newest first.
    pub superseded_by: Vec<PackageId>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectCount {
    pub project_id: ProjectId,
    pub packages: u64,
    pub open_questions: u64,
    /// Its packages that await a review, of any age.
    pub awaiting_review: u64,
}

impl Highlight {
    pub fn of(package: &PackageFields, superseded_by: Vec<PackageId>) -> Self {
        Self {
            project_id: package.project_id.clone(),
            package_id: package.package_id.clone(),
            title: package.title.as_str().to_owned(),
            package_type: package.package_type.clone(),
            significance: package.significance().number(),
            created_at: package.created_at.clone(),
            superseded_by,
        }
    }

    /// The sort key of highlights, highest first: significance, then age.
    pub fn rank(&self) -> (u8, Time) {
        (self.significance, self.created_at.time())
    }
}

/// Clauses: AGENTIC-R-107, AGENTIC-A-30.
pub fn digest(rows: &DigestRows<'_>, query: &DigestQuery, now: Time) -> String {
    let project = rows.project.map_or(Value::Null, Project::encode);
    let scope = if rows.project.is_some() { "project" } else { "global" };
    let facts = rows.facts.iter().take(MAX_DIGEST_FACTS);
    let questions: Vec<&str> = rows.questions.texts().collect();
    let snippets = rows.snippets.iter().take(query.snippets as usize);
    let mut bundle = ObjectText::new()
        .value("project", project)
        .value("scope", scope)
        .value("window_days", query.window_days)
        .value("generated_at", now.to_string())
        .raw("summary", &summary(rows))
        .raw("active_facts", &list(facts.map(|fact| fact.encode().to_string())))
        .value("open_questions", questions)
        .raw("snippets", &list(snippets.map(snippet)))
        .raw("projects", &list(rows.projects.iter().map(project_count)));
    if !rows.damaged.is_empty() {
        bundle = bundle.value("x-integrity_warnings", rows.damaged);
    }
    let mut said = LeftOut::default();
    if rows.facts.len() > MAX_DIGEST_FACTS {
        said.say("active_facts", Reason::Limit, None);
    }
    if rows.questions.is_cut() {
        said.say("open_questions", Reason::Limit, None);
    }
    said.add_to(bundle).finish()
}

fn summary(rows: &DigestRows<'_>) -> String {
    let mut by_type = ObjectText::new();
    for entry in rows.by_type {
        by_type = by_type.value(entry.package_type.as_str(), entry.count);
    }
    let by_actor = rows.by_actor.iter().map(|entry| {
        ObjectText::new()
            .value("id", entry.actor.id.as_str())
            .value("type", entry.actor.kind.as_str())
            .value("package_count", entry.count)
            .finish()
    });
    let highlights = rows.highlights.iter().take(MAX_HIGHLIGHTS).map(highlight);
    let total: u64 = rows.by_type.iter().map(|entry| entry.count).sum();
    ObjectText::new()
        .value("package_count", total)
        .raw("by_type", &by_type.finish())
        .raw("by_actor", &list(by_actor))
        .raw("highlights", &list(highlights))
        .finish()
}

fn highlight(entry: &Highlight) -> String {
    ObjectText::new()
        .value("project_id", entry.project_id.as_str())
        .value("package_id", entry.package_id.as_str())
        .value("title", entry.title.as_str())
        .value("package_type", entry.package_type.as_str())
        .value("significance", entry.significance)
        .value("created_at", entry.created_at.as_str())
        .optional(SUPERSEDED_BY, superseded_by(&entry.superseded_by))
        .finish()
}

fn snippet(entry: &Snippet) -> String {
    ObjectText::new()
        .value("project_id", entry.project_id.as_str())
        .value("package_id", entry.package_id.as_str())
        .value("score", entry.score)
        .value("text", entry.excerpt.text.as_str())
        .value("field", entry.excerpt.field)
        .optional(SUPERSEDED_BY, superseded_by(&entry.superseded_by))
        .finish()
}

fn superseded_by(packages: &[PackageId]) -> Option<Value> {
    (!packages.is_empty()).then(|| packages.iter().map(PackageId::encode).collect())
}

fn project_count(entry: &ProjectCount) -> String {
    ObjectText::new()
        .value("project_id", entry.project_id.as_str())
        .value("package_count", entry.packages)
        .value("open_question_count", entry.open_questions)
        .value("awaiting_review_count", entry.awaiting_review)
        .finish()
}
