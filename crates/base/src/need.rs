//! What an operation needs of its caller.

use crate::Verb;

/// What an operation needs of its caller. Every operation declares one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Need {
    /// Nothing is changed.
    Read,
    /// An agent, a script or a person changes something.
    Write,
    /// Somebody decides about the work of others.
    Decide(Decision),
    /// The host, its keys or the settings of a project are changed.
    Admin,
}

/// The kinds of decisions.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Decision {
    /// A person opens a gate, ends a block, merges, or takes over what Accord refused.
    Approve,
    /// A person ends the review of finished work, or gives it up.
    Review,
    /// An actor of any kind ends a review. The Agentic Protocol lets agents review, too.
    PeerReview,
}

impl Need {
    /// The verb that a key must have.
    pub fn verb(self) -> Verb {
        match self {
            Self::Read => Verb::Read,
            Self::Write => Verb::Write,
            Self::Decide(Decision::Approve) => Verb::Approve,
            Self::Decide(Decision::Review | Decision::PeerReview) => Verb::Review,
            Self::Admin => Verb::Admin,
        }
    }

    /// Whether only a person may do it.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Decide(Decision::Approve | Decision::Review))
    }

    /// Whether it changes something.
    pub fn changes(self) -> bool {
        self != Self::Read
    }
}
