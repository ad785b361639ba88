//! What the sessions of a project wait for a person to answer, for an inbox.

use accord_base::{Caller, Need};
use accord_contract::{Failure, Time};
use accord_live_core::{AppId, SessionId, session::PendingAsk};

use super::Live;

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
            let after = after.as_ref().map(|(since, id)| (*since, id));
            let rows = unit.live_asks(&project, now, after, limit)?;
            let asks = rows.iter();
            Ok(asks.filter_map(|(row, ask)| PendingAsk::of(&row.session, Some(ask), now)).collect())
        });
        Ok(read.await?)
    }
}
