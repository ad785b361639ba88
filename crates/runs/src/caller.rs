//! Refuses the decisions of a person to the programs that Accord started.

use std::path::Path;

use accord_base::worker::{
    Ancestor, Ancestry, RunningWorker, StillRunning, check_ended, variables,
};
use accord_base::{Author, By, CallerProcess, Need};
use accord_contract::{Code, Failure};
use accord_process::worker_processes;
use accord_runs_core::operations::{LocalOperation, ReissueTurn, StopRun};
use accord_runs_core::{Consent, Person, Result, State, Turn};

use crate::operations::has_worker;
use crate::{Environment, Runs};

impl Runs {
    /// Refuses a caller that a worker, a hook or a command of a gate started. A command asks before
    /// it asks the person. Fails with `not_for_workers`.
    pub fn refuse_worker(&self) -> Result<()> {
        // What nobody in particular may do.
        self.authorize_nobody::<ReissueTurn>()
    }

    /// Checks that the caller may do what an operation does in nobody's name. Fails with
    /// `not_for_workers`.
    pub(crate) fn authorize_nobody<O: LocalOperation>(&self) -> Result<()> {
        // A state that cannot be read names no worker; the operation itself reports it.
        let state = self.state().ok();
        let workers = running_workers(state.iter());
        let caller = self.environment.caller();
        caller.attribute_beside(O::NEED, Author::unnamed(), &workers).map(drop)
    }

    /// The decision of a person, if the caller may take it. Operations that take one begin with it.
    /// Fails with `not_for_workers`, `person_required`, `confirmation_needed`,
    /// `worker_still_runs`.
    pub(crate) fn authorize<O: LocalOperation>(&self, person: &Person) -> Result<Person> {
        let state = self.state().ok();
        let workers = running_workers(state.iter());
        authorize(&self.environment, O::NEED, person, &workers, [self.repository().root()])
    }

    /// The same for a decision about evidence. Fails like [`Runs::authorize`].
    pub(crate) fn authorize_consent<O: LocalOperation>(&self, given: &Consent) -> Result<Consent> {
        let person = self.authorize::<O>(&given.person)?;
        Ok(Consent { person, expect: given.expect.clone() })
    }

    /// The same for a stop. What workers left behind can change nothing about it, so that it waits
    /// for nothing. Fails like [`Runs::authorize`], without `worker_still_runs`.
    pub(crate) fn authorize_stop(&self, given: &Consent) -> Result<Consent> {
        let state = self.state().ok();
        let workers = running_workers(state.iter());
        let person = authorize(&self.environment, StopRun::NEED, &given.person, &workers, [])?;
        Ok(Consent { person, expect: given.expect.clone() })
    }

    /// Refuses a caller that the worker of another active turn started: a worker stages its own
    /// result. Fails with `not_for_workers`.
    pub(crate) fn refuse_other_worker(&self, state: &State, turn: &Turn) -> Result<()> {
        let found = self.environment.caller().processes();
        let marked = found.iter().find_map(|caller| caller.mark(TURN));
        let running = running_workers([state].into_iter());
        let is_ancestor = |pid| {
            let mut processes = found.iter().flat_map(|caller| &caller.processes);
            processes.any(|process| process.pid == pid)
        };
        let mut running = running.iter().filter(|worker| is_ancestor(worker.pid));
        let own = marked.or_else(|| running.next().map(|worker| worker.work.as_str()));
        let is_active = |id: &&str| state.turns().any(|active| active.id().as_str() == *id);
        let own = own.filter(|own| *own != turn.id().as_str()).filter(is_active);
        let Some(own) = own else { return Ok(()) };
        let message = format!("the worker of {own} cannot stage the result of {}", turn.id());
        let refused = Failure::new(Code::NotForWorkers, message).with("turn_id", own);
        Err(refused.suggesting("stage the result of your own turn; name it with --turn"))
    }
}

pub(crate) fn authorize<'a>(
    environment: &Environment,
    need: Need,
    person: &Person,
    workers: &[RunningWorker],
    roots: impl IntoIterator<Item = &'a Path>,
) -> Result<Person> {
    let actor = By::parse(&person.actor, person.door)?.actor;
    let author = Author::proven(Some(actor), "/actor");
    let caller = match person.presence.hub.clone() {
        Some(decided) => environment.caller().clone().applying(*decided),
        None => environment.caller().clone(),
    };
    let mut presence = caller.attribute_beside(need, author, workers)?.presence;
    // Workers of other turns may run.
    let left: Vec<StillRunning> = roots.into_iter().flat_map(left_running).collect();
    check_ended(&left, person.despite_leftovers, &mut presence)?;
    Ok(Person { presence, ..person.clone() })
}

/// What workers of a repository left behind, and what still runs.
pub(crate) fn left_running(root: &Path) -> impl Iterator<Item = StillRunning> {
    let left = worker_processes(root).into_iter().filter(|process| process.is_left);
    left.map(|it| StillRunning { work: it.name, pid: it.pid, start: it.start })
}

const TURN: &str = "AGENTXCHAIN_TURN_ID";

pub(crate) fn running_workers<'a>(states: impl Iterator<Item = &'a State>) -> Vec<RunningWorker> {
    let turns = states.flat_map(State::turns).filter(|turn| has_worker(turn));
    let named = |turn: &Turn| {
        let work = turn.id().as_str().to_owned();
        Some(RunningWorker { work, member: "turn_id", pid: turn.worker_pid()? })
    };
    turns.filter_map(named).collect()
}

pub(crate) fn this_process() -> CallerProcess {
    let found = accord_process::ancestors(&variables());
    let Some(found) = found else { return CallerProcess::Unknown };
    let processes = found.processes.into_iter().map(|process| Ancestor {
        pid: process.pid,
        marks: process.variables,
        is_supervisor: process.is_supervisor,
    });
    let (processes, has_terminal) = (processes.collect(), found.has_terminal);
    let os_user = Some(accord_process::os_user());
    CallerProcess::Seen(vec![Ancestry { processes, has_terminal, os_user }])
}
