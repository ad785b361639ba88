//! A person approves the pending gate of an initiative.

use std::collections::BTreeSet;

use accord_contract::{Object, Time, Value};
use accord_process::Cancel;
use accord_runs_core::coordinator::{
    Account, CoordinatorState, Initiative, RepoViews, approve_gate, hooks, pending_gate,
    phase_turns,
};
use accord_runs_core::evidence::{EvidenceDigest, ExpectedDigest, RepoEvidence, initiative_digest};
use accord_runs_core::facts::Scope;
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::operations::{ApproveInitiativeGate, LocalOperation};
use accord_runs_core::person::Decision;
use accord_runs_core::views::InitiativeGateView;
use accord_runs_core::{Approval, Consent, HookPhase, Result, State};

use super::Coordinator;
use super::repos::{ChildRepo, in_repo};
use super::session::CoordinatorSession;
use crate::RecordFile;
use crate::evidence::{head, joined, last_decision, note_decision, sandboxes_of, unless_decided};
use crate::facts::recorded;

const LEDGER: RecordFile = RecordFile::CoordinatorLedger;

#[derive(Clone, Debug, PartialEq)]
pub struct GateApproval {
    pub gate: Object,
    pub approval: Approval,
    pub state: CoordinatorState,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GatePlan {
    pub gate: InitiativeGateView,
    pub hooks: Vec<String>,
    pub evidence: EvidenceDigest,
    /// What was observed in each repository.
    pub facts: Vec<(String, Result<RunFacts>)>,
}

impl Coordinator {
    /// What an approval of the pending gate would do, without doing it. Fails with
    /// `not_for_workers` if a worker of a repository started the caller; `invalid_state_transition`
    /// if no gate is pending; `decision_stale` if it was decided since the person looked.
    pub fn plan_gate(&self, expected: Option<&ExpectedDigest>) -> Result<GatePlan> {
        let seen = self.snapshot()?;
        self.refuse_worker(&seen.views)?;
        let waiting = pending_gate(seen.initiative().state).cloned();
        let gate = unless_decided(&self.workspace, LEDGER, waiting, expected, None)?;
        let gate = InitiativeGateView::of(&gate);
        let hooks = seen.initiative().config.hooks(HookPhase::BeforeGate);
        let hooks = hooks.into_iter().map(|hook| hook.name).collect();
        let evidence = seen.evidence(self.environment.cancel_token())?;
        Ok(GatePlan { gate, hooks, evidence, facts: seen.facts() })
    }

    /// Approves the pending gate, and the barriers that wait for the same approval. Fails with
    /// `not_for_workers` if a worker of a repository started the caller; `invalid_state_transition`
    /// if no gate is pending; `evidence_changed` if the person saw other evidence; `hook_blocked`
    /// if a hook refuses; `coordinator_diverged` if a repository changed since the gate was
    /// reached.
    pub fn approve_gate(&self, consent: &Consent) -> Result<GateApproval> {
        // Refuse before hooks run.
        let decision = self.begin_decision::<ApproveInitiativeGate>("approved", consent)?;
        let (mut session, gate, approval) = decision;
        let batch = hooks::before_gate(&session.initiative(), &session.workspace());
        let report = session.hooks(batch, HookPhase::BeforeGate)?;
        report.failure().map_or(Ok(()), Err)?;
        // With the time after the hooks, which may have run for long.
        let now = session.now();
        let mut ledger = session.ledger;
        let change = approve_gate(&session.initiative(), &approval, now)?;
        let change = change.into_change(&mut ledger, now);
        session.commit(change)?;
        Ok(GateApproval { gate, approval, state: session.state })
    }

    /// Begins an operation on the pending gate that a person decides about.
    pub(super) fn begin_decision<O: LocalOperation>(
        &self,
        outcome: &str,
        consent: &Consent,
    ) -> Result<(CoordinatorSession<'_>, Object, Approval)> {
        let mut session = self.open_session()?;
        let consent = self.authorize::<O>(&session.views, &session.children, consent)?;
        session.catch_up(Account::None)?;
        let waiting = pending_gate(&session.state).cloned();
        let expected = consent.expect.as_ref();
        let gate = unless_decided(&session.locked, LEDGER, waiting, expected, None)?;
        let last = last_decision(&session.locked, LEDGER, expected, None)?;
        let cancel = self.environment.cancel_token();
        let CoordinatorSession { state, children, views, .. } = &session;
        let evidence = evidence(&session.initiative(), children, views, cancel)?;
        let approval = consent.about(evidence, last.as_ref())?;
        let kind = match outcome {
            "approved" => "initiative.gate",
            _ => "initiative.send_back",
        };
        let text = |name: &str| gate.get(name).and_then(Value::as_str);
        let name = text("gate").unwrap_or_default();
        let subject = format!("{}/{name}", state.super_run_id());
        let asked_at = text("requested_at").and_then(Time::parse_rfc3339);
        let sandbox = sandboxes(&session)?;
        let decision = Decision { kind, subject: &subject, outcome, asked_at, sandbox };
        let (now, chance) = (session.now(), session.ids.hex(16));
        let approval = note_decision(&session.locked, approval, decision, &chance, now)?;
        Ok((session, gate, approval))
    }
}

/// The sandboxes in which the turns of the phase were done.
fn sandboxes(session: &CoordinatorSession<'_>) -> Result<Option<String>> {
    let mut names = BTreeSet::new();
    for child in &session.children {
        let turns = phase_turns(&session.history, &child.repo.id);
        let is_own = |line: &Object| {
            let turn = line.get("turn_id").and_then(Value::as_str);
            turns.iter().any(|own| Some(own.as_str()) == turn)
        };
        if let Ok(runs) = &child.runs {
            names.extend(sandboxes_of(runs.repository(), is_own)?);
        }
    }
    Ok(joined(&names))
}

/// The evidence of the pending gate: the configuration, the request, the hooks, and the commit and
/// the state of each repository, with what its records have about its turns.
pub(super) fn evidence(
    initiative: &Initiative<'_>,
    children: &[ChildRepo],
    views: &RepoViews,
    cancel: Option<&Cancel>,
) -> Result<EvidenceDigest> {
    let Initiative { config, state, history, .. } = *initiative;
    let mut repos = Vec::new();
    for child in children {
        let id = &child.repo.id;
        let commit = child.runs.as_ref().map(|runs| head(runs.repository().root(), cancel));
        let commit = commit.unwrap_or(Ok(None)).map_err(|failure| in_repo(id, failure))?;
        let own = views.get(id).and_then(|view| view.state.as_ref());
        let runs = child.runs.as_ref().ok();
        let turns = Scope::Turns(phase_turns(history, id));
        let facts = runs.and_then(|runs| recorded(runs.repository(), own?, &turns).ok());
        repos.push(RepoEvidence {
            id: id.clone(),
            head: commit,
            state: own.map(State::document),
            facts: facts.map(|(facts, _)| facts),
        });
    }
    let pending = state.pending_gate().cloned().unwrap_or_default();
    let hooks = config.hooks(HookPhase::BeforeGate);
    initiative_digest(config.document(), &pending, &hooks, &repos)
}
