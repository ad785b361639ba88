//! Warnings about accepted writes and about searches.

use accord_contract::{Object, Value, Wire as _, message};

use crate::package::{ANSWERS, SUPERSEDES};
use crate::{PackageId, SessionId};

/// The member of an answer that has the warnings about it.
pub const WARNINGS: &str = "warnings";

message! {
    /// A warning about an accepted write or a search.
    pub struct Warning("Warning", open) {
        /// A code for programs.
        required code: String = "code", "warning-code";
        /// A description for people.
        required message: String = "message", "text-for-people";
        /// The member or parameter that it concerns.
        required field: String = "field", "member-name";
    }
}

impl Warning {
    fn new(code: &str, field: &str, message: impl Into<String>) -> Self {
        let (code, field, message) = (code.into(), field.into(), message.into());
        Self { code, message, field, extra: Object::new() }
    }

    /// The warnings in a list of JSON, such as that of a header; none if it is something else.
    pub fn read_list(text: &str) -> Vec<Self> {
        let list: Value = serde_json::from_str(text).unwrap_or_default();
        Vec::from_answer(list).unwrap_or_default()
    }

    /// Some warnings did not fit into a header.
    pub fn left_out(count: usize) -> Self {
        let message = format!("{count} more warnings do not fit into the header");
        Self::new("more_warnings", WARNINGS, message)
    }

    /// A named package is not in the project. It may arrive later. Other projects are not searched,
    /// because the key may not cover them.
    pub(crate) fn unknown_package(field: &str, package: &PackageId) -> Self {
        let message = format!("no package {:?} is in this project yet", package.as_str());
        Self::new("unknown_package", field, message)
    }

    /// A named session is not in the project. It may arrive later, for example with an import.
    pub(crate) fn unknown_session(field: &str, session: &SessionId) -> Self {
        let message = format!("no session {:?} is in this project yet", session.as_str());
        Self::new("unknown_session", field, message)
    }

    /// A search was by words alone, because no vector of the query can be made at the moment.
    pub fn words_alone() -> Self {
        let message = "the embeddings server cannot be used at the moment, so this search is by \
                       words alone; try again later to search by meaning, too";
        Self::new("search_by_words_alone", "search", message)
    }

    /// Some packages cannot be found by meaning yet.
    pub fn vectors_missing(missing: u64, packages: u64) -> Self {
        let some = format!("{missing} of {packages} packages");
        let message = format!("{some} have no vectors yet and are found by words alone");
        Self::new("vectors_missing", "search", message)
    }

    /// No package asks the question that an item of `x-answers` names by its text, or the named
    /// package has none at that index.
    pub(crate) fn unknown_question(index: usize) -> Self {
        let message = format!(
            "{ANSWERS}/{index} answers no question of this project; a text must be that of the \
             question, except for case and surrounding space, and an index counts the \
             open_questions of the package from 0"
        );
        Self::new("unknown_question", ANSWERS, message)
    }

    /// An agent's package does not supersede that of a person without a review.
    pub(crate) fn needs_review(package: &PackageId) -> Self {
        let message = format!(
            "{:?} is the package of a person and is not superseded: that takes a package of a \
             person, or one that a person has reviewed; deposit it with the status \
             awaiting_review and the review_type human",
            package.as_str()
        );
        Self::new("human_review_needed", SUPERSEDES, message)
    }

    /// An agent or a script ended a review that was requested from a person.
    pub(crate) fn reviewed_by_machine() -> Self {
        let message = "a person was asked for this review, and no person ended it; give the verb \
                       review to keys of people alone where that must not be";
        Self::new("human_review_ended_by_machine", "actor", message)
    }
}
