//! Which events are read.

use accord_contract::wire::{Limits, TextForm};

use super::request;

const TASK: TextForm = TextForm::ANY.chars(1, 64);

request! {
    /// Which events of a tree are read.
    pub struct EventsRequest("TaskEventsRequest") {
        /// The events after this number. Default: from the first one.
        optional after: u64 = "after", "sequence";
        /// The events of this task.
        optional task_id: String = "task_id", "task-id", Limits::text(TASK);
        /// The most events of the answer. Default: 100.
        optional limit: u64 = "limit", "count", Limits::whole(1, 1_000);
    }
}
