//! Events for an agent: it takes them out of the pipe, and waits where there are none.
//!
//! To take events out is a commit, and a call can be cancelled before, during and after it. So the
//! events travel in a [`Taken`], from the commit to the door, and a call that is cancelled loses
//! nothing, wherever it was.
//!
//! What is left: an answer that was given to the transport and did not arrive. No server can know
//! that. An agent that passes `x-after` gets such events again, until it confirms them.

use std::time::Duration;

use accord_base::{ActorKey, Caller, Need, ProjectId};
use accord_contract::{Code, Failure, Timestamp, rule};
use accord_live_core::session::{begin_consume, confirm, drain};
use accord_live_core::tools::{ConsumeAnswer, ConsumeRequest};
use accord_live_core::{AppId, SessionId, frame::ServerFrame};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::{Live, hub::Purpose, rows, taken::Taken, unit::UnitResult};

/// Events that are taken out at once.
pub(crate) const PAGE: usize = 500;

/// Events that were taken out.
pub type Consumed = Taken<ConsumeAnswer>;

#[derive(Clone, Debug, Default)]
pub struct Waiting {
    pub asked_by: Option<ActorKey>,
    /// Whether the call goes on with the wait of an earlier one, which was announced.
    pub goes_on: bool,
}

#[derive(Clone)]
struct Drain {
    project: ProjectId,
    app: AppId,
    session: SessionId,
    asked_by: Option<ActorKey>,
    /// Whether a pipe that is empty records that an agent waits.
    is_first: bool,
    after: Option<u64>,
}

impl Live {
    /// Takes the events out of the pipe. Where there are none, it waits for one, as long as the
    /// request says. A caller that drops the future stops the wait.
    pub async fn consume(
        &self,
        caller: &Caller,
        app: &AppId,
        request: ConsumeRequest,
        waiting: Waiting,
    ) -> Result<Consumed, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let wait = Duration::from_secs(request.timeout.unwrap_or(0));
        let deadline = Instant::now() + wait;
        let session = request.session_id;
        let mut attached = self.inner.hub.attach(&session, Purpose::Consumer);
        let Waiting { asked_by, goes_on } = waiting;
        let (app, after) = (app.clone(), request.after);
        let mut asked = Drain { project, app, session, asked_by, is_first: !goes_on, after };
        loop {
            let consumed = self.drain(asked.clone()).await?;
            asked.is_first = false;
            let is_over = consumed.answer().ask_ended.is_some();
            let is_done = !consumed.is_empty() || is_over || wait.is_zero();
            let version = consumed.version();
            if is_done || timeout_at(deadline, attached.changed_after(version)).await.is_err() {
                return Ok(consumed);
            }
        }
    }

    /// Confirms the events of a session up to a number. They are not given again.
    pub async fn confirm(
        &self,
        caller: &Caller,
        app: &AppId,
        session: SessionId,
        after: u64,
    ) -> Result<ConsumeAnswer, Failure> {
        let (project, app) = (self.enter(caller, app, Need::Write)?, app.clone());
        let confirmed = self.write(move |job| {
            let row = job.session(&session, &app)?;
            let returned = rows::returned(job.unit, &session)?;
            let returned: Vec<u64> = returned.iter().map(|row| row.seq).collect();
            let now = job.at(&project)?.now;
            if !row.session.is_active(now) {
                job.forget_answers(&session, after)?;
            }
            if let Some(delta) = confirm(&row.session, &returned, after, now) {
                job.record(&project, Some(&row), &delta, Vec::new())?;
            }
            Ok(ConsumeAnswer::confirmed(after.min(row.session.head.drained)))
        });
        Ok(confirmed.await?)
    }

    /// Whether an agent waits for events of a session, on this host.
    pub fn has_consumer(&self, session: &SessionId) -> bool {
        self.inner.hub.has_consumer(session)
    }

    /// Takes the events out of the pipe, in a task of its own: a commit goes on when its caller is
    /// gone, and somebody must be there to give its events back.
    async fn drain(&self, asked: Drain) -> Result<Consumed, Failure> {
        let (sender, receiver) = oneshot::channel();
        let live = self.clone();
        accord_system::spawn(async move {
            let drained = live.drain_now(asked).await.map_err(Failure::from);
            // If the caller is gone, the events are dropped here, and so given back.
            drop(sender.send(drained));
        });
        receiver.await.unwrap_or_else(|_| {
            Err(Failure::new(Code::StoreUnavailable, "the host is closing; try again"))
        })
    }

    async fn drain_now(&self, asked: Drain) -> UnitResult<Consumed> {
        let Drain { project, session, .. } = asked.clone();
        let drained = self.write(move |job| {
            let Drain { project, app, session, asked_by, is_first, after } = &asked;
            job.check_open(project)?;
            let row = job.session(session, app)?;
            let returned = rows::returned(job.unit, session)?;
            let pending = rows::pending(job.unit, &row.session, PAGE)?;
            let at = job.at(project)?;
            let drained = drain(&row.session, &returned, &pending, *after, at)?;
            let content = rows::content(job.unit, &row.session)?;
            let mut answer = ConsumeAnswer::new(&drained, &content);
            if drained.events.is_empty() {
                answer.ask_ended = job.ask_ended(&row, at.now)?.map(Timestamp::emit);
            }
            if !drained.events.is_empty() || !is_first {
                let delta = rule!(drained.delta; PipeNotEmptied => Default::default());
                let version = job.commit(project, Some(&row), &delta, drained.acks)?;
                return Ok((answer, drained.numbers, version));
            }
            let (contract, oldest) = (job.contract(&row)?, job.oldest(&row)?);
            let asked_by = asked_by.clone();
            let mut waits = begin_consume(&row.session, &content, &contract, asked_by, oldest, at)?;
            waits.delta.content.extend(drained.delta.content);
            let data = ServerFrame::Data { session_id: session.clone(), row: waits.row.clone() };
            let version = job.commit(project, Some(&row), &waits.delta, vec![data])?;
            Ok((answer, drained.numbers, version))
        });
        let (answer, numbers, version) = drained.await?;
        Ok(Taken::new(self, answer, numbers, version, (project, session)))
    }
}
