//! One step of an initiative: projects acceptances, then dispatches the next turn or reaches the
//! next gate.

use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::coordinator::{
    Account, CONTEXT_DOCUMENT, CONTEXT_MARKDOWN, Choice, CoordinatorState, CoordinatorStatus,
    DispatchedTurn, Dispatching, begin_dispatch, choose, context_folder, end_dispatch,
    forget_dispatch, hooks, request_completion, request_phase,
};
use accord_runs_core::{HookPhase, Result, TurnId};

use super::repos::in_repo;
use super::session::{CoordinatorSession, diverged};
use super::{Coordinator, MAX_DOCUMENT};
use crate::operations::Dispatched;
use crate::{Runs, own_path};

#[derive(Clone, Debug)]
pub struct StepResult {
    pub projected: Vec<Object>,
    pub outcome: StepOutcome,
}

#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepOutcome {
    Dispatched { choice: Choice, dispatched: Box<Dispatched>, context: String },
    // A gate was reached, and passed if it needs no approval.
    Gate { state: CoordinatorState },
    // Acceptances were projected, and nothing else can be done now.
    Waiting(Failure),
}

impl Coordinator {
    /// Takes one step, in the named workstream or in the first that can take one. Fails with
    /// `nothing_to_dispatch`, with the reason of each workstream; `coordinator_diverged` if the
    /// initiative is blocked; `hook_blocked` if a hook refuses.
    pub fn step(&self, workstream: Option<&str>) -> Result<StepResult> {
        let mut session = self.open_session()?;
        if let Some(dispatching) = Dispatching::of(&session.state) {
            match dispatching.find(&session.view(&dispatching.choice.repo)) {
                // Killed between the assignment and the dispatch. No worker has the turn yet.
                DispatchedTurn::Active { turn, dispatched: false } => {
                    drop(session);
                    return self.hand_over(dispatching, &turn, Vec::new());
                }
                // A worker may have it already.
                DispatchedTurn::Active { turn, .. } | DispatchedTurn::Over(turn) => {
                    announce(&mut session, &dispatching, &turn)?;
                }
                // It was killed before the assignment.
                DispatchedTurn::Nothing => {
                    let change = forget_dispatch(&session.initiative());
                    session.commit(change)?;
                }
            }
        }
        check_open(&session)?;
        let found = session.catch_up(Account::None)?;
        let projected: Vec<Object> = found.projected.into_iter().map(|(line, _)| line).collect();
        let choice = match choose(&session.initiative(), &session.views, workstream) {
            Ok(choice) => choice,
            Err(nothing) => return reach_gate(session, nothing, projected),
        };
        let batch = hooks::before_assignment(&session.initiative(), &choice, &session.workspace());
        // Before the announcement: a refusal leaves nothing to withdraw.
        session.hooks(batch, HookPhase::BeforeAssignment)?.failure().map_or(Ok(()), Err)?;
        let view = session.view(&choice.repo);
        let mut ids = session.ids.clone();
        let (initiative, now) = (session.initiative(), session.now());
        let (dispatching, change) = begin_dispatch(&initiative, &choice, &view, &mut ids, now);
        session.ids = ids;
        // The turn is announced before it is assigned. After a crash the next step looks for it.
        session.commit(change)?;
        drop(session);
        // Without the lock of the workspace, which may be the lock of the repository.
        let assigned = self.child_of(&choice)?.assign(Some(&choice.role));
        match assigned {
            Ok(assigned) => self.hand_over(dispatching, assigned.turn.id(), projected),
            Err(failure) => {
                self.take_back(&dispatching)?;
                Err(in_repo(&choice.repo, failure))
            }
        }
    }

    /// Adds the context to the bundle of an assigned turn, dispatches it, and records the dispatch.
    fn hand_over(
        &self,
        dispatching: Dispatching,
        turn: &TurnId,
        projected: Vec<Object>,
    ) -> Result<StepResult> {
        let runs = self.child_of(&dispatching.choice)?;
        let repo = &dispatching.choice.repo;
        let files = self.context_of(&dispatching.context)?;
        let failed = |failure| in_repo(repo, failure);
        let locked = runs.repository().lock(self.environment.lock_timeout());
        let locked = locked.map_err(|error| failed(error.into()))?;
        // Before the dispatch, whose manifest lists every file of the bundle.
        for (name, bytes) in files {
            locked.add_to_bundle(turn, name, &bytes).map_err(|error| failed(error.into()))?;
        }
        drop(locked);
        let dispatched = Box::new(runs.dispatch(Some(turn)).map_err(failed)?);
        let mut session = self.open_session()?;
        announce(&mut session, &dispatching, turn)?;
        let Dispatching { choice, context, .. } = dispatching;
        let outcome = StepOutcome::Dispatched { choice, dispatched, context };
        Ok(StepResult { projected, outcome })
    }

    /// Withdraws the announcement of a turn that could not be assigned.
    fn take_back(&self, dispatching: &Dispatching) -> Result<()> {
        let mut session = self.open_session()?;
        // Another process may have withdrawn it, and announced another turn since.
        if Dispatching::of(&session.state).as_ref() == Some(dispatching) {
            let change = forget_dispatch(&session.initiative());
            session.commit(change)?;
        }
        Ok(())
    }

    fn context_of(&self, reference: &str) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let folder = context_folder(reference);
        let mut files = Vec::new();
        for name in [CONTEXT_DOCUMENT, CONTEXT_MARKDOWN] {
            let path = own_path(&format!("{folder}/{name}"))?;
            if let Some(bytes) = self.workspace.read(&path, MAX_DOCUMENT)? {
                files.push((name, bytes));
            }
        }
        Ok(files)
    }

    fn child_of(&self, choice: &Choice) -> Result<Runs> {
        let children = self.children(&self.config()?);
        let child = children.into_iter().find(|child| child.repo.id == choice.repo);
        let problem = match child.map(|child| child.runs) {
            Some(Ok(runs)) => return Ok(runs),
            Some(Err(problem)) => problem.to_string(),
            None => format!("{} is not a repository of the initiative", choice.repo),
        };
        let failure = Failure::new(Code::XchainCoordinatorDiverged, problem);
        Err(failure.with("repo_id", choice.repo.as_str()))
    }
}

fn announce(
    session: &mut CoordinatorSession<'_>,
    dispatching: &Dispatching,
    turn: &TurnId,
) -> Result<()> {
    let named =
        |line: &Object, name: &str, value: &str| line.get(name) == Some(&Value::from(value));
    let known = session.history.iter().any(|line| {
        named(line, "type", "turn_dispatched") && named(line, "repo_turn_id", turn.as_str())
    });
    let ours = Dispatching::of(&session.state).as_ref() == Some(dispatching);
    if known && !ours {
        return Ok(());
    }
    let mut change = if known {
        forget_dispatch(&session.initiative())
    } else {
        let mut ledger = session.ledger;
        let (initiative, now) = (session.initiative(), session.now());
        let change = end_dispatch(&initiative, dispatching, turn, &mut ledger, now);
        session.ledger = ledger;
        change
    };
    if !ours {
        // Another process dispatches another turn meanwhile, and records it.
        change.state = session.state.clone();
    }
    session.commit(change)
}

/// Refuses unless the initiative is active.
fn check_open(session: &CoordinatorSession<'_>) -> Result<()> {
    let refuse = |message: String, next: &str| {
        Err(Failure::new(Code::XchainInvalidStateTransition, message).suggesting(next))
    };
    match session.state.status() {
        CoordinatorStatus::Active => Ok(()),
        CoordinatorStatus::Blocked => Err(diverged(&session.state, &[])),
        CoordinatorStatus::Completed => {
            refuse("the initiative is completed".into(), "accord run coordinator init")
        }
        CoordinatorStatus::Paused => {
            let gate = session.state.pending_gate_id().unwrap_or("a gate");
            let next = "accord run coordinator approve-gate, or accord run coordinator send-back";
            refuse(format!("{gate} of the initiative needs approval"), next)
        }
    }
}

/// If no turn can be dispatched, the phase or the initiative may be complete.
fn reach_gate(
    mut session: CoordinatorSession<'_>,
    mut nothing: Failure,
    projected: Vec<Object>,
) -> Result<StepResult> {
    let (place, now) = (session.initiative(), session.now());
    let next = session.config.next_phase(session.state.phase());
    let reached = match next {
        Some(next) => request_phase(&place, &session.views, next, now),
        None => request_completion(&place, &session.views, now),
    };
    let outcome = match reached {
        Ok(change) => {
            let mut ledger = session.ledger;
            let change = change.into_change(&mut ledger, now);
            session.commit(change)?;
            StepOutcome::Gate { state: session.state }
        }
        Err(shut) => {
            let blockers = shut.details.and_then(|details| details.get("blockers").cloned());
            if let Some(blockers) = blockers {
                nothing = nothing.with("gate_blockers", blockers);
            }
            if projected.is_empty() {
                return Err(nothing);
            }
            StepOutcome::Waiting(nothing)
        }
    };
    Ok(StepResult { projected, outcome })
}
