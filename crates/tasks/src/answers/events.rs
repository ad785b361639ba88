//! Events of a tree.

use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_contract::wire::Object;

message! {
    /// An event of a tree, as its log has it.
    pub struct AofEvent("AofEvent", open) {
        /// Its number. Numbers have no gaps.
        required event_id: u64 = "eventId", "sequence";
        /// Its type.
        required kind: String = "type", "event-type";
        /// When it was.
        required timestamp: Timestamp = "timestamp", "time:iso-8601";
        /// Who acted.
        required actor: String = "actor", "actor-id";
        /// The task that it is about.
        optional task_id: String = "taskId", "task-id";
        /// The details.
        optional payload: Object = "payload", "event-payload";
    }
}

message! {
    /// Events of a tree.
    pub struct EventsAnswer("TaskEventsAnswer", closed) {
        /// The events, in their order.
        required events: Vec<AofEvent> = "events", "events";
        /// The number of the last event of the tree.
        required last_event: u64 = "last_event", "sequence";
        /// Whether more events follow after these.
        required more: bool = "more", "flag";
    }
}
