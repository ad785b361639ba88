//! `GET /v1/projects/{project_id}/packages`: the latest packages, the relevant ones, or a single
//! one.

use accord_contract::codes::Failure;

use super::params::{one_of, wrong};
use super::{DEFAULT_LIST, PackagePosition, Params, Terms};
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
    /// The filter.
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
    /// The filter.
    pub filter: PackageFilter,
}

/// A filter for packages.
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
        let limit = params.number("limit", 1..=MAX_PULL, DEFAULT_PULL)?;
        match params.text("mode").unwrap_or("latest") {
            "latest" => Ok(Self::Latest(Latest {
                limit,
                after: after(params, project)?,
                filter: PackageFilter::parse(params)?,
            })),
            "relevant" => {
                let query = params.required("query")?;
                if query.trim().is_empty() {
                    return Err(wrong("query", "is empty"));
                }
                Ok(Self::Relevant(Relevant {
                    query: query.to_owned(),
                    terms: Terms::parse(query)?,
                    limit,
                    filter: PackageFilter::parse(params)?,
                }))
            }
            "specific" => {
                let id = params.required("package_id")?;
                let id =
                    PackageId::new(id).map_err(|error| wrong("package_id", &error.to_string()))?;
                Ok(Self::Specific(id))
            }
            _ => Err(wrong("mode", "must be one of latest, relevant, specific")),
        }
    }
}

impl Latest {
    /// Reads the parameters of the list of packages that await a review.
    ///
    /// Clauses: AGENTIC-R-062.
    pub fn reviews(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        Ok(Self {
            limit: params.number("limit", 1..=MAX_PULL, DEFAULT_LIST)?,
            after: after(params, project)?,
            filter: PackageFilter { status: Some(Status::AwaitingReview), session: None },
        })
    }
}

impl PackageFilter {
    fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let names = one_of(Status::ALL.iter().map(|status| status.as_str()));
        Ok(Self {
            status: params.parsed("status", &names, Status::parse)?,
            session: params
                .parsed("session_id", "a session's id", |text| SessionId::new(text).ok())?,
        })
    }
}

fn after(params: &Params<'_>, project: &ProjectId) -> Result<Option<PackagePosition>, Failure> {
    let cursor = params.text("cursor");
    let place = cursor.map(|text| PackagePosition::decode(text, project));
    place.transpose()
}
