//! A run whose tree is on another machine.
//!
//! Each run has a folder of its own on this machine, laid out as the tree is, in which the agent
//! finds its task and leaves its files. What it leaves is uploaded before its report is sent, so
//! that the report and the outputs come into the tree together.
//!
//! Invariants:
//! - every request names the run, whose id is the fencing token;
//! - a hub that cannot be reached is asked again, and the run is kept alive meanwhile. The agent
//!   works until the lease may be over; how it ended is told whenever the hub answers;
//! - how the agent ended is written down before it is sent, so that a worker that was killed goes
//!   on where it was;
//! - what the hub refuses for good is not sent again: the hub then says what became of the task.

mod fetch;
mod folder;
mod intent;
mod tidy;
mod upload;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use accord_contract::{Code, Value};
use accord_process::Cancel;
use accord_tasks_core::TaskId;
use accord_tasks_core::message::{Detected, Payload, detect};
use accord_tasks_core::operations::{
    AgentExit, EndRunAnswer, EndRunRequest, HeartbeatRequest, OutputsAnswer, OutputsQuery, RunView,
    StageQuery, StagedAnswer,
};

use self::folder::has_report;
use super::operations::{is_away, is_for_now};
use super::{RunOperations, WorkEnd};
use crate::Result;

pub use self::folder::{LeftRun, RemoteFolder, left_runs};
pub use self::intent::ClaimIntent;
pub use self::tidy::tidy;

/// The first and the longest pause before a hub is asked again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// The longest time between two signs of life.
const DAY: Duration = Duration::from_secs(86_400);
/// How often a pause looks whether the work was cancelled.
const STEP: Duration = Duration::from_millis(50);

/// The hub that has the tree of a run.
pub trait Hub: RunOperations {
    /// The files in `outputs/` or `inputs/` of a task.
    fn files(&self, task: TaskId, query: OutputsQuery) -> Result<OutputsAnswer>;

    /// Reads a file of a task from an offset on, piece by piece.
    fn read(
        &self,
        task: TaskId,
        path: &str,
        offset: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()>;

    /// Uploads a part of an output.
    fn stage(&self, task: TaskId, query: StageQuery, piece: Vec<u8>) -> Result<StagedAnswer>;
}

/// A run of an agent on this machine, on a task of a hub.
pub struct RemoteRun<'a> {
    hub: &'a dyn Hub,
    folder: &'a RemoteFolder,
    /// How long a heartbeat lasts.
    alive: Duration,
    /// How often the run sends a sign of life.
    every: Duration,
    next: Cell<Instant>,
    /// Ends the wait for a hub.
    cancel: Cancel,
    /// Says what a person should know.
    note: &'a dyn Fn(String),
    /// The last reason why the hub was asked again.
    said: RefCell<Option<String>>,
    /// Whether the agent has ended: what it left is told however long that takes.
    has_ended: Cell<bool>,
}

impl<'a> RemoteRun<'a> {
    /// A run in its folder, whose heartbeat lasts for a time.
    pub fn new(
        hub: &'a dyn Hub,
        folder: &'a RemoteFolder,
        alive: Duration,
        cancel: Cancel,
        note: &'a dyn Fn(String),
    ) -> Self {
        // A day is longer than any upload.
        let every = (alive / 3).clamp(Duration::from_secs(1), DAY);
        let (next, said) = (Cell::new(Instant::now() + every), RefCell::default());
        let has_ended = Cell::new(false);
        Self { hub, folder, alive, every, next, cancel, note, said, has_ended }
    }

    /// The same run, whose lease was asked for at a time.
    #[must_use]
    pub fn held_since(self, asked: Instant) -> Self {
        self.folder.hold_until(asked.checked_add(self.alive));
        self
    }

    /// Ends a run whose worker was killed, as the worker left it.
    pub fn conclude(&self, left: &LeftRun) -> Result<WorkEnd> {
        let id = left.task;
        super::leftover::end_earlier(self.folder.disk(), id)?;
        let request = left.end.clone().unwrap_or_else(|| EndRunRequest {
            agent: Some(left.agent.clone()),
            run_id: left.run_id.clone(),
            exit: AgentExit::WorkerKilled,
            text: None,
            observed: None,
            uploads: None,
            changes: None,
        });
        match self.end_run(id, &request) {
            Err(failure) if failure.code == Code::AofTaskNotFound => Ok(WorkEnd::Lost(None)),
            ended => ended.map(WorkEnd::from),
        }
    }

    /// Gives the task back: the agent does not start.
    pub fn give_back(&self) -> Result<WorkEnd> {
        let request = EndRunRequest {
            agent: Some(self.folder.agent().to_owned()),
            run_id: self.folder.run_id().to_owned(),
            exit: AgentExit::Cancelled,
            text: None,
            observed: None,
            uploads: None,
            changes: None,
        };
        self.end_run(self.folder.task(), &request).map(WorkEnd::from)
    }

    /// Asks the hub until it answers, or, while the agent works, until the lease may be over.
    fn again<T>(&self, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
        let mut pause = PAUSES.0;
        loop {
            match ask() {
                Err(failure) if is_for_now(&failure) && self.goes_on() => {
                    let is_new = self.said.borrow().as_ref() != Some(&failure.message);
                    if is_new {
                        (self.note)(format!("trying again: {}", failure.message));
                        *self.said.borrow_mut() = Some(failure.message);
                    }
                    self.wait(pause);
                    pause = (pause * 2).min(PAUSES.1);
                }
                answer => {
                    if answer.is_ok() {
                        self.said.borrow_mut().take();
                    }
                    return answer;
                }
            }
        }
    }

    /// Whether a request is worth another try.
    fn goes_on(&self) -> bool {
        let is_lost = !self.has_ended.get() && self.folder.may_be_lost();
        !self.cancel.is_cancelled() && !is_lost
    }

    fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while self.goes_on() && Instant::now() < until {
            std::thread::sleep(STEP);
        }
    }

    /// Sends a sign of life. The lease begins when the hub gets it, and so not before it is sent.
    fn send_beat(&self, request: &HeartbeatRequest) -> Result<()> {
        let sent = Instant::now();
        let beaten = self.hub.heartbeat(self.folder.task(), request);
        if beaten.is_ok() && self.folder.held_until().is_some() {
            self.folder.hold_until(sent.checked_add(self.alive));
        }
        beaten
    }

    /// Says that the hub does not answer while the agent works, or does so again.
    fn heard<T>(&self, answer: Result<T>) -> Result<T> {
        let id = self.folder.task();
        let mut said = self.said.borrow_mut();
        let away = answer.as_ref().err().filter(|failure| is_away(failure.code));
        match away {
            Some(failure) if said.is_none() => {
                let why = &failure.message;
                (self.note)(format!("the server does not answer, the work on {id} goes on: {why}"));
                *said = Some(failure.message.clone());
            }
            None if said.take().is_some() => (self.note)("the server answers again".to_owned()),
            _ => {}
        }
        drop(said);
        answer
    }

    /// Sends a sign of life if one is due. Whether the run may still hold its task.
    fn beat(&self) -> bool {
        if Instant::now() < self.next.get() {
            return true;
        }
        let beaten = self.send_beat(&self.folder.heartbeat());
        self.next.set(Instant::now() + self.every);
        !beaten.is_err_and(|failure| !is_for_now(&failure))
    }

    /// Uploads what the agent left, the report last. What belongs to a run that is over is not
    /// sent: the hub says what became of the task.
    pub fn upload(&self) -> Result<()> {
        match upload::all(self) {
            Err(failure) if is_over(failure.code) => Ok(()),
            uploaded => uploaded,
        }
    }
}

/// Whether the run does not hold its task, or has reported.
fn is_over(code: Code) -> bool {
    use Code::{
        AofRunReported, AofStaleRun, AofTaskNotFound, AofUnassignedTask, AofUnauthorizedAgent,
    };
    let codes =
        [AofRunReported, AofStaleRun, AofTaskNotFound, AofUnassignedTask, AofUnauthorizedAgent];
    codes.contains(&code)
}

impl RunOperations for RemoteRun<'_> {
    fn heartbeat(&self, _: TaskId, request: &HeartbeatRequest) -> Result<()> {
        self.heard(self.send_beat(request))
    }

    fn message(&self, text: &str) -> Result<()> {
        let send = || {
            self.again(|| {
                self.beat();
                self.hub.message(text)
            })
        };
        if !is_report(text) {
            return send();
        }
        self.folder.keep_report(text)?;
        let sent = self.upload().and_then(|()| send());
        if !sent.as_ref().is_err_and(is_for_now) {
            self.folder.drop_report();
        }
        sent
    }

    fn last_run(&self, task: TaskId) -> Result<Option<RunView>> {
        self.hub.last_run(task)
    }

    fn moved_since(&self, task: TaskId, after: Option<u64>) -> Result<(u64, bool)> {
        self.heard(self.hub.moved_since(task, after))
    }

    fn held_until(&self) -> Option<Instant> {
        self.folder.held_until()
    }

    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer> {
        self.has_ended.set(true);
        let mut request = EndRunRequest { uploads: Some(true), ..request.clone() };
        self.folder.remember(&request)?;
        if request.exit == AgentExit::WorkerKilled && self.folder.may_be_lost() {
            let said = "the agent was ended: the server did not answer for as long as the lease of";
            (self.note)(format!("{said} {task} holds"));
        }
        if request.exit != AgentExit::Cancelled {
            self.folder.leave_report()?;
        }
        // Without a report, a failed attempt leaves nothing in the tree.
        let is_wanted = match request.exit {
            AgentExit::Success => true,
            AgentExit::Cancelled => false,
            AgentExit::Failure | AgentExit::WorkerKilled => has_report(self.folder),
        };
        if is_wanted {
            match self.upload() {
                Err(failure) if is_for_now(&failure) => return Err(failure),
                Err(failure) => {
                    // The report was not sent: it is the last file.
                    request.exit = AgentExit::Failure;
                    request.text =
                        Some(format!("the outputs could not be uploaded: {}", failure.message));
                }
                Ok(()) => {}
            }
        }
        self.again(|| self.hub.end_run(task, &request))
    }
}

/// Whether a message is the report of an agent.
pub fn is_report(text: &str) -> bool {
    let event: Value = accord_canon::read(text.as_bytes()).unwrap_or_else(|_| text.into());
    match detect(&event) {
        Detected::Message(message) => matches!(message.payload, Payload::CompletionReport(_)),
        _ => false,
    }
}
