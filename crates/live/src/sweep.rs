//! Expiry: what a session that has expired leaves is its row.
//!
//! The row keeps the counters, so that a session that begins under the same id goes on with them.
//! Everything else goes away, also what recognises actions that are sent again. Answers that no
//! agent has read are kept for some days (`unread`).
//!
//! When the sweep runs makes no difference to a client. From the moment that a session expires,
//! every action gets `SESSION_NOT_FOUND`, also one that is sent again. A client that subscribes
//! after that gets a new session, whose horizon hides the old events, and which knows no earlier
//! action: the same `clientId` and `clientSeq` are another action there.

use accord_contract::Failure;
use accord_live_core::session::expire;
use accord_store::LiveSessionRow;

use super::Live;
use super::unit::{Job, UnitResult};

/// Sessions that are swept in one unit.
const PAGE: usize = 100;

impl Live {
    /// Records every session that has expired, once, and deletes its content. Its subscribers end.
    /// Returns the number of sessions. Fails when the store fails. What was swept before stays
    /// swept.
    pub async fn sweep(&self) -> Result<u64, Failure> {
        let mut total = 0;
        loop {
            let swept = self.sweep_page().await?;
            total += swept as u64;
            if swept < PAGE {
                return Ok(total);
            }
        }
    }

    async fn sweep_page(&self) -> UnitResult<usize> {
        let live = self.clone();
        self.write(move |job| {
            let now = live.now();
            job.unit.trim_live_handshakes(now)?;
            job.trim_unread(now)?;
            let expired = job.unit.expired_live_sessions(now, PAGE)?;
            for row in &expired {
                job.end_expired(row, live.options().unread_seconds)?;
            }
            Ok(expired.len())
        })
        .await
    }
}

impl Job<'_> {
    /// Records that a session has expired, unless it was recorded, and deletes its content. What no
    /// agent has read is kept for some seconds.
    pub(crate) fn end_expired(&mut self, row: &LiveSessionRow, kept: i64) -> UnitResult<()> {
        let Some(project) = &row.project_id else { return Ok(()) };
        let at = self.at(project)?;
        let Some(delta) = expire(&row.session, at) else { return Ok(()) };
        let until = at.now.add_seconds(kept);
        self.record(project, Some(row), &delta, Vec::new())?;
        if kept > 0 {
            self.keep_unread(project, &row.session, until)?;
        }
        Ok(self.unit.clear_live_session(&row.session.id)?)
    }
}
