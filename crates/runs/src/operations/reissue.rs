//! Takes a turn back and gives its work to a new turn.

use accord_runs_core::accept::{Record, Write};
use accord_runs_core::operations::ReissueTurn;
use accord_runs_core::run::check_reissue;
use accord_runs_core::{CheckpointReason, HookPhase, Result, Turn, TurnId, dispatch};

use super::assign::check_baseline;
use super::dispatch::initiative;
use super::staged::archive_result;
use super::step::refuse_if_worker_runs;
use super::{Assigned, RunUpdate};
use crate::Runs;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reissue {
    /// The turn; the only active one if absent.
    pub turn: Option<TurnId>,
    /// The role of the new turn; that of the old one if absent.
    pub role: Option<String>,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reissued {
    pub old: Turn,
    pub assigned: Assigned,
    /// The copy of the result of the old turn, if it had a readable one.
    pub kept: Option<String>,
}

impl Runs {
    /// Takes a turn back and gives its work to a role, as a new turn. A run that is blocked because
    /// of the turn continues. Fails with `not_for_workers` if a worker started the caller;
    /// `worker_busy` while its worker runs; `invalid_state_transition`, `turn_not_active` or
    /// `target_required`; or the code of the guard that refuses the assignment. A hook that refuses
    /// blocks the run, and the turn is unchanged.
    pub fn reissue(&self, reissue: &Reissue) -> Result<Reissued> {
        // It ends a block that waits for a person, and takes the work of others away.
        self.authorize_nobody::<ReissueTurn>()?;
        let mut operation = self.begin()?;
        let old = operation.target(reissue.turn.as_ref())?;
        refuse_if_worker_runs(&old)?;
        let role = reissue.role.as_deref().unwrap_or(old.role());
        let index = operation.locked.index(operation.state.run_id())?;
        let check = check_baseline(&operation.locked, &index, operation.git()?.as_ref())?;
        let (history, accepted) = (index.length(), index.contains(old.id().as_str()));
        let wanted = (role, reissue.reason.as_str());
        let (state, config) = (&operation.state, &operation.config);
        let checked = check_reissue(state, config, Some(old.id()), wanted, check, history)?;
        self.check_able(&operation.config, role)?;
        let report = operation.hooks(checked.hooks(), HookPhase::BeforeAssignment, &[])?;
        let now = operation.now();
        let confirmed = checked.confirm(&report, &mut operation.ids, now);
        let reissued = confirmed.map_err(|refused| operation.commit_refusal(refused))?;
        let (kept, mut further) = archive_result(&operation, &old, now)?;
        // A turn has one line in the history, also an accepted turn that the state missed.
        if !accepted {
            further.push(Write::Append { record: Record::History, line: reissued.history_entry });
        }
        // The new worker must get the same context of the initiative.
        let folder = dispatch::bundle_folder(reissued.turn.id());
        for (name, bytes) in initiative(&operation, old.id())? {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            further.push(Write::Replace { path: format!("{folder}/{name}"), text });
        }
        let left = [dispatch::bundle_folder(old.id()), dispatch::staging_folder(old.id())];
        further.extend(left.map(|path| Write::Remove { path }));
        operation.commit(&reissued.change, further)?;
        operation.save_dispatch_index();
        operation.save_session(CheckpointReason::TurnAssigned, Some(&reissued.turn));
        let update = RunUpdate { state: reissued.change.state, events: reissued.change.events };
        Ok(Reissued { old, assigned: Assigned { turn: reissued.turn, update }, kept })
    }
}
