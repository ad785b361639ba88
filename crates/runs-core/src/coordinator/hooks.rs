//! What the coordinator's own hooks are told, and what they may not touch.

use accord_contract::wire::{Object, Value};

use super::commit::{barriers_path, coordinator_home, coordinator_state_path};
use super::projection::Place;
use super::{BarrierStatus, Choice, Effect};
use crate::hooks::{HookBatch, HookPhase};
use crate::members::{array, build, text};

/// The files of the workspace that no hook of a coordinator may change.
pub fn protected_files() -> Vec<String> {
    let home = coordinator_home();
    let records = [
        "history.jsonl",
        "barrier-ledger.jsonl",
        "decision-ledger.jsonl",
        "hook-audit.jsonl",
    ];
    let records = records.map(|name| format!("{home}/{name}"));
    [coordinator_state_path(), barriers_path()]
        .into_iter()
        .chain(records)
        .collect()
}

/// The hooks before a turn is handed out; `None` where there are none.
pub fn before_assignment(place: &Place<'_>, choice: &Choice, workspace: &str) -> Option<HookBatch> {
    let payload = build([
        ("phase", HookPhase::BeforeAssignment.as_str().into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
        ("repo_run_id", place.state.repo_run(&choice.repo).into()),
        ("role", choice.role.as_str().into()),
    ]);
    batch(place, HookPhase::BeforeAssignment, payload, workspace)
}

/// The hooks after an acceptance was taken over: `line` is that of the history.
pub fn after_acceptance(
    place: &Place<'_>,
    line: &Object,
    effects: &[Effect],
    workspace: &str,
) -> Option<HookBatch> {
    let mut payload = build([("phase", HookPhase::AfterAcceptance.as_str().into())]);
    for name in [
        "workstream_id",
        "repo_id",
        "repo_run_id",
        "projection_ref",
        "repo_turn_id",
        "summary",
        "files_changed",
        "decisions",
        "verification",
    ] {
        let value = line.get(name).cloned().unwrap_or(Value::Null);
        payload.insert(name.to_owned(), value);
    }
    let effects = effects.iter().map(|effect| effect.document().into());
    let effects: Vec<Value> = effects.collect();
    payload.insert("barrier_effects".into(), effects.into());
    batch(place, HookPhase::AfterAcceptance, payload, workspace)
}

/// The hooks before a person's approval takes effect, where a gate waits for one.
pub fn before_gate(place: &Place<'_>, workspace: &str) -> Option<HookBatch> {
    let pending = place.state.pending_gate()?;
    let member = |name: &str| pending.get(name).cloned().unwrap_or(Value::Null);
    let payload = build([
        ("phase", HookPhase::BeforeGate.as_str().into()),
        ("gate_type", member("gate_type")),
        ("gate", member("gate")),
        ("from_phase", member("from")),
        ("to_phase", member("to")),
        ("required_repos", member("required_repos")),
        ("human_barriers", member("human_barriers")),
    ]);
    batch(place, HookPhase::BeforeGate, payload, workspace)
}

/// The hooks after an initiative was blocked.
pub fn on_escalation(place: &Place<'_>, workspace: &str) -> Option<HookBatch> {
    let document = place.state.document();
    let member = |name: &str| document.get(name).cloned().unwrap_or(Value::Null);
    let payload = build([
        ("phase", HookPhase::OnEscalation.as_str().into()),
        ("blocked_reason", member("blocked_reason")),
        ("repo_runs", member("repo_runs")),
    ]);
    batch(place, HookPhase::OnEscalation, payload, workspace)
}

/// What every hook of a coordinator is told beside that.
fn batch(
    place: &Place<'_>,
    phase: HookPhase,
    mut payload: Object,
    workspace: &str,
) -> Option<HookBatch> {
    let state = place.state;
    payload.extend(build([
        ("super_run_id", state.super_run_id().into()),
        ("coordinator_status", state.status().as_str().into()),
        ("coordinator_phase", state.phase().into()),
        (
            "pending_gate",
            state
                .pending_gate()
                .cloned()
                .map_or(Value::Null, Value::from),
        ),
        ("coordinator_workspace", workspace.into()),
        ("pending_barriers", pending_barriers(place)),
        ("barriers", barriers(place)),
    ]));
    let run = state.super_run_id().to_owned();
    HookBatch::new(phase, place.config.hooks(phase), payload, Some(run))
}

fn pending_barriers(place: &Place<'_>) -> Value {
    let pending = place
        .barriers
        .iter()
        .filter(|barrier| barrier.status() != BarrierStatus::Satisfied);
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

fn barriers(place: &Place<'_>) -> Value {
    let document = place.barriers.document();
    let short = |(id, value): (&String, &Value)| {
        let members = value.as_object()?;
        let member = |name: &str| text(members, name).map_or(Value::Null, Value::from);
        let short = build([("status", member("status")), ("type", member("type"))]);
        Some((id.clone(), Value::Object(short)))
    };
    let short: Object = document.iter().filter_map(short).collect();
    Value::Object(short)
}
