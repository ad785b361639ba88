//! The history line of an accepted turn, and the records of the end of a run.

use accord_contract::text::counted;
use accord_contract::{Object, Time, Value, wire_enum};

use super::Context;
use super::cleared::Cleared;
use crate::conflict::HUMAN_MERGE;
use crate::dispatch::bundle_folder;
use crate::doc::{self, Any, List, Member};
use crate::members::{amount, array, build, text};
use crate::result::Rewrite;
use crate::{Config, RunIndex, State, Status, Turn, proposal};

impl Cleared {
    pub(super) fn history_entry(&self, context: &Context, accepted_sequence: u64) -> Object {
        let (turn, result) = (&context.turn, &self.valid.result);
        let document = result.document();
        let verification = result.normalized_verification(context.runtime());
        let list = |member: Member<List>| member.get(document).to_vec();
        let files: Vec<String> = result.files_changed().iter().map(ToString::to_string).collect();
        let intake = turn.value(doc::Turn::INTAKE_CONTEXT);
        let intent = intake.and_then(|intake| intake.get("intent_id")).cloned();
        let others = turn.value(doc::Turn::CONCURRENT_WITH).cloned();
        let mut entry = build([
            doc::History::TURN_ID.to(turn.id().as_str()),
            doc::History::RUN_ID.to(context.inputs.state.run_id()),
            doc::History::ROLE.to(turn.role()),
            doc::History::PHASE.to(context.inputs.state.phase()),
            doc::History::RUNTIME_ID.to(turn.runtime_id()),
            doc::History::STATUS.to(result.status().as_str()),
            doc::History::SUMMARY.to(doc::Result::SUMMARY.copy(document)),
            doc::History::DECISIONS.to(list(doc::Result::DECISIONS)),
            doc::History::OBJECTIONS.to(list(doc::Result::OBJECTIONS)),
            doc::History::FILES_CHANGED.to(&files),
            doc::History::ARTIFACTS_CREATED.to(list(doc::Result::ARTIFACTS_CREATED)),
            doc::History::VERIFICATION.to(doc::Result::VERIFICATION.copy(document)),
            doc::History::NORMALIZED_VERIFICATION
                .to(build([doc::History::STATUS.to(verification)])),
            doc::History::ARTIFACT.to(doc::Result::ARTIFACT.copy(document)),
            doc::History::INTENT_ID.to(intent.unwrap_or(Value::Null)),
            doc::History::OBSERVED_ARTIFACT.to(self.observed_artifact(turn)),
            doc::History::PROPOSED_NEXT_ROLE.to(doc::Result::PROPOSED_NEXT_ROLE.copy(document)),
            doc::History::PHASE_TRANSITION_REQUEST
                .to(doc::Result::PHASE_TRANSITION_REQUEST.copy(document)),
            doc::History::RUN_COMPLETION_REQUEST
                .to(doc::Result::RUN_COMPLETION_REQUEST.copy(document)),
            doc::History::ASSIGNED_SEQUENCE.to(turn.assigned_sequence()),
            doc::History::ACCEPTED_SEQUENCE.to(accepted_sequence),
            doc::History::CONCURRENT_WITH.to(others.unwrap_or(Value::Array(Vec::new()))),
            doc::History::COST.to(doc::Result::COST.copy(document)),
        ]);
        if let Some(began) = turn.began() {
            doc::History::STARTED_AT.set(&mut entry, began.to_string());
            doc::History::DURATION_MS.set(&mut entry, context.now.millis_since(began));
        }
        doc::History::ACCEPTED_AT.set(&mut entry, context.now);
        self.extend_entry(context, &mut entry);
        entry
    }

    fn observed_artifact(&self, turn: &Turn) -> Object {
        let seen = &self.observation;
        let files: Vec<String> = self.changed.iter().map(ToString::to_string).collect();
        let mark = |file: &String| Some((file.clone(), seen.changed.get(file)?.as_str().into()));
        let marks: Object = files.iter().filter_map(mark).collect();
        // Of this turn: other files may have been changed before it, or by another turn.
        let summary = seen.is_git().then(|| counted(marks.len() as u64, "file") + " changed");
        let head = turn.baseline().and_then(|baseline| baseline.head_ref);
        build([
            ("derived_by", "orchestrator".into()),
            ("baseline_ref", head.map(|head| format!("git:{head}")).into()),
            ("accepted_ref", seen.integration_ref().into()),
            doc::ObservedArtifact::FILES_CHANGED.to(&files),
            ("file_markers", marks.into()),
            ("diff_summary", summary.into()),
        ])
    }

    /// Adds the members that only some lines have.
    fn extend_entry(&self, context: &Context, entry: &mut Object) {
        if !self.valid.rewrites.is_empty() {
            let rewrites: Vec<Object> = self.valid.rewrites.iter().map(Rewrite::document).collect();
            doc::History::NORMALIZATIONS.set(entry, rewrites);
        }
        if !self.valid.warnings.is_empty() {
            doc::History::WARNINGS.set(entry, &self.valid.warnings);
        }
        if let Some(cost) = context.turn.observed_cost() {
            doc::History::OBSERVED_COST.set(entry, cost.document());
        }
        if let Some(replay) = &self.replay {
            doc::History::VERIFICATION_REPLAY.set(entry, replay);
        }
        if !self.overlap.forward_revisions.is_empty() {
            let files = build([("files", array(&self.overlap.forward_revisions))]);
            doc::History::FORWARD_REVISION.set(entry, files);
        }
        if let Some(conflict) = &self.overlap.conflict {
            // A conflict that no person merged was refused.
            let mut resolution = conflict.document(context.now);
            doc::Conflict::RESOLUTION.set(&mut resolution, HUMAN_MERGE);
            context.add_merger(&mut resolution);
            doc::History::CONFLICT_RESOLUTION.set(entry, resolution);
        }
        if let Some(delegations) = doc::Result::DELEGATIONS.given(self.valid.result.document()) {
            doc::History::DELEGATIONS_ISSUED.set(entry, delegations.clone());
        }
        let proposed = proposal::record(&self.valid.result, &self.observation.sources);
        if !proposed.is_empty() {
            let record = build([
                doc::ProposalRecord::REF.to(proposal::proposal_folder(context.turn.id())),
                doc::ProposalRecord::FILES.to(proposed),
            ]);
            doc::History::PROPOSAL.set(entry, record);
        }
        if let Some(sandbox) = context.turn.value(doc::Turn::WORKER_SANDBOX) {
            doc::History::WORKER_SANDBOX.set(entry, sandbox.clone());
        }
        let delegation = [
            (doc::Turn::DELEGATION_CONTEXT, doc::History::DELEGATION_CONTEXT),
            (doc::Turn::DELEGATION_REVIEW, doc::History::DELEGATION_REVIEW),
        ];
        for (of_turn, member) in delegation {
            if let Some(value) = context.turn.value(of_turn) {
                member.set(entry, value.clone());
            }
        }
    }
}

/// The line of `run-history.jsonl` for a run that has ended or is blocked. `index` includes its
/// last turn.
pub fn run_record(state: &State, config: &Config, index: &RunIndex, now: Time) -> Option<Object> {
    if !matches!(state.status(), Status::Completed | Status::Blocked) {
        return None;
    }
    let began = doc::State::CREATED_AT.text(state.members());
    let duration = doc::State::CREATED_AT.get(state.members()).map(|began| now.millis_since(began));
    let phases: Vec<&str> =
        config.phases().into_iter().filter(|phase| index.turns_of_phase(phase) > 0).collect();
    let took_part = |role: &&str| phases.iter().any(|phase| index.participated(phase, role));
    let roles: Vec<&str> =
        config.roles().iter().map(|role| role.id.as_str()).filter(took_part).collect();
    // The runtime of the first role that had a turn, or of an active turn.
    let of_role = |role: &&str| config.runtime(config.role(role)?.runtime.as_deref()?);
    let of_turn = || config.runtime(state.turns().next()?.runtime_id()?);
    let connector = roles.first().and_then(of_role).or_else(of_turn);
    let list = |items: &[Object]| items.iter().cloned().collect::<Value>();
    let snapshot = build([
        ("recent_decisions", list(&index.last_decisions)),
        ("recent_accepted_turns", list(&index.last_turns)),
    ]);
    Some(build([
        ("schema_version", "0.1".into()),
        ("run_id", state.run_id().map(crate::RunId::as_str).into()),
        ("project_id", config.project_id().into()),
        ("project_name", config.project_name().into()),
        ("template", config.document().get("template").cloned().unwrap_or(Value::Null)),
        ("status", state.status().as_str().into()),
        ("started_at", began.into()),
        ("completed_at", state.value(doc::State::COMPLETED_AT)),
        ("duration_ms", duration.into()),
        ("phases_completed", array(&phases)),
        ("total_turns", index.total_turns().into()),
        ("roles_used", array(&roles)),
        ("decisions_count", index.decisions().iter().count().into()),
        ("total_cost_usd", amount(state.spent_usd())),
        ("budget_limit_usd", config.budget.per_run_max_usd.map_or(Value::Null, amount)),
        ("blocked_reason", state.value(doc::State::BLOCKED_REASON)),
        ("gate_results", state.value(doc::State::PHASE_GATE_STATUS)),
        ("connector_used", connector.map(|runtime| runtime.id.as_str()).into()),
        ("model_used", connector.and_then(|runtime| text(&runtime.settings, "model")).into()),
        ("provenance", state.value(doc::State::PROVENANCE)),
        ("parent_context", state.value(doc::State::INHERITED_CONTEXT)),
        ("retrospective", retrospective(state, index).into()),
        ("inheritance_snapshot", snapshot.into()),
        ("recorded_at", now.to_string().into()),
    ]))
}

fn retrospective(state: &State, index: &RunIndex) -> Object {
    let blocked = state.value(doc::State::BLOCKED_REASON);
    let completed = state.status() == Status::Completed;
    let recovery = doc::Blocked::RECOVERY.get(&blocked).filter(|_| !completed);
    let last = index.last_turns.last().and_then(|turn| doc::History::SUMMARY.get(turn));
    let detail = recovery.and_then(|recovery| doc::Recovery::DETAIL.raw(recovery));
    let headline = detail.cloned().unwrap_or_else(|| last.into());
    let reason = recovery.and_then(|recovery| doc::Recovery::TYPED_REASON.raw(recovery));
    let reason = reason.cloned().unwrap_or_else(|| state.status().as_str().into());
    let action = recovery.and_then(|recovery| doc::Recovery::RECOVERY_ACTION.raw(recovery));
    build([
        ("headline", headline),
        ("terminal_reason", reason),
        ("next_operator_action", action.cloned().into()),
        ("follow_on_hint", Value::Null),
    ])
}

wire_enum! {
    pub enum CheckpointReason("CheckpointReason", closed) {
        TurnAssigned = "turn_assigned",
        TurnAccepted = "turn_accepted",
        AcceptanceFailed = "acceptance_failed",
        TurnCheckpointed = "turn_checkpointed",
        PhaseApproved = "phase_approved",
        GateSentBack = "gate_sent_back",
        Blocked = "blocked",
        RunCompleted = "run_completed",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    pub reason: CheckpointReason,
    pub turn: Option<&'a Turn>,
    pub adapter: Option<&'a str>,
    pub place: &'a WorkPlace,
}

/// Where a work tree is, as other runners look at it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WorkPlace {
    pub head: Option<String>,
    pub branch: Option<String>,
    /// Whether it has uncommitted changes, including the records of the run; absent without git.
    pub dirty: Option<bool>,
}

/// `session.json`: the work at the last checkpoint.
pub fn session(
    previous: Option<&Object>,
    session_id: &str,
    state: &State,
    at: &Checkpoint<'_>,
    now: Time,
) -> Object {
    let Checkpoint { reason, turn, adapter, place } = *at;
    // A session continues over checkpoints. Unknown members of other runners stay as well.
    let mut document = previous.cloned().unwrap_or_default();
    let kept = |member: Member<Any>| previous.and_then(|previous| member.raw(previous)).cloned();
    let session_id = kept(doc::Session::SESSION_ID.any()).unwrap_or_else(|| session_id.into());
    let started_at = kept(doc::Session::STARTED_AT.any()).unwrap_or_else(|| now.to_string().into());
    let last_role: Value = match turn {
        Some(turn) => turn.role().into(),
        None => kept(doc::Session::LAST_ROLE.any()).into(),
    };
    let active: Vec<&str> = state.turns().map(|turn| turn.id().as_str()).collect();
    let last_turn = match turn.map(|turn| turn.id().as_str()).or_else(|| active.last().copied()) {
        Some(turn) => Value::from(turn),
        None => state.value(doc::State::LAST_COMPLETED_TURN_ID).clone(),
    };
    // Other runners compare it with the work tree, and call every difference a reason to
    // reconcile. So it is that of now, and not that of the turn's assignment.
    let baseline = build([
        doc::SessionBaseline::GIT_HEAD.to(place.head.clone()),
        doc::SessionBaseline::GIT_BRANCH.to(place.branch.clone()),
        doc::SessionBaseline::WORKSPACE_DIRTY.to(place.dirty),
    ]);
    document.extend(build([
        doc::Session::SESSION_ID.to(session_id),
        doc::Session::RUN_ID.to(state.run_id()),
        doc::Session::STARTED_AT.to(started_at),
        doc::Session::LAST_CHECKPOINT_AT.to(now),
        doc::Session::CHECKPOINT_REASON.to(reason),
        doc::Session::RUN_STATUS.to(state.status().as_str()),
        doc::Session::PHASE.to(state.phase()),
        doc::Session::LAST_PHASE.to(state.phase()),
        doc::Session::LAST_TURN_ID.to(last_turn),
        doc::Session::LAST_COMPLETED_TURN_ID.to(state.value(doc::State::LAST_COMPLETED_TURN_ID)),
        doc::Session::ACTIVE_TURN_IDS.to(array(&active)),
        doc::Session::LAST_ROLE.to(last_role),
        doc::Session::PENDING_GATE.to(state.pending_transition().map(|pending| pending.gate)),
        doc::Session::PENDING_RUN_COMPLETION.to(state.value(doc::State::PENDING_RUN_COMPLETION)),
        doc::Session::BLOCKED.to(state.status() == Status::Blocked),
        doc::Session::BASELINE_REF.to(baseline),
    ]));
    let Some(turn) = turn else { return document };
    let dispatch = build([
        doc::AgentContext::ADAPTER.to(adapter),
        doc::AgentContext::DISPATCH_DIR.to(bundle_folder(turn.id())),
    ]);
    doc::Session::AGENT_CONTEXT.set(&mut document, dispatch);
    document
}
