//! The ledger in pages, for pages without a channel.

use std::time::Duration;

use accord_base::{Caller, Need};
use accord_contract::{Code, Failure, Field, Object, Value};
use accord_live_core::limits::{PULL_PAGE, PULL_WAIT_SECONDS};
use accord_live_core::operations::watch::{LiveEvent, LiveEventsAnswer};
use accord_live_core::session::{EventsQuery, Head, LedgerPage, ledger_page, pull_position};
use accord_live_core::tools::{PullAnswer, PullRequest};
use accord_live_core::{AppId, SessionId, refuse};
use tokio::time::{Instant, timeout_at};

use super::{Live, hub::Purpose, rows, unit::UnitResult};

impl Live {
    /// A page of the ledger. Where it is empty, it waits for an event, as long as the request says.
    /// A position that cannot be replayed is a result with its reason.
    pub async fn pull(
        &self,
        caller: &Caller,
        app: &AppId,
        request: PullRequest,
    ) -> Result<PullAnswer, Failure> {
        let wait = Duration::from_secs(request.wait.unwrap_or(0).min(PULL_WAIT_SECONDS));
        let limit = request.limit.map_or(PULL_PAGE, |limit| limit.min(PULL_PAGE as u64) as usize);
        let (session, since) = (&request.session_id, &request.since_sequence);
        let (page, head) = self.waited_page(caller, app, session, since, limit, wait).await?;
        match page {
            Ok(page) => Ok(PullAnswer::page(&page)),
            Err(failure) if failure.code == Code::GguiReplayHorizonPassed => {
                Ok(PullAnswer::passed(&head))
            }
            Err(failure) => Err(*failure),
        }
    }

    /// A page of the ledger of a session. Where it is empty, it waits for an event.
    pub async fn event_page(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        query: EventsQuery,
        wait: Duration,
    ) -> Result<LiveEventsAnswer, Failure> {
        let since = Field::Value(query.since.into());
        let read = self.waited_page(caller, app, session, &since, query.limit, wait);
        let page = read.await?.0.map_err(|failure| *failure)?;
        Ok(LiveEventsAnswer {
            events: page.rows.into_iter().map(LiveEvent::of).collect(),
            last_sequence: page.last_sequence,
            more: page.has_more,
            extra: Object::new(),
        })
    }

    /// A page or its refusal, and the head of the session.
    async fn waited_page(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        since: &Field<Value>,
        limit: usize,
        wait: Duration,
    ) -> Result<(Result<LedgerPage, Box<Failure>>, Head), Failure> {
        self.enter(caller, app, Need::Read)?;
        let deadline = Instant::now() + wait;
        let mut attached = self.inner.hub.attach(session, Purpose::Reader);
        loop {
            let read = self.page_of(app, session, since.clone(), limit);
            let (page, head, version) = read.await?;
            let is_empty = page.as_ref().is_ok_and(|page| page.rows.is_empty());
            let is_done = !is_empty || wait.is_zero();
            if is_done || timeout_at(deadline, attached.changed_after(version)).await.is_err() {
                return Ok((page, head));
            }
        }
    }

    /// A page of the ledger of a session, for the holder of a token for it.
    pub async fn events(
        &self,
        app: &AppId,
        session: &SessionId,
        query: EventsQuery,
    ) -> Result<LedgerPage, Failure> {
        let since = Field::Value(query.since.into());
        let page = self.page_of(app, session, since, query.limit).await;
        page?.0.map_err(|failure| *failure)
    }

    /// A page of a ledger or its refusal, with the head and the version of the session.
    async fn page_of(
        &self,
        app: &AppId,
        session: &SessionId,
        since: Field<Value>,
        limit: usize,
    ) -> UnitResult<(Result<LedgerPage, Box<Failure>>, Head, u64)> {
        let (app, session, now) = (app.clone(), session.clone(), self.now());
        self.read(move |unit| {
            let found = unit.live_session(&session)?;
            let mine = found.filter(|row| row.session.app_id == app && row.session.is_active(now));
            let missing = || refuse::tool_session_not_found("there is no such session");
            let row = mine.ok_or_else(missing)?;
            let head = &row.session.head;
            let after = match pull_position(head, &since) {
                Ok(after) => after,
                Err(failure) => return Ok((Err(Box::new(failure)), *head, row.version)),
            };
            let rows = rows::ledger_page(unit, &session, after, limit)?;
            Ok((Ok(ledger_page(head, rows, limit)), *head, row.version))
        })
        .await
    }
}
