//! The answers of `accord run` as JSON: part of Accord's wire contract. Documents of the protocol
//! (state, turns, history lines) are in them as they are.

use accord_contract::codes::{Code, Failure, WireCode};
use accord_contract::compat::Direction;
use accord_contract::snapshot::Builder;
use accord_contract::wire::{Object, message};
use accord_runs::operations::{Checkpoint, Finding, Level, RunUpdate};
use accord_runs_core::event::Event;

use super::next::NextAnswer;
use super::step_loop::RunStop;
use crate::error::CliError;

message! {
    /// What `accord run init` made.
    pub(crate) struct RunInitAnswer("RunInitAnswer", closed) {
        /// The repository.
        required root: String = "root", "path";
        /// Files that were written.
        required written: Vec<String> = "written", "repository-paths";
        /// Files that were there, and were left alone.
        required kept: Vec<String> = "kept", "repository-paths";
    }
}

message! {
    /// A run that moved.
    pub(crate) struct RunAnswer("RunAnswer", closed) {
        /// Where it stands.
        required state: Object = "state", "governed-state";
        /// What was emitted, in order.
        required events: Vec<Object> = "events", "governed-events";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A turn that was assigned.
    pub(crate) struct RunTurnAnswer("RunTurnAnswer", closed) {
        /// The turn.
        required turn: Object = "turn", "governed-turn";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A turn that was handed to its worker.
    pub(crate) struct RunDispatchAnswer("RunDispatchAnswer", closed) {
        /// The turn.
        required turn: Object = "turn", "governed-turn";
        /// What carries it out.
        required runtime_id: String = "runtime_id", "runtime-id";
        /// Of which type that is.
        required runtime_type: String = "runtime_type", "runtime-type";
        /// The folder with what the worker is given.
        required bundle: String = "bundle", "repository-path";
        /// Where its result belongs.
        required staging: String = "staging", "repository-path";
        /// What is in the folder.
        required manifest: Object = "manifest", "dispatch-manifest";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A turn that was accepted.
    pub(crate) struct RunAcceptAnswer("RunAcceptAnswer", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// When, by the run's clock.
        required accepted_sequence: u64 = "accepted_sequence", "count";
        /// Its line in the history; corrections of its result are in `normalizations`.
        required history_entry: Object = "history_entry", "governed-history-line";
        /// What is odd and allowed, corrections first.
        required warnings: Vec<String> = "warnings", "text";
        /// What a hook behind the acceptance did wrong.
        optional after_hooks: RunFailure = "after_hooks", "failure";
        /// The commit that holds what the turn changed.
        optional checkpoint: RunCheckpointAnswer = "checkpoint", "checkpoint";
        /// Why there is none, where one was asked for.
        optional no_checkpoint: RunFailure = "no_checkpoint", "failure";
        /// Where the run stands.
        required state: Object = "state", "governed-state";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A turn that was rejected.
    pub(crate) struct RunRejectAnswer("RunRejectAnswer", closed) {
        /// Whether it may be tried again; else the run is blocked.
        required again: bool = "again", "verdict";
        /// Where the rejected result is kept.
        required_or_null kept: String = "kept", "repository-path";
        /// Where the run stands.
        required state: Object = "state", "governed-state";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A result that was staged by hand.
    pub(crate) struct RunStageAnswer("RunStageAnswer", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Where the result is.
        required path: String = "path", "repository-path";
        /// The result.
        required result: Object = "result", "governed-turn-result";
        /// Why it would be refused as it is.
        optional problem: RunFailure = "problem", "failure";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// How far a run was driven by `accord run step` or `accord run loop`.
    pub(crate) struct RunDriveAnswer("RunDriveAnswer", closed) {
        /// Why no further.
        required stop: RunStop = "stop", "run-stop";
        /// How many turns were accepted on the way.
        required accepted: u64 = "accepted", "count";
        /// The turn that it came to, where it is one.
        required_or_null turn_id: String = "turn_id", "turn-id";
        /// Why the run is blocked, where the last result was refused.
        optional failure: RunFailure = "failure", "failure";
        /// What is odd about accepted turns and allowed.
        required warnings: Vec<String> = "warnings", "text";
        /// Where the run stands.
        required state: Object = "state", "governed-state";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A commit that holds what accepted turns changed.
    pub(crate) struct RunCheckpointAnswer("RunCheckpointAnswer", closed) {
        /// The commit.
        required commit: String = "commit", "git-commit";
        /// The files in it.
        required files: Vec<String> = "files", "repository-paths";
        /// The turns that changed them.
        required turns: Vec<String> = "turns", "turn-ids";
    }
}

message! {
    /// Where a run stands.
    pub(crate) struct RunStatusAnswer("RunStatusAnswer", closed) {
        /// The repository.
        required root: String = "root", "path";
        /// Why the configuration or the state cannot be used.
        optional problem: RunFailure = "problem", "failure";
        /// The state; null where it cannot be read.
        required_or_null state: Object = "state", "governed-state";
        /// How many turns of the run were accepted.
        required accepted_turns: u64 = "accepted_turns", "count";
        /// The process that works on the repository just now.
        optional lock_owner_pid: u64 = "lock_owner_pid", "process-id";
        /// Journals that the next command that writes brings to their end.
        required journals: Vec<String> = "journals", "repository-paths";
        /// What is odd about the turn that was accepted last, and allowed.
        required last_warnings: Vec<String> = "last_warnings", "text";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A refusal.
    pub(crate) struct RunFailure("RunFailure", closed) {
        /// Which one.
        required code: WireCode = "code", "failure-code";
        /// What happened this time, for people.
        required message: String = "message", "text";
        /// What programs need, under the names that the protocol gives.
        optional details: Object = "details", "failure-details";
    }
}

message! {
    /// What an approval would do.
    pub(crate) struct RunPlanAnswer("RunPlanAnswer", closed) {
        /// The gate.
        required_or_null gate: String = "gate", "gate-id";
        /// The phase behind it; null for the end of the run.
        required_or_null to: String = "to", "phase";
        /// Hooks that have a say.
        required hooks: Vec<String> = "hooks", "hook-names";
        /// Commands that must succeed.
        required commands: Vec<String> = "commands", "shell-lines";
    }
}

message! {
    /// A finding of a check-up.
    pub(crate) struct RunFinding("RunFinding", closed) {
        /// How grave it is.
        required level: Level = "level", "finding-level";
        /// What it is about.
        required subject: String = "subject", "text";
        /// What was found.
        required message: String = "message", "text";
        /// What to do about it.
        required advice: String = "advice", "text";
        /// The failure that it leads to.
        optional code: WireCode = "code", "failure-code";
    }
}

message! {
    /// What a check-up found.
    pub(crate) struct RunDoctorAnswer("RunDoctorAnswer", closed) {
        /// Whether nothing stands in a run's way.
        required healthy: bool = "healthy", "verdict";
        /// The findings, the gravest first.
        required findings: Vec<RunFinding> = "findings", "findings";
    }
}

/// Adds the answers to a snapshot.
pub(crate) fn add_to(snapshot: Builder) -> Builder {
    super::coordinator::answers::add_to(snapshot)
        .message::<RunInitAnswer>(Direction::Response)
        .message::<RunAnswer>(Direction::Response)
        .message::<RunTurnAnswer>(Direction::Response)
        .message::<RunDispatchAnswer>(Direction::Response)
        .message::<RunAcceptAnswer>(Direction::Response)
        .message::<RunRejectAnswer>(Direction::Response)
        .message::<RunDriveAnswer>(Direction::Response)
        .message::<RunStageAnswer>(Direction::Response)
        .message::<RunCheckpointAnswer>(Direction::Response)
        .message::<RunStatusAnswer>(Direction::Response)
        .message::<RunFailure>(Direction::Response)
        .message::<RunPlanAnswer>(Direction::Response)
        .message::<RunDoctorAnswer>(Direction::Response)
}

impl RunFailure {
    /// What is wrong with a command line.
    pub(crate) fn usage(message: String) -> Self {
        Self {
            code: Code::Usage.into(),
            message,
            details: None,
        }
    }

    pub(super) fn of_error(error: &CliError) -> Self {
        Self {
            code: error.code().unwrap_or(Code::Usage).into(),
            ..Self::usage(error.to_string())
        }
    }

    pub(super) fn new(failure: &Failure) -> Self {
        Self {
            code: failure.code.into(),
            message: failure.message.clone(),
            details: failure.details.as_deref().cloned(),
        }
    }
}

impl RunAnswer {
    pub(super) fn new(moved: &RunUpdate, next: Vec<NextAnswer>) -> Self {
        Self {
            state: moved.state.document(),
            events: moved.events.iter().map(line).collect(),
            next,
        }
    }
}

impl RunCheckpointAnswer {
    pub(super) fn new(checkpoint: &Checkpoint) -> Self {
        Self {
            commit: checkpoint.commit.clone(),
            files: checkpoint.files.clone(),
            turns: checkpoint.turns.clone(),
        }
    }
}

impl RunFinding {
    pub(super) fn new(finding: &Finding) -> Self {
        Self {
            level: finding.level,
            subject: finding.subject.clone(),
            message: finding.message.clone(),
            advice: finding.advice.clone(),
            code: finding.code.map(Code::into),
        }
    }
}

fn line(event: &Event) -> Object {
    event.line().clone()
}
