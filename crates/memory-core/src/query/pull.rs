//! `GET /v1/projects/{project_id}/packages`: the latest packages, the relevant ones, or a single
//! one.

use accord_api::parameter::wrong;
use accord_contract::codes::Failure;
use accord_contract::wire::TextForm;
use accord_contract::wire_enum;

use super::{
    CURSOR, DEFAULT_LIST, Id, MAX_QUERY_BYTES, Number, PAGE_TOKENS, PackagePosition, Params, Terms,
    Text, Word,
};
use crate::Cursor as _;
use crate::package::Status;
use crate::{PackageId, ProjectId, SessionId};

/// The default number of packages.
///
/// Clauses: AGENTIC-R-069, AGENTIC-A-38.
pub const DEFAULT_PULL: u32 = 5;

/// The largest number of packages.
///
/// Clauses: AGENTIC-R-071.
pub const MAX_PULL: u32 = 200;

pub const MODE: Word<PullMode> = Word::new("mode").or(PullMode::Latest);

/// The maximum number of packages.
pub const PULL_LIMIT: Number = Number::new("limit", 1, MAX_PULL).or(DEFAULT_PULL);

/// The maximum number of packages that await a review.
pub const REVIEW_LIMIT: Number = Number::new("limit", 1, MAX_PULL).or(DEFAULT_LIST);

/// The query of a search.
pub const QUERY: Text =
    Text::new("query", TextForm::ANY.not_empty().bytes(MAX_QUERY_BYTES).pattern(r"\S"));

/// The package to read.
pub const PACKAGE_ID: Id<PackageId> = Id::new("package_id");

/// Those of this session.
pub const SESSION_ID: Id<SessionId> = Id::new("session_id");

/// Those of this status.
pub const STATUS: Word<Status> = Word::new("status");

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

/// The mode of a pull.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pull {
    /// The newest packages.
    Latest(Latest),
    /// The packages that a query finds, best first.
    Relevant(Relevant),
    /// One package.
    Specific(PackageId),
}

/// The query for the newest packages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Latest {
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<PackagePosition>,
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
    pub filter: PackageFilter,
}

/// The query for relevant packages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Relevant {
    /// The query as received, for an embedder.
    pub query: String,
    /// Its words.
    pub terms: Terms,
    /// The maximum number of results.
    pub limit: u32,
    pub filter: PackageFilter,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageFilter {
    /// Those of this status.
    pub status: Option<Status>,
    /// Those of this session.
    pub session: Option<SessionId>,
}

impl Pull {
    /// Reads the parameters.
    ///
    /// Clauses: AGENTIC-R-075.
    pub fn parse(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        let limit = PULL_LIMIT.read_or_default(params)?;
        let mode = MODE.read(params)?.unwrap_or(PullMode::Latest);
        if mode != PullMode::Latest && params.text("max_tokens").is_some() {
            return Err(wrong("max_tokens", "is for the latest packages"));
        }
        match mode {
            PullMode::Latest => Ok(Self::Latest(Latest {
                limit,
                after: after(params, project)?,
                max_tokens: PAGE_TOKENS.read(params)?,
                filter: PackageFilter::parse(params)?,
            })),
            PullMode::Relevant => {
                let query = QUERY.required(params)?;
                if query.trim().is_empty() {
                    return Err(wrong(QUERY.name(), "is empty"));
                }
                Ok(Self::Relevant(Relevant {
                    query: query.to_owned(),
                    terms: Terms::parse(query)?,
                    limit,
                    filter: PackageFilter::parse(params)?,
                }))
            }
            PullMode::Specific => Ok(Self::Specific(PACKAGE_ID.required(params)?)),
        }
    }
}

impl Latest {
    /// Reads the parameters of the list of packages that await a review.
    ///
    /// Clauses: AGENTIC-R-062.
    pub fn reviews(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            limit: REVIEW_LIMIT.read_or_default(params)?,
            after: after(params, project)?,
            max_tokens: PAGE_TOKENS.read(params)?,
            filter: PackageFilter { status: Some(Status::AwaitingReview), session: None },
        })
    }
}

impl PackageFilter {
    fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self { status: STATUS.read(params)?, session: SESSION_ID.read(params)? })
    }
}

fn after(params: &Params<'_>, project: &ProjectId) -> Result<Option<PackagePosition>, Failure> {
    let cursor = params.text(CURSOR.name());
    let place = cursor.map(|text| PackagePosition::decode(text, project));
    place.transpose()
}
