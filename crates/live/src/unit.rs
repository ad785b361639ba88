//! Units of work.

use std::sync::Arc;

use accord_base::{ActorKey, ProjectId};
use accord_contract::{Code, Failure, Time};
use accord_live_core::session::{
    Ask, AskChange, At, Content, ContentChange, Delta, LedgerRow, Sender, StreamChange,
};
use accord_live_core::{AppId, SessionId, contract::CompiledContract, frame::ServerFrame, refuse};
use accord_store::{EventEntry, LivePart, LiveSessionRow, ProjectRow, ReadUnit, StoreError};
use accord_store::{StoreErrorKind, StoreExt as _, WriteUnit, queue_flow, record_decision};
use accord_system::spawn_blocking;
use tokio::sync::oneshot;

use super::hub::{Stage, Staged};
use super::{Inner, Live, rows};

/// How often a unit may find that the UI has changed again.
const ATTEMPTS: usize = 8;

#[derive(Debug)]
pub(crate) enum UnitError {
    Refused(Box<Failure>),
    Store(StoreError),
    /// The contract of this session is not in the cache.
    NeedsContract(SessionId),
}

pub(crate) type UnitResult<T> = Result<T, UnitError>;

pub(crate) struct Snapshot {
    pub(crate) row: LiveSessionRow,
    pub(crate) content: Content,
    pub(crate) contract: Arc<CompiledContract>,
    /// Why its project takes no changes, if it takes none.
    pub(crate) closed: Option<Box<Failure>>,
}

pub(crate) struct Job<'j> {
    pub(crate) unit: &'j mut dyn WriteUnit,
    inner: &'j Inner,
    stage: &'j Stage,
}

impl Live {
    /// Runs a job on one snapshot, on a blocking thread. The job may run twice.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T> + Send + 'static,
    ) -> UnitResult<T> {
        let store = Arc::clone(&self.inner.store);
        let job = move |unit: &dyn ReadUnit| {
            let outcome = job(unit);
            for row in unit.damage() {
                tracing::error!(detail = row.what, "{row}");
            }
            outcome
        };
        let outcome = spawn_blocking(move || store.read(job)).await;
        outcome.unwrap_or_else(|error| {
            Err(StoreError::new(StoreErrorKind::Broken, error.to_string()).into())
        })
    }

    /// Runs a job in one transaction and waits until its outcome is durable. The job may run
    /// several times. When it fails, nothing of it is kept.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Job<'_>) -> UnitResult<T> + Send + Sync + 'static,
    ) -> UnitResult<T> {
        let job = Arc::new(job);
        for _ in 0..ATTEMPTS {
            match self.attempt(Arc::clone(&job)).await {
                Err(UnitError::NeedsContract(session)) => self.load_contract(session).await?,
                outcome => return outcome,
            }
        }
        Err(UnitError::Store(StoreErrorKind::Busy.into()))
    }

    async fn attempt<T: Send + 'static>(
        &self,
        job: Arc<impl Fn(&mut Job<'_>) -> UnitResult<T> + Send + Sync + 'static>,
    ) -> UnitResult<T> {
        let (sender, receiver) = oneshot::channel();
        self.enqueue(job, move |outcome| drop(sender.send(outcome)));
        let outcome = receiver.await;
        outcome.unwrap_or_else(|_| Err(UnitError::Store(StoreErrorKind::Unavailable.into())))
    }

    /// Begins a transaction whose outcome nobody waits for.
    pub(crate) fn begin_write(
        &self,
        job: impl Fn(&mut Job<'_>) -> UnitResult<()> + Send + Sync + 'static,
    ) {
        self.enqueue(Arc::new(job), |outcome| {
            // What the operator should know goes to the log.
            drop(outcome.map_err(Failure::from));
        });
    }

    fn enqueue<T: Send + 'static>(
        &self,
        job: Arc<impl Fn(&mut Job<'_>) -> UnitResult<T> + Send + Sync + 'static>,
        done: impl FnOnce(UnitResult<T>) + Send + 'static,
    ) {
        let inner = Arc::clone(&self.inner);
        let stage = Arc::new(Stage::new(&inner.hub));
        let staged = Arc::clone(&stage);
        // The write goes on when this future is dropped. A client that disconnects cannot leave it
        // half done.
        self.inner.store.enqueue(
            move |unit: &mut dyn WriteUnit| {
                // Nothing of an earlier run is left.
                stage.withdraw();
                job(&mut Job { unit, inner: &inner, stage: &stage })
            },
            move |outcome: UnitResult<T>| {
                if outcome.is_err() {
                    staged.withdraw();
                }
                done(outcome);
            },
        );
    }

    /// Does work that may take long, such as compiling a contract, on a blocking thread. Few do so
    /// at once: the agents of one project cannot occupy the host. Fails when the host is closing.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let closing = || Failure::new(Code::StoreUnavailable, "the host is closing; try again");
        let permit = Arc::clone(&self.inner.computing).acquire_owned().await;
        let permit = permit.map_err(|_| closing())?;
        let working = spawn_blocking(move || {
            let done = work();
            // A caller that is gone does not make room before the work is done.
            drop(permit);
            done
        });
        working.await.map_err(|_| closing())
    }

    async fn load_contract(&self, session: SessionId) -> UnitResult<()> {
        let live = self.clone();
        self.read(move |unit| {
            if let Some(row) = unit.live_session(&session)? {
                live.inner.contract_of(unit, &row)?;
            }
            Ok(())
        })
        .await
    }

    pub(crate) async fn snapshot(&self, session: &SessionId) -> UnitResult<Option<Snapshot>> {
        let (live, session) = (self.clone(), session.clone());
        self.read(move |unit| {
            let Some(row) = unit.live_session(&session)? else { return Ok(None) };
            let checked = row.project_id.as_ref().map_or(Ok(()), |owner| check_open(unit, owner));
            let closed = match checked {
                Ok(()) => None,
                Err(UnitError::Refused(failure)) => Some(failure),
                Err(error) => return Err(error),
            };
            let content = rows::content(unit, &row.session)?;
            let contract = live.inner.contract_of(unit, &row)?;
            Ok(Some(Snapshot { row, content, contract, closed }))
        })
        .await
    }
}

impl Inner {
    /// The contract of a session. It is compiled here, so this is no part of a unit that writes.
    pub(crate) fn contract_of(
        &self,
        unit: &dyn ReadUnit,
        row: &LiveSessionRow,
    ) -> UnitResult<Arc<CompiledContract>> {
        let (id, revision) = (&row.session.id, row.session.head.revision);
        if let Some(found) = self.contracts.of_session(id, revision) {
            return Ok(found);
        }
        let ui = rows::ui(unit, id)?;
        let contract = self.contracts.of_ui(&ui)?;
        self.contracts.remember(id, revision, &contract);
        Ok(contract)
    }
}

impl Job<'_> {
    /// The session of an id in an app. Fails with `session_not_found` when there is none, or it
    /// belongs to another app.
    pub(crate) fn session(&self, id: &SessionId, app: &AppId) -> UnitResult<LiveSessionRow> {
        let found = self.unit.live_session(id)?;
        let found = found.filter(|row| row.session.app_id == *app && row.project_id.is_some());
        Ok(found.ok_or_else(|| refuse::tool_session_not_found("there is no such session"))?)
    }

    /// Where and when a decision about a project is taken. The time is not before the newest event
    /// of the project, which another host with another clock may have written. Fails with
    /// `APP_MISMATCH` when the project does not exist.
    pub(crate) fn at<'p>(&self, project: &'p ProjectId) -> UnitResult<At<'p>> {
        let (last, now) = (self.unit.newest_event_at(project)?, self.inner.clock.now());
        let now = last.map_or(now, |at| now.max(Time::from_unix_millis(at.time().unix_millis())));
        Ok(At { project, now, ttl_seconds: self.inner.options.ttl_seconds })
    }

    pub(crate) fn contract(&self, row: &LiveSessionRow) -> UnitResult<Arc<CompiledContract>> {
        let (id, revision) = (&row.session.id, row.session.head.revision);
        let found = self.inner.contracts.of_session(id, revision);
        found.ok_or_else(|| UnitError::NeedsContract(id.clone()))
    }

    /// When the time to answer what a session asks was over, if it is.
    pub(crate) fn ask_ended(&self, row: &LiveSessionRow, now: Time) -> UnitResult<Option<Time>> {
        if !row.session.head.is_asking {
            return Ok(None);
        }
        let rules = self.contract(row)?.contract().answers;
        let ask = self.unit.live_ask(&row.session.id)?;
        Ok(ask.and_then(|ask| ask.ended(rules, now)))
    }

    /// What a session asks, the answer that closed its ask, and what it shows, where its contract
    /// has rules about them or the sender decides.
    pub(crate) fn asked(
        &self,
        row: &LiveSessionRow,
        contract: &CompiledContract,
        sender: &Sender,
    ) -> UnitResult<(Option<Ask>, Option<LedgerRow>, Option<Content>)> {
        let (rules, session) = (contract.contract().answers, &row.session);
        let decides = sender.person.is_ok() && session.head.is_asking;
        let ask = match rules.within.is_some() || decides {
            true => self.unit.live_ask(&session.id)?,
            false => None,
        };
        let closed_by = if rules.once { rows::closed_by(self.unit, session)? } else { None };
        let content = match rules.decides() || decides {
            true => Some(rows::content(self.unit, session)?),
            false => None,
        };
        Ok((ask, closed_by, content))
    }

    /// The oldest kept frame of a session whose ring is full.
    pub(crate) fn oldest(&self, row: &LiveSessionRow) -> UnitResult<Option<u64>> {
        if row.session.head.ring < accord_live_core::limits::RING {
            return Ok(None);
        }
        Ok(self.unit.oldest_live_frame(&row.session.id)?)
    }

    /// Refuses a change of an archived project, and of one that does not exist. Fails with
    /// `APP_MISMATCH` when the project does not exist, `project_archived`.
    pub(crate) fn check_open(&self, project: &ProjectId) -> UnitResult<()> {
        match self.unit.project(project)? {
            Some(row) => Ok(refuse_archived(&row)?),
            None => {
                let message = "there is no project of this app; create it first";
                Err(refuse::app_mismatch(message).into())
            }
        }
    }

    /// Refuses another question of an actor who has as many open ones as are allowed: an agent must
    /// not hide what others ask. Fails with `LIVE_TOO_MANY_ASKS`.
    pub(crate) fn check_asks(
        &self,
        project: &ProjectId,
        asked_by: Option<&ActorKey>,
        now: Time,
    ) -> UnitResult<()> {
        let most = self.inner.options.open_asks;
        if most == 0 || self.unit.open_asks(project, asked_by, now)? < u64::from(most) {
            return Ok(());
        }
        let who = asked_by.map_or_else(|| "who asks here".to_owned(), ToString::to_string);
        let message = format!("{who} already waits for the answers to {most} questions");
        let advice = "wait until people have answered some of them, or until their time is over";
        Err(Failure::new(Code::LiveTooManyAsks, message).suggesting(advice).into())
    }

    /// Writes the rows of a decision about a session, which was `before`. The frames are delivered
    /// after the commit. Returns the version of the session row. Fails as [`Self::check_open`].
    pub(crate) fn commit(
        &mut self,
        project: &ProjectId,
        before: Option<&LiveSessionRow>,
        delta: &Delta,
        frames: Vec<ServerFrame>,
    ) -> UnitResult<u64> {
        if delta.session.is_some() {
            self.check_open(project)?;
        }
        self.record(project, before, delta, frames)
    }

    /// Writes what the server itself records, also in an archived project: the end of a session,
    /// and events that did not reach their agent. Otherwise as [`Self::commit`]. Fails when the
    /// project does not exist.
    pub(crate) fn record(
        &mut self,
        project: &ProjectId,
        before: Option<&LiveSessionRow>,
        delta: &Delta,
        frames: Vec<ServerFrame>,
    ) -> UnitResult<u64> {
        let Some(session) = &delta.session else { return Ok(before.map_or(0, |row| row.version)) };
        let id = &session.id;
        let version = self.unit.put_live_session(project, session)?;
        for change in &delta.content {
            self.put_content(id, project, change)?;
        }
        for row in &delta.ledger {
            self.unit.append_live_event(id, &rows::entry(row))?;
        }
        for change in &delta.stream {
            match change {
                StreamChange::Keep(replay, row) => {
                    self.unit.put_live_frame(id, &rows::frame_entry(*replay, row))?;
                }
                StreamChange::Evict(seq) => self.unit.remove_live_frame(id, *seq)?,
            }
        }
        match &delta.ask {
            Some(AskChange::Begin(ask)) => self.unit.put_live_ask(id, Some(ask))?,
            Some(AskChange::End) => self.unit.put_live_ask(id, None)?,
            None => {}
        }
        for event in &delta.events {
            self.unit.append_event(&event.project_id, &EventEntry::from(event))?;
        }
        if let Some(decision) = &delta.decision {
            record_decision(self.unit, project, decision, decision.decided_at.time())?;
        }
        if let Some(kept) = &delta.kept {
            queue_flow(self.unit, project, &kept.decision_id, &kept.document.to_string())?;
        }
        let stream_before = before.map_or(0, |row| row.session.head.stream);
        self.stage.put(id, Staged { version, stream_before, stream: session.head.stream, frames });
        Ok(version)
    }

    fn put_content(
        &mut self,
        id: &SessionId,
        project: &ProjectId,
        change: &ContentChange,
    ) -> UnitResult<()> {
        let (part, members) = match change {
            ContentChange::Clear => return Ok(self.unit.clear_live_session(id)?),
            ContentChange::Ui(ui) => {
                let (ui, code) = rows::without_code(ui);
                if let Some((hash, text)) = code {
                    self.unit.put_live_code(project, hash, text)?;
                }
                let text = serde_json::Value::Object(ui).to_string();
                return Ok(self.unit.put_live_content(id, LivePart::Ui, &text)?);
            }
            ContentChange::Props(epoch, props) => (LivePart::Props(*epoch), props),
            ContentChange::HostContext(context) => (LivePart::HostContext, context),
            ContentChange::Context(context) => (LivePart::Context, context),
            ContentChange::Closed { epoch, sequence } => {
                let text = serde_json::json!([epoch, sequence]).to_string();
                return Ok(self.unit.put_live_content(id, LivePart::Closed, &text)?);
            }
            ContentChange::Returned(numbers) => {
                let text = serde_json::json!(numbers).to_string();
                return Ok(self.unit.put_live_content(id, LivePart::Returned, &text)?);
            }
        };
        let text = serde_json::Value::Object(members.clone()).to_string();
        Ok(self.unit.put_live_content(id, part, &text)?)
    }
}

/// Refuses a change of an archived project. One that does not exist is refused elsewhere.
pub(crate) fn check_open(unit: &dyn ReadUnit, project: &ProjectId) -> UnitResult<()> {
    let row = unit.project(project)?;
    Ok(row.as_ref().map_or(Ok(()), refuse_archived)?)
}

fn refuse_archived(row: &ProjectRow) -> Result<(), Failure> {
    let Some(since) = &row.archived_at else { return Ok(()) };
    let message = format!("the project {:?} is archived since {since}", row.project_id.as_str());
    Err(Failure::new(Code::AgenticProjectArchived, message))
}

/// The failure for the caller. What only the operator should know goes to the log.
impl From<UnitError> for Failure {
    fn from(error: UnitError) -> Self {
        match error {
            UnitError::Refused(failure) => *failure,
            UnitError::Store(error) => {
                let (code, detail) = (error.code(), error.detail());
                tracing::error!(%code, detail, "the store: {error}");
                error.into()
            }
            UnitError::NeedsContract(_) => StoreError::from(StoreErrorKind::Busy).into(),
        }
    }
}

impl UnitError {
    /// The failure for the caller; one of the store gets the code of the operation.
    pub(crate) fn into_failure_as(self, of_store: fn(String) -> Failure) -> Failure {
        match self {
            Self::Refused(failure) => *failure,
            other => of_store(Failure::from(other).message),
        }
    }
}

impl From<Failure> for UnitError {
    fn from(failure: Failure) -> Self {
        Self::Refused(Box::new(failure))
    }
}

impl From<StoreError> for UnitError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
