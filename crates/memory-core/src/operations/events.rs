//! The events of a project, as server-sent events.

use accord_api::body::Events;
use accord_api::parameter::{Definition, Described, Params};
use accord_api::{Need, operation, params};
use accord_contract::wire::Shape;
use accord_contract::{Code, Failure, Timestamp, Value, message};

use super::{InProject, at_project};
use crate::ProjectId;
use crate::limits::MAX_EXACT;

/// The number of an event. The operation itself refuses a wrong one, as a cursor.
pub struct EventNumber(&'static str);

params! {
    /// Where the stream begins.
    pub struct EventParams {
        /// The last event that was received.
        optional after: EventNumber = EventNumber("after");
    }

    /// Where a client resumes.
    pub struct EventHeaders {
        /// The last event that was received; overrides after.
        optional last_event_id: EventNumber = EventNumber("last-event-id");
    }
}

message! {
    /// An event of a project. One that is hidden or damaged has its type alone.
    pub struct ProjectEvent("ProjectEvent", open) {
        /// The type.
        required kind: String = "type", "event-type";
        /// Its number in the project.
        optional seq: u64 = "seq", "sequence";
        /// The project.
        optional project_id: ProjectId = "project_id", "project-id";
        /// When it happened.
        optional at: Timestamp = "at", "time:rfc-3339-utc";
        /// What happened.
        optional data: Value = "data", "event-data";
    }
}

operation! {
    /// Follows the events of a project. Ids increase by one. An event that the caller may not see
    /// has the type hidden, a damaged one the type damaged. Without a cursor the stream begins now;
    /// after 0 it begins with the first event. The removal of the project is its last event and
    /// ends the stream.
    pub struct FollowEvents("events", Get at_project!("/events")) of Agentic {
        path InProject;
        query EventParams;
        headers EventHeaders;
        needs Need::Read;
        answers 200 "The events.", Events<ProjectEvent>;
        refuses [&[Code::AgenticProjectNotFound, Code::AgenticInvalidCursor,
            Code::AgenticEventCursorTooOld, Code::HttpTooManyStreams, Code::HostClosing]];
    }
}

impl Definition for EventNumber {
    type Value = String;

    fn name(&self) -> &'static str {
        self.0
    }

    fn value(&self, params: &Params<'_>) -> Result<Option<String>, Failure> {
        Ok(params.text(self.0).map(str::to_owned))
    }

    fn text(&self, value: &String) -> String {
        value.clone()
    }

    fn described(&self) -> Described {
        let shape = Shape::Integer { minimum: Some(0), maximum: Some(MAX_EXACT) };
        Described { name: self.0, shape, default: None }
    }
}
