//! Acceptance: a staged result becomes part of the history, or is refused.
//!
//! [`Acceptance`] is a state machine without I/O. [`Acceptance::want`] returns the next request and
//! [`Acceptance::answer`] takes its answer. The host holds the repository's lock for the whole
//! acceptance and does only what is requested.
//!
//! Invariants:
//! - at most one [`Want::Commit`] accepts the turn, and [`Want::Done`] is the last request;
//! - a commit is complete: it contains history, ledger, repository decisions, `TALK.md`, events and
//!   state, and applying it twice duplicates no line;
//! - a refusal writes only its own record.

mod build;
mod cleared;
mod commit;
mod concluded;
mod observe;
mod observed;
mod records;
mod refuse;
mod replay;
mod staged;
mod talk;
mod validated;

use std::collections::BTreeMap;
use std::mem;

use accord_contract::{Code, Failure, Object, Time};

use cleared::Cleared;
pub use commit::{Commit, CommitKind, Key, Record, Write};
pub(crate) use commit::{append, digest};
pub use observe::Observation;
use observed::{Gated, Observed, Replayed};
pub use records::{Checkpoint, CheckpointReason, WorkPlace, run_record, session};
pub(crate) use replay::recover_coordinator;
pub use replay::{Recovery, recover};
use staged::{Judged, Staged};
use validated::Valid;

use crate::repo_decisions::RepoDecisions;
use crate::result::Leniency;
use crate::run::illegal;
use crate::{
    Approval, Baseline, Config, HookBatch, HookPhase, HookReport, Ids, RepoPath, Result, RunIndex,
    RuntimeType, State, Status, Turn, TurnId, rule,
};

/// The inputs of an acceptance, read under the lock.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub config: Config,
    pub state: State,
    pub index: RunIndex,
    pub repo_decisions: RepoDecisions,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    pub leniency: Leniency,
    /// The decision of the person who merged the conflicting files.
    pub human_merge: Option<Approval>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Read the staged result from the first of these paths that exists. Links must not lead out of
    /// the repository.
    Staging(Vec<String>),
    /// Run these hooks as a [`crate::hooks::HookChain`] and write their audit at once.
    Hooks(HookBatch),
    /// Delete those of these files that version control shows as new.
    Clean(Vec<RepoPath>),
    /// Report the changes since a baseline, the named files outside the repository, and the
    /// obstacles and present digests of the proposed files.
    Observe {
        baseline: Option<Baseline>,
        named: Vec<RepoPath>,
        proposed: Vec<RepoPath>,
        deleted: Vec<RepoPath>,
    },
    /// Read those of these files that exist.
    Files(Vec<RepoPath>),
    Replay(Vec<String>),
    /// Write this commit completely or not at all. When a name from the result makes that
    /// impossible, write nothing and answer [`Answer::Unusable`].
    Commit(Box<Commit>),
    Done(Box<Conclusion>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// `None` when there is no staged result.
    Staging(Option<StagedFile>),
    Hooks(HookReport),
    Cleaned,
    Observed(Observation),
    /// Texts by path. Missing and binary files are omitted.
    Files(BTreeMap<String, String>),
    /// The exit codes of the commands, in order. `None` for a command that did not exit.
    Replayed(Vec<Option<i64>>),
    Committed,
    /// The result, or a file that it names, cannot be read or written: it is too large, not a file,
    /// outside the repository, or obstructed.
    Unusable(Failure),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    Accepted(Box<Accepted>),
    Refused {
        failure: Failure,
        /// The state after the refusal.
        state: Box<State>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    pub turn_id: TurnId,
    /// The run's clock at the acceptance.
    pub accepted_sequence: u64,
    pub history_entry: Object,
    /// The state after the acceptance.
    pub state: State,
    /// Corrections first, then warnings of the validation.
    pub warnings: Vec<String>,
    /// The failure of a hook that ran after the commit.
    pub after_hooks: Option<Failure>,
}

#[derive(Clone, Debug)]
pub struct Acceptance {
    context: Context,
    step: Step,
    want: Want,
}

#[derive(Clone, Debug)]
struct Context {
    inputs: Inputs,
    options: Options,
    turn: Turn,
    ids: Ids,
    now: Time,
}

/// The steps in their order. Each variant holds what is known before its request is answered. A
/// step without a request is skipped. A refusal before the commit leads to [`Step::Recording`].
#[derive(Clone, Debug)]
enum Step {
    Reading,
    BeforeValidation(Staged),
    ReadingAgain(Staged),
    AfterValidation(Judged),
    Cleaning(Valid),
    Observing(Valid),
    GateFiles(Observed),
    Replaying(Gated),
    CleaningReplay(Replayed),
    ObservingReplay(Replayed),
    BeforeAcceptance(Cleared),
    ObservingAgain(Cleared),
    GateFilesAgain(Cleared),
    Committing(Box<Accepted>),
    AfterAcceptance(Box<Accepted>),
    Recording(Conclusion),
    OnEscalation(Conclusion),
    Done,
}

type Next = (Step, Want);

/// The next step, or a refusal that is to be recorded.
type Outcome = Result<Next, refuse::Refusal>;

/// The texts of files by path.
type Texts = BTreeMap<String, String>;

/// The path and content of a staged result.
pub type StagedFile = (String, Vec<u8>);

impl Acceptance {
    /// Begins to accept the named turn, or the only active one. Fails with `turn_already_accepted`,
    /// `turn_not_active`, `target_required` or `invalid_state_transition`. Nothing is recorded
    /// then.
    pub fn begin(
        inputs: Inputs,
        turn: Option<&TurnId>,
        options: Options,
        ids: Ids,
        now: Time,
    ) -> Result<Self> {
        // The protocol checks the history before the active turns: an accepted turn is no longer
        // active and must be reported as accepted, not as unknown.
        let meant = turn.or_else(|| inputs.state.target(None).ok().map(Turn::id));
        if let Some(id) = meant {
            rule!(inputs.index.check_not_accepted(id); AcceptedTwice => Ok(()))?;
        }
        let turn = inputs.state.target(turn)?.clone();
        if inputs.state.status() != Status::Active {
            return Err(illegal(&inputs.state, "accept a turn"));
        }
        let context = Context { inputs, options, turn, ids, now };
        Ok(Self { want: staged::ask_staging(&context), step: Step::Reading, context })
    }

    /// The current request. It stays the same until it is answered.
    pub fn want(&self) -> &Want {
        &self.want
    }

    pub fn turn(&self) -> &Turn {
        &self.context.turn
    }

    /// Answers the current request. `now` is the current time. Fails with `acceptance_out_of_step`
    /// when the answer does not fit the request; the acceptance then stays at its step. Fails with
    /// `invalid_state_transition` when the run cannot take the next status; the acceptance has
    /// ended then, and nothing was recorded.
    pub fn answer(&mut self, answer: Answer, now: Time) -> Result<()> {
        let context = &mut self.context;
        // The clock of the host may be set back during an acceptance; records must stay in order.
        context.now = context.now.max(now);
        // `Done` is a placeholder: the arms take the step by value. The last arm puts it back.
        let step = mem::replace(&mut self.step, Step::Done);
        let next = match (step, answer) {
            (Step::Reading, Answer::Staging(staged)) => Staged::read(context, staged),
            (Step::BeforeValidation(staged), Answer::Hooks(ran)) => {
                staged.after_hooks(context, &ran)
            }
            (Step::ReadingAgain(first), Answer::Staging(staged)) => {
                first.read_again(context, staged)
            }
            (Step::AfterValidation(judged), Answer::Hooks(ran)) => {
                judged.after_hooks(context, &ran)
            }
            (Step::Cleaning(valid), Answer::Cleaned) => Ok(valid.observe(context)),
            (Step::Observing(valid), Answer::Observed(seen)) => valid.observed(context, seen),
            (Step::GateFiles(observed), Answer::Files(files)) => observed.gated(context, files),
            (Step::Replaying(gated), Answer::Replayed(codes)) => gated.replayed(context, &codes),
            (Step::CleaningReplay(replayed), Answer::Cleaned) => replayed.observe(context),
            (Step::ObservingReplay(ran), Answer::Observed(seen)) => ran.observed(context, &seen),
            (Step::BeforeAcceptance(clear), Answer::Hooks(ran)) => clear.after_hooks(context, &ran),
            (Step::ObservingAgain(clear), Answer::Observed(seen)) => {
                clear.observed_again(context, &seen)
            }
            (Step::GateFilesAgain(clear), Answer::Files(files)) => {
                clear.gated_again(context, files)
            }
            (Step::Committing(accepted), Answer::Committed) => Ok(accepted.committed(context)),
            (Step::AfterAcceptance(done), Answer::Hooks(ran)) => {
                Ok(done.after_hooks(context, &ran))
            }
            (Step::Recording(conclusion), Answer::Committed) => Ok(conclusion.escalate(context)),
            // The run is blocked already, and hooks of this phase are advisory, so the report has
            // no effect.
            (Step::OnEscalation(conclusion), Answer::Hooks(_)) => Ok(conclusion.done()),
            // The host wrote nothing of the commit, so the turn can still be refused.
            (
                Step::Reading
                | Step::ReadingAgain(_)
                | Step::Cleaning(_)
                | Step::CleaningReplay(_)
                | Step::Observing(_)
                | Step::ObservingAgain(_)
                | Step::ObservingReplay(_)
                | Step::GateFiles(_)
                | Step::GateFilesAgain(_)
                | Step::Committing(_),
                Answer::Unusable(failure),
            ) => Err(failure.into()),
            (step, answer) => {
                self.step = step;
                // An answer can contain whole files. The message must stay readable.
                let message = format!("{answer:?} does not answer {:?}", self.want);
                let message: String = message.chars().take(200).collect();
                return Err(Failure::new(Code::XchainAcceptanceOutOfStep, message));
            }
        };
        self.proceed(next)
    }

    /// Takes the next step, or the one that records a refusal.
    fn proceed(&mut self, next: Outcome) -> Result<()> {
        let recorded = next.or_else(|refusal| refusal.record(&mut self.context));
        let ended = |failure: &Failure| {
            let state = Box::new(self.context.inputs.state.clone());
            let refused = Conclusion::Refused { failure: failure.clone(), state };
            (Step::Done, Want::Done(Box::new(refused)))
        };
        // Without a record nothing was requested, so nothing was written. The acceptance ends,
        // because its step is used up.
        let failed = recorded.as_ref().err().cloned();
        (self.step, self.want) = recorded.unwrap_or_else(|failure| ended(&failure));
        failed.map_or(Ok(()), Err)
    }
}

impl Context {
    /// The hooks of a phase, unless there are none.
    fn hooks(&self, phase: HookPhase, payload: Object) -> Option<HookBatch> {
        let run = self.inputs.state.run_id().map(ToString::to_string);
        HookBatch::new(phase, self.inputs.config.hooks(phase), payload, run)
    }

    /// Adds the person who merged conflicting files to a record.
    fn add_merger(&self, record: &mut Object) {
        if let Some(merged) = &self.options.human_merge {
            merged.add_to(record);
        }
    }

    fn runtime(&self) -> Option<RuntimeType> {
        let runtime = self.inputs.config.runtime(self.turn.runtime_id()?);
        runtime.map(|runtime| runtime.kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_acceptance_whose_refusal_cannot_be_recorded_has_ended() {
        let turn = json!({"turn_id": "turn_1", "assigned_role": "dev", "status": "running"});
        let state = |status: &str| {
            let document = json!({"run_id": "run_1", "status": status, "phase": "planning",
                "active_turns": {"turn_1": turn}});
            State::read(document).expect("a state")
        };
        let inputs = Inputs {
            config: Config::lenient(Object::new()),
            state: state("active"),
            index: RunIndex::new(None),
            repo_decisions: RepoDecisions::new(Vec::new()),
        };
        let now = Time::parse_iso("2026-04-20T10:00:00Z").expect("a time");
        let begun = Acceptance::begin(inputs, None, Options::default(), Ids::new([1; 32]), now);
        let mut machine = begun.expect("an active turn");
        // A run that has ended cannot be blocked, so this refusal has no record.
        machine.context.inputs.state = state("completed");
        let refusal = refuse::Refusal::Hook {
            failure: Failure::new(Code::XchainHookBlocked, "no"),
            phase: HookPhase::BeforeValidation,
            hook: "check".to_owned(),
        };
        machine.step = Step::Reading;
        let failed = machine.proceed(Err(refusal)).expect_err("no record");
        assert_eq!(failed.code, Code::XchainInvalidStateTransition);
        let Want::Done(conclusion) = machine.want() else {
            panic!("{:?}", machine.want());
        };
        assert!(matches!(&**conclusion, Conclusion::Refused { failure, .. } if *failure == failed));
        let late = machine.answer(Answer::Staging(None), now).expect_err("it has ended");
        assert_eq!(late.code, Code::XchainAcceptanceOutOfStep);
    }
}
