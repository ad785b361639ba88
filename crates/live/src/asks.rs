//! What the sessions of a project wait for a person to answer, for an inbox.

use accord_base::{Caller, Need};
use accord_contract::{Failure, Time};
use accord_live_core::{AppId, SessionId, session::PendingAsk};

use super::{Live, rows};

impl Live {
    /// A page of the pending asks of an app, the oldest first, after a position.
    pub async fn asks(
        &self,
        caller: &Caller,
        app: &AppId,
        after: Option<(Time, SessionId)>,
        limit: usize,
    ) -> Result<Vec<PendingAsk>, Failure> {
        let project = self.enter(caller, app, Need::Read)?;
        let now = self.now();
        let read = self.read(move |unit| {
            let (mut asks, mut after) = (Vec::new(), after.clone());
            loop {
                let position = after.as_ref().map(|(since, id)| (*since, id));
                let rows = unit.live_asks(&project, now, position, limit)?;
                for (row, ask) in &rows {
                    let ui = rows::ui(unit, &row.session.id)?;
                    asks.extend(PendingAsk::of(&row.session, Some(ask), &ui, now));
                }
                // Those whose time is over are left out.
                after = rows.last().map(|(row, ask)| (ask.since, row.session.id.clone()));
                if rows.len() < limit || asks.len() >= limit {
                    asks.truncate(limit);
                    return Ok(asks);
                }
            }
        });
        Ok(read.await?)
    }
}
