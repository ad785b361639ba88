//! Where a run stands, and what is to be done next. Looks only: no lock, no write.

use std::path::PathBuf;

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::{Extensible, Value};
use accord_runs_core::budget::{Shortfall, shortfall};
use accord_runs_core::config::{Config, Runtime, RuntimeType, WriteAuthority};
use accord_runs_core::conflict::HUMAN_MERGE;
use accord_runs_core::run::{BaselineCheck, check_records};
use accord_runs_core::state::{Category, State, Status, Turn, TurnStatus};
use accord_runs_core::{TurnId, dispatch};
use accord_trees::lock::still_runs;

use super::assign::{check_baseline, due_role};
use crate::Runs;
use crate::git::Git;
use crate::operation::own_path;
use crate::repository::{LockHolder, RecordFile};
use crate::runtime;

/// Where a run stands.
#[derive(Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The repository.
    pub root: PathBuf,
    /// The configuration, where it is sound.
    pub config: Result<Config, Failure>,
    /// The state, where it is sound.
    pub state: Result<State, Failure>,
    /// The active turns.
    pub turns: Vec<TurnView>,
    /// How many turns of the run were accepted.
    pub accepted_turns: u64,
    /// What is to be done next, the first first; never empty.
    pub next: Vec<NextStep>,
    /// Who works on the repository just now.
    pub holder: Option<LockHolder>,
    /// Journals that the next writer brings to their end.
    pub journals: Vec<String>,
    /// What was odd about the turn of the run that was accepted last.
    pub last_warnings: Vec<String>,
}

/// An active turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnView {
    /// The turn.
    pub turn: Turn,
    /// What carries it out.
    pub runtime: Option<RuntimeType>,
    /// Why that cannot be used here.
    pub unable: Option<Failure>,
    /// Whether what its worker is told lies ready.
    pub briefed: bool,
    /// Whether its result is staged.
    pub staged: bool,
    /// Whether it should be done by now.
    pub overdue: bool,
    /// Whether the history has it already.
    pub accepted: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NextStep {
    /// Something is not sound: look closer.
    Examine(Failure),
    /// Begin a run.
    Start {
        /// Whether one that is over is left behind.
        restart: bool,
    },
    /// Give a role its turn.
    Assign {
        /// The role.
        role: String,
        /// Whether a person does its turns.
        by_hand: bool,
    },
    /// Commit what accepted turns changed.
    Checkpoint,
    /// Commit what belongs to no turn, or put it aside.
    Tidy {
        /// The files.
        files: Vec<String>,
    },
    /// Raise the budget, which does not cover another turn.
    RaiseBudget {
        /// What is missing.
        missing: Shortfall,
    },
    /// Hand a turn to its worker.
    Dispatch {
        /// The turn.
        turn: TurnId,
        /// Whether a person does it.
        by_hand: bool,
    },
    /// A turn cannot be handed to its worker here: mend that, or give it to another role.
    Unable {
        /// The turn.
        turn: TurnId,
        /// Why.
        why: Failure,
    },
    /// The worker works; its result belongs there.
    Work {
        /// The turn.
        turn: TurnId,
        /// Where its result belongs.
        staging: String,
        /// Whether a person is the worker.
        by_hand: bool,
    },
    /// Accept a turn whose result is staged.
    Accept {
        /// The turn.
        turn: TurnId,
    },
    /// The history has the turn already, and the state does not know: have it reissued.
    Reissue {
        /// The turn.
        turn: TurnId,
    },
    /// A result was refused: mend it and accept it again, or reject the turn.
    Mend {
        /// The turn.
        turn: TurnId,
        /// Why it was refused.
        why: String,
    },
    /// Another turn changed the same files: reject the turn, or merge by hand.
    Reconcile {
        /// The turn.
        turn: TurnId,
        /// Whether the two overlap so much that a person should merge them.
        merge: bool,
    },
    /// A person lets the run into the next phase.
    ApproveTransition {
        /// The gate.
        gate: String,
        /// The phase behind it.
        to: String,
    },
    /// A person lets the run end.
    ApproveCompletion {
        /// The gate, where there is one.
        gate: Option<String>,
    },
    /// A person looks at what blocks the run and lets it go on.
    Resolve {
        /// What is to be done first.
        action: String,
    },
}

impl Runs {
    /// Where the run stands.
    ///
    /// # Errors
    /// When the repository cannot be looked at; an unsound document is part of the answer.
    pub fn status(&self) -> Result<Overview, Failure> {
        let repository = self.repository();
        let config = self.config();
        let state = self.state();
        let mut turns = Vec::new();
        let mut accepted_turns = 0;
        if let Ok(state) = &state {
            let now = self.environment.now();
            let index = repository.index(state.run_id())?;
            accepted_turns = index.total_turns();
            for turn in state.turns() {
                let config = config.as_ref().ok();
                let runtime = config.and_then(|config| config.runtime(turn.runtime_id()?));
                turns.push(TurnView {
                    runtime: runtime.map(|runtime| runtime.kind),
                    unable: runtime.and_then(|runtime| self.check_runtime(runtime).err()),
                    briefed: self.is_briefed(turn.id())?,
                    staged: self.is_staged(turn.id())?,
                    overdue: turn.deadline().is_some_and(|deadline| deadline < now),
                    accepted: index.contains(turn.id().as_str()),
                    turn: turn.clone(),
                });
            }
        }
        let mut journals = repository.pending_journals()?;
        let mut unusable: Option<Failure> = None;
        journals.retain(|journal| match repository.check_journal(&journal.path) {
            Ok(()) => true,
            Err(error) => {
                unusable = Some(error.into());
                false
            }
        });
        let obstacles = journals
            .iter()
            .map(|journal| repository.obstacle(&journal.path));
        let obstacle = obstacles.filter_map(Result::transpose).next().transpose()?;
        let in_the_way = unusable.or(obstacle.map(Failure::from));
        let next = match (&config, &state, in_the_way) {
            (Err(failure), ..) | (_, Err(failure), _) => vec![NextStep::Examine(failure.clone())],
            // Nothing else can be done before.
            (.., Some(failure)) => vec![NextStep::Examine(failure)],
            (Ok(config), Ok(state), None) => {
                match check_records(state, self.last_event_run()?.as_deref()) {
                    Err(failure) => vec![NextStep::Examine(failure)],
                    Ok(()) => self.next_steps(config, state, &turns)?,
                }
            }
        };
        let last_warnings = match &state {
            Ok(state) => self.last_warnings(state)?,
            Err(_) => Vec::new(),
        };
        Ok(Overview {
            root: repository.root().to_owned(),
            config,
            state,
            turns,
            accepted_turns,
            next,
            holder: repository.lock_holder()?,
            journals: journals.into_iter().map(|journal| journal.path).collect(),
            last_warnings,
        })
    }

    /// Whether a runtime can be used here.
    pub(super) fn check_runtime(&self, runtime: &Runtime) -> Result<(), Failure> {
        runtime::check_all(runtime, self.repository().root())
    }

    fn is_briefed(&self, turn: &TurnId) -> Result<bool, Failure> {
        let prompt = own_path(&format!("{}/PROMPT.md", dispatch::bundle_folder(turn)))?;
        Ok(self.repository().stat(&prompt)?.is_some())
    }

    /// What was odd about the turn of a run that was accepted last.
    fn last_warnings(&self, state: &State) -> Result<Vec<String>, Failure> {
        let last = self.repository().last_lines(RecordFile::History, 1)?;
        let last = last
            .last()
            .filter(|line| line.get("run_id") == Some(&state.member("run_id")));
        let warnings = last.and_then(|line| line.get("warnings")?.as_array());
        let warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
        Ok(warnings.map(str::to_owned).collect())
    }

    fn next_steps(
        &self,
        config: &Config,
        state: &State,
        turns: &[TurnView],
    ) -> Result<Vec<NextStep>, Failure> {
        if let Some(pending) = state.pending_transition().filter(|_| waits(state)) {
            return Ok(vec![NextStep::ApproveTransition {
                gate: pending.gate,
                to: pending.to,
            }]);
        }
        if let Some(pending) = state.pending_completion().filter(|_| waits(state)) {
            return Ok(vec![NextStep::ApproveCompletion { gate: pending.gate }]);
        }
        match state.status() {
            Status::Idle => Ok(vec![NextStep::Start { restart: false }]),
            Status::Completed | Status::Failed => Ok(vec![NextStep::Start { restart: true }]),
            Status::Blocked | Status::Paused => {
                let blocked = state.member("blocked_reason");
                let action = blocked.pointer("/recovery/recovery_action");
                let action = action.and_then(Value::as_str);
                let resolve = NextStep::Resolve {
                    action: action
                        .unwrap_or("do what is asked for, then resolve the block")
                        .to_owned(),
                };
                let poor = shortfall(state, config).filter(|_| is_out_of_money(state));
                let raise = poor.map(|missing| NextStep::RaiseBudget { missing });
                Ok(raise.into_iter().chain([resolve]).collect())
            }
            Status::Active => {
                let mut steps: Vec<NextStep> = turns.iter().map(step_of).collect();
                if turns.len() < config.max_concurrent_turns(state.phase())
                    && let Some(role) = due_role(state, config)
                    && !turns.iter().any(|view| view.turn.role() == role)
                {
                    steps.extend(self.assign_steps(config, state, role)?);
                }
                Ok(steps)
            }
        }
    }

    /// What stands between a role and its turn, and the turn.
    fn assign_steps(
        &self,
        config: &Config,
        state: &State,
        role: String,
    ) -> Result<Vec<NextStep>, Failure> {
        let only_reviews = config
            .role(&role)
            .is_some_and(|role| role.authority == WriteAuthority::ReviewOnly);
        let mut steps = Vec::new();
        if let Some(missing) = shortfall(state, config) {
            // What is set aside for the turns that are out may come back.
            let raise = NextStep::RaiseBudget { missing };
            return Ok(match state.turns().len() {
                0 => vec![raise],
                _ => steps,
            });
        }
        if !only_reviews {
            let git = match Git::find(self.repository().root(), self.environment.cancel_token()) {
                Ok(git) => git,
                Err(failure) => return Ok(vec![NextStep::Examine(failure)]),
            };
            match check_baseline(self.repository(), state, git.as_ref()) {
                Ok(BaselineCheck::Clean(_)) => {}
                // What is not committed may be the work of the turns that are out.
                Ok(BaselineCheck::Dirty(..)) if state.turns().len() > 0 => return Ok(steps),
                Ok(BaselineCheck::Dirty(_, files)) => steps.push(NextStep::Tidy { files }),
                Ok(BaselineCheck::Uncheckpointed(..)) => steps.push(NextStep::Checkpoint),
                Err(failure) => steps.push(NextStep::Examine(failure)),
            }
        }
        let runtime = config.role(&role).and_then(|role| role.runtime.as_deref());
        let runtime = runtime.and_then(|id| config.runtime(id));
        if let Some(Err(failure)) = runtime.map(|runtime| self.check_runtime(runtime)) {
            steps.push(NextStep::Examine(failure));
            return Ok(steps);
        }
        let by_hand = runtime.is_none_or(|runtime| runtime.kind == RuntimeType::Manual);
        steps.push(NextStep::Assign { role, by_hand });
        Ok(steps)
    }
}

/// Whether the run is blocked because its budget is spent.
fn is_out_of_money(state: &State) -> bool {
    let category = state.member("blocked_reason");
    let category = category.get("category").and_then(Value::as_str);
    category == Some(Category::BudgetExhausted.as_str())
}

fn waits(state: &State) -> bool {
    matches!(state.status(), Status::Paused | Status::Blocked)
}

fn step_of(view: &TurnView) -> NextStep {
    let turn = view.turn.id().clone();
    let by_hand = view.runtime == Some(RuntimeType::Manual);
    let status = match view.turn.status() {
        Extensible::Known(status) => Some(*status),
        Extensible::Unknown(_) => None,
    };
    match status {
        _ if view.accepted => NextStep::Reissue { turn },
        Some(TurnStatus::Conflicted) => NextStep::Reconcile {
            merge: needs_human_merge(&view.turn),
            turn,
        },
        Some(TurnStatus::FailedAcceptance) if view.staged => {
            let failure = view.turn.member("last_acceptance_failure");
            let why = failure.and_then(|failure| failure.get("message")?.as_str());
            NextStep::Mend {
                turn,
                why: why.unwrap_or("its result was refused").to_owned(),
            }
        }
        _ if view.staged => NextStep::Accept { turn },
        Some(
            TurnStatus::Assigned
            | TurnStatus::Retrying
            | TurnStatus::Stalled
            | TurnStatus::FailedStart,
        ) => hand_out(view, by_hand),
        // An agent that nobody started, or that is gone; a person whom nobody told what to do.
        _ if !by_hand && !has_worker(&view.turn) => hand_out(view, by_hand),
        _ if by_hand && !view.briefed => hand_out(view, by_hand),
        _ => NextStep::Work {
            staging: dispatch::staging_path(&turn),
            by_hand,
            turn,
        },
    }
}

fn hand_out(view: &TurnView, by_hand: bool) -> NextStep {
    let turn = view.turn.id().clone();
    match &view.unable {
        None => NextStep::Dispatch { turn, by_hand },
        Some(why) => NextStep::Unable {
            turn,
            why: why.clone(),
        },
    }
}

/// Whether a turn is in a conflict that a person should merge.
pub(crate) fn needs_human_merge(turn: &Turn) -> bool {
    let conflict = turn.conflict();
    let suggested = conflict.and_then(|conflict| conflict.get("suggested_resolution")?.as_str());
    suggested == Some(HUMAN_MERGE)
}

/// Whether a process works on a turn.
pub(crate) fn has_worker(turn: &Turn) -> bool {
    let pid = turn.member("worker_pid").and_then(Value::as_u64);
    let began = turn.member("worker_started_at").and_then(Value::as_str);
    let (Some(pid), Some(began)) = (pid, began.and_then(Time::parse_iso)) else {
        return false;
    };
    still_runs(pid, began.unix_millis())
}
