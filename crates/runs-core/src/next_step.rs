//! The next step of a run, for a person or a loop.
//!
//! The host reads the facts (files, git, processes); this module decides. [`next_steps`] gives the
//! steps that follow from state and turns, and the role that is due. For that role the host
//! collects [`AssignmentFacts`], and [`assignment_steps`] gives the rest.

use accord_contract::{Extensible, Failure};

use crate::budget::{Shortfall, shortfall};
use crate::conflict::HUMAN_MERGE;
use crate::liveness::Stalled;
use crate::run::BaselineCheck;
use crate::state::{Category, State, Status, Turn, TurnStatus};
use crate::{Config, Result, RuntimeType, TurnId, WriteAuthority, dispatch, doc};

#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Something is damaged or in the way: run the check-up.
    Examine(Failure),
    /// Configuration or records changed while a worker ran: a person decides about that.
    Adopt(Failure),
    /// Start a run; `restart` says that an earlier one has ended.
    Start { restart: bool },
    /// Assign a turn; a person does it if it is `by_hand`.
    Assign { role: String, by_hand: bool },
    /// Commit the changes of accepted turns.
    Checkpoint,
    /// Commit or stash changes that belong to no turn.
    Tidy { files: Vec<String> },
    /// Raise the budget: it does not cover another turn.
    RaiseBudget { missing: Shortfall },
    /// Dispatch a turn. `stalled` ended its last worker; the next one needs more time.
    Dispatch { turn: TurnId, by_hand: bool, stalled: Option<Stalled> },
    /// The deadline of a turn that no worker has is over: reissue it.
    Overdue { turn: TurnId },
    /// A turn cannot be dispatched here: fix its runtime, or reissue it to another role.
    Unable { turn: TurnId, why: Failure },
    /// The worker is busy; wait for its result.
    Work {
        turn: TurnId,
        /// Where its result must be staged.
        staging: String,
        /// Whether a person is the worker.
        by_hand: bool,
        /// Whether that person must name the changed files, because other turns are active.
        names_files: bool,
        /// Whether that person must raise an objection, see [`must_object`].
        objects: bool,
    },
    /// Accept a turn whose result is staged.
    Accept { turn: TurnId },
    /// The history already has the turn, but the state does not: reissue it.
    Reissue { turn: TurnId },
    /// A result was refused: correct it and accept it again, or reject the turn.
    Mend { turn: TurnId, why: String },
    /// Another turn changed the same files: reject the turn, or `merge` by hand.
    Reconcile { turn: TurnId, merge: bool },
    /// Approve the end of the phase.
    ApproveTransition { gate: String, to: String },
    /// Approve the end of the run.
    ApproveCompletion { gate: Option<String> },
    /// Send the request that waits for approval back, instead of an approval.
    SendBack { phase: String },
    /// Decide on a proposal: apply it or drop it.
    DecideProposal { turn: TurnId, files: usize },
    /// Resolve what blocks the run, after this action.
    Resolve { action: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnView {
    pub turn: Turn,
    pub runtime: Option<RuntimeType>,
    pub unable: Option<Failure>,
    pub has_worker: bool,
    pub briefed: bool,
    pub staged: bool,
    pub overdue: bool,
    pub accepted: bool,
}

/// What the host knows about an assignment to the role that is due.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentFacts {
    pub baseline: BaselineFact,
    pub runtime: Result<()>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BaselineFact {
    /// The role only reviews; see [`needs_baseline`].
    NotNeeded,
    /// The version control cannot be asked.
    Unavailable(Failure),
    Checked(Result<BaselineCheck>),
}

impl NextStep {
    pub fn turn(&self) -> Option<&TurnId> {
        match self {
            Self::Dispatch { turn, .. }
            | Self::Unable { turn, .. }
            | Self::Work { turn, .. }
            | Self::Accept { turn }
            | Self::Reissue { turn }
            | Self::Mend { turn, .. }
            | Self::Reconcile { turn, .. } => Some(turn),
            _ => None,
        }
    }
}

/// The steps that follow from state and turns, and the role that is due for another turn.
pub fn next_steps(
    config: &Config,
    state: &State,
    turns: &[TurnView],
) -> (Vec<NextStep>, Option<String>) {
    // A pending gate comes before a block, because a run with a pending gate cannot be resolved.
    let waits = matches!(state.status(), Status::Paused | Status::Blocked);
    let send_back = || NextStep::SendBack { phase: state.phase().to_owned() };
    if let Some(pending) = state.pending_transition().filter(|_| waits) {
        let (gate, to) = (pending.gate, pending.to);
        return (vec![NextStep::ApproveTransition { gate, to }, send_back()], None);
    }
    if let Some(pending) = state.pending_completion().filter(|_| waits) {
        let gate = pending.gate;
        return (vec![NextStep::ApproveCompletion { gate }, send_back()], None);
    }
    match state.status() {
        Status::Idle => (vec![NextStep::Start { restart: false }], None),
        Status::Completed | Status::Failed => (vec![NextStep::Start { restart: true }], None),
        Status::Blocked | Status::Paused => (steps_when_blocked(config, state), None),
        Status::Active => {
            let shared = turns.len() > 1;
            let step = |view: &TurnView| {
                let role = view.turn.role();
                let names_files = shared && needs_baseline(config, role);
                step_of_turn(view, names_files, must_object(config, role))
            };
            let mut steps: Vec<NextStep> = turns.iter().map(step).collect();
            let due = due_role(state, config).filter(|role| {
                turns.len() < config.max_concurrent_turns(state.phase())
                    && !turns.iter().any(|view| view.turn.role() == role)
            });
            let Some(role) = due else { return (steps, None) };
            if let Some(missing) = shortfall(state, config) {
                // Active turns may cost less than their reservation, which frees budget.
                if turns.is_empty() {
                    steps.push(NextStep::RaiseBudget { missing });
                }
                return (steps, None);
            }
            (steps, Some(role))
        }
    }
}

/// The steps up to the assignment of a turn to the role that is due.
pub fn assignment_steps(
    config: &Config,
    state: &State,
    role: String,
    facts: AssignmentFacts,
) -> Vec<NextStep> {
    let mut steps = Vec::new();
    match facts.baseline {
        BaselineFact::NotNeeded | BaselineFact::Checked(Ok(BaselineCheck::Clean(_))) => {}
        BaselineFact::Unavailable(failure) => return vec![NextStep::Examine(failure)],
        // Uncommitted changes may be the work of the active turns.
        BaselineFact::Checked(Ok(BaselineCheck::Dirty(..))) if state.turns().len() > 0 => {
            return steps;
        }
        BaselineFact::Checked(Ok(BaselineCheck::Dirty(_, files))) => {
            steps.push(NextStep::Tidy { files });
        }
        BaselineFact::Checked(Ok(BaselineCheck::Uncheckpointed(..))) => {
            steps.push(NextStep::Checkpoint);
        }
        BaselineFact::Checked(Err(failure)) => steps.push(NextStep::Examine(failure)),
    }
    if let Err(failure) = facts.runtime {
        steps.push(NextStep::Examine(failure));
        return steps;
    }
    let runtime = config.role(&role).and_then(|role| role.runtime.as_deref());
    let runtime = runtime.and_then(|id| config.runtime(id));
    let by_hand = runtime.is_none_or(|runtime| runtime.kind == RuntimeType::Manual);
    steps.push(NextStep::Assign { role, by_hand });
    steps
}

/// Whether a turn of a role starts from a clean repository: not if the role only reviews.
pub fn needs_baseline(config: &Config, role: &str) -> bool {
    let role = config.role(role);
    role.is_none_or(|role| role.authority != WriteAuthority::ReviewOnly)
}

/// Whether a result of a role is refused without an objection.
///
/// Clauses: AX-TR-CHALLENGE.
pub fn must_object(config: &Config, role: &str) -> bool {
    let role = config.role(role);
    config.rules.challenge_required
        && role.is_some_and(|role| role.authority == WriteAuthority::ReviewOnly)
}

/// The role that is due: the recommended one, else the entry role of the phase, else the first.
pub fn due_role(state: &State, config: &Config) -> Option<String> {
    let recommended = doc::State::NEXT_RECOMMENDED_ROLE.get(state.members());
    let recommended = recommended.filter(|role| config.role(role).is_some());
    let entry = || config.route(state.phase())?.entry_role.clone();
    let first = || config.roles().first().map(|role| role.id.clone());
    recommended.map(str::to_owned).or_else(entry).or_else(first)
}

/// Whether a turn is in a conflict that a person should merge.
pub fn needs_human_merge(turn: &Turn) -> bool {
    let suggested = |conflict| doc::Conflict::SUGGESTED_RESOLUTION.get(conflict);
    turn.conflict().and_then(suggested) == Some(HUMAN_MERGE)
}

fn steps_when_blocked(config: &Config, state: &State) -> Vec<NextStep> {
    let blocked = doc::State::BLOCKED_REASON.get(state.members());
    let recovery = blocked.and_then(|blocked| doc::Blocked::RECOVERY.get(blocked));
    let action = recovery.and_then(|recovery| doc::Recovery::RECOVERY_ACTION.get(recovery));
    let action = action.unwrap_or("do what is asked for, then resolve the block").to_owned();
    let resolve = NextStep::Resolve { action };
    let category = blocked.and_then(|blocked| doc::Blocked::CATEGORY.get(blocked));
    let is_exhausted = category == Some(Category::BudgetExhausted.as_str());
    let missing = shortfall(state, config).filter(|_| is_exhausted);
    let raise = missing.map(|missing| NextStep::RaiseBudget { missing });
    raise.into_iter().chain([resolve]).collect()
}

fn step_of_turn(view: &TurnView, names_files: bool, objects: bool) -> NextStep {
    use TurnStatus::{Assigned, Conflicted, FailedAcceptance, FailedStart, Retrying, Stalled};
    let turn = view.turn.id().clone();
    let by_hand = view.runtime == Some(RuntimeType::Manual);
    let status = match view.turn.status() {
        Extensible::Known(status) => Some(*status),
        Extensible::Unknown(_) => None,
    };
    match status {
        // An acceptance would be refused as a repetition, whatever the status says.
        _ if view.accepted => NextStep::Reissue { turn },
        Some(Conflicted) => NextStep::Reconcile { merge: needs_human_merge(&view.turn), turn },
        Some(FailedAcceptance) if view.staged => {
            let failure = view.turn.value(doc::Turn::LAST_ACCEPTANCE_FAILURE);
            let why = failure.and_then(|failure| failure.get("message")?.as_str());
            NextStep::Mend { turn, why: why.unwrap_or("its result was refused").to_owned() }
        }
        _ if view.staged => NextStep::Accept { turn },
        Some(Assigned | Retrying | Stalled | FailedStart) => dispatch_step(view, by_hand),
        // The agent was not started, or has ended; the person has no bundle yet.
        _ if !by_hand && !view.has_worker => dispatch_step(view, by_hand),
        _ if by_hand && !view.briefed => dispatch_step(view, by_hand),
        _ => {
            let staging = dispatch::staging_path(&turn);
            let (names_files, objects) = (by_hand && names_files, by_hand && objects);
            NextStep::Work { turn, staging, by_hand, names_files, objects }
        }
    }
}

fn dispatch_step(view: &TurnView, by_hand: bool) -> NextStep {
    let turn = view.turn.id().clone();
    match view.unable.clone() {
        // A worker would be ended at once.
        None if view.overdue && !by_hand => NextStep::Overdue { turn },
        None => NextStep::Dispatch { turn, by_hand, stalled: stalled(&view.turn) },
        Some(why) => NextStep::Unable { turn, why },
    }
}

fn stalled(turn: &Turn) -> Option<Stalled> {
    let ended = [TurnStatus::Stalled, TurnStatus::FailedStart];
    let is_ended = ended.iter().any(|status| *turn.status() == Extensible::Known(*status));
    Stalled::of_turn(turn).filter(|_| is_ended)
}
