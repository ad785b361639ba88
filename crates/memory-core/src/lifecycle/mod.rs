//! The life of a package after its deposit. Only its status and review type change, and the
//! revision log has every state.
//!
//! Invariants:
//! - nothing leaves `complete`;
//! - a transition changes the values of `status` and `review_type` in the text, and no other byte;
//! - the revision log of a package is never empty: its first entry is the deposit,
//!   its last has the current hash of the package.

mod decision;
mod request;
mod revision;
mod standing;

use accord_contract::{Code, Failure, Time};

pub use decision::decision;
pub use request::{FlagRequest, MoveRequest, ReviewRequest, Reviewer, flag, plain, review};
pub use revision::{Revision, check_revisions};
pub use standing::{Side, Standing};

use crate::limits::MAX_REVISIONS;
use crate::package::{ReviewType, Status};
use crate::{Actor, ActorType, ContentHash, Package, Warning};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    Flag(Reviewer),
    Review(Status),
    /// Resubmit it after a revision was requested.
    Resubmit,
    /// Complete it without a review.
    Complete,
}

/// The entity tag of a package. The hash alone comes back when a package is in an earlier state
/// again.
pub fn entity_tag(hash: &ContentHash, revision: u64) -> String {
    format!("\"{hash}.{revision}\"")
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Move {
    pub change: Change,
    pub note: Option<String>,
    pub actor: Option<Actor>,
    /// The revision that the change is about.
    pub revision: Option<u64>,
    /// The entity tags of which the package must have one, as in the header If-Match.
    pub tags: Option<String>,
}

impl Move {
    /// A change of whatever state the package is in, by nobody named.
    pub fn new(change: Change) -> Self {
        Self { change, note: None, actor: None, revision: None, tags: None }
    }
}

/// Whether a change ends what a person was asked for, or asks an agent instead.
pub fn is_asked_of_person(package: &Package, asked: &Move) -> bool {
    let is_open = matches!(package.status(), Status::AwaitingReview | Status::RevisionRequested);
    let ends = match asked.change {
        Change::Review(_) | Change::Complete => true,
        Change::Flag(reviewer) => reviewer != Reviewer::Human,
        Change::Resubmit => false,
    };
    is_open && ends && package.review_type() == ReviewType::Human
}

/// Warnings about a transition of `package`, which do not prevent it. The verb `review` of a key
/// decides who may end a review; the protocol only names a kind of reviewer.
pub fn oddities(package: &Package, asked: &Move) -> Vec<Warning> {
    let is_machine = |actor: &Actor| actor.kind != ActorType::Human;
    let by_machine = asked.actor.as_ref().is_some_and(is_machine);
    let ends_human_review =
        matches!(asked.change, Change::Review(_)) && package.review_type() == ReviewType::Human;
    if ends_human_review && by_machine { vec![Warning::reviewed_by_machine()] } else { Vec::new() }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Transition {
    /// The package is in the requested state already.
    Unchanged,
    /// The package in its new state, and the log's next entry.
    Moved { package: Box<Package>, revision: Box<Revision> },
}

impl Status {
    /// Whether a transition between two statuses is allowed.
    /// Clauses: AGENTIC-R-054, AGENTIC-R-060, AGENTIC-R-061.
    pub fn may_become(self, next: Self) -> bool {
        use Status::{AwaitingReview, Complete, Draft, RevisionRequested};
        matches!(
            (self, next),
            (Draft, Complete | AwaitingReview)
                | (AwaitingReview, Complete | RevisionRequested)
                | (RevisionRequested, AwaitingReview | Complete)
        )
    }
}

/// Decides a transition of `package`, whose log ends with `last`. Fails with `decision_stale` when
/// it is about an earlier revision, with `invalid_transition` when the status does not allow it,
/// with `too_many_items` when its log is full.
/// Clauses: AGENTIC-R-055.
pub fn transition(
    package: &Package,
    last: &Revision,
    asked: &Move,
    now: Time,
) -> Result<Transition, Failure> {
    check_current(last, asked)?;
    let (status, review_type) = target(package, asked.change)?;
    let same_state = (status, review_type) == (package.status(), package.review_type());
    // The same flag twice is one entry; another note is another entry.
    if same_state && (asked.note.is_none() || asked.note == last.note) {
        return Ok(Transition::Unchanged);
    }
    // A package with a full log can still be completed, or it would stay open for ever.
    if status != Status::Complete && last.seq >= MAX_REVISIONS as u64 {
        let message = format!("the package has been moved {MAX_REVISIONS} times; complete it");
        return Err(Failure::new(Code::AgenticTooManyItems, message));
    }
    let package = package.in_state(status, review_type);
    let revision = last.followed_by(&package, asked, now);
    Ok(Transition::Moved { package: Box::new(package), revision: Box::new(revision) })
}

/// Refuses a change that is about another revision than the last.
fn check_current(last: &Revision, asked: &Move) -> Result<(), Failure> {
    let tag = entity_tag(&last.content_hash, last.seq);
    // If-Match compares strongly: a weak tag never matches.
    let has_tag =
        |tags: &String| tags.split(',').any(|it| [tag.as_str(), "*"].contains(&it.trim()));
    if asked.revision.is_none_or(|revision| revision == last.seq)
        && asked.tags.as_ref().is_none_or(has_tag)
    {
        return Ok(());
    }
    let named = |actor: &Actor| format!("{}:{}", actor.kind, actor.id);
    let by = last.actor.as_ref().map_or_else(|| "nobody named".to_owned(), named);
    let message = format!(
        "the package is at revision {}: {by} made it {} at {}",
        last.seq, last.status, last.at
    );
    let mut refused = Failure::new(Code::DecisionStale, message)
        .with("revision", last.seq)
        .with("status", last.status.as_str())
        .with("at", last.at.as_str());
    if last.actor.is_some() {
        refused = refused.with("actor", by);
    }
    Err(refused.suggesting("read the package and its revisions again, then decide"))
}

/// The state that a change leads to from the package's own.
/// Clauses: AGENTIC-R-056, AGENTIC-R-066, AGENTIC-A-18, AGENTIC-A-19.
fn target(package: &Package, change: Change) -> Result<(Status, ReviewType), Failure> {
    use Status::{AwaitingReview, Complete, Draft, RevisionRequested};
    let (from, review_type) = (package.status(), package.review_type());
    let (next, allowed) = match change {
        Change::Flag(reviewer) => {
            if from == AwaitingReview || from.may_become(AwaitingReview) {
                return Ok((AwaitingReview, reviewer.into()));
            }
            (AwaitingReview, false)
        }
        Change::Review(outcome) => (outcome, from.may_become(outcome)),
        Change::Resubmit => (AwaitingReview, from == RevisionRequested),
        // While a review is pending, only the review can complete the package.
        Change::Complete => (Complete, matches!(from, Draft | RevisionRequested)),
    };
    if allowed {
        return Ok((next, review_type));
    }
    let message = format!("a package that is {from} cannot become {next} in this way");
    let failure = Failure::new(Code::AgenticInvalidTransition, message)
        .at("/status")
        .with("status", from.as_str());
    Err(match (from, change) {
        (Complete, _) => {
            failure.suggesting("deposit a new package whose parent_package_id names this one")
        }
        (AwaitingReview, Change::Complete) => failure.suggesting("review it instead"),
        _ => failure,
    })
}
