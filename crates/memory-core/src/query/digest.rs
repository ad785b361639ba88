//! `GET /v1/orchestrate`: a digest of projects.

use accord_contract::codes::Failure;
use accord_contract::time::Time;

use super::orient::window_days;
use super::params::wrong;
use super::{Params, Terms};
use crate::ProjectId;

/// The default number of snippets.
///
/// Clauses: AGENTIC-R-108.
pub const DEFAULT_SNIPPETS: u32 = 25;

/// The largest number of snippets.
pub const MAX_SNIPPETS: u32 = 200;

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

/// The focus of a digest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Focus {
    /// The text as received, for an embedder.
    pub text: String,
    /// Its words.
    pub terms: Terms,
}

impl DigestQuery {
    /// Reads the parameters.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let named = params.text("project").or(params.text("project_id"));
        let project = named
            .map(|id| ProjectId::new(id).map_err(|error| wrong("project", &error.to_string())));
        let focus = params.text("focus").filter(|text| !text.trim().is_empty());
        let focus = match focus {
            None => None,
            Some(text) => {
                Some(Focus { text: text.to_owned(), terms: Terms::parse_at("/focus", text)? })
            }
        };
        Ok(Self {
            project: project.transpose()?,
            focus,
            snippets: params.number("snippets", 0..=MAX_SNIPPETS, DEFAULT_SNIPPETS)?,
            window_days: window_days(params)?,
            include_archived: params.truth("include_archived")?,
        })
    }

    /// The first instant of the window.
    pub fn since(&self, now: Time) -> Time {
        now.days_before(self.window_days)
    }
}
