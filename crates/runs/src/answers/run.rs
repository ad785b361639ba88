//! The answers about one repository.

use accord_contract::{Object, WireCode};
use accord_runs_core::EvidenceDigest;
use accord_runs_core::operations::answers::{
    Level, NextAnswer, RunAcceptAnswer, RunAdoptAnswer, RunAnswer, RunCheckpointAnswer,
    RunDispatchAnswer, RunDoctorAnswer, RunFacts, RunFinding, RunInitAnswer, RunKeptChange,
    RunMerge, RunPlanAnswer, RunRejectAnswer, RunStageAnswer, RunStatusAnswer, RunTurnAnswer,
    RunWorkerSays,
};
use accord_runs_core::run::ApprovalPlan;
use accord_runs_core::state::{Pending, State, Turn};

use super::proposal::proposal_item;
use super::{CommandNames, error_envelope};
use crate::KeptChange;
use crate::operations::{
    AcceptResult, Adoption, COMMIT_MESSAGE, Checkpoint, Dispatched, Finding, Initialized, Overview,
    Rejected, RunUpdate, Staged,
};

/// The answer of an initialisation.
pub fn init_answer(done: &Initialized, names: &CommandNames) -> RunInitAnswer {
    let files: Vec<_> = done.uncommitted.iter().map(|file| shell_words::quote(file)).collect();
    let (within, files) = (&names.git, files.join(" "));
    // Named in both commands, so that other staged files stay out of the commit.
    let command = format!(
        "git{within} add -- {files} && git{within} commit -m {} -- {files}",
        shell_words::quote(COMMIT_MESSAGE)
    );
    RunInitAnswer {
        root: done.root.to_string_lossy().into_owned(),
        written: done.written.clone(),
        kept: done.kept.clone(),
        commit: done.commit.clone(),
        commit_command: (!done.uncommitted.is_empty()).then_some(command),
    }
}

/// The answer of an operation that changes a run.
pub fn run_answer(update: &RunUpdate, next: Vec<NextAnswer>) -> RunAnswer {
    let events: Vec<Object> = update.events.iter().map(|event| event.line().clone()).collect();
    // The record of a decision is in its first event.
    let decided = |name: &str| {
        let payload = events.first()?.get("payload")?;
        Some(payload.get(name)?.as_str()?.to_owned())
    };
    RunAnswer {
        state: update.state.document(),
        approved_by: decided("actor"),
        evidence_digest: decided("evidence_digest"),
        events,
        next,
    }
}

/// The answer of an assignment.
pub fn turn_answer(turn: &Turn, next: Vec<NextAnswer>) -> RunTurnAnswer {
    RunTurnAnswer { turn: turn.document(), next }
}

/// The answer of a dispatch.
pub fn dispatch_answer(dispatched: &Dispatched, next: Vec<NextAnswer>) -> RunDispatchAnswer {
    RunDispatchAnswer {
        turn: dispatched.turn.document(),
        runtime_id: dispatched.runtime.id.clone(),
        runtime_type: dispatched.runtime.kind.to_string(),
        bundle: dispatched.bundle.clone(),
        staging: dispatched.staging.clone(),
        manifest: dispatched.manifest.clone(),
        next,
    }
}

/// The answer of an acceptance.
pub fn accept_answer(done: &AcceptResult, next: Vec<NextAnswer>) -> RunAcceptAnswer {
    let accepted = &done.accepted;
    RunAcceptAnswer {
        turn_id: accepted.turn_id.to_string(),
        accepted_sequence: accepted.accepted_sequence,
        history_entry: accepted.history_entry.clone(),
        warnings: accepted.warnings.clone(),
        after_hooks: accepted.after_hooks.as_ref().map(error_envelope),
        checkpoint: done.checkpoint.as_ref().map(checkpoint_answer),
        no_checkpoint: done.no_checkpoint.as_ref().map(error_envelope),
        state: accepted.state.document(),
        next,
    }
}

/// The answer of a rejection.
pub fn reject_answer(rejected: &Rejected, next: Vec<NextAnswer>) -> RunRejectAnswer {
    RunRejectAnswer {
        again: rejected.again,
        kept: rejected.kept.clone(),
        state: rejected.update.state.document(),
        next,
    }
}

/// The answer after a result was staged by hand.
pub fn stage_answer(staged: &Staged, next: Vec<NextAnswer>) -> RunStageAnswer {
    RunStageAnswer {
        turn_id: staged.turn.id().to_string(),
        path: staged.path.clone(),
        result: staged.result.clone(),
        problem: staged.problem.as_ref().map(error_envelope),
        next,
    }
}

/// The answer of a checkpoint.
pub fn checkpoint_answer(checkpoint: &Checkpoint) -> RunCheckpointAnswer {
    RunCheckpointAnswer {
        commit: checkpoint.commit.clone(),
        files: checkpoint.files.clone(),
        turns: checkpoint.turns.clone(),
        changed: (!checkpoint.changed.is_empty()).then(|| checkpoint.changed.clone()),
    }
}

/// The answer about the status of a run.
pub fn status_answer(overview: &Overview, next: Vec<NextAnswer>) -> RunStatusAnswer {
    let (config, state) = (overview.config.as_ref(), overview.state.as_ref());
    let waiting = overview.waiting.as_ref();
    let evidence = waiting.and_then(|waiting| waiting.evidence.as_ref().ok());
    let merges = overview.merges.iter().filter_map(|merge| {
        let evidence_digest = merge.evidence.as_ref().ok()?.to_string();
        let turn_id = merge.turn.to_string();
        Some(RunMerge { turn_id, evidence_digest, facts: merge.facts.clone() })
    });
    let merges: Vec<RunMerge> = merges.collect();
    let says = overview.says.iter().map(|(turn, output)| RunWorkerSays {
        turn_id: turn.to_string(),
        trouble: output.trouble().map(|trouble| trouble.as_str().to_owned()),
        last_message: output.last_message().map(str::to_owned),
    });
    let says: Vec<RunWorkerSays> = says.collect();
    let changed: Vec<String> = overview.changed.iter().map(|(path, _)| path.clone()).collect();
    let proposals: Vec<_> = overview.proposals.iter().map(proposal_item).collect();
    let kept: Vec<_> = overview.kept.iter().map(kept_change).collect();
    RunStatusAnswer {
        root: overview.root.to_string_lossy().into_owned(),
        problem: config.err().or(state.err()).map(error_envelope),
        state: state.ok().map(State::document),
        accepted_turns: overview.accepted_turns,
        lock_owner_pid: overview.holder.as_ref().map(|holder| holder.lock.owner_pid),
        journals: overview.journals.clone(),
        last_warnings: overview.last_warnings.clone(),
        says: (!says.is_empty()).then_some(says),
        changed: (!changed.is_empty()).then_some(changed),
        no_checkpoints: overview.no_checkpoints.as_ref().map(error_envelope),
        waiting_since: waiting.and_then(|waiting| waiting.since).map(|since| since.to_string()),
        evidence_digest: evidence.map(ToString::to_string),
        facts: waiting.and_then(|waiting| waiting.facts.clone()),
        last_decision: overview.last_decision.clone(),
        merges: (!merges.is_empty()).then_some(merges),
        proposals: (!proposals.is_empty()).then_some(proposals),
        kept: (!kept.is_empty()).then_some(kept),
        next,
    }
}

fn kept_change(change: &KeptChange) -> RunKeptChange {
    let files = change.files.iter();
    RunKeptChange {
        at: change.at.clone(),
        turns: change.turns.clone(),
        files: files.map(|(path, what)| format!("{path}: {what}")).collect(),
        reasons: change.reasons.clone(),
        folder: change.folder.to_string_lossy().into_owned(),
        outdated: change.outdated,
    }
}

/// The answer about a decision of a person.
pub fn adopt_answer(adoption: &Adoption, next: Vec<NextAnswer>) -> RunAdoptAnswer {
    RunAdoptAnswer {
        done: adoption.done,
        differing: adoption.differing.clone(),
        lost: adoption.lost.clone(),
        kept: adoption.kept.iter().map(kept_change).collect(),
        folder: adoption.folder.to_string_lossy().into_owned(),
        evidence_digest: adoption.evidence.as_ref().map(ToString::to_string),
        next,
    }
}

/// The answer about what an approval would do.
pub fn plan_answer(
    plan: &ApprovalPlan,
    evidence: &EvidenceDigest,
    facts: Option<RunFacts>,
) -> RunPlanAnswer {
    let (gate, from, to) = match &plan.pending {
        Pending::Transition(pending) => {
            (Some(pending.gate.clone()), Some(pending.from.clone()), Some(pending.to.clone()))
        }
        Pending::Completion(pending) => (pending.gate.clone(), None, None),
    };
    let hooks = plan.hooks.as_ref().map_or(&[][..], |batch| &batch.hooks);
    let actions = plan.actions.iter();
    RunPlanAnswer {
        gate,
        from,
        requested_by_turn: plan.pending.requested_by_turn().map(str::to_owned),
        evidence_digest: Some(evidence.to_string()),
        to,
        hooks: hooks.iter().map(|hook| hook.name.clone()).collect(),
        commands: actions.map(|action| action.run.clone()).collect(),
        facts,
    }
}

pub(super) fn finding_answer(finding: &Finding) -> RunFinding {
    RunFinding {
        level: finding.level,
        subject: finding.subject.clone(),
        message: finding.message.clone(),
        advice: finding.advice.clone(),
        code: finding.code.map(WireCode::from),
    }
}

/// The answer of a check-up.
pub fn doctor_answer(findings: &[Finding]) -> RunDoctorAnswer {
    RunDoctorAnswer {
        healthy: findings.iter().all(|finding| finding.level != Level::Error),
        findings: findings.iter().map(finding_answer).collect(),
    }
}
