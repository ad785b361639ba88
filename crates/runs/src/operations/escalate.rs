//! A run is stopped until a person has looked, and let go on.

use accord_contract::codes::Failure;
use accord_runs_core::run;
use accord_runs_core::state::Block;

use super::Moved;
use crate::Runs;

impl Runs {
    /// A person stops the run.
    ///
    /// # Errors
    /// With `invalid_state_transition` when it is not active.
    pub fn escalate(&self, reason: &str) -> Result<Moved, Failure> {
        let mut work = self.begin()?;
        let now = work.now();
        let change = run::escalate(&work.state, reason, &mut work.ids, now)?;
        let moved = work.moved(change)?;
        work.escalated(None, Some(reason));
        work.note("blocked", None);
        Ok(moved)
    }

    /// Blocks the run for any reason.
    ///
    /// # Errors
    /// With `invalid_state_transition` when no run goes on.
    pub fn block(&self, block: &Block) -> Result<Moved, Failure> {
        let mut work = self.begin()?;
        let now = work.now();
        let change = run::block(&work.state, block, &mut work.ids, now)?;
        let moved = work.moved(change)?;
        let turn = block.turn.as_ref().and_then(|turn| work.state.turn(turn));
        work.escalated(turn, Some(&block.detail));
        let turn = turn.cloned();
        work.note("blocked", turn.as_ref());
        Ok(moved)
    }

    /// Lets a run that is blocked or paused go on. What the person committed to git meanwhile is
    /// theirs, not the work of active turns.
    ///
    /// # Errors
    /// With `invalid_state_transition` when it is neither, or when a gate waits for approval.
    pub fn resolve(&self) -> Result<Moved, Failure> {
        let mut work = self.begin()?;
        let now = work.now();
        let standing = work.baseline()?;
        let change = run::resolve(&work.state, Some(&standing), &mut work.ids, now)?;
        work.moved(change)
    }
}
