//! `GET /v1/orchestrate`: of which project, with what in focus.

use accord_contract::codes::Failure;
use accord_contract::time::Time;

use super::orient::window_days;
use super::params::wrong;
use super::{Params, Terms};
use crate::ProjectId;

/// How many snippets a digest gives that does not say.
///
/// Clauses: AGENTIC-R-108.
pub const DEFAULT_SNIPPETS: u32 = 25;

/// The most snippets that a digest gives.
pub const MAX_SNIPPETS: u32 = 200;

/// Asks for a digest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DigestQuery {
    /// Of this project; of all that the key covers where none is named.
    pub project: Option<ProjectId>,
    /// What to look for.
    pub focus: Option<Focus>,
    /// At most so many snippets.
    pub snippets: u32,
    /// How many days to look back.
    pub window_days: u32,
    /// Archived projects, too.
    pub include_archived: bool,
}

/// What a digest looks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Focus {
    /// The text as it came, for an embedder.
    pub text: String,
    /// Its words.
    pub terms: Terms,
}

impl DigestQuery {
    /// Reads what a digest asks for.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let named = params.text("project").or(params.text("project_id"));
        let project = named
            .map(|id| ProjectId::new(id).map_err(|error| wrong("project", &error.to_string())));
        let focus = params.text("focus").filter(|text| !text.trim().is_empty());
        let focus = match focus {
            None => None,
            Some(text) => Some(Focus {
                text: text.to_owned(),
                terms: Terms::parse_at("/focus", text)?,
            }),
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
