//! A turn's worker was seen to do something.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_governance::state::TurnStatus;
use accord_governance::{TurnId, dispatch};

use super::Moved;
use crate::Runs;

impl Runs {
    /// Notes how a turn stands, with members that say more: who its worker is, when it was
    /// first heard.
    ///
    /// # Errors
    /// With `invalid_state_transition` when the run is not active, with `turn_not_active` when
    /// there is no such turn.
    pub fn mark(&self, turn: &TurnId, status: TurnStatus, about: Object) -> Result<Moved, Failure> {
        let mut work = self.begin()?;
        let now = work.now();
        let change = dispatch::mark_with(&work.state, turn, status, about, &mut work.ids, now)?;
        work.moved(change)
    }
}
