//! Questions to people in one call: the call begins the question, or goes on waiting, and gets the
//! answer.
//!
//! What a call does is one transaction: look at the session of the question, and begin it, take the
//! answer, or note that a call waits. A call that is cancelled takes nothing ([`Taken`]), and the
//! next one with the same question goes on where it was.

use std::{sync::Arc, time::Duration};

use accord_base::{ActorKey, Caller, Need, ProjectId};
use accord_contract::{Code, Failure, Timestamp};
use accord_live_core::asking::{self, Question, Step, Stored};
use accord_live_core::operations::ask_person::{AskPersonAnswer, AskPersonRequest, AskState};
use accord_live_core::session::{begin_consume, drain};
use accord_live_core::{AppId, contract::CompiledContract, frame::ServerFrame, tenancy};
use accord_store::LiveSessionRow;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::consume::PAGE;
use super::render::frames;
use super::unit::{Job, UnitResult};
use super::{Live, hub::Purpose, rows, taken::Taken};

/// A question that passed every check.
#[derive(Clone, Debug)]
pub struct CheckedQuestion {
    question: Arc<Question>,
    contract: Arc<CompiledContract>,
    wait: Duration,
    /// Whether the answer stays unread until it is confirmed.
    keep: bool,
    /// Since when the question is asked for whose answer a call waits.
    since: Option<Timestamp>,
}

impl CheckedQuestion {
    /// The same question, asked without waiting.
    #[must_use]
    pub fn at_once(self) -> Self {
        Self { wait: Duration::ZERO, ..self }
    }
}

#[derive(Clone)]
struct Asking {
    project: ProjectId,
    app: AppId,
    asked: CheckedQuestion,
    /// Whether it is recorded that a call waits.
    announces: bool,
}

/// The answer of a step, the numbers of the events that are taken out, and the version of the
/// session.
type Stepped = (AskPersonAnswer, Vec<u64>, u64);

impl Live {
    /// Checks a question. The project need not exist: one that is refused creates none. Fails with
    /// `unauthorized`, `INVALID_SCHEMA`, or the refusal of the contract.
    pub async fn check_question(
        &self,
        caller: &Caller,
        app: &AppId,
        request: AskPersonRequest,
        asked_by: Option<ActorKey>,
    ) -> Result<CheckedQuestion, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let question = Arc::new(Question::new(&request, &project, asked_by)?);
        let compiled = Arc::clone(&question);
        let contract = self.compute(move || compiled.compile()).await??;
        let wait = Duration::from_secs(request.wait_seconds.unwrap_or(0));
        let keep = request.keep.unwrap_or(false);
        let (contract, since) = (Arc::new(contract), request.since);
        Ok(CheckedQuestion { question, contract, wait, keep, since })
    }

    /// Asks a person, or goes on with the same question: gives its answer, or waits for it as long
    /// as the request says. A caller that drops the future stops the wait.
    pub async fn ask_person(
        &self,
        caller: &Caller,
        app: &AppId,
        asked: CheckedQuestion,
    ) -> Result<Taken<AskPersonAnswer>, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let (wait, session) = (asked.wait, asked.question.session_id.clone());
        let deadline = Instant::now() + wait;
        let mut attached = self.inner.hub.attach(&session, Purpose::Consumer);
        let announces = !wait.is_zero();
        let mut asking = Asking { project, app: app.clone(), asked, announces };
        loop {
            let taken = self.ask_once(asking.clone()).await?;
            asking.announces = false;
            let answer = taken.answer();
            let is_over = answer.state != AskState::Waiting || Instant::now() >= deadline;
            if is_over {
                return Ok(taken);
            }
            asking.asked.since = Some(answer.since.clone());
            // The end of the time to answer is no commit.
            let left = answer.until.time().millis_since(self.now());
            let ends = Instant::now() + Duration::from_millis(left.saturating_add(1));
            let changed = attached.changed_after(taken.version());
            drop(timeout_at(deadline.min(ends), changed).await);
        }
    }

    /// One step of a question, in a task of its own: a commit goes on when its caller is gone, and
    /// somebody must be there to give the answer back.
    async fn ask_once(&self, asking: Asking) -> Result<Taken<AskPersonAnswer>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let live = self.clone();
        accord_system::spawn(async move {
            let taken = live.ask_now(asking).await.map_err(Failure::from);
            // If the caller is gone, the answer is dropped here, and so given back.
            drop(sender.send(taken));
        });
        receiver.await.unwrap_or_else(|_| {
            Err(Failure::new(Code::StoreUnavailable, "the host is closing; try again"))
        })
    }

    async fn ask_now(&self, asking: Asking) -> UnitResult<Taken<AskPersonAnswer>> {
        let place = (asking.project.clone(), asking.asked.question.session_id.clone());
        let live = self.clone();
        let stepped = self.write(move |job| live.ask_in(job, &asking)).await?;
        let (answer, numbers, version) = stepped;
        Ok(Taken::new(self, answer, numbers, version, place))
    }

    fn ask_in(&self, job: &mut Job<'_>, asking: &Asking) -> UnitResult<Stepped> {
        let Asking { project, app, asked, announces } = asking;
        let CheckedQuestion { question, keep, since, .. } = asked;
        job.check_open(project)?;
        let found = job.unit.live_session(&question.session_id)?;
        // An id stays with its project. That of a project that was removed is free.
        if let Some(row) = found.as_ref().filter(|row| row.project_id.is_some()) {
            tenancy::check(&row.session.app_id, app)?;
        }
        let at = job.at(project)?;
        let active = found.as_ref().filter(|row| row.session.is_active(at.now));
        let Some(row) = active else { return self.ask_after(job, asking, found) };
        let content = rows::content(job.unit, &row.session)?;
        let ask = job.unit.live_ask(&question.session_id)?;
        let answer = rows::closed_by(job.unit, &row.session)?;
        let returned = rows::returned(job.unit, &question.session_id)?;
        let is_unread = answer.as_ref().is_some_and(|answer| {
            let is_given_back = returned.iter().any(|row| row.seq == answer.seq);
            is_given_back || answer.seq > row.session.head.drained
        });
        let mut stored = Stored {
            session: &row.session,
            content: &content,
            ask: ask.as_ref(),
            answer: answer.as_ref(),
            is_read: !is_unread,
            is_waited_for: false,
        };
        let is_since = |since: &Timestamp| *since == Timestamp::emit(stored.since());
        stored.is_waited_for = since.as_ref().is_some_and(is_since);
        let step = question.step(Some(stored), at.now)?;
        let said = question.answer(step, stored);
        match step {
            Step::Begin => self.begin_question(job, asking, found),
            Step::Wait if *announces => {
                let (compiled, oldest) = (job.contract(row)?, job.oldest(row)?);
                let by = question.asked_by();
                let waits = begin_consume(&row.session, &content, &compiled, by, oldest, at)?;
                let session_id = question.session_id.clone();
                let data = ServerFrame::Data { session_id, row: waits.row.clone() };
                let version = job.commit(project, Some(row), &waits.delta, vec![data])?;
                Ok((said, Vec::new(), version))
            }
            Step::Wait | Step::GiveAgain | Step::SayEnded => Ok((said, Vec::new(), row.version)),
            Step::End => {
                let ended = asking::end(stored);
                Ok((said, Vec::new(), job.commit(project, Some(row), &ended, Vec::new())?))
            }
            Step::Take => {
                let pending = rows::pending(job.unit, &row.session, PAGE)?;
                let after = keep.then_some(0);
                let drained = drain(&row.session, &returned, &pending, after, at)?;
                let version = job.commit(project, Some(row), &drained.delta, drained.acks)?;
                // Everything else in the pipe goes with it.
                Ok((said, drained.numbers, version))
            }
        }
    }

    /// A question whose session has expired: the answer that no call has read, else the question
    /// begins again.
    fn ask_after(
        &self,
        job: &mut Job<'_>,
        asking: &Asking,
        found: Option<LiveSessionRow>,
    ) -> UnitResult<Stepped> {
        let CheckedQuestion { question, keep, .. } = &asking.asked;
        let Some(row) = &found else { return self.begin_question(job, asking, None) };
        job.end_expired(row, self.options().unread_seconds)?;
        // As it is now.
        let found = job.unit.live_session(&question.session_id)?;
        let kept = job.kept_answer(&question.session_id)?;
        match (kept.and_then(|kept| question.late_answer(kept)), found) {
            (Some(said), Some(row)) => {
                if !keep {
                    job.forget_answers(&question.session_id, u64::MAX)?;
                }
                Ok((said, Vec::new(), row.version))
            }
            (_, found) => self.begin_question(job, asking, found),
        }
    }

    fn begin_question(
        &self,
        job: &mut Job<'_>,
        asking: &Asking,
        found: Option<LiveSessionRow>,
    ) -> UnitResult<Stepped> {
        let Asking { project, app, asked, .. } = asking;
        let CheckedQuestion { question, contract, .. } = asked;
        if let Some(failure) =
            self.inner.rates.take(app, self.now(), self.options().renders_per_minute)
        {
            let advice = "wait for the seconds of retryAfterSeconds, then ask again";
            return Err(failure.suggesting(advice).into());
        }
        let at = job.at(project)?;
        job.check_asks(project, question.asked_by().as_ref(), at.now)?;
        let earlier = found.as_ref().map(|row| &row.session);
        let (session, content, delta) = question.begin(app, earlier, contract, at);
        let version = job.commit(project, found.as_ref(), &delta, frames(&session, &delta))?;
        let (session, content) = (&session, &content);
        let begun = Stored {
            session,
            content,
            ask: None,
            answer: None,
            is_read: false,
            is_waited_for: false,
        };
        Ok((question.answer(Step::Begin, begun), Vec::new(), version))
    }
}
