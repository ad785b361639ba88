//! The lines that an accepted turn, and the end of a run, leave behind.

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use super::Acceptance;
use crate::config::Config;
use crate::conflict::HUMAN_MERGE;
use crate::dispatch::bundle_folder;
use crate::history::RunIndex;
use crate::members::{amount, array, build, given, text};
use crate::result::TurnResult;
use crate::state::{State, Status, Turn};

impl Acceptance {
    /// The turn's line in the history.
    pub(super) fn history_entry(&self, result: &TurnResult, accepted_sequence: u64) -> Object {
        let turn = &self.turn;
        let document = result.document();
        let member = |name: &str| document.get(name).cloned().unwrap_or(Value::Null);
        let runtime = turn
            .runtime_id()
            .and_then(|id| self.inputs.config.runtime(id));
        let worth = result.normalized_verification(runtime.map(|runtime| runtime.kind));
        let list = |name: &str| match document.get(name) {
            Some(Value::Array(items)) => Value::Array(items.clone()),
            _ => Value::Array(Vec::new()),
        };
        let files: Vec<String> = result
            .files_changed()
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut entry = build([
            ("turn_id", turn.id().as_str().into()),
            ("run_id", self.inputs.state.member("run_id")),
            ("role", turn.role().into()),
            ("phase", self.inputs.state.phase().into()),
            ("runtime_id", turn.runtime_id().into()),
            ("status", result.status().as_str().into()),
            ("summary", member("summary")),
            ("decisions", list("decisions")),
            ("objections", list("objections")),
            ("files_changed", array(&files)),
            ("artifacts_created", list("artifacts_created")),
            ("verification", member("verification")),
            (
                "normalized_verification",
                build([("status", worth.into())]).into(),
            ),
            ("artifact", member("artifact")),
            (
                "intent_id",
                turn.member("intake_context")
                    .and_then(|c| c.get("intent_id"))
                    .cloned()
                    .unwrap_or(Value::Null),
            ),
            ("observed_artifact", self.observed_artifact().into()),
            ("proposed_next_role", member("proposed_next_role")),
            (
                "phase_transition_request",
                member("phase_transition_request"),
            ),
            ("run_completion_request", member("run_completion_request")),
            ("assigned_sequence", turn.assigned_sequence().into()),
            ("accepted_sequence", accepted_sequence.into()),
            (
                "concurrent_with",
                turn.member("concurrent_with")
                    .cloned()
                    .unwrap_or_else(|| Value::Array(Vec::new())),
            ),
            ("cost", member("cost")),
        ]);
        if let Some(began) = turn.began() {
            entry.insert("started_at".into(), began.to_string().into());
            entry.insert("duration_ms".into(), self.now.millis_since(began).into());
        }
        entry.insert("accepted_at".into(), self.now.to_string().into());
        self.extend_entry(&mut entry, document);
        entry
    }

    fn observed_artifact(&self) -> Object {
        let seen = self.found.observation.as_ref();
        let files: Vec<String> = self.found.changed.iter().map(ToString::to_string).collect();
        let marks: Object = files
            .iter()
            .filter_map(|file| Some((file.clone(), seen?.changed.get(file)?.as_str().into())))
            .collect();
        let baseline = self.turn.baseline().and_then(|baseline| baseline.head_ref);
        build([
            ("derived_by", "orchestrator".into()),
            (
                "baseline_ref",
                baseline.map(|head| format!("git:{head}")).into(),
            ),
            (
                "accepted_ref",
                seen.and_then(super::Observation::integration_ref).into(),
            ),
            ("files_changed", array(&files)),
            ("file_markers", marks.into()),
            (
                "diff_summary",
                seen.and_then(|seen| seen.summary.clone()).into(),
            ),
        ])
    }

    /// What only some lines have.
    fn extend_entry(&self, entry: &mut Object, document: &Object) {
        let rewrites = self
            .found
            .judged
            .as_ref()
            .map_or(&[][..], |judged| &judged.rewrites);
        if !rewrites.is_empty() {
            let rewrites: Vec<Value> = rewrites
                .iter()
                .map(|rewrite| rewrite.document().into())
                .collect();
            entry.insert("normalizations".into(), rewrites.into());
        }
        if !self.found.warnings.is_empty() {
            entry.insert("warnings".into(), array(&self.found.warnings));
        }
        if let Some(replay) = &self.found.replay {
            entry.insert("verification_replay".into(), replay.clone().into());
        }
        if let Some(overlap) = &self.found.overlap {
            if !overlap.forward_revisions.is_empty() {
                let files = build([("files", array(&overlap.forward_revisions))]);
                entry.insert("forward_revision".into(), files.into());
            }
            if let Some(conflict) = &overlap.conflict {
                let mut resolution = conflict.document(self.now);
                resolution.insert("resolution".into(), HUMAN_MERGE.into());
                entry.insert("conflict_resolution".into(), resolution.into());
            }
        }
        if let Some(delegations) = given(document, "delegations") {
            entry.insert("delegations_issued".into(), delegations.clone());
        }
        for name in ["delegation_context", "delegation_review"] {
            if let Some(value) = self.turn.member(name) {
                entry.insert(name.to_owned(), value.clone());
            }
        }
    }
}

/// The line of `run-history.jsonl` for a run that is over or blocked; `index` covers its
/// last turn.
pub fn run_record(state: &State, config: &Config, index: &RunIndex, now: Time) -> Option<Object> {
    if !matches!(state.status(), Status::Completed | Status::Blocked) {
        return None;
    }
    let began = text(state.members(), "created_at");
    let duration = began
        .and_then(Time::parse_iso)
        .map(|began| now.millis_since(began));
    let phases: Vec<&str> = config
        .phases()
        .into_iter()
        .filter(|phase| index.turns_of_phase(phase) > 0)
        .collect();
    let roles: Vec<&str> = config
        .roles()
        .iter()
        .map(|role| role.id.as_str())
        .filter(|role| phases.iter().any(|phase| index.participated(phase, role)))
        .collect();
    // What carried the turns of the first role that had one, be it one that is still out.
    let connector = roles.first().and_then(|role| {
        let runtime = config.role(role)?.runtime.as_deref();
        config.runtime(runtime?)
    });
    let out = || config.runtime(state.turns().next()?.runtime_id()?);
    let connector = connector.or_else(out);
    let told = |items: &[Object]| items.iter().cloned().collect::<Value>();
    let snapshot = build([
        ("recent_decisions", told(index.last_decisions())),
        ("recent_accepted_turns", told(index.last_turns())),
    ]);
    Some(build([
        ("schema_version", "0.1".into()),
        ("run_id", state.member("run_id")),
        ("project_id", config.project_id().into()),
        ("project_name", config.project_name().into()),
        (
            "template",
            config
                .document()
                .get("template")
                .cloned()
                .unwrap_or(Value::Null),
        ),
        ("status", state.status().as_str().into()),
        ("started_at", began.into()),
        ("completed_at", state.member("completed_at")),
        ("duration_ms", duration.into()),
        ("phases_completed", array(&phases)),
        ("total_turns", index.total_turns().into()),
        ("roles_used", array(&roles)),
        ("decisions_count", index.decisions().iter().count().into()),
        ("total_cost_usd", amount(state.spent_usd())),
        (
            "budget_limit_usd",
            config.budget.per_run_max_usd.map_or(Value::Null, amount),
        ),
        ("blocked_reason", state.member("blocked_reason")),
        ("gate_results", state.member("phase_gate_status")),
        (
            "connector_used",
            connector.map(|runtime| runtime.id.as_str()).into(),
        ),
        (
            "model_used",
            connector
                .and_then(|runtime| text(&runtime.settings, "model"))
                .into(),
        ),
        ("provenance", state.member("provenance")),
        ("parent_context", state.member("inherited_context")),
        ("retrospective", retrospective(state, index).into()),
        ("inheritance_snapshot", snapshot.into()),
        ("recorded_at", now.to_string().into()),
    ]))
}

/// What the run came to, in a few words.
fn retrospective(state: &State, index: &RunIndex) -> Object {
    let blocked = state.member("blocked_reason");
    let recovery = |name: &str| blocked.pointer(&format!("/recovery/{name}")).cloned();
    let completed = state.status() == Status::Completed;
    let last = index
        .last_turns()
        .last()
        .and_then(|turn| text(turn, "summary"));
    let headline = match recovery("detail") {
        Some(detail) if !completed => detail,
        _ => last.into(),
    };
    let reason = match recovery("typed_reason") {
        Some(reason) if !completed => reason,
        _ => state.status().as_str().into(),
    };
    build([
        ("headline", headline),
        ("terminal_reason", reason),
        (
            "next_operator_action",
            recovery("recovery_action").filter(|_| !completed).into(),
        ),
        ("follow_on_hint", Value::Null),
    ])
}

/// Where the work stands when it is noted.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// Why it is noted.
    pub reason: &'a str,
    /// The turn that it is about.
    pub turn: Option<&'a Turn>,
    /// What carries that turn.
    pub adapter: Option<&'a str>,
    /// The branch that the repository is on, where that was looked up.
    pub branch: Option<&'a str>,
}

/// `session.json`: where the work stood at the last checkpoint.
pub fn session(
    previous: Option<&Object>,
    session_id: &str,
    state: &State,
    at: &Checkpoint<'_>,
    now: Time,
) -> Object {
    let Checkpoint {
        reason,
        turn,
        adapter,
        branch,
    } = *at;
    let kept = |name: &str| previous.and_then(|previous| previous.get(name)).cloned();
    let active: Vec<&str> = state.turns().map(|turn| turn.id().as_str()).collect();
    let mut document = previous.cloned().unwrap_or_default();
    document.extend(build([
        (
            "session_id",
            kept("session_id").unwrap_or_else(|| session_id.into()),
        ),
        ("run_id", state.member("run_id")),
        (
            "started_at",
            kept("started_at").unwrap_or_else(|| now.to_string().into()),
        ),
        ("last_checkpoint_at", now.to_string().into()),
        ("checkpoint_reason", reason.into()),
        ("run_status", state.status().as_str().into()),
        ("phase", state.phase().into()),
        ("last_phase", state.phase().into()),
        ("last_turn_id", turn.map(|turn| turn.id().as_str()).into()),
        (
            "last_completed_turn_id",
            state.member("last_completed_turn_id"),
        ),
        ("active_turn_ids", array(&active)),
        ("last_role", turn.map(Turn::role).into()),
        (
            "pending_gate",
            state
                .pending_transition()
                .map(|pending| pending.gate)
                .into(),
        ),
        (
            "pending_run_completion",
            state.member("pending_run_completion"),
        ),
        ("blocked", (state.status() == Status::Blocked).into()),
    ]));
    let Some(turn) = turn else {
        return document;
    };
    let dispatch = build([
        ("adapter", adapter.into()),
        ("dispatch_dir", bundle_folder(turn.id()).into()),
    ]);
    document.insert("agent_context".into(), dispatch.into());
    if let Some(baseline) = turn.baseline() {
        let known = kept("baseline_ref").and_then(|known| known.get("git_branch").cloned());
        let rests_on = build([
            ("git_head", baseline.head_ref.into()),
            (
                "git_branch",
                branch.map_or_else(|| known.unwrap_or(Value::Null), Value::from),
            ),
            ("workspace_dirty", (!baseline.clean).into()),
        ]);
        document.insert("baseline_ref".into(), rests_on.into());
    }
    document
}
