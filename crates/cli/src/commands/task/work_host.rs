//! The operations of a run, at the host that has the task.
//!
//! A host can stop while an agent works. Then the data folder is opened again: by another host, or
//! by this process.

use std::cell::RefCell;

use accord_api::{Call, Json, Verbatim};
use accord_contract::{Code, Failure};
use accord_tasks::worker::{RunOperations, moved, moves_query};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{
    EndRun, EndRunAnswer, EndRunRequest, Heartbeat, HeartbeatRequest, MessageQuery, RunView,
    SendMessage, ShowQuery, ShowTask, TaskEvents,
};

use super::place::{Place, PlaceArgs};
use crate::host::{Acting, Actor};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// The refusals of a worker's own requests: its key is that of an agent, or it is a worker itself.
const NOT_AS_SCRIPT: [Code; 3] = [Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired];

pub(super) struct WorkHost<'a> {
    args: &'a PlaceArgs,
    place: &'a Place,
    agent: Acting,
    /// The place that was opened after its host stopped.
    again: RefCell<Option<Place>>,
}

impl<'a> WorkHost<'a> {
    pub(super) fn new(args: &'a PlaceArgs, place: &'a Place, agent: &str) -> Result<Self> {
        let agent = Actor::parse(&format!("agent:{agent}")).map_err(CliError::usage)?;
        Ok(Self { args, place, agent: Acting::Named(agent), again: RefCell::new(None) })
    }

    /// Asks the host; if it is gone, the one that has the tasks now.
    fn ask<T>(&self, ask: impl Fn(&Place) -> Result<T>) -> Result<T, Failure> {
        let mut again = self.again.borrow_mut();
        let asked = match ask(again.as_ref().unwrap_or(self.place)) {
            Err(error) if error.code() == Some(Code::HostUnreachable) => {
                self.args.open().and_then(|place| ask(again.insert(place)))
            }
            asked => asked,
        };
        asked.map_err(Failure::from)
    }
}

impl RunOperations for WorkHost<'_> {
    fn heartbeat(&self, task: TaskId, request: &HeartbeatRequest) -> Result<(), Failure> {
        self.ask(|place| {
            let (path, body) = (place.task(&task.to_string())?, Json(request.clone()));
            place.change::<Heartbeat>(path, body, &self.agent).map(drop)
        })
    }

    fn message(&self, text: &str) -> Result<(), Failure> {
        self.ask(|place| {
            let body = Verbatim::new("text/plain; charset=utf-8", text);
            let call = Call::<SendMessage>::new(place.tasks()?, MessageQuery::default(), body);
            place.host.call(&call).map(drop)
        })
    }

    fn last_run(&self, task: TaskId) -> Result<Option<RunView>, Failure> {
        self.ask(|place| {
            let (path, query) = (place.task(&task.to_string())?, ShowQuery { without_body: true });
            Ok(place.host.ask::<ShowTask>(path, query)?.answer.0.result.task.run)
        })
    }

    fn moved_since(&self, task: TaskId, after: Option<u64>) -> Result<(u64, bool), Failure> {
        self.ask(|place| {
            let query = moves_query(task, after);
            Ok(moved(&place.host.ask::<TaskEvents>(place.tasks()?, query)?.answer.0.result))
        })
    }

    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer, Failure> {
        let end = |request: &EndRunRequest, by: &Acting| {
            self.ask(|place| {
                let (path, body) = (place.task(&task.to_string())?, Json(request.clone()));
                Ok(place.change::<EndRun>(path, body, by)?.answer.0.result)
            })
        };
        end_as(end, request, &self.agent)
    }
}

/// Ends a run: what was observed is told by the worker, all else by the agent. What was observed on
/// another machine is told by the agent, too: the host keeps it as words.
pub(super) fn end_as(
    end: impl Fn(&EndRunRequest, &Acting) -> Result<EndRunAnswer, Failure>,
    request: &EndRunRequest,
    agent: &Acting,
) -> Result<EndRunAnswer, Failure> {
    if request.observed.is_none() {
        return end(request, agent);
    }
    // Not as the agent, whose words about its own checks do not count.
    let worker = Actor::parse("script:worker").map_err(CliError::usage)?;
    let worker = Acting::Named(worker);
    let by = if request.uploads == Some(true) { agent } else { &worker };
    match end(request, by) {
        Err(failure) if NOT_AS_SCRIPT.contains(&failure.code) => {
            let why = clean(&failure.message);
            print_note(format!("the sandbox and the checks are not recorded: {why}"));
            end(&EndRunRequest { observed: None, ..request.clone() }, agent)
        }
        ended => ended,
    }
}
