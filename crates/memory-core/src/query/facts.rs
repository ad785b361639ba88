//! `/v1/projects/{project_id}/facts`: lists of facts.

use accord_api::parameter::wrong;
use accord_contract::{Failure, Time};

use super::{FactPosition, Number, after};
use crate::ProjectId;
use crate::operations::FactParams;

pub const DEFAULT_FACTS: u32 = 100;
pub const MAX_FACTS: u32 = 1_000;
pub const FACT_LIMIT: Number = Number::new("limit", 1, MAX_FACTS).or(DEFAULT_FACTS);

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FactQuery {
    pub subject: Option<String>,
    pub predicate: Option<String>,
    /// The time at which they hold.
    pub time: FactTime,
    pub limit: u32,
    pub after: Option<FactPosition>,
    pub max_tokens: Option<u32>,
}

/// The time of a query for facts.
/// Clauses: AGENTIC-A-13.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FactTime {
    /// Now: facts that have no end.
    Current,
    /// Facts that held at an instant.
    AsOf(Time),
    /// All times.
    History,
}

impl FactQuery {
    pub fn of(asked: FactParams, project: &ProjectId) -> Result<Self, Failure> {
        let (as_of, at) = (asked.as_of, asked.at);
        if as_of.is_some() && at.is_some() && as_of != at {
            return Err(wrong("at", "is another name of as_of, and both are given"));
        }
        let time = match (as_of.or(at), asked.history) {
            (Some(_), true) => {
                return Err(wrong("history", "asks for all times, and as_of for one"));
            }
            (Some(instant), false) => FactTime::AsOf(instant),
            (None, true) => FactTime::History,
            (None, false) => FactTime::Current,
        };
        Ok(Self {
            subject: asked.subject,
            predicate: asked.predicate,
            time,
            limit: asked.limit.unwrap_or(DEFAULT_FACTS),
            after: after(asked.cursor, project)?,
            max_tokens: asked.max_tokens,
        })
    }
}
