//! `GET /v1/orchestrate`: a digest of projects.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::TextForm;

use super::{INCLUDE_ARCHIVED, Id, MAX_QUERY_BYTES, Number, Params, Terms, Text, WINDOW_DAYS};
use crate::ProjectId;

/// The default number of snippets.
///
/// Clauses: AGENTIC-R-108.
pub const DEFAULT_SNIPPETS: u32 = 25;

/// The largest number of snippets.
pub const MAX_SNIPPETS: u32 = 200;

pub const PROJECT: Id<ProjectId> = Id::new("project");

/// Another name of [`PROJECT`].
pub const PROJECT_ID: Id<ProjectId> = Id::new("project_id");

/// What to look for.
pub const FOCUS: Text = Text::new("focus", TextForm::ANY.bytes(MAX_QUERY_BYTES));

/// The maximum number of snippets.
pub const SNIPPETS: Number = Number::new("snippets", 0, MAX_SNIPPETS).or(DEFAULT_SNIPPETS);

/// The query for a digest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DigestQuery {
    /// The project; all projects of the key if absent.
    pub project: Option<ProjectId>,
    /// What to look for.
    pub focus: Option<Focus>,
    /// The maximum number of snippets.
    pub snippets: u32,
    /// How many days to look back.
    pub window_days: u32,
    /// Whether to include archived projects.
    pub include_archived: bool,
}

/// The focus of a digest or a briefing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Focus {
    /// The text as received, for an embedder.
    pub text: String,
    /// Its words.
    pub terms: Terms,
}

impl Focus {
    /// Reads the parameter `focus`; `None` if it is absent or blank.
    pub(super) fn parse(params: &Params<'_>) -> Result<Option<Self>, Failure> {
        let Some(text) = FOCUS.read(params)?.filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Self { text: text.to_owned(), terms: Terms::parse_at("/focus", text)? }))
    }
}

impl DigestQuery {
    /// Reads the parameters.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let (project, project_id) = (PROJECT.read(params)?, PROJECT_ID.read(params)?);
        Ok(Self {
            project: project.or(project_id),
            focus: Focus::parse(params)?,
            snippets: SNIPPETS.read_or_default(params)?,
            window_days: WINDOW_DAYS.read_or_default(params)?,
            include_archived: INCLUDE_ARCHIVED.read(params)?,
        })
    }

    /// The first instant of the window.
    pub fn since(&self, now: Time) -> Time {
        now.days_before(self.window_days)
    }
}
