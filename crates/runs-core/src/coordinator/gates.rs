//! The gates of an initiative: between phases, and at its end.

use accord_contract::{Code, Failure, Object, Time, wire_enum};

use super::history::{self, LineType};
use super::projection::Initiative;
use super::send_back::owed_repos;
use super::{
    Barrier, BarrierStatus, BarrierType, Barriers, CoordinatorChange, CoordinatorConfig,
    CoordinatorDecision, CoordinatorLedger, CoordinatorState, CoordinatorStatus, RepoViews,
};
use crate::gate::GateStatus;
use crate::{Approval, GateType, Result, State, Status, array, build, doc};

/// The gate between two phases when the configuration names none.
const DEFAULT_PHASE_GATE: &str = "phase_transition";

pub(crate) const DEFAULT_FINAL_GATE: &str = "initiative_ship";

wire_enum! {
    pub enum BlockerKind("CoordinatorBlocker", closed) {
        NoNextPhase = "no_next_phase",
        PhaseSkipForbidden = "phase_skip_forbidden",
        RepoStateMissing = "repo_state_missing",
        RepoRunIdMismatch = "repo_run_id_mismatch",
        RepoBlocked = "repo_blocked",
        RepoActiveTurns = "repo_active_turns",
        RepoPendingGate = "repo_pending_gate",
        BarrierMissing = "barrier_missing",
        BarrierUnsatisfied = "barrier_unsatisfied",
        NotFinalPhase = "not_final_phase",
        RepoNotCompletionReady = "repo_not_completion_ready",
        /// A repository had no accepted turn since the gate was sent back.
        RepoSentBack = "repo_sent_back",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Blocker {
    pub kind: BlockerKind,
    /// The repository or workstream.
    pub about: Option<String>,
}

/// The effect of requesting or approving a gate, to be written in one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct GateChange {
    pub state: CoordinatorState,
    /// The barriers after the change.
    pub barriers: Barriers,
    pub history: Vec<Object>,
    pub ledger: Vec<Object>,
}

impl GateChange {
    pub fn into_change(self, ledger: &mut CoordinatorLedger, now: Time) -> CoordinatorChange {
        use CoordinatorDecision::{Completion, PhaseTransition};
        let decisions = self.history.iter().map(|line| {
            let gate = doc::MultiHistory::GATE.get(line).unwrap_or_default();
            let (category, what) = match doc::MultiHistory::TYPE.get(line) {
                Some(LineType::PhaseTransitionRequested) => (PhaseTransition, "reached"),
                Some(LineType::PhaseTransitionApproved) => (PhaseTransition, "passed"),
                Some(LineType::RunCompletionRequested) => (Completion, "reached"),
                _ => (Completion, "passed"),
            };
            let statement = format!("{gate} is {what}");
            let about = [
                doc::MultiHistory::GATE.of(line),
                doc::MultiHistory::FROM.of(line),
                doc::MultiHistory::TO.of(line),
                doc::HumanDecision::ACTOR.of(line),
                doc::HumanDecision::OS_USER.of(line),
                doc::HumanDecision::NOTE.of(line),
                doc::HumanDecision::DOOR.of(line),
                doc::HumanDecision::PRESENCE.of(line),
                doc::HumanDecision::EVIDENCE_DIGEST.of(line),
                doc::HumanDecision::DECISION_ID.of(line),
                doc::HumanDecision::KNOWN_BY.of(line),
                doc::HumanDecision::ASKED_AT.of(line),
                doc::HumanDecision::DECIDED_AT.of(line),
                doc::HumanDecision::SANDBOX.of(line),
            ];
            ledger.line(&self.state, category, &statement, about, now)
        });
        let decisions = decisions.collect();
        let mut change = CoordinatorChange::of_state(self.state, self.barriers);
        change.decisions = decisions;
        change.history = self.history;
        change.barrier_ledger = self.ledger;
        change
    }
}

/// The blockers of the next gate: the exit gate of the phase, or the final gate in the last phase.
pub fn gate_blockers(initiative: &Initiative<'_>, repos: &RepoViews) -> Vec<Blocker> {
    match initiative.config.next_phase(initiative.state.phase()) {
        Some(next) => phase_blockers(initiative, repos, next),
        None => completion_blockers(initiative, repos),
    }
}

pub(crate) fn phase_blockers(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    target: &str,
) -> Vec<Blocker> {
    let mut found = Vec::new();
    match initiative.config.next_phase(initiative.state.phase()) {
        None => found.push(blocker(BlockerKind::NoNextPhase, None)),
        Some(next) if next != target => {
            found.push(blocker(BlockerKind::PhaseSkipForbidden, Some(target)));
        }
        Some(_) => {}
    }
    let required = required_repos(initiative.config, phase_gate(initiative));
    common_blockers(initiative, repos, &required, &mut found, &[initiative.state.phase()]);
    found
}

/// The blockers of the completion. A repository whose completion needs approval counts as ready.
pub fn completion_blockers(initiative: &Initiative<'_>, repos: &RepoViews) -> Vec<Blocker> {
    let mut found = Vec::new();
    let phase = initiative.state.phase();
    if let Some(next) = initiative.config.next_phase(phase) {
        found.push(blocker(BlockerKind::NotFinalPhase, Some(next)));
    }
    let required = required_repos(initiative.config, final_gate(initiative));
    common_blockers(initiative, repos, &required, &mut found, &initiative.config.phases());
    for id in &required {
        let state = repos.get(id).and_then(|view| view.state.as_ref());
        let at_its_end =
            |it: &State| it.status() == Status::Completed || it.pending_completion().is_some();
        if state.is_some_and(|state| !at_its_end(state)) {
            found.push(blocker(BlockerKind::RepoNotCompletionReady, Some(id)));
        } else {
            // `common_blockers` also reports a pending completion, which counts as ready here.
            let waits = blocker(BlockerKind::RepoPendingGate, Some(id));
            found.retain(|other| *other != waits);
        }
    }
    found
}

/// Requests the next phase. The initiative waits for approval, or advances at once when the gate
/// needs none. Fails with `coordinator_gate_blocked` and all blockers.
pub fn request_phase(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    target: &str,
    now: Time,
) -> Result<GateChange> {
    let blockers = phase_blockers(initiative, repos, target);
    request(initiative, &blockers, Some(target), now)
}

/// Requests the completion of the initiative. Fails like [`request_phase`].
pub fn request_completion(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    now: Time,
) -> Result<GateChange> {
    request(initiative, &completion_blockers(initiative, repos), None, now)
}

fn request(
    initiative: &Initiative<'_>,
    blockers: &[Blocker],
    target: Option<&str>,
    now: Time,
) -> Result<GateChange> {
    if initiative.state.status() != CoordinatorStatus::Active {
        return Err(initiative.state.refuse("cannot request a gate"));
    }
    if !blockers.is_empty() {
        return Err(refusal(blockers));
    }
    let phase = initiative.state.phase();
    let (kind, line, gate) = match target {
        Some(_) => {
            let kind = GateType::PhaseTransition;
            (kind, LineType::PhaseTransitionRequested, phase_gate(initiative))
        }
        None => (GateType::RunCompletion, LineType::RunCompletionRequested, final_gate(initiative)),
    };
    let mut pending = build([doc::MultiGate::GATE_TYPE.to(kind), doc::MultiGate::GATE.to(gate)]);
    if let Some(target) = target {
        doc::MultiGate::FROM.set(&mut pending, phase);
        doc::MultiGate::TO.set(&mut pending, target);
    }
    let required = required_repos(initiative.config, gate);
    doc::MultiGate::REQUIRED_REPOS.set(&mut pending, &required);
    doc::MultiGate::HUMAN_BARRIERS.set(&mut pending, &human_barriers(initiative, phase));
    doc::MultiGate::REQUESTED_AT.set(&mut pending, now);
    Ok(wait_or_pass(initiative, gate, pending, line, now))
}

/// Approves the pending gate, and the barriers that wait for the same approval. Fails with
/// `invalid_state_transition` when no gate is pending.
pub fn approve_gate(
    initiative: &Initiative<'_>,
    approval: &Approval,
    now: Time,
) -> Result<GateChange> {
    let pending = pending_gate(initiative.state)?;
    let mut change = pass(initiative, pending, Vec::new(), now);
    for line in &mut change.history {
        approval.add_to(line);
    }
    Ok(change)
}

/// The gate that a person can approve or send back now. Fails with `invalid_state_transition` when
/// no gate is pending.
pub fn pending_gate(state: &CoordinatorState) -> Result<&Object> {
    let waits = matches!(state.status(), CoordinatorStatus::Paused | CoordinatorStatus::Blocked);
    state.pending_gate().filter(|_| waits).ok_or_else(|| state.refuse("has no gate that waits"))
}

fn wait_or_pass(
    initiative: &Initiative<'_>,
    gate: &str,
    pending: Object,
    requested: LineType,
    now: Time,
) -> GateChange {
    // A gate that is not declared needs a person, like a declared one without the member.
    let needs_person = initiative.config.gate(gate).is_none_or(|gate| gate.requires_human_approval);
    let line = line(initiative, requested, &pending, now);
    if !needs_person {
        return pass(initiative, &pending, vec![line], now);
    }
    let mut state = initiative.state.clone();
    state.set_status(CoordinatorStatus::Paused, now);
    state.set(doc::Coordinator::PENDING_GATE, pending);
    let barriers = initiative.barriers.clone();
    GateChange { state, barriers, history: vec![line], ledger: Vec::new() }
}

fn pass(
    initiative: &Initiative<'_>,
    pending: &Object,
    mut history: Vec<Object>,
    now: Time,
) -> GateChange {
    let mut state = initiative.state.clone();
    let mut barriers = initiative.barriers.clone();
    let gate = doc::MultiGate::GATE.get(pending).unwrap_or_default().to_owned();
    let causation = build([("gate", gate.as_str().into())]);
    // The approval is about the request, so only the barriers that it listed are approved.
    let opened = doc::MultiGate::HUMAN_BARRIERS.get(pending);
    let effects = opened.iter().filter_map(|id| barriers.approve(id));
    let ledger = effects.map(|effect| effect.line(causation.clone(), now)).collect();
    state.clear(doc::Coordinator::PENDING_GATE);
    state.set_gate(&gate, GateStatus::Passed);
    match doc::MultiGate::TO.get(pending) {
        Some(to) => {
            state.set_phase(to);
            state.set_status(CoordinatorStatus::Active, now);
            for repo in doc::MultiGate::REQUIRED_REPOS.get(pending) {
                state.set_of_repo(&repo, doc::RepoRun::PHASE, to);
            }
            history.push(line(initiative, LineType::PhaseTransitionApproved, pending, now));
        }
        None => {
            state.set_status(CoordinatorStatus::Completed, now);
            state.set(doc::Coordinator::COMPLETED_AT, now);
            history.push(line(initiative, LineType::RunCompleted, pending, now));
        }
    }
    GateChange { state, barriers, history, ledger }
}

fn line(initiative: &Initiative<'_>, kind: LineType, pending: &Object, now: Time) -> Object {
    let mut line = history::line(kind, initiative.state, now, []);
    for member in [
        doc::MultiGate::GATE.any(),
        doc::MultiGate::FROM.any(),
        doc::MultiGate::TO.any(),
        doc::MultiGate::REQUIRED_REPOS.any(),
        doc::MultiGate::HUMAN_BARRIERS.any(),
    ] {
        if let Some(value) = member.raw(pending) {
            member.set(&mut line, value.clone());
        }
    }
    line
}

/// The gate at the end of the phase. What blocks it and what is requested must mean the same one.
fn phase_gate<'a>(initiative: &Initiative<'a>) -> &'a str {
    initiative.config.exit_gate(initiative.state.phase()).unwrap_or(DEFAULT_PHASE_GATE)
}

fn final_gate<'a>(initiative: &Initiative<'a>) -> &'a str {
    initiative.config.exit_gate(initiative.state.phase()).unwrap_or(DEFAULT_FINAL_GATE)
}

fn required_repos(config: &CoordinatorConfig, gate: &str) -> Vec<String> {
    let named = config.gate(gate).and_then(|gate| gate.requires_repos.clone());
    named.unwrap_or_else(|| config.required_repos())
}

fn human_barriers(initiative: &Initiative<'_>, phase: &str) -> Vec<String> {
    let of_phase = |barrier: &&Barrier| {
        let stream = initiative.config.workstream(barrier.workstream());
        barrier.kind() == BarrierType::SharedHumanGate
            && stream.is_some_and(|stream| stream.phase == phase)
    };
    initiative.barriers.iter().filter(of_phase).map(|barrier| barrier.id().to_owned()).collect()
}

/// The blockers of the repositories, and of the barriers of the phases. Barriers that the approval
/// of the gate satisfies are not blockers.
fn common_blockers(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    required: &[String],
    found: &mut Vec<Blocker>,
    phases: &[&str],
) {
    for id in required {
        let Some(state) = repos.get(id).and_then(|view| view.state.as_ref()) else {
            found.push(blocker(BlockerKind::RepoStateMissing, Some(id)));
            continue;
        };
        let mut add = |kind| found.push(blocker(kind, Some(id)));
        let run = state.run_id().map(crate::RunId::as_str);
        if initiative.state.repo_run(id).is_some_and(|known| Some(known) != run) {
            add(BlockerKind::RepoRunIdMismatch);
        }
        if state.status() == Status::Blocked {
            add(BlockerKind::RepoBlocked);
        }
        if state.turns().len() > 0 {
            add(BlockerKind::RepoActiveTurns);
        }
        if state.pending_transition().is_some() || state.pending_completion().is_some() {
            add(BlockerKind::RepoPendingGate);
        }
    }
    for phase in phases {
        let approved = |barrier: &Barrier| {
            barrier.kind() == BarrierType::SharedHumanGate && *phase == initiative.state.phase()
        };
        for stream in initiative.config.workstreams_of(phase) {
            let barrier = initiative.barriers.of_workstream(&stream.id);
            let kind = match barrier {
                None => BlockerKind::BarrierMissing,
                Some(it) if it.status() == BarrierStatus::Satisfied || approved(it) => continue,
                Some(_) => BlockerKind::BarrierUnsatisfied,
            };
            found.push(blocker(kind, Some(&stream.id)));
        }
    }
    // A gate that was sent back is requested again only after every repository had another turn.
    let owed = owed_repos(initiative.history);
    found.extend(owed.iter().map(|repo| blocker(BlockerKind::RepoSentBack, Some(repo))));
}

fn blocker(kind: BlockerKind, about: Option<&str>) -> Blocker {
    Blocker { kind, about: about.map(str::to_owned) }
}

fn refusal(blockers: &[Blocker]) -> Failure {
    let text = |blocker: &Blocker| match &blocker.about {
        Some(about) => format!("{} ({about})", blocker.kind),
        None => blocker.kind.to_string(),
    };
    let texts: Vec<String> = blockers.iter().map(text).collect();
    let failure = Failure::new(Code::XchainCoordinatorGateBlocked, texts.join(", "));
    failure.with("blockers", array(&texts))
}
