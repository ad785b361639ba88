//! The payloads of a coordinator's hooks, and its protected files.

use accord_contract::{Object, Value};

use super::commit::{barriers_path, coordinator_home, coordinator_state_path};
use super::projection::Initiative;
use super::{Barrier, BarrierStatus, Choice, Effect};
use crate::{HookBatch, HookPhase, array, build, doc};

/// The files of the workspace that hooks must not change.
pub fn protected_files() -> Vec<String> {
    let home = coordinator_home();
    let records =
        ["history.jsonl", "barrier-ledger.jsonl", "decision-ledger.jsonl", "hook-audit.jsonl"];
    let records = records.map(|name| format!("{home}/{name}"));
    [coordinator_state_path(), barriers_path()].into_iter().chain(records).collect()
}

pub fn before_assignment(
    initiative: &Initiative<'_>,
    choice: &Choice,
    workspace: &str,
) -> Option<HookBatch> {
    let payload = build([
        ("phase", HookPhase::BeforeAssignment.as_str().into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
        ("repo_run_id", initiative.state.repo_run(&choice.repo).into()),
        ("role", choice.role.as_str().into()),
    ]);
    batch(initiative, HookPhase::BeforeAssignment, payload, workspace)
}

/// The hooks after an acceptance was projected. `line` is its history line.
pub fn after_acceptance(
    initiative: &Initiative<'_>,
    line: &Object,
    effects: &[Effect],
    workspace: &str,
) -> Option<HookBatch> {
    let mut payload = build([("phase", HookPhase::AfterAcceptance.as_str().into())]);
    for member in [
        doc::MultiHistory::WORKSTREAM_ID.any(),
        doc::MultiHistory::REPO_ID.any(),
        doc::MultiHistory::REPO_RUN_ID.any(),
        doc::MultiHistory::PROJECTION_REF.any(),
        doc::MultiHistory::REPO_TURN_ID.any(),
        doc::MultiHistory::SUMMARY.any(),
        doc::MultiHistory::FILES_CHANGED.any(),
        doc::MultiHistory::DECISIONS.any(),
        doc::MultiHistory::VERIFICATION.any(),
    ] {
        member.set(&mut payload, member.copy(line));
    }
    let effects: Vec<Value> = effects.iter().map(|effect| effect.document().into()).collect();
    payload.insert("barrier_effects".into(), effects.into());
    batch(initiative, HookPhase::AfterAcceptance, payload, workspace)
}

/// The hooks before an approval takes effect, if there are any and a gate is pending.
pub fn before_gate(initiative: &Initiative<'_>, workspace: &str) -> Option<HookBatch> {
    let pending = initiative.state.pending_gate()?;
    let payload = build([
        ("phase", HookPhase::BeforeGate.as_str().into()),
        ("gate_type", doc::MultiGate::GATE_TYPE.copy(pending)),
        ("gate", doc::MultiGate::GATE.copy(pending)),
        ("from_phase", doc::MultiGate::FROM.copy(pending)),
        ("to_phase", doc::MultiGate::TO.copy(pending)),
        ("required_repos", doc::MultiGate::REQUIRED_REPOS.copy(pending)),
        ("human_barriers", doc::MultiGate::HUMAN_BARRIERS.copy(pending)),
    ]);
    batch(initiative, HookPhase::BeforeGate, payload, workspace)
}

/// The hooks after an initiative was blocked, if there are any.
pub fn on_escalation(initiative: &Initiative<'_>, workspace: &str) -> Option<HookBatch> {
    let document = initiative.state.document();
    let payload = build([
        ("phase", HookPhase::OnEscalation.as_str().into()),
        ("blocked_reason", doc::Coordinator::BLOCKED_REASON.copy(&document)),
        ("repo_runs", doc::Coordinator::REPO_RUNS.copy(&document)),
    ]);
    batch(initiative, HookPhase::OnEscalation, payload, workspace)
}

/// Builds a batch, with the members that every payload has.
fn batch(
    initiative: &Initiative<'_>,
    phase: HookPhase,
    mut payload: Object,
    workspace: &str,
) -> Option<HookBatch> {
    let state = initiative.state;
    payload.extend(build([
        ("super_run_id", state.super_run_id().into()),
        ("coordinator_status", state.status().as_str().into()),
        ("coordinator_phase", state.phase().into()),
        ("pending_gate", state.pending_gate().cloned().map_or(Value::Null, Value::from)),
        ("coordinator_workspace", workspace.into()),
        ("pending_barriers", pending_barriers(initiative)),
        ("barriers", barriers(initiative)),
    ]));
    let run = state.super_run_id().to_owned();
    HookBatch::new(phase, initiative.config.hooks(phase), payload, Some(run))
}

fn pending_barriers(initiative: &Initiative<'_>) -> Value {
    let is_pending = |barrier: &&Barrier| barrier.status() != BarrierStatus::Satisfied;
    let pending = initiative.barriers.iter().filter(is_pending);
    let documents = pending.map(|barrier| {
        Value::Object(build([
            ("barrier_id", barrier.id().into()),
            ("workstream_id", barrier.workstream().into()),
            ("type", barrier.kind().as_str().into()),
            ("status", barrier.status().as_str().into()),
            ("required_repos", array(&barrier.required_repos())),
            ("satisfied_repos", array(&barrier.satisfied_repos())),
        ]))
    });
    documents.collect()
}

fn barriers(initiative: &Initiative<'_>) -> Value {
    let short = |barrier: &Barrier| {
        let (status, kind) = (barrier.status(), barrier.kind());
        let short = build([doc::Barrier::STATUS.to(status), doc::Barrier::TYPE.to(kind)]);
        (barrier.id().to_owned(), Value::Object(short))
    };
    Value::Object(initiative.barriers.iter().map(short).collect())
}
