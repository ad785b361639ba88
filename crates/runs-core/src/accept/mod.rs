//! Acceptance: a staged result becomes part of the history, or is refused.
//!
//! [`Acceptance`] is a machine that is polled: [`Acceptance::want`] says what it needs from
//! the world, [`Acceptance::answer`] takes it. The host holds the repository's lock all the
//! while, and does what is wanted, nothing else.
//!
//! Invariants:
//! - at most one [`Want::Commit`] accepts the turn, and nothing is wanted behind
//!   [`Want::Done`];
//! - a commit is whole: history, ledger, repository decisions, `TALK.md`, events and state
//!   are in it together, and carrying it out twice leaves no line twice;
//! - a refusal writes nothing but what records it.

mod build;
mod commit;
mod observe;
mod records;
mod refuse;
mod replay;
mod steps;
mod talk;

use std::collections::BTreeMap;
use std::mem;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::Object;

pub use commit::{Commit, CommitKind, Key, Record, Write};
pub(crate) use commit::{append, digest};
pub use observe::Observation;
pub use records::{Checkpoint, run_record, session};
pub(crate) use replay::recover_coordinator;
pub use replay::{Recovery, recover};
use steps::{Cleared, Gated, Judged, Observed, Sound, Staged};

use crate::config::{Config, RuntimeType};
use crate::history::RunIndex;
use crate::hooks::{HookBatch, HookPhase, HookReport};
use crate::repo_decisions::RepoDecisions;
use crate::result::Leniency;
use crate::rule;
use crate::run::illegal;
use crate::state::{Baseline, State, Status, Turn};
use crate::{Ids, RepoPath, TurnId};

/// What an acceptance starts from; read under the lock.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The rules.
    pub config: Config,
    /// The state of the run.
    pub state: State,
    /// What the run has so far.
    pub index: RunIndex,
    /// The decisions of the repository.
    pub repo_decisions: RepoDecisions,
}

/// How a turn is accepted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// How the result is corrected.
    pub leniency: Leniency,
    /// A person merged what was in conflict.
    pub human_merge: bool,
}

/// What an acceptance needs next.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// The staged result: the first of these paths that is there, links not followed out of
    /// the repository.
    Staging(Vec<String>),
    /// These hooks, run as a [`crate::hooks::HookChain`]; their audit is written at once.
    Hooks(HookBatch),
    /// These files deleted, where version control shows them as new.
    Clean(Vec<RepoPath>),
    /// The changes since a baseline, the named files outside of the repository, and what is in the
    /// way of the proposed files.
    Observe {
        /// The baseline of the turn.
        baseline: Option<Baseline>,
        /// Every file that the result names.
        named: Vec<RepoPath>,
        /// The files that the result proposes to write.
        proposed: Vec<RepoPath>,
    },
    /// The content of these files, as far as they are there.
    Files(Vec<RepoPath>),
    /// These commands, run once more.
    Replay(Vec<String>),
    /// This written, all or nothing. That it cannot be written for what the result names is an
    /// answer, and nothing of it is written then.
    Commit(Box<Commit>),
    /// Nothing more.
    Done(Box<Conclusion>),
}

/// What the world answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The path and bytes of the staged result, where there is one.
    Staging(Option<(String, Vec<u8>)>),
    /// What came of the hooks.
    Hooks(HookReport),
    /// The files are gone.
    Cleaned,
    /// What has changed.
    Observed(Observation),
    /// Texts by path; what is missing, or no text, is not in it.
    Files(BTreeMap<String, String>),
    /// How the commands ended this time, in order; `None` for one that did not end.
    Replayed(Vec<Option<i64>>),
    /// It is written.
    Committed,
    /// What the result is, or names, cannot be looked at or written: too large, no file, out of
    /// the repository, something in the way.
    Unusable(Failure),
}

/// How an acceptance ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// The turn is part of the history.
    Accepted(Box<Accepted>),
    /// It is not.
    Refused {
        /// Why.
        failure: Failure,
        /// The state that the refusal left.
        state: Box<State>,
    },
}

/// A turn that is part of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// The turn.
    pub turn_id: TurnId,
    /// When, by the run's clock.
    pub accepted_sequence: u64,
    /// Its line in the history.
    pub history_entry: Object,
    /// The state that follows.
    pub state: State,
    /// What is odd and allowed, corrections first.
    pub warnings: Vec<String>,
    /// Whether a hook behind the commit misbehaved.
    pub after_hooks: Option<Failure>,
}

/// The acceptance of one turn.
#[derive(Clone, Debug)]
pub struct Acceptance {
    context: Context,
    step: Step,
    want: Want,
}

/// What every step needs.
#[derive(Clone, Debug)]
struct Context {
    inputs: Inputs,
    options: Options,
    turn: Turn,
    ids: Ids,
    now: Time,
}

/// The steps, in their order, each with what is known by then. A step that has nothing to ask for
/// is passed over. A refusal goes from any step before the commit to [`Step::Recording`].
#[derive(Clone, Debug)]
enum Step {
    Reading,
    BeforeValidation(Staged),
    ReadingAgain(Staged),
    AfterValidation(Judged),
    Cleaning(Sound),
    Observing(Sound),
    GateFiles(Observed),
    Replaying(Gated),
    BeforeAcceptance(Cleared),
    ObservingAgain(Cleared),
    GateFilesAgain(Cleared),
    Committing(Box<Accepted>),
    AfterAcceptance(Box<Accepted>),
    Recording(Conclusion),
    OnEscalation(Conclusion),
    Done,
}

/// The next step, and what it asks for.
type Next = (Step, Want);

impl Acceptance {
    /// Begins to accept a turn: the one that is named, or the only one.
    ///
    /// # Errors
    /// With `turn_already_accepted`, `turn_not_active`, `target_required` or
    /// `invalid_state_transition`; nothing is recorded then.
    pub fn begin(
        inputs: Inputs,
        turn: Option<&TurnId>,
        options: Options,
        ids: Ids,
        now: Time,
    ) -> Result<Self, Failure> {
        let meant = turn.or_else(|| inputs.state.target(None).ok().map(Turn::id));
        if let Some(id) = meant {
            rule!(inputs.index.check_not_accepted(id); AcceptedTwice => Ok(()))?;
        }
        let turn = inputs.state.target(turn)?.clone();
        if inputs.state.status() != Status::Active {
            return Err(illegal(&inputs.state, "accept a turn"));
        }
        let context = Context {
            inputs,
            options,
            turn,
            ids,
            now,
        };
        Ok(Self {
            want: steps::ask_staging(&context),
            step: Step::Reading,
            context,
        })
    }

    /// What is needed next; the same until it is answered.
    pub fn want(&self) -> &Want {
        &self.want
    }

    /// The turn.
    pub fn turn(&self) -> &Turn {
        &self.context.turn
    }

    /// Takes what was wanted; `now` is the current time.
    ///
    /// # Errors
    /// With `acceptance_out_of_step` when something else was wanted; nothing happens then. With
    /// `invalid_state_transition` when the run cannot take the status that follows.
    pub fn answer(&mut self, answer: Answer, now: Time) -> Result<(), Failure> {
        let context = &mut self.context;
        context.now = context.now.max(now);
        let step = mem::replace(&mut self.step, Step::Done);
        let next = match (step, answer) {
            (Step::Reading, Answer::Staging(staged)) => Staged::read(context, staged),
            (Step::BeforeValidation(staged), Answer::Hooks(report)) => {
                staged.after_hooks(context, &report)
            }
            (Step::ReadingAgain(before), Answer::Staging(staged)) => {
                before.read_again(context, staged)
            }
            (Step::AfterValidation(judged), Answer::Hooks(report)) => {
                judged.after_hooks(context, &report)
            }
            (Step::Cleaning(sound), Answer::Cleaned) => Ok(sound.observe(context)),
            (Step::Observing(sound), Answer::Observed(seen)) => sound.observed(context, seen),
            (Step::GateFiles(observed), Answer::Files(files)) => observed.gated(context, files),
            (Step::Replaying(gated), Answer::Replayed(codes)) => gated.replayed(context, &codes),
            (Step::BeforeAcceptance(cleared), Answer::Hooks(report)) => {
                cleared.after_hooks(context, &report)
            }
            (Step::ObservingAgain(cleared), Answer::Observed(seen)) => {
                cleared.observed_again(context, &seen)
            }
            (Step::GateFilesAgain(cleared), Answer::Files(files)) => {
                cleared.gated_again(context, files)
            }
            (Step::Committing(accepted), Answer::Committed) => Ok(accepted.committed(context)),
            (Step::AfterAcceptance(accepted), Answer::Hooks(report)) => {
                Ok(accepted.after_hooks(context, &report))
            }
            (Step::Recording(conclusion), Answer::Committed) => Ok(conclusion.escalate(context)),
            (Step::OnEscalation(conclusion), Answer::Hooks(_)) => Ok(conclusion.done()),
            // Nothing of the commit was written, so that the turn can still be refused.
            (
                Step::Reading
                | Step::ReadingAgain(_)
                | Step::Observing(_)
                | Step::ObservingAgain(_)
                | Step::GateFiles(_)
                | Step::GateFilesAgain(_)
                | Step::Committing(_),
                Answer::Unusable(failure),
            ) => Err(failure.into()),
            (step, answer) => {
                self.step = step;
                let message = format!("{answer:?} does not answer {:?}", self.want);
                let message: String = message.chars().take(200).collect();
                return Err(Failure::new(Code::XchainAcceptanceOutOfStep, message));
            }
        };
        (self.step, self.want) = match next {
            Ok(next) => next,
            Err(refusal) => refusal.record(context)?,
        };
        Ok(())
    }
}

impl Context {
    /// The hooks of a phase, where it has any.
    fn hooks(&self, phase: HookPhase, payload: Object) -> Option<HookBatch> {
        let run = self.inputs.state.run_id().map(ToString::to_string);
        HookBatch::new(phase, self.inputs.config.hooks(phase), payload, run)
    }

    /// What carries the turn out.
    fn runtime(&self) -> Option<RuntimeType> {
        let runtime = self.inputs.config.runtime(self.turn.runtime_id()?);
        runtime.map(|runtime| runtime.kind)
    }
}
