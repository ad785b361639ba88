//! What an operation needs of its caller.

use crate::Verb;

/// What an operation needs of its caller. Every operation declares one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Need {
    /// Nothing is changed.
    Read,
    /// An agent, a script or a person changes something.
    Write,
    /// A work tree of another machine is joined, or sends: in nobody's name, by a person.
    Join,
    /// Somebody decides about the work of others.
    Decide(Decision),
    /// A project or its tasks begin. It takes the verb of [`Need::Admin`].
    Create,
    /// The host, its keys or the settings of a project are changed.
    Admin,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Decision {
    /// A person opens a gate, ends a block, merges, or takes over what Accord refused.
    Approve,
    /// A person replaces or takes back what waits for a person.
    Override,
    /// A person ends the review of finished work, or gives it up.
    Review,
    /// An actor of any kind ends a review. The Agentic Protocol lets agents review, too.
    PeerReview,
    /// An answer to a live session, by a person, or by an agent in its own name.
    Answer,
    /// An answer to a live session, or a mark on an item of the inbox, that only a person may give.
    PersonAnswer,
    SignIn,
    /// A key is made, or records of others are imported.
    Grant,
}

impl Need {
    /// The verb that a key must have.
    pub fn verb(self) -> Verb {
        match self {
            Self::Read => Verb::Read,
            Self::Write | Self::Join => Verb::Write,
            Self::Decide(Decision::Answer | Decision::PersonAnswer | Decision::SignIn) => {
                Verb::Write
            }
            Self::Decide(Decision::Approve | Decision::Override) => Verb::Approve,
            Self::Decide(Decision::Review | Decision::PeerReview) => Verb::Review,
            Self::Create | Self::Admin | Self::Decide(Decision::Grant) => Verb::Admin,
        }
    }

    /// Whether only a person may do it, who is named in the record.
    pub fn is_for_people(self) -> bool {
        use Decision::{Approve, PersonAnswer, Review};
        matches!(self, Self::Decide(Approve | PersonAnswer | Review))
    }
}
