//! Refuses the decisions of a person to the programs that Accord started.

use accord_base::worker::{Ancestor, Ancestry, RunningWorker, refuse_worker, variables};
use accord_contract::codes::{Code, Failure};
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

    /// Refuses a caller that the worker of another active turn started: a worker stages its own
    /// result.
    ///
    /// # Errors
    /// `not_for_workers`.
    pub(crate) fn refuse_other_worker(&self, state: &State, turn: &Turn) -> Result<(), Failure> {
        let caller = self.environment.caller();
        let marked = caller.mark(TURN);
        let running = running_workers([state].into_iter());
        let is_ancestor = |pid| caller.processes.iter().any(|process| process.pid == pid);
        let mut running = running.iter().filter(|worker| is_ancestor(worker.pid));
        let own = marked.or_else(|| running.next().map(|worker| worker.work.as_str()));
        let is_active = |id: &&str| state.turns().any(|active| active.id().as_str() == *id);
        let Some(own) = own.filter(|own| *own != turn.id().as_str()).filter(is_active) else {
            return Ok(());
        };
        let message = format!("the worker of {own} cannot stage the result of {}", turn.id());
        let refused = Failure::new(Code::XchainNotForWorkers, message).with("turn_id", own);
        Err(refused.suggesting("stage the result of your own turn; name it with --turn"))
    }
}

/// The mark of the worker of a turn.
const TURN: &str = "AGENTXCHAIN_TURN_ID";

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
    let found = accord_process::ancestors(&variables()).into_iter().map(|process| Ancestor {
        pid: process.pid,
        marks: process.variables,
        is_supervisor: process.is_supervisor,
    });
    Ancestry { processes: found.collect() }
}
