//! `GET /v1/projects` and `GET /v1/projects/{project_id}/sessions`.

use accord_contract::codes::Failure;

use super::{Params, SessionPosition};
use crate::{Cursor as _, ProjectId, ProjectPosition};

/// The default size of a page.
pub const DEFAULT_LIST: u32 = 50;

/// The largest size of a page.
pub const MAX_LIST: u32 = 200;

/// The query for projects, in the order of their ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectQuery {
    /// Whether to include archived projects.
    pub include_archived: bool,
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<ProjectPosition>,
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
}

impl ProjectQuery {
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self {
            include_archived: params.truth("include_archived")?,
            limit: params.number("limit", 1..=MAX_LIST, DEFAULT_LIST)?,
            after: params.text("cursor").map(ProjectPosition::decode).transpose()?,
        })
    }
}

impl SessionQuery {
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            callsign: params.text("callsign").map(str::to_owned),
            active: params.truth("active")?,
            limit: params.number("limit", 1..=MAX_LIST, DEFAULT_LIST)?,
            after: params
                .text("cursor")
                .map(|text| SessionPosition::decode(text, project))
                .transpose()?,
        })
    }
}
