//! Events of a tree.

use accord_api::parameter::{Flag, Number, Sequence, Text};
use accord_api::{Json, Need, operation, params};
use accord_contract::{Object, TextForm, Timestamp, Value, message};

use super::{COMMON, InProject, NO_TREE, at_tasks, envelope};

params! {
    /// Which events of a tree are read.
    #[derive(Default)]
    pub struct EventsQuery {
        /// The number after which events are read. Default: from the first event.
        optional after: Sequence = Sequence::new("after");
        /// Only events of this task.
        optional task_id: Text = Text::new("task_id", TextForm::ANY.chars(1, 64));
        /// The most events.
        optional limit: Number = Number::new("limit", 1, 1_000).or(DEFAULT_EVENTS);
        /// How long the request waits for an event if there is none yet.
        optional wait_seconds: Number = Number::new("wait_seconds", 0, 30).or(0);
        /// Also the events of other copies of the tree, by their times. `after` is then a number of
        /// events of this order.
        flag copies: Flag = Flag::new("copies");
    }
}

/// The longest text of a list that is said on one line, in bytes.
const SHORT: usize = 300;

/// The events of an answer, unless the request says otherwise.
pub const DEFAULT_EVENTS: u32 = 100;

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
        /// The other copy of the tree that recorded it; absent for this one.
        optional copy: String = "copy", "writer-id";
    }

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

envelope! {
    /// Events of a tree.
    TaskEventsEnvelope("TaskEventsEnvelope") of EventsAnswer;
}

operation! {
    /// Reads the events of the tree after a number, in their order.
    pub struct TaskEvents("task_events", Get at_tasks!("/events")) of Aof {
        path InProject;
        query EventsQuery;
        needs Need::Read;
        answers 200 "The events.", Json<TaskEventsEnvelope>;
        refuses [COMMON, NO_TREE];
    }
}

impl AofEvent {
    /// The statuses before and after, and why, if a task was moved.
    pub fn moved(&self) -> Option<(&str, &str, Option<&str>)> {
        let text = |name: &str| self.payload.as_ref()?.get(name)?.as_str();
        Some((text("from")?, text("to")?, text("reason")))
    }

    /// The details that are texts, lists of short texts, numbers or flags, as `name=value`.
    pub fn details(&self) -> String {
        let members = self.payload.iter().flatten();
        let texts = members.filter_map(|(name, value)| match value {
            Value::String(text) => Some(format!("{name}={text}")),
            Value::Number(_) | Value::Bool(_) => Some(format!("{name}={value}")),
            Value::Array(list) => {
                let short = |value: &Value| {
                    value.as_str().filter(|text| text.len() <= SHORT).map(str::to_owned)
                };
                let texts: Vec<String> = list.iter().map(short).collect::<Option<_>>()?;
                (!texts.is_empty()).then(|| format!("{name}={}", texts.join("; ")))
            }
            _ => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    }
}
