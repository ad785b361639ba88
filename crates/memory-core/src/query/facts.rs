//! `/v1/projects/{project_id}/facts`: lists, invalidations and options of assertions.

use accord_contract::codes::Failure;
use accord_contract::time::Time;

use super::params::{one_of, wrong};
use super::{FactPosition, Params};
use crate::Cursor as _;
use crate::fact::{AssertOptions, OutOfOrder, check_key, check_value};
use crate::{Actor, ActorKey, ProjectId, SessionId};

/// The default size of a page of facts.
pub const DEFAULT_FACTS: u32 = 100;

/// The largest size of a page of facts.
pub const MAX_FACTS: u32 = 1_000;

/// The query for facts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FactQuery {
    /// Those of this subject.
    pub subject: Option<String>,
    /// Those of this predicate.
    pub predicate: Option<String>,
    /// The time at which they hold.
    pub time: FactTime,
    /// The maximum number of results.
    pub limit: u32,
    /// Only those after this position.
    pub after: Option<FactPosition>,
}

/// The time of a query for facts.
///
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

/// The request that invalidates a fact.
///
/// Clauses: AGENTIC-R-098, AGENTIC-A-17.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidateQuery {
    /// What the fact is about.
    pub subject: String,
    /// Which property of it.
    pub predicate: String,
    /// The value that it must have, if given.
    pub value: Option<String>,
    /// The author.
    pub actor: Option<Actor>,
}

impl FactQuery {
    /// Reads the parameters of a list.
    pub fn parse(params: &Params<'_>, project: &ProjectId) -> Result<Self, Failure> {
        let instant = |text: &str| Time::parse_or_date(text).ok();
        let expected = "a time such as 2026-04-18T20:00:00Z, or a day such as 2026-04-18";
        let as_of = params.parsed("as_of", expected, instant)?;
        let at = params.parsed("at", expected, instant)?;
        if as_of.is_some() && at.is_some() && as_of != at {
            return Err(wrong("at", "is another name of as_of, and both are given"));
        }
        let time = match (as_of.or(at), params.truth("history")?) {
            (Some(_), true) => {
                return Err(wrong("history", "asks for all times, and as_of for one"));
            }
            (Some(instant), false) => FactTime::AsOf(instant),
            (None, true) => FactTime::History,
            (None, false) => FactTime::Current,
        };
        let key = |name: &str| -> Result<Option<String>, Failure> {
            let Some(text) = params.text(name) else {
                return Ok(None);
            };
            check_key(&format!("/{name}"), text)?;
            Ok(Some(text.to_owned()))
        };
        Ok(Self {
            subject: key("subject")?,
            predicate: key("predicate")?,
            time,
            limit: params.number("limit", 1..=MAX_FACTS, DEFAULT_FACTS)?,
            after: params
                .text("cursor")
                .map(|text| FactPosition::decode(text, project))
                .transpose()?,
        })
    }
}

impl InvalidateQuery {
    /// Reads the request. Its value may be called `object` or `value`.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let (subject, predicate) = (params.required("subject")?, params.required("predicate")?);
        check_key("/subject", subject)?;
        check_key("/predicate", predicate)?;
        let (object, value) = (params.text("object"), params.text("value"));
        if object.is_some() && value.is_some() && object != value {
            return Err(wrong("object", "is another name of value, and both are given"));
        }
        let value = object.or(value);
        if let Some(value) = value {
            check_value("/object", value)?;
        }
        Ok(Self {
            subject: subject.to_owned(),
            predicate: predicate.to_owned(),
            value: value.map(str::to_owned),
            actor: actor(params)?,
        })
    }
}

/// The author and the session, as query parameters.
fn actor(params: &Params<'_>) -> Result<Option<Actor>, Failure> {
    let key = params
        .parsed("actor", "an actor such as agent:planner", |text| ActorKey::parse(text).ok())?;
    let session =
        params.parsed("session_id", "a session's id", |text| SessionId::new(text).ok())?;
    match (key, session) {
        (None, Some(_)) => Err(wrong("session_id", "is given without an actor")),
        (None, None) => Ok(None),
        (Some(key), session) => {
            let actor = Actor::new(key.id, key.kind);
            Ok(Some(match session {
                Some(session) => actor.in_session(session),
                None => actor,
            }))
        }
    }
}

/// Reads the options of an assertion.
pub fn assert_options(params: &Params<'_>) -> Result<AssertOptions, Failure> {
    let names = one_of(OutOfOrder::ALL.iter().map(|choice| choice.as_str()));
    let choice = params.parsed("if_out_of_order", &names, OutOfOrder::parse)?;
    Ok(AssertOptions {
        if_changed: params.truth("if_changed")?,
        if_out_of_order: choice.unwrap_or(OutOfOrder::Insert),
    })
}
