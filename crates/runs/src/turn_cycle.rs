//! One turn, from its dispatch to its acceptance.
//!
//! Invariants:
//! - the lock of the repository is held while something is decided or written, never while a worker
//!   runs;
//! - a worker without a result costs the turn no attempt: attempts count refused results;
//! - a result belongs to one attempt. Once the turn is at another attempt or was reissued, the
//!   output of the earlier worker is discarded.

use std::time::Duration;

use accord_base::client_output::{ClientCost, ClientOutput};
use accord_base::worker::{Attempt, AttemptSocket};
use accord_base::{ActorId, ProjectId};
use accord_contract::{Code, Extensible, Failure, Object, Value};
use accord_process::Cancel;
use accord_runs_core::budget::note_cost;
use accord_runs_core::dispatch::{LEFT_BEHIND, staging_folder};
use accord_runs_core::liveness::{LAST_FAILURE, LIMIT_DETAIL, SETTING_DETAIL, WorkerLimits};
use accord_runs_core::refused_result::{AfterRefusal, after_refusal, refusal_details};
use accord_runs_core::{Result, RuntimeType, Turn, TurnId, TurnStatus, build, dispatch};

use crate::operations::{Accept, AcceptResult, Dispatched, Reject};
use crate::runtime::{self, Job, WorkerEnd, WorkerSignal};
use crate::{Notice, Operation, Runs, own_path};

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CycleOptions {
    pub strict: bool,
    pub checkpoint: bool,
    /// How long a worker may give no sign of life, instead of the limits of the configuration.
    pub silence: Option<Duration>,
}

/// A turn is `Conflicted` if another one changed most of the same files, so that a person should
/// merge the two. The run is `Blocked` if too many results were refused, or a rule stopped it.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnOutcome {
    Accepted(AcceptResult),
    ByHand(Dispatched),
    Conflicted { turn: TurnId, failure: Failure },
    Blocked(Failure),
}

impl Runs {
    /// Runs the worker of a turn, then accepts the result, or rejects it and tries again as often
    /// as the rules allow.
    ///
    /// # Errors
    /// The failure of the worker if it gave no result; the turn records it and can be run again.
    /// Any other code is an obstacle outside the turn.
    pub fn run_turn(&self, turn: &TurnId, cycle: CycleOptions) -> Result<TurnOutcome> {
        let outcome = self.run_attempts(turn, cycle);
        self.release(turn);
        outcome
    }

    fn run_attempts(&self, turn: &TurnId, cycle: CycleOptions) -> Result<TurnOutcome> {
        loop {
            let mut attempt = self.state()?.target(Some(turn))?.attempt();
            if !self.is_staged(turn)? {
                let dispatched = self.dispatch(Some(turn))?;
                attempt = dispatched.turn.attempt();
                match self.run_worker(&dispatched, cycle.silence) {
                    Ok(WorkerEnd::ByHand) => return Ok(TurnOutcome::ByHand(dispatched)),
                    Err(failure) if is_cancelled(&failure) && self.is_stopped() => {
                        return Ok(TurnOutcome::Blocked(failure));
                    }
                    ended => drop(ended?),
                }
            }
            if let Some(refusal) = self.pending_conflict(turn)? {
                // The result was refused before: validating it again would count the refusal twice.
                if let Some(carried) = self.reject_refused(turn, refusal)? {
                    return Ok(carried);
                }
                continue;
            }
            let accept = Accept {
                turn: Some(turn.clone()),
                strict: cycle.strict,
                checkpoint: cycle.checkpoint,
                attempt: Some(attempt),
                ..Accept::default()
            };
            let refusal = match self.accept(&accept) {
                Ok(acceptance) => {
                    self.notify_accepted(&acceptance);
                    return Ok(TurnOutcome::Accepted(acceptance));
                }
                Err(refusal) => refusal,
            };
            if let Some(carried) = self.reject_refused(turn, refusal)? {
                return Ok(carried);
            }
        }
    }

    /// Runs the worker of a turn, and stages the result that it answers with.
    fn run_worker(&self, dispatched: &Dispatched, silence: Option<Duration>) -> Result<WorkerEnd> {
        let turn = dispatched.turn.id();
        self.environment.notify(&Notice::Dispatched {
            turn: turn.clone(),
            role: dispatched.turn.role().to_owned(),
            runtime: dispatched.runtime.id.clone(),
            attempt: dispatched.turn.attempt(),
        });
        // The bundle must be what was written for the worker.
        if let Err(errors) = self.verify_bundle(turn)? {
            let first = errors.first().map(|error| error.detail.clone());
            let message = format!("the bundle of {turn}: {}", first.unwrap_or_default());
            return Err(Failure::new(Code::XchainManifestInvalid, message));
        }
        let attempt = dispatched.turn.attempt();
        self.prepare_worker(dispatched)?;
        let state = &dispatched.update.state;
        let (over, stopped) = (Cancel::new(), Cancel::new());
        let socket = self.attempt_socket(&dispatched.turn);
        let job = Job {
            root: self.repository().root(),
            run_id: state.run_id().map_or("", |run| run.as_str()),
            phase: state.phase(),
            turn: &dispatched.turn,
            runtime: &dispatched.runtime,
            prompt: &dispatched.prompt,
            context: &dispatched.context,
            limits: WorkerLimits::of(
                &self.config()?,
                &dispatched.runtime,
                dispatched.turn.deadline(),
                silence,
                self.environment.now(),
            ),
            cancel: self.environment.cancel_token(),
            over: &over,
            stopped: &stopped,
            socket: socket.as_ref().map(|(project, socket)| (*project, socket.path())),
            confinement: self.environment.confinement(self.repository().root()),
        };
        let mut output = ClientOutput::default();
        let mut signals = |signal: WorkerSignal<'_>| {
            if let WorkerSignal::Output { error, bytes } = &signal {
                output.feed(*error, bytes);
            }
            self.seen((turn, attempt), signal, &over);
        };
        let work = || runtime::run_worker(&job, &mut signals);
        let is_out_of_time = |failure: &Failure| {
            matches!(failure.code, Code::XchainWorkerStalled | Code::XchainWorkerTimedOut)
        };
        let ended = match self.while_current((turn, attempt), (&over, &stopped), work) {
            // The worker may have staged in the place that turns of other runners share.
            Err(failure)
                if failure.code == Code::XchainWorkerWithoutResult && self.is_staged(turn)? =>
            {
                Ok(WorkerEnd::Written)
            }
            // A staged result is validated no matter how the worker ended.
            Err(failure) if is_out_of_time(&failure) && self.is_staged(turn)? => {
                self.environment.notify(&Notice::WorkerEnded { turn: turn.clone(), failure });
                Ok(WorkerEnd::Written)
            }
            other => other,
        };
        output.finish();
        let ended = ended.map_err(|failure| output.explain(failure));
        if let Some(cost) = output.cost() {
            self.environment.report(self.note_cost(turn, cost));
        }
        match &ended {
            Ok(WorkerEnd::Answered(result)) => self.stage((turn, attempt), result)?,
            Ok(WorkerEnd::ByHand | WorkerEnd::Written) => {}
            Err(failure) if failure.code == Code::XchainAttemptOver => self.clear_staging(turn)?,
            Err(failure) => self.note_failure(&dispatched.turn, failure),
        }
        self.look_after_worker(turn).map_or(ended, Err)
    }

    /// The socket through which the worker of a turn reaches a project of a host. It is there until
    /// the worker has ended.
    fn attempt_socket(&self, turn: &Turn) -> Option<(&ProjectId, Box<dyn AttemptSocket>)> {
        let (project, sockets) = self.environment.sockets()?;
        let (agent, work) = (ActorId::new(turn.role()).ok()?, turn.id().to_string());
        let id = Some(turn.attempt().to_string());
        let attempt = Attempt { project: project.clone(), agent, work, id };
        let opened = sockets.open(&attempt).map_err(|failure| {
            // The work does not depend on it: results are files.
            self.environment.notify(&Notice::NotDone(failure));
        });
        Some((project, opened.ok()?))
    }

    /// Fixes what judges the turn, and makes the folder for its result. The lock is released at the
    /// end: no worker runs under it.
    fn prepare_worker(&self, dispatched: &Dispatched) -> Result<()> {
        let turn = &dispatched.turn;
        let mut operation = self.begin()?;
        // Here, because this disk does not follow a link out of the repository.
        operation.locked.make_staging(turn.id())?;
        // A person can change everything; nothing is judged against their will.
        let by_hand = dispatched.runtime.kind == RuntimeType::Manual;
        let Some(guard) = operation.locked.guard().filter(|_| !by_hand) else { return Ok(()) };
        operation.state.target_at(turn.id(), turn.attempt())?;
        guard.start(&operation.locked, turn.id(), turn.attempt())?;
        // The records say from here on that there must be copies.
        let now = operation.now();
        let Operation { state, ids, .. } = &mut operation;
        let change = dispatch::mark_prepared(state, turn.id(), ids, now)?;
        operation.commit_update(change).map(drop)
    }

    /// Puts back what changed while the worker ran. Returns why the turn must not go on.
    fn look_after_worker(&self, turn: &TurnId) -> Option<Failure> {
        let operation = match self.begin() {
            Ok(operation) => operation,
            // The next operation looks again, before it decides anything.
            Err(failure) if failure.code == Code::XchainLockTimeout => return None,
            Err(failure) => return Some(failure),
        };
        operation.locked.guard()?.take_stop(turn)
    }

    fn release(&self, turn: &TurnId) {
        let Some(guard) = self.repository().guard() else { return };
        let released = self.begin().and_then(|_operation| guard.release(turn));
        self.environment.report(released);
    }

    /// Records an observation of a worker. A failure to record does not stop the worker, unless the
    /// turn is at another attempt.
    fn seen(&self, (turn, attempt): (&TurnId, u64), signal: WorkerSignal<'_>, over: &Cancel) {
        let now = self.environment.now().to_string();
        let (status, about) = match signal {
            WorkerSignal::Output { error, bytes } => {
                let (turn, bytes) = (turn.clone(), bytes.to_vec());
                self.environment.notify(&Notice::Output { turn, error, bytes });
                return;
            }
            WorkerSignal::Started { pid, sandbox } => (
                TurnStatus::Starting,
                build([
                    ("worker_pid", pid.into()),
                    ("worker_started_at", now.into()),
                    ("worker_sandbox", sandbox.to_string().into()),
                ]),
            ),
            WorkerSignal::FirstOutput { stream } => (
                TurnStatus::Running,
                build([("first_output_at", now.into()), ("first_output_stream", stream.into())]),
            ),
        };
        match self.record_worker_status(turn, attempt, status, about) {
            Ok(_) => {}
            Err(failure)
                if matches!(failure.code, Code::XchainAttemptOver | Code::XchainTurnNotActive) =>
            {
                over.cancel();
            }
            Err(failure) => self.environment.notify(&Notice::NotDone(failure)),
        }
    }

    /// Records what an attempt cost. Attempts that are refused cost, too.
    fn note_cost(&self, turn: &TurnId, cost: ClientCost) -> Result<()> {
        let mut operation = self.begin()?;
        // The turn stops anyway. A person can put the changed records in force only in this state.
        if operation.locked.guard().is_some_and(|guard| guard.is_stopped(turn)) {
            return Ok(());
        }
        let now = operation.now();
        let Operation { state, config, ids, .. } = &mut operation;
        let change = note_cost(state, config, turn, cost, ids, now)?;
        operation.commit_update(change).map(drop)
    }

    fn note_failure(&self, turn: &Turn, failure: &Failure) {
        self.environment
            .notify(&Notice::WorkerFailed { turn: turn.id().clone(), failure: failure.clone() });
        let status = match failure.code {
            Code::XchainWorkerNotStarted => TurnStatus::FailedStart,
            _ => TurnStatus::Stalled,
        };
        let mut last = serde_json::json!({
            "code": failure.code.as_str(),
            "message": failure.message,
            "at": self.environment.now().to_string(),
        });
        // What the client said last, and the limit that ended the worker: the next step proposes a
        // longer one.
        for name in [LIMIT_DETAIL, SETTING_DETAIL, "last_message"] {
            if let Some(detail) = failure.details.as_ref().and_then(|details| details.get(name)) {
                last[name] = detail.clone();
            }
        }
        let about = [
            // The process is gone. Its number may soon be that of another one.
            ("worker_pid".to_owned(), Value::Null),
            (LEFT_BEHIND.to_owned(), self.left_behind(turn)),
            (LAST_FAILURE.to_owned(), last),
        ];
        let about = Object::from_iter(about);
        let noted = self.record_worker_status(turn.id(), turn.attempt(), status, about);
        self.environment.report(noted);
    }

    fn pending_conflict(&self, turn: &TurnId) -> Result<Option<Failure>> {
        let state = self.state()?;
        let Some(conflict) = state.turn(turn).and_then(Turn::conflict) else { return Ok(None) };
        let names = |name: &str| {
            let names = conflict.get(name).and_then(Value::as_array);
            let names = names.into_iter().flatten().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(", ")
        };
        let (turns, files) = (names("accepted_since_turn_ids"), names("conflicting_files"));
        let message = format!("{turns} changed {files} meanwhile");
        Ok(Some(Failure::new(Code::XchainConflict, message)))
    }

    /// Rejects a turn whose result was refused; `None` if it must be tried again.
    fn reject_refused(&self, turn: &TurnId, refusal: Failure) -> Result<Option<TurnOutcome>> {
        match after_refusal(&self.state()?, turn) {
            AfterRefusal::Blocked => return Ok(Some(TurnOutcome::Blocked(refusal))),
            AfterRefusal::NotJudged => return Err(refusal),
            AfterRefusal::HumanMerge => {
                return Ok(Some(TurnOutcome::Conflicted { turn: turn.clone(), failure: refusal }));
            }
            AfterRefusal::Reject => {}
        }
        let (errors, failed_stage) = refusal_details(&refusal);
        let rejected = self.reject(&Reject {
            turn: Some(turn.clone()),
            reason: refusal.message.clone(),
            errors,
            failed_stage,
        })?;
        self.environment.notify(&Notice::Rejected {
            turn: turn.clone(),
            reason: refusal.message.clone(),
            again: rejected.again,
        });
        Ok((!rejected.again).then_some(TurnOutcome::Blocked(refusal)))
    }

    fn notify_accepted(&self, acceptance: &AcceptResult) {
        let entry = &acceptance.accepted.history_entry;
        let text = |name: &str| {
            let text = entry.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        self.environment.notify(&Notice::Accepted {
            turn: acceptance.accepted.turn_id.clone(),
            role: text("role"),
            summary: text("summary"),
        });
        if let Some(made) = &acceptance.checkpoint {
            self.environment.notify(&Notice::Checkpointed { commit: made.commit.clone() });
        }
        if let Some(failure) = &acceptance.no_checkpoint
            && failure.code != Code::XchainNothingToCheckpoint
        {
            self.environment.notify(&Notice::NotDone(failure.clone()));
        }
    }

    fn stage(&self, (turn, attempt): (&TurnId, u64), result: &Object) -> Result<()> {
        let operation = self.begin()?;
        // Under the lock: the turn may have been rejected or reissued while the worker worked.
        operation.state.target_at(turn, attempt)?;
        let text = accord_contract::text::pretty(result);
        operation.locked.stage(turn, text.as_bytes())?;
        Ok(())
    }

    /// Removes what the worker of an earlier attempt staged, so that it is not taken for the result
    /// of the next. After the next dispatch a staged result may be the new one, and is kept.
    fn clear_staging(&self, turn: &TurnId) -> Result<()> {
        let operation = self.begin()?;
        let waits = |turn: &Turn| *turn.status() == Extensible::Known(TurnStatus::Retrying);
        if operation.state.turn(turn).is_none_or(waits) {
            operation.locked.remove(&own_path(&staging_folder(turn))?)?;
        }
        Ok(())
    }
}

fn is_cancelled(failure: &Failure) -> bool {
    failure.code == Code::XchainWorkerCancelled
}
