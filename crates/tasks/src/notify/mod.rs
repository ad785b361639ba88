//! Telling people that a task is in review, blocked or done.
//!
//! The event log of a tree is the queue: a [`Notifier`] reads the moves of tasks after its
//! position, sends each to every receiver, and then moves its position. So a notification that was
//! not sent before a crash is sent after it, with the same id, and a slow receiver never delays a
//! commit.
//!
//! Invariants:
//! - a receiver gets each notification at least once, and can tell a repeated one by its id;
//! - at most one notification per task and status in five minutes;
//! - a receiver that fails is tried a few times, then once per notification until it answers
//!   again. The first failure of an outage is an event of the tree.

mod command;
mod position;
mod signature;
mod webhook;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use accord_contract::{Object, Time, Timestamp, Value, Wire as _, message};
use accord_process::Cancel;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::{Status, TaskId};

use crate::event_log::{EventLine, events_after};
use crate::{Result, Tree};

pub use command::CommandReceiver;
pub use signature::{SIGNATURE, signature};
pub use webhook::{DELIVERY, Webhook};

/// How long the same status of a task is not said again.
const REPEAT_SECONDS: i64 = 300;
/// Events of a tree that is new to the notifier are sent if they are not older than this.
const NEWS_SECONDS: i64 = 3_600;
/// How many events are read at once.
const PAGE: usize = 256;
/// How often a receiver is tried, with growing pauses.
const ATTEMPTS: u32 = 4;
/// The first of the pauses.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How often a pause looks whether it was cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

message! {
    /// A notification, as receivers get it.
    pub struct TaskNotification("TaskNotification", open) {
        /// The id of the notification: the same again for a repeated one.
        required id: String = "id", "notification-id";
        /// The project.
        required project_id: String = "projectId", "project-id";
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The title of the task; empty if the task cannot be read any more.
        required title: String = "title", "text";
        /// The status before.
        required from: Status = "from", "status";
        /// The status now.
        required to: Status = "to", "status";
        /// Why.
        optional reason: String = "reason", "text";
        /// Who moved the task.
        required actor: String = "actor", "actor-id";
        /// When.
        required at: Timestamp = "at", "time:iso-8601";
        /// The number of the event in the tree.
        required event: u64 = "event", "sequence";
    }
}

accord_contract::contract_messages! {
    Response;
    TaskNotification = "task-notification",
}

pub trait Receiver: Send {
    /// What it is, for the log.
    fn name(&self) -> &'static str;

    /// Delivers a notification.
    fn deliver(&mut self, notice: &TaskNotification, cancel: &Cancel) -> Result<(), String>;
}

/// A receiver, and whether it answers.
struct Target {
    receiver: Box<dyn Receiver>,
    is_down: bool,
}

/// Sends the notifications of trees to receivers.
pub struct Notifier {
    targets: Vec<Target>,
    /// When a status of a task was said last, by the time of its event.
    said: BTreeMap<(String, TaskId, Status), Time>,
    first_pause: Duration,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sent {
    /// Notifications that every receiver got.
    pub delivered: u64,
    /// Notifications that a receiver did not get.
    pub failed: u64,
    /// Notifications that were left out because the same was said shortly before.
    pub repeated: u64,
}

impl Notifier {
    pub fn new(receivers: Vec<Box<dyn Receiver>>) -> Self {
        let target = |receiver| Target { receiver, is_down: false };
        let targets = receivers.into_iter().map(target).collect();
        Self { targets, said: BTreeMap::new(), first_pause: FIRST_PAUSE }
    }

    /// A notifier that waits this long before it tries a receiver for the second time.
    #[must_use]
    pub fn first_pause(mut self, pause: Duration) -> Self {
        self.first_pause = pause;
        self
    }

    /// Sends what happened in a tree since the last call, in this process or an earlier one. A
    /// receiver that fails is not an error.
    pub fn send(&mut self, tree: &Tree, project: &str, cancel: &Cancel) -> Result<Sent> {
        let now = tree.environment().now();
        let known = position::read(tree)?;
        let is_new = known.is_none();
        let mut place = known.clone().unwrap_or_default();
        let mut sent = Sent::default();
        loop {
            let (lines, next) = events_after(tree, place.clone(), PAGE)?;
            for line in &lines {
                if is_new && line.at.add_seconds(NEWS_SECONDS) < now {
                    continue;
                }
                let Some(notice) = notice(tree, project, line) else { continue };
                if self.is_repeated(&notice) {
                    sent.repeated += 1;
                    continue;
                }
                self.deliver(tree, &notice, cancel, &mut sent);
                if cancel.is_cancelled() {
                    // The notification is sent again by the next process.
                    return Ok(sent);
                }
                position::write(tree, &line.after)?;
            }
            let is_over = lines.len() < PAGE;
            place = next;
            if is_over {
                break;
            }
        }
        if known.as_ref() != Some(&place) {
            position::write(tree, &place)?;
        }
        Ok(sent)
    }

    fn is_repeated(&mut self, notice: &TaskNotification) -> bool {
        let at = notice.at.time();
        self.said.retain(|_, said| said.add_seconds(REPEAT_SECONDS) > at);
        let key = (notice.project_id.clone(), notice.task_id, notice.to);
        if self.said.contains_key(&key) {
            return true;
        }
        self.said.insert(key, at);
        false
    }

    fn deliver(&mut self, tree: &Tree, note: &TaskNotification, cancel: &Cancel, sent: &mut Sent) {
        let mut is_delivered = true;
        for target in &mut self.targets {
            // A receiver that is down must not hold up the others.
            let attempts = if target.is_down { 1 } else { ATTEMPTS };
            match attempt(target.receiver.as_mut(), note, attempts, self.first_pause, cancel) {
                Ok(()) => target.is_down = false,
                Err(_) if cancel.is_cancelled() => return,
                Err(error) => {
                    is_delivered = false;
                    if !std::mem::replace(&mut target.is_down, true) {
                        record_failure(tree, target.receiver.name(), note, &error);
                    }
                }
            }
        }
        let count = if is_delivered { &mut sent.delivered } else { &mut sent.failed };
        *count += 1;
    }
}

fn attempt(
    receiver: &mut dyn Receiver,
    notice: &TaskNotification,
    attempts: u32,
    first_pause: Duration,
    cancel: &Cancel,
) -> Result<(), String> {
    let mut pause = first_pause;
    let mut left = attempts;
    loop {
        left -= 1;
        match receiver.deliver(notice, cancel) {
            Ok(()) => return Ok(()),
            Err(error) if left == 0 || cancel.is_cancelled() => return Err(error),
            Err(_) => wait(pause, cancel),
        }
        pause *= 3;
    }
}

fn wait(pause: Duration, cancel: &Cancel) {
    let end = Instant::now() + pause;
    while !cancel.is_cancelled() && Instant::now() < end {
        std::thread::sleep(CANCEL_CHECK.min(pause));
    }
}

/// Records the first failure of an outage. A tree that cannot be written is reported elsewhere.
fn record_failure(tree: &Tree, receiver: &str, notice: &TaskNotification, error: &str) {
    let now = tree.environment().now();
    let event = TaskEvent::new(kind::NOTIFICATION_FAILED, "system", Some(notice.task_id), now);
    let event = event.with("receiver", receiver).with("error", error).with("event", notice.event);
    drop(tree.change(move |work| {
        work.event(event);
        Ok(())
    }));
}

/// The notification about an event, if people are notified about it.
fn notice(tree: &Tree, project: &str, line: &EventLine) -> Option<TaskNotification> {
    if line.kind != kind::TRANSITIONED {
        return None;
    }
    let payload = line.object.get("payload")?.as_object()?;
    let status = |name: &str| Status::parse(payload.get(name)?.as_str()?);
    let (from, to) = (status("from")?, status("to")?);
    let task_id = TaskId::parse(line.object.get("taskId")?.as_str()?).ok()?;
    if !to.is_notified() {
        return None;
    }
    let actor = line.object.get("actor").and_then(Value::as_str).unwrap_or_default();
    let found = tree.read(move |work| work.find(task_id)).ok().flatten();
    Some(TaskNotification {
        id: format!("{project}:{}", line.number),
        project_id: project.to_owned(),
        task_id,
        title: found.map(|file| file.task().title.clone()).unwrap_or_default(),
        from,
        to,
        reason: payload.get("reason").and_then(Value::as_str).map(str::to_owned),
        actor: actor.to_owned(),
        at: Timestamp::emit(line.at),
        event: line.number,
        extra: Object::new(),
    })
}

fn body(notice: &TaskNotification) -> String {
    notice.encode().to_string()
}
