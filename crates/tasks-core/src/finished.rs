//! What the event of a finished task says about its result, so that others can keep the result
//! without reading the tree. The event never changes, whatever is done to the task later.

use accord_base::excerpt::one_line;
use accord_canon::sha256;
use accord_contract::{Object, Timestamp, Value, Wire as _, message};

use crate::event::{TaskEvent, kind};
use crate::operations::{OutputView, PersonDecision};
use crate::{Status, TaskId};

/// The member of the payload of an event that says a task is done.
pub const RESULT: &str = "result";

/// The most files that an event names.
pub const MOST_FILES: usize = 50;
/// The most earlier decisions that an event repeats, the newest ones.
pub const MOST_SENT_BACK: usize = 10;
/// The longest text that an event repeats, in characters.
const LONGEST: usize = 4_000;
/// The longest title.
const TITLE: usize = 300;

message! {
    /// What a finished task left, in the event that says it is done.
    pub struct FinishedTask("TaskFinished", open) {
        /// What was to be done, in one line.
        required title: String = "title", "text";
        /// Since when the task is done, as its file says.
        required done_at: Timestamp = "done_at", "time:iso-8601";
        /// The agent that reported last. Absent if none did.
        optional agent: String = "agent", "agent-id";
        /// The run of that agent.
        optional run_id: String = "run_id", "run-id";
        /// The summary that the agent left, or its beginning.
        optional summary: String = "summary", "text";
        /// The notes of its report, or their beginning.
        optional notes: String = "notes", "text";
        /// The files in `outputs/`.
        required outputs: Vec<OutputView> = "outputs", "outputs";
        /// How many files are left out of `outputs`.
        required outputs_hidden: u64 = "outputs_hidden", "count";
        /// The other files that the report names, by their paths.
        optional deliverables: Vec<String> = "deliverables", "paths";
        /// Why people wanted more work before, oldest first.
        optional sent_back: Vec<PersonDecision> = "sent_back", "decisions";
    }
}

/// The id of the package in which a memory keeps the result of a task that is done since `at`. It
/// is the same in every copy of the tree.
pub fn package_id(id: TaskId, at: &Timestamp) -> String {
    let record = Value::from(["task.done".to_owned(), id.to_string(), at.to_string()].as_slice());
    format!("pkg_{}", &sha256(record.to_string().as_bytes()).hex()[..32])
}

impl FinishedTask {
    /// The same with texts and lists of the size that an event has.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let short = |text: Option<String>| {
            let text = text?.trim().to_owned();
            let kept = match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            };
            Some(kept).filter(|text| !text.is_empty())
        };
        self.title = one_line(&self.title, TITLE);
        (self.summary, self.notes) = (short(self.summary), short(self.notes));
        let hidden = self.outputs.len().saturating_sub(MOST_FILES);
        self.outputs_hidden += hidden as u64;
        self.outputs.truncate(MOST_FILES);
        if let Some(files) = &mut self.deliverables {
            files.truncate(MOST_FILES);
        }
        if let Some(decisions) = &mut self.sent_back {
            decisions.drain(..decisions.len().saturating_sub(MOST_SENT_BACK));
            for decision in decisions {
                decision.note = short(decision.note.take());
            }
        }
        self.deliverables = self.deliverables.filter(|files| !files.is_empty());
        self.sent_back = self.sent_back.filter(|decisions| !decisions.is_empty());
        self
    }

    /// Adds it to the event that says that its task is done now, if there is one.
    pub fn put_into(&self, events: &mut [TaskEvent]) {
        let last = events.iter_mut().rev().find(|event| {
            let to = event.payload.get("to").and_then(Value::as_str);
            event.kind == kind::TRANSITIONED && to == Some(Status::Done.as_str())
        });
        if let Some(event) = last {
            event.payload.insert(RESULT.to_owned(), self.encode());
        }
    }

    /// What an event says that a task left, if it says that the task is done. Events of earlier
    /// versions and of other programs do not say it.
    pub fn of_event(line: &Object) -> Option<(TaskId, Self)> {
        let id = crate::event::completed_task(line)?;
        let result = line.get("payload")?.get(RESULT)?.clone();
        Some((id, Self::from_document(result).ok()?))
    }
}
