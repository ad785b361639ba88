//! The ids that begin with a text.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, envelope, message};

use crate::query::IdQuery;

message! {
    /// An id.
    pub struct MatchingId("MatchingId", open) {
        /// The id.
        required id: String = "id", "id";
        /// Its project.
        required project_id: String = "project_id", "project-id";
    }
}

envelope! {
    /// Ids that begin with a text.
    pub struct IdsEnvelope("IdsEnvelope") {
        /// The first ten, in their order.
        required ids: Vec<MatchingId> = "ids", "ids";
        /// Whether there are more.
        required more: bool = "more", "flag";
    }
}

operation! {
    /// Finds ids by their beginning.
    pub struct FindIds("ids", Get "/accord/v1/ids") of Agentic {
        query IdQuery;
        needs Need::Read;
        answers 200 "The ids.", Json<IdsEnvelope>;
        refuses [&[Code::AgenticInvalidSchema, Code::AccessDenied]];
    }
}
