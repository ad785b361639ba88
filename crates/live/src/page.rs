//! What the page of a session shows besides the session itself: who asks, and the last answers.

use accord_contract::{Failure, Value};
use accord_live_core::session::{LedgerKind, LedgerName, LedgerRow, Session, StreamRow};
use accord_live_core::{SessionId, operations::questions::LiveAsk};
use accord_store::ReadUnit;
use serde_json::json;

use super::{Live, overview, rows, unit::UnitResult};

/// The last events of a ledger among which answers are looked for.
const LAST_EVENTS: u64 = 200;

#[derive(Clone, Debug, Default)]
pub struct PageFacts {
    pub ask: Option<LiveAsk>,
    /// The last answers, oldest first.
    pub answers: Vec<PageAnswer>,
}

#[derive(Clone, Debug)]
pub struct PageAnswer {
    pub row: LedgerRow,
    /// Whether an agent has taken it out of the pipe.
    pub is_read: bool,
}

impl Live {
    /// What the page of a session shows besides it. The caller has checked the app.
    pub async fn page_facts(&self, session: &SessionId) -> Result<PageFacts, Failure> {
        let (session, now) = (session.clone(), self.now());
        let read = self.read(move |unit| {
            let Some(row) = unit.live_session(&session)? else { return Ok(PageFacts::default()) };
            let ask = overview::ask(unit, &row.session, now)?;
            Ok(PageFacts { ask, answers: last_answers(unit, &row.session)? })
        });
        Ok(read.await?)
    }
}

impl Live {
    /// The kept messages of the channels of a session after a number, as a frame gets them.
    pub async fn messages_after(
        &self,
        session: &SessionId,
        after: u64,
    ) -> Result<Vec<Value>, Failure> {
        let session = session.clone();
        let read = self.read(move |unit| {
            let rows = unit.live_frames(&session, after, MOST_MESSAGES)?;
            rows.iter().map(rows::frame).collect::<UnitResult<Vec<_>>>()
        });
        let message = |row: StreamRow| {
            json!({
                "seq": row.seq, "channel": row.channel, "mode": row.mode.as_str(),
                "payload": row.payload, "complete": row.complete,
            })
        };
        Ok(read.await?.into_iter().map(message).collect())
    }
}

/// Messages that a frame gets at once. The next call gives those after them.
const MOST_MESSAGES: usize = 500;

fn last_answers(unit: &dyn ReadUnit, session: &Session) -> UnitResult<Vec<PageAnswer>> {
    let after = session.head.ledger.saturating_sub(LAST_EVENTS);
    let events = unit.live_ledger(&session.id, after, LAST_EVENTS as usize)?;
    let events = events.iter().map(rows::ledger).collect::<UnitResult<Vec<_>>>()?;
    let is_answer = |row: &LedgerRow| row.kind == LedgerKind::Known(LedgerName::UserSubmitted);
    let returned = rows::returned(unit, &session.id)?;
    let is_read = |row: &LedgerRow| {
        let is_returned = || returned.iter().any(|returned| returned.seq == row.seq);
        row.event_id.is_some() && row.seq <= session.head.drained && !is_returned()
    };
    let answers = events.into_iter().filter(is_answer);
    Ok(answers.map(|row| PageAnswer { is_read: is_read(&row), row }).collect())
}
