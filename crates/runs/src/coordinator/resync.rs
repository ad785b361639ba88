//! Bringing an initiative up to what its repositories say.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_runs_core::coordinator::{
    Account, CoordinatorState, CoordinatorStatus, Divergence, check_recovery_report, diverging,
};

use super::Coordinator;

/// What a resynchronisation did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResyncResult {
    /// Where the initiative stands.
    pub state: CoordinatorState,
    /// The acceptances that were taken over.
    pub projected: Vec<Object>,
    /// What was mended.
    pub mended: Vec<Divergence>,
    /// What is left; an initiative can go on with it.
    pub left: Vec<Divergence>,
    /// Whether it was blocked and goes on.
    pub resumed: bool,
}

impl Coordinator {
    /// Names what differs between the initiative and its repositories, and changes nothing.
    ///
    /// # Errors
    /// `no_initiative` if none was begun.
    pub fn divergence(&self) -> Result<Vec<Divergence>, Failure> {
        let seen = self.snapshot()?;
        Ok(diverging(&seen.initiative(), &seen.views))
    }

    /// Takes over what happened in the repositories. A blocked initiative goes on when a person
    /// has accounted for what blocked it.
    ///
    /// # Errors
    /// `coordinator_diverged` if something is left that only a person mends, or when the report of
    /// a blocked initiative says nothing yet.
    pub fn resync(&self) -> Result<ResyncResult, Failure> {
        let mut session = self.open_session()?;
        let report = if session.state.status() == CoordinatorStatus::Blocked {
            let report = session.report()?.unwrap_or_default();
            check_recovery_report(&report)?;
            Some(report)
        } else {
            None
        };
        let account = report.as_deref().map_or(Account::None, Account::Report);
        let found = session.catch_up(account)?;
        Ok(ResyncResult {
            state: session.state,
            projected: found.projected.into_iter().map(|(line, _)| line).collect(),
            mended: found.repaired,
            left: found.left,
            resumed: found.resumed,
        })
    }
}
