//! Refuses the decisions of a person to the programs that Accord started.

use accord_base::worker::{Ancestry, RunningWorker, refuse_worker, variables};
use accord_contract::codes::Failure;
use accord_runs_core::state::{State, Turn};

use crate::Runs;
use crate::operations::has_worker;

impl Runs {
    /// Refuses a caller that a worker, a hook or a command of a gate started. Operations that take
    /// a decision for a person begin with it.
    ///
    /// # Errors
    /// `not_for_workers`.
    pub fn refuse_worker(&self) -> Result<(), Failure> {
        // A state that cannot be read names no worker; the operation itself reports it.
        let state = self.state().ok();
        refuse_worker(&self.environment.caller(), &running_workers(state.iter()))
    }
}

/// The processes that work on the active turns of these states.
pub(crate) fn running_workers<'a>(states: impl Iterator<Item = &'a State>) -> Vec<RunningWorker> {
    let turns = states.flat_map(State::turns).filter(|turn| has_worker(turn));
    let named = |turn: &Turn| {
        let work = turn.id().as_str().to_owned();
        Some(RunningWorker { work, member: "turn_id", pid: turn.worker_pid()? })
    };
    turns.filter_map(named).collect()
}

/// This process, as the system describes it.
pub(crate) fn this_process() -> Ancestry {
    accord_process::ancestors(&variables()).into_iter().collect()
}
