//! Facts: assert, invalidate, list, read.

use accord_api::parameter::{CURSOR, Flag, Id, Moment, Number, Opaque, Segment, Text, Word, wrong};
use accord_api::{Json, Need, Verbatim, operation, params};
use accord_contract::{Code, Failure, TextForm, message};

use super::{InProject, WriteHeaders, at_project};
use crate::fact::{Fact, FactAssertion, OutOfOrder};
use crate::limits::{KEY, VALUE};
use crate::query::{FACT_LIMIT, PAGE_TOKENS, PROJECT_ID};
use crate::{Actor, ActorKey, FactId, ProjectId, SessionId};

const SUBJECT: Text = Text::new("subject", KEY);
const PREDICATE: Text = Text::new("predicate", KEY);

params! {
    /// How a fact is asserted.
    #[derive(Default)]
    pub struct AssertParams {
        /// Whether to write nothing if this value is current.
        flag if_changed: Flag = Flag::new("if_changed");
        /// What to do with a fact that begins before a known one.
        optional if_out_of_order: Word<OutOfOrder> =
            Word::new("if_out_of_order").or(OutOfOrder::Insert);
    }

    /// Which facts are listed.
    #[derive(Default)]
    pub struct FactParams {
        /// Only facts about this subject.
        optional subject: Text = SUBJECT;
        /// Only facts of this predicate.
        optional predicate: Text = PREDICATE;
        /// Facts that were valid at this time or on this day.
        optional as_of: Moment = Moment::new("as_of");
        /// The same as as_of.
        optional at: Moment = Moment::new("at");
        /// Whether to include facts that have ended.
        flag history: Flag = Flag::new("history");
        /// The most items.
        optional limit: Number = FACT_LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
    }

    // Clauses: AGENTIC-R-098, AGENTIC-A-17.
    /// Which fact ends.
    pub struct InvalidateParams {
        /// The subject of the fact.
        required subject: Text = SUBJECT;
        /// The predicate of the fact.
        required predicate: Text = PREDICATE;
        /// Only if this is the current value.
        optional object: Text = Text::new("object", VALUE);
        /// The same as object.
        optional value: Text = Text::new("value", VALUE);
        /// The actor: its type, a colon and its id; default: the actor of the key.
        optional actor: Text = Text::new(
            "actor",
            TextForm::ANY.pattern(r"^(human|agent|script):[\s\S]*\S").example("agent:planner"),
        );
        /// The session of the actor; only with actor.
        optional session_id: Id<SessionId> = Id::new("session_id");
    }

    /// A fact.
    pub struct OfFact {
        /// The fact's id.
        required fact: Segment<FactId> = Segment::new("fact_id");
    }

    /// Which fact is meant.
    #[derive(Default)]
    pub struct FactWithin {
        /// The project; needed if several projects have a fact with this id.
        optional project: Id<ProjectId> = PROJECT_ID;
    }
}

message! {
    /// A page of facts.
    pub struct FactList("FactList", open) {
        /// The facts.
        required facts: Vec<Fact> = "facts", "facts";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// The ids of facts that are left out because they are damaged.
        optional integrity_warnings: Vec<FactId> = "x-integrity_warnings", "fact-ids";
    }

    /// The result of an invalidation.
    pub struct InvalidatedFacts("InvalidatedFacts", open) {
        /// The number of facts that ended: 0 or 1.
        required invalidated: u64 = "invalidated", "count";
    }
}

operation! {
    /// Asserts a fact.
    pub struct AssertFact("assert_fact", Post at_project!("/facts")) of Agentic {
        path InProject;
        query AssertParams;
        headers WriteHeaders;
        body Verbatim<FactAssertion>;
        needs Need::Write;
        answers 201 "The fact is stored.", Json<Fact>;
        also 200 "The fact existed, or the value is current.";
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticDuplicateFactId,
            Code::AgenticFactOutOfOrder, Code::AgenticAmbiguousPackageId,
            Code::AgenticCredentialFound, Code::AgenticIntegrityError,
            Code::AgenticProjectNotFound, Code::AgenticProjectArchived, Code::NotForWorkers,
            Code::WorkFull]];
    }

    /// Lists facts: the current ones, those valid at a time, or all.
    pub struct ListFacts("facts", Get at_project!("/facts")) of Agentic {
        path InProject;
        query FactParams;
        needs Need::Read;
        answers 200 "The facts.", Json<FactList>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound]];
    }

    /// Ends the current fact of a subject and predicate.
    pub struct InvalidateFact("invalidate_fact", Delete at_project!("/facts")) of Agentic {
        path InProject;
        query InvalidateParams;
        needs Need::Write;
        answers 200 "The number of facts that ended.", Json<InvalidatedFacts>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived, Code::NotForWorkers]];
    }

    /// Reads one fact.
    pub struct ReadFact("fact", Get "/v1/facts/{fact_id}") of Agentic {
        path OfFact;
        query FactWithin;
        needs Need::Read;
        answers 200 "The fact.", Json<Fact>;
        refuses [&[Code::AgenticFactNotFound, Code::AgenticAmbiguousFactId,
            Code::AgenticIntegrityError]];
    }
}

impl InvalidateParams {
    /// The value that the fact must have, if one is given, as `object` or as `value`.
    pub fn expected(&self) -> Result<Option<&str>, Failure> {
        match (&self.object, &self.value) {
            (Some(object), Some(value)) if object != value => {
                Err(wrong("object", "is another name of value, and both are given"))
            }
            (object, value) => Ok(object.as_deref().or(value.as_deref())),
        }
    }

    pub fn author(&self) -> Result<Option<Actor>, Failure> {
        let expected = "must be an actor such as agent:planner";
        let key = self.actor.as_deref().map(ActorKey::parse).transpose();
        match (key.map_err(|_| wrong("actor", expected))?, &self.session_id) {
            (None, Some(_)) => Err(wrong("session_id", "is given without an actor")),
            (None, None) => Ok(None),
            (Some(key), None) => Ok(Some(Actor::new(key.id, key.kind))),
            (Some(key), Some(session)) => {
                Ok(Some(Actor::new(key.id, key.kind).in_session(session.clone())))
            }
        }
    }
}
