//! `GET /v1/projects/{project_id}/packages`: the latest packages, the relevant ones, or a single
//! one.

use accord_api::parameter::wrong;
use accord_contract::{Failure, wire_enum};

use super::{DEFAULT_LIST, Number, PackagePosition, Terms, after};
use crate::operations::{PullParams, ReviewParams, SearchBy};
use crate::package::Status;
use crate::{PackageId, ProjectId, SessionId};

/// The default number of packages.
/// Clauses: AGENTIC-R-069, AGENTIC-A-38.
pub const DEFAULT_PULL: u32 = 5;
/// The largest number of packages.
/// Clauses: AGENTIC-R-071.
pub const MAX_PULL: u32 = 200;

pub const PULL_LIMIT: Number = Number::new("limit", 1, MAX_PULL).or(DEFAULT_PULL);
pub const REVIEW_LIMIT: Number = Number::new("limit", 1, MAX_PULL).or(DEFAULT_LIST);

wire_enum! {
    /// The modes of a pull.
    pub enum PullMode("PullMode", closed) {
        /// The newest packages.
        Latest = "latest",
        /// The packages that a query finds.
        Relevant = "relevant",
        /// One package.
        Specific = "specific",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pull {
    Latest(Latest),
    /// The packages that a query finds, best first.
    Relevant(Relevant),
    Specific(PackageId),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Latest {
    pub limit: u32,
    pub after: Option<PackagePosition>,
    pub max_tokens: Option<u32>,
    pub filter: PackageFilter,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Relevant {
    /// The query as received, for an embedder.
    pub query: String,
    pub terms: Terms,
    /// The kind of search; without it, the best kind that the host supports.
    pub by: Option<SearchBy>,
    pub limit: u32,
    pub filter: PackageFilter,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageFilter {
    pub status: Option<Status>,
    pub session: Option<SessionId>,
}

impl Pull {
    /// What the parameters ask for.
    /// Clauses: AGENTIC-R-075.
    pub fn of(asked: PullParams, project: &ProjectId) -> Result<Self, Failure> {
        let limit = asked.limit.unwrap_or(DEFAULT_PULL);
        let mode = asked.mode.unwrap_or(PullMode::Latest);
        if mode != PullMode::Latest && asked.max_tokens.is_some() {
            return Err(wrong("max_tokens", "is for the latest packages"));
        }
        let filter = PackageFilter { status: asked.status, session: asked.session_id };
        match mode {
            PullMode::Latest => Ok(Self::Latest(Latest {
                limit,
                after: after(asked.cursor, project)?,
                max_tokens: asked.max_tokens,
                filter,
            })),
            PullMode::Relevant => {
                let query = asked.query.ok_or_else(|| wrong("query", "is missing"))?;
                if query.trim().is_empty() {
                    return Err(wrong("query", "is empty"));
                }
                let terms = Terms::parse(&query)?;
                Ok(Self::Relevant(Relevant { query, terms, by: asked.search, limit, filter }))
            }
            PullMode::Specific => {
                let id = asked.package_id.ok_or_else(|| wrong("package_id", "is missing"))?;
                Ok(Self::Specific(id))
            }
        }
    }
}

impl Latest {
    /// What the parameters of the list of packages that await a review ask for.
    /// Clauses: AGENTIC-R-062.
    pub fn reviews(asked: ReviewParams, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            limit: asked.limit.unwrap_or(DEFAULT_LIST),
            after: after(asked.cursor, project)?,
            max_tokens: asked.max_tokens,
            filter: PackageFilter { status: Some(Status::AwaitingReview), session: None },
        })
    }
}
