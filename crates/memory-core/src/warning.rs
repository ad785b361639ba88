//! What is odd about a write that was accepted all the same.

use accord_contract::message;

use crate::{PackageId, SessionId};
use accord_contract::wire::Object;

message! {
    /// What is odd about a write that was accepted.
    pub struct Warning("Warning", open) {
        /// A word for programs.
        required code: String = "code", "warning-code";
        /// What is odd, for people.
        required message: String = "message", "text-for-people";
        /// The member that it is about.
        required field: String = "field", "member-name";
    }
}

impl Warning {
    /// A package is named that is not in the project. It may arrive later; that it may
    /// be in another project is not looked at, since the key may not see that one.
    pub(crate) fn unknown_package(field: &str, package: &PackageId) -> Self {
        Self {
            code: "unknown_package".into(),
            message: format!("no package {:?} is in this project yet", package.as_str()),
            field: field.into(),
            extra: Object::new(),
        }
    }

    /// A session is named that is not in the project. It may arrive later, as with an import.
    pub(crate) fn unknown_session(field: &str, session: &SessionId) -> Self {
        Self {
            code: "unknown_session".into(),
            message: format!("no session {:?} is in this project yet", session.as_str()),
            field: field.into(),
            extra: Object::new(),
        }
    }

    /// A review that a person was asked for was ended by an agent or a script.
    pub(crate) fn reviewed_by_machine() -> Self {
        Self {
            code: "human_review_ended_by_machine".into(),
            message: "a person was asked for this review, and no person ended it; give the verb \
                      review to keys of people alone where that must not be"
                .into(),
            field: "actor".into(),
            extra: Object::new(),
        }
    }
}
