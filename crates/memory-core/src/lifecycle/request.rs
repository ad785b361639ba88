//! The requests that change a package.

use accord_contract::{Failure, Limits, Value, Wire as _, message, wire_enum};

use super::{Change, Move};
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_EXACT, TEXT};
use crate::package::{ReviewType, Status};
use crate::{Actor, refuse, text};

wire_enum! {
    // Clauses: AGENTIC-R-058.
    /// The reviewers that a flag can request.
    pub enum Reviewer("Reviewer", closed) {
        /// A person.
        Human = "human",
        /// An agent.
        Agent = "agent",
    }
}

message! {
    /// Asks for a review.
    pub struct FlagRequest("FlagRequest", open) {
        /// The requested reviewer.
        required review_type: Reviewer = "review_type", "review-type";
        /// What to review.
        nullable note: String = "note", "text-for-people", Limits::text(TEXT);
        /// Who requests it.
        nullable actor: Actor = "actor", "actor";
        /// The number of the revision that the change is about. If the package has another one,
        /// the change is refused.
        optional expect: u64 = "x-revision", "sequence", Limits::whole(0, MAX_EXACT);
    }

    /// Ends a review.
    pub struct ReviewRequest("ReviewRequest", open) {
        /// The new status: complete or revision_requested.
        required outcome: Status = "outcome", "package-status";
        /// What the reviewer found.
        nullable note: String = "note", "text-for-people", Limits::text(TEXT);
        /// Who reviewed.
        nullable actor: Actor = "actor", "actor";
        /// The number of the revision that the change is about. If the package has another one,
        /// the change is refused.
        optional expect: u64 = "x-revision", "sequence", Limits::whole(0, MAX_EXACT);
    }

    /// The body of a resubmission or a completion.
    pub struct MoveRequest("MoveRequest", open) {
        /// What was done.
        nullable note: String = "note", "text-for-people", Limits::text(TEXT);
        /// Who did it.
        nullable actor: Actor = "actor", "actor";
        /// The number of the revision that the change is about. If the package has another one,
        /// the change is refused.
        optional expect: u64 = "x-revision", "sequence", Limits::whole(0, MAX_EXACT);
    }
}

impl From<Reviewer> for ReviewType {
    fn from(reviewer: Reviewer) -> Self {
        match reviewer {
            Reviewer::Human => Self::Human,
            Reviewer::Agent => Self::Agent,
        }
    }
}

/// Reads the request for a review.
/// Clauses: AGENTIC-R-059.
pub fn flag(body: &[u8]) -> Result<Move, Failure> {
    let members = text::request(body, MAX_DOCUMENT_BYTES, "actor")?;
    let asked = FlagRequest::from_document(Value::Object(members)).map_err(refuse::decoded)?;
    request(
        Change::Flag(asked.review_type),
        (asked.note.value(), asked.actor.value()),
        asked.expect,
    )
}

pub fn review(body: &[u8]) -> Result<Move, Failure> {
    let members = text::request(body, MAX_DOCUMENT_BYTES, "actor")?;
    let asked = ReviewRequest::from_document(Value::Object(members)).map_err(refuse::decoded)?;
    request(Change::Review(asked.outcome), (asked.note.value(), asked.actor.value()), asked.expect)
}

/// Reads the body of [`Change::Resubmit`] or [`Change::Complete`], which may be empty.
pub fn plain(change: Change, body: &[u8]) -> Result<Move, Failure> {
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    let members = text::request(body, MAX_DOCUMENT_BYTES, "actor")?;
    let asked = MoveRequest::from_document(Value::Object(members)).map_err(refuse::decoded)?;
    request(change, (asked.note.value(), asked.actor.value()), asked.expect)
}

fn request(
    change: Change,
    (note, actor): (Option<&String>, Option<&Actor>),
    revision: Option<u64>,
) -> Result<Move, Failure> {
    if let Some(actor) = actor {
        refuse::check_actor("/actor", actor)?;
    }
    Ok(Move { note: note.cloned(), actor: actor.cloned(), revision, ..Move::new(change) })
}
