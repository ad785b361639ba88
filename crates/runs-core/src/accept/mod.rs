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

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

pub use commit::{Commit, CommitKind, Key, Record, Write};
pub(crate) use commit::{append, mark};
pub use observe::Observation;
pub use records::{Checkpoint, run_record, session};
pub(crate) use replay::recover_coordinator;
pub use replay::{Recovery, recover};

use crate::config::Config;
use crate::conflict::Overlap;
use crate::history::RunIndex;
use crate::hooks::{HookBatch, HookOutcome};
use crate::repo_decisions::RepoDecisions;
use crate::result::{Judged, Leniency, TurnResult};
use crate::rule;
use crate::run::illegal;
use crate::state::{Baseline, State, Status, Turn};
use crate::{Ids, RepoPath, TurnId};

/// What an acceptance starts from; read under the lock.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The rules.
    pub config: Config,
    /// Where the run stands.
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
    /// These files deleted, where they are there and version control does not know them.
    Clean(Vec<RepoPath>),
    /// What has changed since a baseline, which of [`Acceptance::named_files`] are outside, and
    /// what is in the way of [`Acceptance::proposed_files`].
    Observe(Option<Baseline>),
    /// The content of these files, as far as they are there.
    Files(Vec<RepoPath>),
    /// These commands, run once more.
    Replay(Vec<String>),
    /// This written, all or nothing. That it cannot be written for what the result names is an
    /// answer, and nothing of it is written then.
    Commit(Box<Commit>),
    /// Nothing more.
    Done(Box<Outcome>),
}

/// What the world answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The path and bytes of the staged result, where there is one.
    Staging(Option<(String, Vec<u8>)>),
    /// What came of the hooks.
    Hooks(HookOutcome),
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

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
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
    inputs: Inputs,
    options: Options,
    turn: Turn,
    ids: Ids,
    now: Time,
    step: Step,
    want: Want,
    found: Found,
}

/// What is known by now.
#[derive(Clone, Debug, Default)]
struct Found {
    staged: Option<Result<Value, String>>,
    /// Whether a hook wrote another result in place of the staged one.
    rewritten_by_hook: bool,
    /// Whether the result lay where results lay when there was one turn at a time.
    flat_staging: bool,
    judged: Option<Judged>,
    result: Option<TurnResult>,
    observation: Option<Observation>,
    /// What the turn is held to have changed.
    changed: Vec<RepoPath>,
    files: BTreeMap<String, String>,
    replay: Option<Object>,
    overlap: Option<Overlap>,
    warnings: Vec<String>,
    accepted: Option<Box<Accepted>>,
    refused: Option<(Failure, Box<State>)>,
}

/// Where an acceptance is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Staging,
    BeforeValidation,
    StagingAgain,
    AfterValidation,
    Cleaning,
    Observing,
    GateFiles,
    Replaying,
    BeforeAcceptance,
    ObservingAgain,
    GateFilesAgain,
    Committing,
    AfterAcceptance,
    Recording,
    OnEscalation,
    Done,
}

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
        let want = Want::Staging(steps::staging_paths(&turn));
        Ok(Self {
            inputs,
            options,
            turn,
            ids,
            now,
            step: Step::Staging,
            want,
            found: Found::default(),
        })
    }

    /// What is needed next; the same until it is answered.
    pub fn want(&self) -> &Want {
        &self.want
    }

    /// The turn.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Every file that the result names; none before it has passed its judgement.
    pub fn named_files(&self) -> Vec<RepoPath> {
        let result = self.found.result.as_ref();
        result.map(TurnResult::named_files).unwrap_or_default()
    }

    /// The files of them that it proposes to write.
    pub fn proposed_files(&self) -> Vec<RepoPath> {
        let result = self.found.result.as_ref();
        result
            .map(|result| result.proposed(false))
            .unwrap_or_default()
    }

    /// Takes what was wanted; `now` is the time by now.
    ///
    /// # Errors
    /// With `acceptance_out_of_step` when something else was wanted; nothing happens then.
    pub fn answer(&mut self, answer: Answer, now: Time) -> Result<(), Failure> {
        self.now = self.now.max(now);
        match (self.step, answer) {
            (Step::Staging | Step::StagingAgain, Answer::Staging(staged)) => self.staged(staged),
            (
                Step::Staging
                | Step::StagingAgain
                | Step::Observing
                | Step::ObservingAgain
                | Step::GateFiles
                | Step::GateFilesAgain,
                Answer::Unusable(failure),
            ) => self.refuse(failure),
            (Step::BeforeValidation, Answer::Hooks(said)) => self.before_validation_said(&said),
            (Step::AfterValidation, Answer::Hooks(said)) => self.after_validation_said(&said),
            (Step::Cleaning, Answer::Cleaned) => self.observe(),
            (Step::Observing, Answer::Observed(seen)) => self.observed(seen),
            (Step::GateFiles, Answer::Files(files)) => self.gate_files(files),
            (Step::Replaying, Answer::Replayed(codes)) => self.replayed(&codes),
            (Step::BeforeAcceptance, Answer::Hooks(said)) => self.before_acceptance_said(&said),
            (Step::ObservingAgain, Answer::Observed(seen)) => self.observed_again(&seen),
            (Step::GateFilesAgain, Answer::Files(files)) => {
                self.found.files = files;
                self.commit();
            }
            (Step::Committing, Answer::Committed) => self.committed(),
            // Nothing of it was written.
            (Step::Committing, Answer::Unusable(failure)) => {
                self.found.accepted = None;
                self.refuse(failure);
            }
            (Step::AfterAcceptance, Answer::Hooks(said)) => self.after_acceptance_said(&said),
            (Step::Recording, Answer::Committed) => self.recorded(),
            (Step::OnEscalation, Answer::Hooks(_)) => self.done(),
            (step, answer) => {
                let message = format!("{answer:?} is no answer to {step:?}");
                let message: String = message.chars().take(200).collect();
                return Err(Failure::new(Code::XchainAcceptanceOutOfStep, message));
            }
        }
        Ok(())
    }
}
