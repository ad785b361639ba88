//! One turn, from its dispatch to its acceptance.
//!
//! Invariants:
//! - the repository's lock is held while something is decided or written, never while a worker
//!   works;
//! - a worker that came to no result costs the turn none of its tries: they are for results
//!   that were refused;
//! - a result is that of the try it was made for: once a turn is at another try, or is taken
//!   back, what the worker of the earlier one says and leaves counts for nothing.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Extensible, Object, Value};
use accord_process::Cancel;
use accord_runs_core::TurnId;
use accord_runs_core::dispatch::{LEFT_BEHIND, staging_folder};
use accord_runs_core::refused_result::{AfterRefusal, after_refusal, refusal_details};
use accord_runs_core::state::{Turn, TurnStatus};

use crate::Runs;
use crate::environment::Notice;
use crate::operation::own_path;
use crate::operations::{Accept, AcceptResult, Dispatched, Reject};
use crate::runtime::{self, Job, Limits, WorkerEnd, WorkerSignal};

/// How a turn is carried through.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CycleOptions {
    /// Whether results are taken as they are, or not at all.
    pub strict: bool,
    /// Whether what a turn changed is committed to git once it is accepted.
    pub checkpoint: bool,
}

/// What became of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnOutcome {
    /// It is part of the history.
    Accepted(AcceptResult),
    /// A person does the work.
    ByHand(Dispatched),
    /// Another turn changed so much of the same that a person should merge the two.
    Conflicted {
        /// The turn, which stays as it is.
        turn: TurnId,
        /// What is in conflict.
        failure: Failure,
    },
    /// Its results were refused too often, or a rule stopped the run: it is blocked.
    Blocked(Failure),
}

impl Runs {
    /// Carries a turn through: has it done by its worker, accepts the result, or rejects it
    /// and has it done again for as long as the rules allow.
    ///
    /// # Errors
    /// The worker's failure, when it came to no result; the turn is then marked, and can be carried
    /// again. With any other code when something else stands in the way.
    pub fn run_turn(&self, turn: &TurnId, cycle: CycleOptions) -> Result<TurnOutcome, Failure> {
        loop {
            let mut attempt = self.state()?.target(Some(turn))?.attempt();
            if !self.is_staged(turn)? {
                let dispatched = self.dispatch(Some(turn))?;
                attempt = dispatched.turn.attempt();
                if self.run_worker(&dispatched)? == WorkerEnd::ByHand {
                    return Ok(TurnOutcome::ByHand(dispatched));
                }
            }
            if let Some(refusal) = self.pending_conflict(turn)? {
                // It was refused for that before: to ask once more would count it twice.
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

    /// Has a turn's worker do its work, and stages what it answers.
    fn run_worker(&self, dispatched: &Dispatched) -> Result<WorkerEnd, Failure> {
        let turn = dispatched.turn.id();
        self.environment.notify(&Notice::Dispatched {
            turn: turn.clone(),
            role: dispatched.turn.role().to_owned(),
            runtime: dispatched.runtime.id.clone(),
            attempt: dispatched.turn.attempt(),
        });
        // What the worker is given must be what was written for it.
        if let Err(errors) = self.verify_bundle(turn)? {
            let first = errors.first().map(|error| error.detail.clone());
            let message = format!("the bundle of {turn}: {}", first.unwrap_or_default());
            return Err(Failure::new(Code::XchainManifestInvalid, message));
        }
        self.begin()?.locked.make_staging(turn)?;
        let state = &dispatched.update.state;
        let attempt = dispatched.turn.attempt();
        let over = Cancel::new();
        let job = Job {
            root: self.repository().root(),
            run_id: state.run_id().map_or("", |run| run.as_str()),
            phase: state.phase(),
            turn: &dispatched.turn,
            runtime: &dispatched.runtime,
            prompt: &dispatched.prompt,
            context: &dispatched.context,
            limits: Limits::of(
                &self.config()?,
                &dispatched.runtime,
                &dispatched.turn,
                self.environment.now(),
            ),
            cancel: self.environment.cancel_token(),
            over: &over,
        };
        let mut signals = |signal: WorkerSignal<'_>| self.seen((turn, attempt), signal, &over);
        let ended = match runtime::run_worker(&job, &mut signals) {
            // It may have used the place that turns of other runners share.
            Err(failure)
                if failure.code == Code::XchainWorkerWithoutResult && self.is_staged(turn)? =>
            {
                Ok(WorkerEnd::Written)
            }
            // What it staged is judged, however it ended.
            Err(failure)
                if matches!(
                    failure.code,
                    Code::XchainWorkerStalled | Code::XchainWorkerTimedOut
                ) && self.is_staged(turn)? =>
            {
                self.environment.notify(&Notice::WorkerEnded {
                    turn: turn.clone(),
                    failure,
                });
                Ok(WorkerEnd::Written)
            }
            other => other,
        };
        match &ended {
            Ok(WorkerEnd::Answered(result)) => self.stage((turn, attempt), result)?,
            Ok(WorkerEnd::ByHand | WorkerEnd::Written) => {}
            Err(failure) if failure.code == Code::XchainAttemptOver => self.clear_staging(turn)?,
            Err(failure) => self.note_failure(&dispatched.turn, failure),
        }
        ended
    }

    /// Notes what is seen of a worker. That it cannot be noted is no reason to end it, unless the
    /// turn is no longer at its try.
    fn seen(&self, (turn, attempt): (&TurnId, u64), signal: WorkerSignal<'_>, over: &Cancel) {
        let now = self.environment.now().to_string();
        let (status, about) = match signal {
            WorkerSignal::Output { error, bytes } => {
                self.environment.notify(&Notice::Output {
                    turn: turn.clone(),
                    error,
                    bytes: bytes.to_vec(),
                });
                return;
            }
            WorkerSignal::Started { pid } => (
                TurnStatus::Starting,
                [
                    ("worker_pid", pid.into()),
                    ("worker_started_at", Value::from(now)),
                ],
            ),
            WorkerSignal::FirstOutput { stream } => (
                TurnStatus::Running,
                [
                    ("first_output_at", now.into()),
                    ("first_output_stream", stream.into()),
                ],
            ),
        };
        let about = about.map(|(name, value)| (name.to_owned(), value));
        match self.record_worker_status(turn, attempt, status, Object::from_iter(about)) {
            Ok(_) => {}
            Err(failure)
                if matches!(
                    failure.code,
                    Code::XchainAttemptOver | Code::XchainTurnNotActive
                ) =>
            {
                over.cancel();
            }
            Err(failure) => self.environment.notify(&Notice::NotDone(failure)),
        }
    }

    fn note_failure(&self, turn: &Turn, failure: &Failure) {
        self.environment.notify(&Notice::WorkerFailed {
            turn: turn.id().clone(),
            failure: failure.clone(),
        });
        let status = match failure.code {
            Code::XchainWorkerNotStarted => TurnStatus::FailedStart,
            _ => TurnStatus::Stalled,
        };
        let about = [
            ("worker_pid".to_owned(), Value::Null),
            (LEFT_BEHIND.to_owned(), self.left_behind(turn)),
            (
                "last_worker_failure".to_owned(),
                serde_json::json!({
                    "code": failure.code.as_str(),
                    "message": failure.message,
                    "at": self.environment.now().to_string(),
                }),
            ),
        ];
        let about = Object::from_iter(about);
        if let Err(failure) = self.record_worker_status(turn.id(), turn.attempt(), status, about) {
            self.environment.notify(&Notice::NotDone(failure));
        }
    }

    /// The refusal of a turn that is in conflict with another.
    fn pending_conflict(&self, turn: &TurnId) -> Result<Option<Failure>, Failure> {
        let state = self.state()?;
        let Some(conflict) = state.turn(turn).and_then(Turn::conflict) else {
            return Ok(None);
        };
        let names = |name: &str| {
            let names = conflict.get(name).and_then(Value::as_array);
            let names = names.into_iter().flatten().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(", ")
        };
        let (turns, files) = (names("accepted_since_turn_ids"), names("conflicting_files"));
        let message = format!("{turns} changed {files} meanwhile");
        Ok(Some(Failure::new(Code::XchainConflict, message)))
    }

    /// Rejects a turn whose result was refused; `None` when it is to be tried again.
    fn reject_refused(
        &self,
        turn: &TurnId,
        refusal: Failure,
    ) -> Result<Option<TurnOutcome>, Failure> {
        match after_refusal(&self.state()?, turn) {
            AfterRefusal::Blocked => return Ok(Some(TurnOutcome::Blocked(refusal))),
            AfterRefusal::NotJudged => return Err(refusal),
            AfterRefusal::HumanMerge => {
                return Ok(Some(TurnOutcome::Conflicted {
                    turn: turn.clone(),
                    failure: refusal,
                }));
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
            self.environment.notify(&Notice::Checkpointed {
                commit: made.commit.clone(),
            });
        }
        if let Some(failure) = &acceptance.no_checkpoint
            && failure.code != Code::XchainNothingToCheckpoint
        {
            self.environment.notify(&Notice::NotDone(failure.clone()));
        }
    }

    /// Stages a result that a worker answered with.
    fn stage(&self, (turn, attempt): (&TurnId, u64), result: &Object) -> Result<(), Failure> {
        let operation = self.begin()?;
        operation.state.target_at(turn, attempt)?;
        let text = accord_contract::text::pretty(result);
        operation.locked.stage(turn, text.as_bytes())?;
        Ok(())
    }

    /// Clears away what the worker of an earlier try staged, so that nobody takes it for the
    /// result of the next. Once the next was handed out, what is staged may be its own.
    fn clear_staging(&self, turn: &TurnId) -> Result<(), Failure> {
        let operation = self.begin()?;
        let waits = |turn: &Turn| *turn.status() == Extensible::Known(TurnStatus::Retrying);
        if operation.state.turn(turn).is_none_or(waits) {
            operation.locked.remove(&own_path(&staging_folder(turn))?)?;
        }
        Ok(())
    }
}
