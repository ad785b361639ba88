//! `GET /v1/projects`, and the sessions and questions of a project.

use accord_contract::codes::Failure;

use super::{CURSOR, Flag, Number, PAGE_TOKENS, Params, QuestionPosition, SessionPosition, Text};
use crate::limits::CALLSIGN;
use crate::{Cursor as _, ProjectId, ProjectPosition};

/// The default size of a page.
pub const DEFAULT_LIST: u32 = 50;

/// The largest size of a page.
pub const MAX_LIST: u32 = 200;

/// The maximum number of items of a page.
pub const LIST_LIMIT: Number = Number::new("limit", 1, MAX_LIST).or(DEFAULT_LIST);

/// Whether to include archived projects.
pub const INCLUDE_ARCHIVED: Flag = Flag::new("include_archived");

/// Those of this callsign.
pub const WITH_CALLSIGN: Text = Text::new("callsign", CALLSIGN);

/// Those that have not ended.
pub const ACTIVE: Flag = Flag::new("active");

/// Whether to include answered questions.
pub const ALL_QUESTIONS: Flag = Flag::new("all");

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
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self {
            include_archived: INCLUDE_ARCHIVED.read(params)?,
            limit: LIST_LIMIT.read_or_default(params)?,
            after: params.text(CURSOR.name()).map(ProjectPosition::decode).transpose()?,
            max_tokens: PAGE_TOKENS.read(params)?,
        })
    }
}

impl SessionQuery {
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            callsign: WITH_CALLSIGN.read(params)?.map(str::to_owned),
            active: ACTIVE.read(params)?,
            limit: LIST_LIMIT.read_or_default(params)?,
            after: params
                .text(CURSOR.name())
                .map(|text| SessionPosition::decode(text, project))
                .transpose()?,
            max_tokens: PAGE_TOKENS.read(params)?,
        })
    }
}

impl QuestionQuery {
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            all: ALL_QUESTIONS.read(params)?,
            limit: LIST_LIMIT.read_or_default(params)?,
            after: params
                .text(CURSOR.name())
                .map(|text| QuestionPosition::decode(text, project))
                .transpose()?,
            max_tokens: PAGE_TOKENS.read(params)?,
        })
    }
}
