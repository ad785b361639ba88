//! `GET /v1/projects`, and the sessions and questions of a project.

use accord_contract::Failure;

use super::{Flag, Number, QuestionPosition, SessionPosition, after};
use crate::operations::{ProjectParams, QuestionParams, SessionParams};
use crate::{ProjectId, ProjectPosition};

/// The default size of a page.
pub const DEFAULT_LIST: u32 = 50;

/// The largest size of a page.
pub const MAX_LIST: u32 = 200;

/// The maximum number of items of a page.
pub const LIST_LIMIT: Number = Number::new("limit", 1, MAX_LIST).or(DEFAULT_LIST);

/// Whether to include archived projects.
pub const INCLUDE_ARCHIVED: Flag = Flag::new("include_archived");

/// The query for projects, in the order of their ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectQuery {
    /// Whether to include archived projects.
    pub include_archived: bool,
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<ProjectPosition>,
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
}

/// The query for sessions, newest first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionQuery {
    /// Those of this callsign.
    pub callsign: Option<String>,
    /// Those that have not ended.
    pub active: bool,
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<SessionPosition>,
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
}

/// The query for questions, the newest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuestionQuery {
    /// Whether to include answered ones. Those of drafts are then left out.
    pub all: bool,
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<QuestionPosition>,
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
}

impl ProjectQuery {
    /// What the parameters ask for.
    pub fn of(asked: ProjectParams) -> Result<Self, Failure> {
        Ok(Self {
            include_archived: asked.include_archived,
            limit: asked.limit.unwrap_or(DEFAULT_LIST),
            after: asked.cursor.as_deref().map(ProjectPosition::decode).transpose()?,
            max_tokens: asked.max_tokens,
        })
    }
}

impl SessionQuery {
    /// What the parameters ask for.
    pub fn of(asked: SessionParams, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            callsign: asked.callsign,
            active: asked.active,
            limit: asked.limit.unwrap_or(DEFAULT_LIST),
            after: after(asked.cursor, project)?,
            max_tokens: asked.max_tokens,
        })
    }
}

impl QuestionQuery {
    /// What the parameters ask for.
    pub fn of(asked: QuestionParams, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            all: asked.all,
            limit: asked.limit.unwrap_or(DEFAULT_LIST),
            after: after(asked.cursor, project)?,
            max_tokens: asked.max_tokens,
        })
    }
}
