//! The events of a project, as server-sent events.

use accord_api::body::Events;
use accord_api::parameter::{Definition, Described, Id, Opaque, Params};
use accord_api::{Need, operation, params};
use accord_contract::wire::Shape;
use accord_contract::{Code, Failure, TextForm, Timestamp, Value, message};

use super::{InProject, at_project};
use crate::ProjectId;
use crate::limits::MAX_EXACT;

/// A position in all projects, as the host wrote it.
const POSITION: TextForm = TextForm::ANY.chars(1, 200_000);

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

params! {
    /// Which events, and where the stream begins.
    #[derive(Default)]
    pub struct WatchQuery {
        /// Only events of this project. Default: of all projects that the key covers.
        optional project: Id<ProjectId> = Id::new("project");
        /// The id of the last event that was received, which is a position in all projects.
        optional after: Opaque = Opaque::new("after", POSITION);
    }

    /// Where a client resumes.
    #[derive(Default)]
    pub struct WatchHeaders {
        /// The id of the last event that was received; overrides after.
        optional last_event_id: Opaque = Opaque::new("last-event-id", POSITION);
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

operation! {
    /// Watches the events of all projects that the key covers, as one stream. The events of a
    /// project come in its order. Some have an id: a position in all projects, after which a client
    /// resumes. Events that the caller may not see are left out. Without a position the stream
    /// begins now. A project that is created later begins with its first event.
    pub struct WatchEvents("watch_events", Get "/accord/v1/events") of Agentic {
        query WatchQuery;
        headers WatchHeaders;
        needs Need::Read;
        answers 200 "The events.", Events<ProjectEvent>;
        refuses [&[Code::AccessDenied, Code::AgenticProjectNotFound, Code::AgenticInvalidCursor,
            Code::AgenticEventCursorTooOld, Code::WireFieldValue, Code::HttpTooManyStreams,
            Code::HostClosing]];
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
