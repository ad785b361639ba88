//! Brings an initiative up to date with its repositories.

use accord_contract::Object;
use accord_runs_core::Result;
use accord_runs_core::coordinator::{
    Account, CoordinatorState, CoordinatorStatus, Divergence, check_recovery_report, diverging,
};

use super::Coordinator;

#[derive(Clone, Debug, PartialEq)]
pub struct ResyncResult {
    pub state: CoordinatorState,
    pub projected: Vec<Object>,
    pub mended: Vec<Divergence>,
    /// Differences that remain; the initiative can continue with them.
    pub left: Vec<Divergence>,
    pub resumed: bool,
}

impl Coordinator {
    /// Lists the differences between the initiative and its repositories, and changes nothing.
    /// Fails with `no_initiative` if there is none.
    pub fn divergence(&self) -> Result<Vec<Divergence>> {
        let seen = self.snapshot()?;
        Ok(diverging(&seen.initiative(), &seen.views))
    }

    /// Projects what happened in the repositories. A blocked initiative continues once a person has
    /// written the recovery report. Fails with `coordinator_diverged` if a difference remains that
    /// only a person can resolve, or if the report of a blocked initiative is not written yet.
    pub fn resync(&self) -> Result<ResyncResult> {
        let mut session = self.open_session()?;
        // Checked before anything is projected: a missing report leaves the initiative as it is.
        let mut report = None;
        if session.state.status() == CoordinatorStatus::Blocked {
            report = Some(session.report()?.unwrap_or_default());
            check_recovery_report(report.as_deref().unwrap_or_default())?;
        }
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
