//! `GET /v1/projects`, and the sessions and questions of a project.

use accord_contract::Failure;

use super::{Flag, Number, QuestionPosition, SessionPosition, after};
use crate::operations::{ProjectParams, QuestionParams, SessionParams};
use crate::{ProjectId, ProjectPosition};

pub const DEFAULT_LIST: u32 = 50;
pub const MAX_LIST: u32 = 200;
pub const LIST_LIMIT: Number = Number::new("limit", 1, MAX_LIST).or(DEFAULT_LIST);
pub const INCLUDE_ARCHIVED: Flag = Flag::new("include_archived");

/// The query for projects, in the order of their ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectQuery {
    pub include_archived: bool,
    pub limit: u32,
    pub after: Option<ProjectPosition>,
    pub max_tokens: Option<u32>,
}

/// The query for sessions, newest first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionQuery {
    pub callsign: Option<String>,
    /// Those that have not ended.
    pub active: bool,
    pub limit: u32,
    pub after: Option<SessionPosition>,
    pub max_tokens: Option<u32>,
}

/// The query for questions, the newest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuestionQuery {
    /// Whether to include answered ones. Those of drafts are then left out.
    pub all: bool,
    pub limit: u32,
    pub after: Option<QuestionPosition>,
    pub max_tokens: Option<u32>,
}

impl ProjectQuery {
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
    pub fn of(asked: QuestionParams, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            all: asked.all,
            limit: asked.limit.unwrap_or(DEFAULT_LIST),
            after: after(asked.cursor, project)?,
            max_tokens: asked.max_tokens,
        })
    }
}
