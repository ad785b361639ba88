//! Runs turn after turn until the run is completed or a person is needed.
//!
//! If a phase allows several active turns, their workers run concurrently, each in a thread with
//! its own turn cycle. The main thread assigns turns and passes gates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_runs_core::liveness::Stalled;
use accord_runs_core::loop_limits::{DEFAULT_MAX_TURNS, Retry, after_worker_failure, max_turns};
use accord_runs_core::{Block, Consent, Person, Result, Status, TurnId};

use super::{Dispatched, NextStep, PendingApproval};
use crate::turn_cycle::{CycleOptions, TurnOutcome};
use crate::{Notice, Runs};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LoopOptions {
    pub cycle: CycleOptions,
    /// The maximum number of turns, including those that are active at the start. If absent,
    /// `run_loop.max_turns` of the configuration, else [`DEFAULT_MAX_TURNS`].
    pub max_turns: Option<usize>,
    /// The person who approves every gate that needs one, by having started the loop.
    pub auto_approve: Option<Person>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LoopStop {
    Completed,
    Blocked,
    GateHeld(PendingApproval),
    ByHand(Box<Dispatched>),
    MaxTurns,
    Cancelled,
    /// No run is active; this is the next step.
    NotRunning(NextStep),
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoopResult {
    pub stop: LoopStop,
    pub accepted: usize,
    /// Warnings about them, each with its turn.
    pub warnings: Vec<String>,
}

type Report = (TurnId, Result<TurnOutcome>);

impl Runs {
    /// Runs turn after turn. Fails with the first failure that another attempt does not fix.
    /// Workers that still run are waited for first.
    pub fn run_loop(&self, options: &LoopOptions) -> Result<LoopResult> {
        if options.cycle.checkpoint {
            // A worker may take an hour, and its work could not be committed.
            self.check_committer()?;
        }
        let (sender, receiver) = channel();
        let configured = || self.config().map_or(DEFAULT_MAX_TURNS, |config| max_turns(&config));
        let max_turns = options.max_turns.unwrap_or_else(configured);
        thread::scope(|scope| {
            let mut run_loop = RunLoop {
                runs: self,
                options,
                max_turns,
                sender,
                receiver,
                running: BTreeSet::new(),
                tries: BTreeMap::new(),
                raised: BTreeMap::new(),
                carried: BTreeSet::new(),
                accepted: 0,
                warnings: Vec::new(),
            };
            let stop = run_loop.run(scope);
            // Turn cycles in progress are always completed.
            while !run_loop.running.is_empty() {
                run_loop.wait()?;
            }
            Ok(LoopResult { stop: stop?, accepted: run_loop.accepted, warnings: run_loop.warnings })
        })
    }
}

struct RunLoop<'a> {
    runs: &'a Runs,
    options: &'a LoopOptions,
    max_turns: usize,
    sender: Sender<Report>,
    receiver: Receiver<Report>,
    running: BTreeSet<TurnId>,
    /// How often the worker of a turn gave no result.
    tries: BTreeMap<TurnId, u64>,
    /// How long the next worker of a turn may give no sign of life, because the last one was ended
    /// for its silence. The same limit would lead to the same end.
    raised: BTreeMap<TurnId, Duration>,
    /// The turns of this loop, including those that another process had assigned.
    carried: BTreeSet<TurnId>,
    accepted: usize,
    warnings: Vec<String>,
}

impl<'a> RunLoop<'a> {
    fn run<'scope>(&mut self, scope: &'scope Scope<'scope, 'a>) -> Result<LoopStop> {
        loop {
            if self.is_cancelled() {
                return Ok(LoopStop::Cancelled);
            }
            // Read from disk for every step: others may change the run meanwhile.
            let next = self.runs.status()?.next;
            let mut stop = None;
            let mut moved = false;
            for step in next {
                if step.turn().is_some_and(|turn| self.running.contains(turn)) {
                    continue;
                }
                match self.take_step(step, scope)? {
                    StepEffect::RunUpdate => {
                        moved = true;
                        break;
                    }
                    StepEffect::Waits => {}
                    StepEffect::Stop(why) => {
                        stop = Some(why);
                        break;
                    }
                }
            }
            match stop {
                _ if moved => {}
                // The result of a running worker may change the next step.
                Some(stop) if self.running.is_empty() => return Ok(stop),
                None if self.running.is_empty() => {
                    let message = "the run is active, but there is no next step";
                    return Err(Failure::new(Code::XchainInvalidStateTransition, message));
                }
                _ => {
                    if let Some(stop) = self.wait()? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    fn take_step<'scope>(
        &mut self,
        step: NextStep,
        scope: &'scope Scope<'scope, 'a>,
    ) -> Result<StepEffect> {
        let runs = self.runs;
        Ok(match step {
            NextStep::Examine(failure) | NextStep::Adopt(failure) => return Err(failure),
            NextStep::Start { restart: true } if runs.state()?.status() == Status::Completed => {
                StepEffect::Stop(LoopStop::Completed)
            }
            start @ NextStep::Start { .. } => StepEffect::Stop(LoopStop::NotRunning(start)),
            NextStep::Resolve { .. } => StepEffect::Stop(LoopStop::Blocked),
            NextStep::ApproveTransition { gate, .. } => {
                self.approve(PendingApproval::Transition, Some(gate))?
            }
            NextStep::ApproveCompletion { gate } => {
                self.approve(PendingApproval::Completion, gate)?
            }
            // The alternative to the approval above, which ended the loop or changed the run. And a
            // person decides about a proposal at any time; no turn waits for it.
            NextStep::SendBack { .. } | NextStep::DecideProposal { .. } => StepEffect::Waits,
            // These prepare another turn, which the limit does not allow.
            NextStep::Checkpoint | NextStep::Tidy { .. } | NextStep::Assign { .. }
                if self.carried.len() >= self.max_turns =>
            {
                StepEffect::Stop(LoopStop::MaxTurns)
            }
            NextStep::Checkpoint if self.options.cycle.checkpoint => {
                let made = runs.checkpoint(None)?;
                runs.environment().notify(&Notice::Checkpointed { commit: made.commit });
                StepEffect::RunUpdate
            }
            // Files of running workers are not known to be unrelated yet.
            NextStep::Checkpoint | NextStep::Tidy { .. } if !self.running.is_empty() => {
                StepEffect::Waits
            }
            NextStep::RaiseBudget { .. } if runs.state()?.status() == Status::Blocked => {
                StepEffect::Stop(LoopStop::Blocked)
            }
            NextStep::Checkpoint | NextStep::Tidy { .. } | NextStep::RaiseBudget { .. } => {
                // The assignment reports the reason itself.
                runs.assign(None)?;
                StepEffect::RunUpdate
            }
            // The coordinator of an initiative decides which turn is next. A repository without a
            // workstream in the last phase has turns of its own, so the first one is assigned.
            step @ NextStep::Assign { .. }
                if !self.carried.is_empty() && runs.initiative()?.is_some() =>
            {
                StepEffect::Stop(LoopStop::NotRunning(step))
            }
            NextStep::Assign { role, .. } => {
                let assigned = runs.assign(Some(&role))?;
                let turn = assigned.turn.id().clone();
                runs.environment().notify(&Notice::Assigned { turn: turn.clone(), role });
                self.spawn_turn(turn, scope);
                StepEffect::RunUpdate
            }
            step @ (NextStep::Work { by_hand: true, .. }
            | NextStep::Reconcile { merge: true, .. }
            | NextStep::Reissue { .. }
            | NextStep::Overdue { .. }) => StepEffect::Stop(LoopStop::NotRunning(step)),
            NextStep::Dispatch { turn, .. }
            | NextStep::Unable { turn, .. }
            | NextStep::Work { turn, .. }
            | NextStep::Accept { turn }
            | NextStep::Mend { turn, .. }
            | NextStep::Reconcile { turn, .. } => {
                if self.carried.len() >= self.max_turns && !self.carried.contains(&turn) {
                    return Ok(StepEffect::Stop(LoopStop::MaxTurns));
                }
                runs.refuse_if_busy(&turn)?;
                self.spawn_turn(turn, scope);
                StepEffect::RunUpdate
            }
        })
    }

    fn approve(&self, gate: PendingApproval, name: Option<String>) -> Result<StepEffect> {
        // Gates that touch credentials always need a person.
        let config = self.runs.config()?;
        let declared = name.as_deref().and_then(|name| config.gate(name));
        let credentialed = declared.is_some_and(|gate| gate.credentialed);
        let Some(person) = self.options.auto_approve.as_ref().filter(|_| !credentialed) else {
            return Ok(StepEffect::Stop(LoopStop::GateHeld(gate)));
        };
        self.runs.approve(gate, &Consent::of(person.clone()))?;
        self.runs.environment().notify(&Notice::Approved { gate: name });
        Ok(StepEffect::RunUpdate)
    }

    fn spawn_turn<'scope>(&mut self, turn: TurnId, scope: &'scope Scope<'scope, 'a>) {
        self.running.insert(turn.clone());
        self.carried.insert(turn.clone());
        let raised = self.raised.get(&turn).copied();
        let (runs, mut cycle) = (self.runs, self.options.cycle);
        cycle.silence = cycle.silence.max(raised);
        let sender = self.sender.clone();
        scope.spawn(move || {
            let carried = runs.run_turn(&turn, cycle);
            // The loop waits for every turn that it started.
            let _ = sender.send((turn, carried));
        });
    }

    fn wait(&mut self) -> Result<Option<LoopStop>> {
        // `self` has a sender, so the channel is never closed.
        let Ok((turn, carried)) = self.receiver.recv() else { return Ok(None) };
        self.running.remove(&turn);
        match carried {
            Ok(TurnOutcome::Accepted(done)) => {
                self.accepted += 1;
                let warnings = done.accepted.warnings.into_iter();
                self.warnings.extend(warnings.map(|warning| format!("{turn}: {warning}")));
                Ok(None)
            }
            Ok(TurnOutcome::Blocked(_)) => Ok(Some(LoopStop::Blocked)),
            Ok(TurnOutcome::ByHand(dispatched)) => Ok(Some(LoopStop::ByHand(Box::new(dispatched)))),
            // Other turns may continue; the conflict is found again after them.
            Ok(TurnOutcome::Conflicted { .. }) => Ok(None),
            Err(failure) => self.retry_or_block(turn, failure),
        }
    }

    /// A worker gave no result: its turn is run again as often as the rules allow. Then the run is
    /// blocked, so that a person looks at it.
    fn retry_or_block(&mut self, turn: TurnId, failure: Failure) -> Result<Option<LoopStop>> {
        let failures = self.tries.get(&turn).copied().unwrap_or_default() + 1;
        match after_worker_failure(failure.code, failures, &self.runs.config()?) {
            Retry::Cancelled => Ok(Some(LoopStop::Cancelled)),
            Retry::Superseded => Ok(None),
            Retry::Fail => Err(failure),
            Retry::Block => {
                self.runs.block(&Block::dispatch(&in_full(&failure), &turn))?;
                Ok(Some(LoopStop::Blocked))
            }
            Retry::After(pause) => {
                if let Some(stalled) = Stalled::of_failure(&failure) {
                    self.raised.insert(turn.clone(), stalled.raised);
                }
                self.tries.insert(turn, failures);
                self.pause(pause);
                Ok(None)
            }
        }
    }

    fn pause(&self, pause: Duration) {
        let mut left = pause;
        // Setting the token does not wake a thread that sleeps.
        while !left.is_zero() && !self.is_cancelled() {
            let nap = left.min(Duration::from_millis(20));
            thread::sleep(nap);
            left -= nap;
        }
    }

    fn is_cancelled(&self) -> bool {
        let token = self.runs.environment().cancel_token();
        token.is_some_and(accord_process::Cancel::is_cancelled)
    }
}

/// The failure of a worker, with the last line of its output.
fn in_full(failure: &Failure) -> String {
    let details = failure.details.as_ref();
    let output = details.and_then(|details| details.get("stderr").or_else(|| details.get("body")));
    match output.and_then(|output| output.as_str()?.lines().last()) {
        Some(output) => format!("{}: {output}", failure.message),
        None => failure.message.clone(),
    }
}

enum StepEffect {
    /// Something changed: read the state again.
    RunUpdate,
    /// It is not possible while other turns run.
    Waits,
    Stop(LoopStop),
}
