//! Events for an agent: it takes them out of the pipe, and waits where there are none.

use std::time::Duration;

use accord_base::{Caller, Verb};
use accord_contract::codes::Failure;
use accord_live_core::AppId;
use accord_live_core::frame::ServerFrame;
use accord_live_core::session::{begin_consume, drain};
use accord_live_core::tools::{ConsumeAnswer, ConsumeRequest};
use tokio::time::{Instant, timeout_at};

use super::unit::{UnitError, UnitResult};
use super::{Live, rows};

/// Events that are taken out at once.
const PAGE: usize = 500;

impl Live {
    /// Takes the events out of the pipe. Where there are none, it waits for one, as long as the
    /// request says. A caller that drops the future stops the wait.
    ///
    /// # Errors
    /// `unauthorized`, `session_not_found`, `PIPE_NOT_FOUND`.
    pub async fn consume(
        &self,
        caller: &Caller,
        app: &AppId,
        request: ConsumeRequest,
    ) -> Result<ConsumeAnswer, Failure> {
        self.enter(caller, app, Verb::Write)?;
        let wait = Duration::from_secs(request.timeout.unwrap_or(0));
        let deadline = Instant::now() + wait;
        let mut attached = self.inner.hub.attach(&request.session_id, true);
        let mut is_first = true;
        loop {
            let drained = self.drain(caller, app, &request, is_first);
            let (answer, version) = drained.await.map_err(UnitError::into_failure)?;
            is_first = false;
            if !answer.events.is_empty() || wait.is_zero() {
                return Ok(answer);
            }
            if timeout_at(deadline, attached.changed_after(version)).await.is_err() {
                return Ok(answer);
            }
        }
    }

    /// The events of the pipe, and the version of the session in which it is empty. The first call
    /// that finds it empty records that an agent waits.
    async fn drain(
        &self,
        caller: &Caller,
        app: &AppId,
        request: &ConsumeRequest,
        is_first: bool,
    ) -> UnitResult<(ConsumeAnswer, u64)> {
        let project = self.enter(caller, app, Verb::Write)?;
        let (session, app) = (request.session_id.clone(), app.clone());
        let asked_by = caller.access().actor().cloned();
        self.write(move |job| {
            let row = job.session(&session, &app)?;
            let pending = job.unit.live_pipe(&session, row.session.head.drained, PAGE)?;
            let pending = pending.iter().map(rows::ledger).collect::<UnitResult<Vec<_>>>()?;
            let at = job.at(&project)?;
            let drained = drain(&row.session, &pending, at)?;
            let content = rows::content(job.unit, &row.session)?;
            let answer = ConsumeAnswer::new(&drained, &content);
            if !drained.events.is_empty() || !is_first {
                let version =
                    job.commit(&project, Some(&row), &drained.delta, drained.acks.clone())?;
                return Ok((answer, version));
            }
            let (contract, oldest) = (job.contract(&row)?, job.oldest(&row)?);
            let waits =
                begin_consume(&row.session, &content, &contract, asked_by.clone(), oldest, at)?;
            let data = ServerFrame::Data { session_id: session.clone(), row: waits.row.clone() };
            let version = job.commit(&project, Some(&row), &waits.delta, vec![data])?;
            Ok((answer, version))
        })
        .await
    }
}
