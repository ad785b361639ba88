//! `/v1/projects/{project_id}/facts`: lists, invalidations and options of assertions.

use accord_api::parameter::wrong;
use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::TextForm;

use super::{
    CURSOR, FactPosition, Flag, Moment, Number, PAGE_TOKENS, Params, SESSION_ID, Text, Word,
};
use crate::Cursor as _;
use crate::fact::{AssertOptions, OutOfOrder};
use crate::limits::{KEY, VALUE};
use crate::{Actor, ActorKey, ProjectId};

/// The default size of a page of facts.
pub const DEFAULT_FACTS: u32 = 100;

/// The largest size of a page of facts.
pub const MAX_FACTS: u32 = 1_000;

/// What facts are about.
pub const SUBJECT: Text = Text::new("subject", KEY);

/// Which property of it.
pub const PREDICATE: Text = Text::new("predicate", KEY);

/// The time at which facts hold.
pub const AS_OF: Moment = Moment::new("as_of");

/// Another name of [`AS_OF`].
pub const AT: Moment = Moment::new("at");

/// Whether to include facts that have ended.
pub const HISTORY: Flag = Flag::new("history");

/// The maximum number of facts.
pub const FACT_LIMIT: Number = Number::new("limit", 1, MAX_FACTS).or(DEFAULT_FACTS);

/// The value that a fact must have.
pub const OBJECT: Text = Text::new("object", VALUE);

/// Another name of [`OBJECT`].
pub const OBJECT_VALUE: Text = Text::new("value", VALUE);

/// The author: a type, a colon and an id.
pub const ACTOR: Text = Text::new(
    "actor",
    TextForm::ANY.pattern(r"^(human|agent|script):[\s\S]*\S").example("agent:planner"),
);

/// Whether to write nothing if the value is current.
pub const IF_CHANGED: Flag = Flag::new("if_changed");

/// What to do with a fact that begins before a known one.
pub const IF_OUT_OF_ORDER: Word<OutOfOrder> = Word::new("if_out_of_order").or(OutOfOrder::Insert);

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
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
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
        let (as_of, at) = (AS_OF.read(params)?, AT.read(params)?);
        if as_of.is_some() && at.is_some() && as_of != at {
            return Err(wrong("at", "is another name of as_of, and both are given"));
        }
        let time = match (as_of.or(at), HISTORY.read(params)?) {
            (Some(_), true) => {
                return Err(wrong("history", "asks for all times, and as_of for one"));
            }
            (Some(instant), false) => FactTime::AsOf(instant),
            (None, true) => FactTime::History,
            (None, false) => FactTime::Current,
        };
        Ok(Self {
            subject: SUBJECT.read(params)?.map(str::to_owned),
            predicate: PREDICATE.read(params)?.map(str::to_owned),
            time,
            limit: FACT_LIMIT.read_or_default(params)?,
            after: params
                .text(CURSOR.name())
                .map(|text| FactPosition::decode(text, project))
                .transpose()?,
            max_tokens: PAGE_TOKENS.read(params)?,
        })
    }
}

impl InvalidateQuery {
    /// Reads the request. Its value may be called `object` or `value`.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let (subject, predicate) = (SUBJECT.required(params)?, PREDICATE.required(params)?);
        let (object, value) = (OBJECT.read(params)?, OBJECT_VALUE.read(params)?);
        if object.is_some() && value.is_some() && object != value {
            return Err(wrong("object", "is another name of value, and both are given"));
        }
        let value = object.or(value);
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
    let key = params.parsed(ACTOR.name(), "an actor such as agent:planner", |text| {
        ActorKey::parse(text).ok()
    })?;
    let session = SESSION_ID.read(params)?;
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
    let choice = IF_OUT_OF_ORDER.read(params)?;
    Ok(AssertOptions {
        if_changed: IF_CHANGED.read(params)?,
        if_out_of_order: choice.unwrap_or(OutOfOrder::Insert),
    })
}
