//! `GET /v1/orchestrate`: a digest of projects.

use accord_contract::{Failure, TextForm};

use super::{DEFAULT_WINDOW_DAYS, Id, MAX_QUERY_BYTES, Number, Terms, Text};
use crate::ProjectId;
use crate::operations::DigestParams;

/// The default number of snippets.
/// Clauses: AGENTIC-R-108.
pub const DEFAULT_SNIPPETS: u32 = 25;

pub const MAX_SNIPPETS: u32 = 200;
/// The project that a request means.
pub const PROJECT_ID: Id<ProjectId> = Id::new("project_id");

pub const FOCUS: Text = Text::new("focus", TextForm::ANY.bytes(MAX_QUERY_BYTES));
pub const SNIPPETS: Number = Number::new("snippets", 0, MAX_SNIPPETS).or(DEFAULT_SNIPPETS);

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DigestQuery {
    /// The project; all projects of the key if absent.
    pub project: Option<ProjectId>,
    pub focus: Option<Focus>,
    pub snippets: u32,
    pub window_days: u32,
    pub include_archived: bool,
}

/// The focus of a digest or a briefing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Focus {
    /// The text as received, for an embedder.
    pub text: String,
    pub terms: Terms,
}

impl Focus {
    /// The focus of a text; `None` if it is absent or blank.
    pub(super) fn of(text: Option<String>) -> Result<Option<Self>, Failure> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        Ok(Some(Self { terms: Terms::parse_at("/focus", &text)?, text }))
    }
}

impl DigestQuery {
    pub fn of(asked: DigestParams) -> Result<Self, Failure> {
        Ok(Self {
            project: asked.project.or(asked.project_id),
            focus: Focus::of(asked.focus)?,
            snippets: asked.snippets.unwrap_or(DEFAULT_SNIPPETS),
            window_days: asked.window_days.unwrap_or(DEFAULT_WINDOW_DAYS),
            include_archived: asked.include_archived,
        })
    }
}
