//! The hub that has the tasks of a worker on another machine, as the worker asks it.

use std::time::Duration;

use accord_api::body::{AnswerBody, Bytes};
use accord_api::{Call, Encoded, Json, NoBody, Operation, Verbatim};
use accord_base::ProjectId;
use accord_contract::{Code, Failure};
use accord_tasks::worker::{Hub, RunOperations, moved, moves_query};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{
    Acting as Who, BriefingAnswer, BriefingQuery, EndRun, EndRunAnswer, EndRunRequest, FileQuery,
    Formatted, Heartbeat, HeartbeatRequest, InProject, MessageQuery, OfTask, OutputsAnswer,
    OutputsQuery, ReadTaskFile, RunView, SendMessage, ShowQuery, ShowTask, StageOutput, StageQuery,
    StagedAnswer, TaskBriefing, TaskBriefingEnvelope, TaskEvents, TaskOutputs,
};
use axum::body::Body;

use super::place::document;
use super::work_host::end_as;
use crate::CliError;
use crate::Result;
use crate::host::{Acting, Actor, Answer, Connection, HostRequest, Target, TargetArgs};

/// The shortest and the longest time for a request. A sign of life is sent in between.
const LIMITS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(20));
/// How long the host may take for a large file: it reads all of it.
const LONG: Duration = Duration::from_secs(300);

/// A connection of its own, for one agent.
pub(super) struct RemoteHub {
    connection: Connection,
    project: ProjectId,
    agent: String,
    /// How long a request may take.
    limit: Duration,
}

impl RemoteHub {
    pub(super) fn open(target: &TargetArgs, project: &str, agent: &str) -> Result<Self> {
        let connection = match target.target()? {
            Target::Server { url, key } => Connection::to_hub(&url, key)?,
            _ => return Err(CliError::new(Code::HostUnreachable, "no URL of a server is given")),
        };
        Actor::parse(&format!("agent:{agent}")).map_err(CliError::usage)?;
        let project = crate::host::project_id(project)?;
        Ok(Self { connection, project, agent: agent.to_owned(), limit: LIMITS.1 })
    }

    /// The same, with a time for each request: a heartbeat that is not answered must leave time for
    /// another one.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit: limit.clamp(LIMITS.0, LIMITS.1), ..self }
    }

    fn of(&self, task: TaskId) -> OfTask {
        OfTask { project: self.project.clone(), task: task.to_string() }
    }

    fn in_project(&self) -> InProject {
        InProject { project: self.project.clone() }
    }

    fn ask<O>(&self, path: O::Path, query: O::Query) -> Result<O::Answer, Failure>
    where
        O: Operation<Body = NoBody, Answer: AnswerBody>,
    {
        self.send::<O>(Call::<O>::new(path, query, NoBody).encode().into(), self.limit)
    }

    fn send<O>(&self, request: HostRequest, limit: Duration) -> Result<O::Answer, Failure>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let answer: Answer = self.connection.send_within(request, limit)?;
        Ok(answer.read().map_err(Failure::from)?.answer)
    }

    /// A request that changes something, by an actor.
    fn by(&self, request: Encoded, by: &Acting) -> HostRequest {
        let request = HostRequest::from(request);
        match by {
            Acting::Named(actor) => request.with("actor", Some(actor.to_string())),
            _ => request,
        }
    }

    fn agent(&self) -> Result<Acting, Failure> {
        let actor = Actor::parse(&format!("agent:{}", self.agent));
        Ok(Acting::Named(actor.map_err(|why| Failure::new(Code::WireFieldValue, why))?))
    }

    /// What an agent needs to know about a task.
    pub(super) fn briefing(&self, task: TaskId) -> Result<BriefingAnswer, Failure> {
        let query = BriefingQuery::default();
        let call = Call::<TaskBriefing>::new(self.of(task), query, NoBody);
        let answer = self.connection.send_within(call.encode().into(), self.limit)?;
        let answered = answer.read::<Formatted<TaskBriefingEnvelope>>().and_then(document);
        let answered = answered.map_err(Failure::from)?;
        Ok(answered.answer.0.result)
    }
}

impl RunOperations for RemoteHub {
    fn heartbeat(&self, task: TaskId, request: &HeartbeatRequest) -> Result<(), Failure> {
        let call = Call::<Heartbeat>::new(self.of(task), Who::default(), Json(request.clone()));
        self.send::<Heartbeat>(self.by(call.encode(), &self.agent()?), self.limit).map(drop)
    }

    fn message(&self, text: &str) -> Result<(), Failure> {
        let body = Verbatim::new("text/plain; charset=utf-8", text);
        let call = Call::<SendMessage>::new(self.in_project(), MessageQuery::default(), body);
        self.send::<SendMessage>(call.encode().into(), self.limit).map(drop)
    }

    fn last_run(&self, task: TaskId) -> Result<Option<RunView>, Failure> {
        let query = ShowQuery { without_body: true };
        Ok(self.ask::<ShowTask>(self.of(task), query)?.0.result.task.run)
    }

    fn moved_since(&self, task: TaskId, after: Option<u64>) -> Result<(u64, bool), Failure> {
        let query = moves_query(task, after);
        Ok(moved(&self.ask::<TaskEvents>(self.in_project(), query)?.0.result))
    }

    fn end_run(&self, task: TaskId, request: &EndRunRequest) -> Result<EndRunAnswer, Failure> {
        let end = |request: &EndRunRequest, by: &Acting| {
            let call = Call::<EndRun>::new(self.of(task), Who::default(), Json(request.clone()));
            Ok(self.send::<EndRun>(self.by(call.encode(), by), LONG)?.0.result)
        };
        end_as(end, request, &self.agent()?)
    }
}

impl Hub for RemoteHub {
    fn files(&self, task: TaskId, query: OutputsQuery) -> Result<OutputsAnswer, Failure> {
        Ok(self.ask::<TaskOutputs>(self.of(task), query)?.0.result)
    }

    fn read(
        &self,
        task: TaskId,
        path: &str,
        offset: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let query = FileQuery { path: path.to_owned(), offset: u32::try_from(offset).ok() };
        let call = Call::<ReadTaskFile>::new(self.of(task), query, NoBody);
        let request = HostRequest::from(call.encode());
        self.connection.runtime.block_on(async {
            let mut answer = self.connection.stream(request).await.map_err(Failure::from)?;
            while let Some(piece) = answer.next().await.map_err(Failure::from)? {
                take(&piece)?;
            }
            Ok(())
        })
    }

    fn stage(
        &self,
        task: TaskId,
        query: StageQuery,
        piece: Vec<u8>,
    ) -> Result<StagedAnswer, Failure> {
        let call = Call::<StageOutput>::new(self.of(task), query, Bytes);
        let request = self.by(call.encode(), &self.agent()?).takes_long();
        let request = request.bytes("application/octet-stream", Body::from(piece));
        Ok(self.send::<StageOutput>(request, LONG)?.0.result)
    }
}
