//! The life of a package after its deposit: status and review type move, nothing
//! else does, and every state is in the revision log.
//!
//! Invariants:
//! - nothing leaves `complete`;
//! - a move changes the values of `status` and `review_type` in the text, and no
//!   other byte;
//! - the revision log of a package is never empty: its first entry is the deposit,
//!   its last has the hash of the package as it is.

mod request;
mod revision;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;

pub use request::{FlagRequest, MoveRequest, ReviewRequest, Reviewer, flag, plain, review};
pub use revision::{Revision, check_revisions};

use crate::limits::MAX_REVISIONS;
use crate::package::{ReviewType, Status};
use crate::{Actor, ActorType, Package, Warning};

/// What is asked of a package.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Somebody should review it.
    Flag(Reviewer),
    /// A reviewer says where it goes.
    Review(Status),
    /// Its author has done what the reviewer asked for.
    Resubmit,
    /// Its author is done, and no reviewer is waited for.
    Complete,
}

/// A change that somebody asks for, with what they say about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Move {
    /// The change.
    pub change: Change,
    /// What they say about it.
    pub note: Option<String>,
    /// Who asks.
    pub actor: Option<Actor>,
}

/// What is odd about a move of `package` that is carried out all the same. Who may end a review is
/// for keys to say, with the verb `review`: the protocol asks for a kind of reviewer and leaves it
/// at that.
pub fn oddities(package: &Package, asked: &Move) -> Vec<Warning> {
    let is_machine = |actor: &Actor| actor.kind != ActorType::Human;
    let by_machine = asked.actor.as_ref().is_some_and(is_machine);
    let ends_human_review =
        matches!(asked.change, Change::Review(_)) && package.review_type() == ReviewType::Human;
    match ends_human_review && by_machine {
        true => vec![Warning::reviewed_by_machine()],
        false => Vec::new(),
    }
}

/// What a move leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Transition {
    /// The package is already as it was asked to be.
    Unchanged,
    /// The package in its new state, and the log's next entry.
    Moved {
        /// The package as it is from now on.
        package: Box<Package>,
        /// The entry that belongs behind the last one.
        revision: Box<Revision>,
    },
}

impl Status {
    /// Whether a package may go from this status to that one.
    ///
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

/// Decides a move of `package`, whose log ends with `last`.
///
/// Clauses: AGENTIC-R-055.
///
/// # Errors
/// With `invalid_transition` when the package may not go there, with `too_many_items`
/// when its log is full.
pub fn transition(
    package: &Package,
    last: &Revision,
    asked: &Move,
    now: Time,
) -> Result<Transition, Failure> {
    let (status, review_type) = target(package, asked.change)?;
    let same_state = (status, review_type) == (package.status(), package.review_type());
    // Asked twice, a flag is raised once; another note is worth another entry.
    if same_state && (asked.note.is_none() || asked.note == last.note) {
        return Ok(Transition::Unchanged);
    }
    if status != Status::Complete && last.seq >= MAX_REVISIONS as u64 {
        let message = format!("the package has been moved {MAX_REVISIONS} times; complete it");
        return Err(Failure::new(Code::AgenticTooManyItems, message));
    }
    let package = package.in_state(status, review_type);
    let revision = last.followed_by(&package, asked, now);
    Ok(Transition::Moved {
        package: Box::new(package),
        revision: Box::new(revision),
    })
}

/// The state that a change leads to from the package's own.
///
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
        // Past a reviewer who is waited for, there is no way but the review.
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
