//! `.agentxchain/multirepo/state.json`, and the documents of each repository.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use super::COORDINATOR_VERSION;
use crate::doc::{self, Content, Member, Text};
use crate::gate::GateStatus;
use crate::{Config, Result, State, build, members};

wire_enum! {
    pub enum CoordinatorStatus("CoordinatorStatus", closed) {
        Active = "active",
        Paused = "paused",
        Blocked = "blocked",
        Completed = "completed",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CoordinatorState {
    status: CoordinatorStatus,
    phase: String,
    members: Object,
}

/// The documents of a repository at one moment.
#[derive(Clone, Debug, Default)]
pub struct RepoView {
    pub config: Option<Config>,
    pub state: Option<State>,
    /// Its history, of all runs, in order.
    pub history: Vec<Object>,
}

/// The repositories of an initiative by their ids.
pub type RepoViews = BTreeMap<String, RepoView>;

impl CoordinatorState {
    /// Reads a state. Fails with `coordinator_state_invalid` when a member that decisions depend on
    /// is invalid.
    pub fn read(document: Value) -> Result<Self> {
        let invalid = |pointer: &str, message: &str| {
            Failure::new(Code::XchainCoordinatorStateInvalid, message).at(pointer)
        };
        let Value::Object(members) = document else {
            return Err(invalid("", "the coordinator's state must be a JSON object"));
        };
        let status = doc::Coordinator::STATUS.get(&members);
        let status =
            status.ok_or_else(|| invalid("/status", "the coordinator's status is not known"))?;
        let phase = doc::Coordinator::PHASE.get(&members);
        let phase =
            phase.ok_or_else(|| invalid("/phase", "the coordinator's state names no phase"))?;
        let phase = phase.to_owned();
        if doc::Coordinator::SUPER_RUN_ID.filled(&members).is_none() {
            return Err(invalid("/super_run_id", "the coordinator's state names no run"));
        }
        Ok(Self { status, phase, members })
    }

    pub(super) fn new(id: &str, project: &str, phase: &str, runs: Object, now: Time) -> Self {
        let members = build([
            doc::Coordinator::SCHEMA_VERSION.to(COORDINATOR_VERSION),
            doc::Coordinator::SUPER_RUN_ID.to(id),
            doc::Coordinator::PROJECT_ID.to(project),
            doc::Coordinator::STATUS.to(CoordinatorStatus::Active),
            doc::Coordinator::PHASE.to(phase),
            doc::Coordinator::REPO_RUNS.to(runs),
            doc::Coordinator::PENDING_GATE.to(Value::Null),
            doc::Coordinator::PHASE_GATE_STATUS.to(Object::new()),
            doc::Coordinator::CREATED_AT.to(now),
            doc::Coordinator::UPDATED_AT.to(now),
        ]);
        Self { status: CoordinatorStatus::Active, phase: phase.to_owned(), members }
    }

    pub fn document(&self) -> Object {
        let mut members = self.members.clone();
        doc::Coordinator::STATUS.set(&mut members, self.status);
        doc::Coordinator::PHASE.set(&mut members, self.phase.as_str());
        members
    }

    pub fn super_run_id(&self) -> &str {
        doc::Coordinator::SUPER_RUN_ID.get(&self.members).unwrap_or_default()
    }

    pub fn status(&self) -> CoordinatorStatus {
        self.status
    }

    pub fn phase(&self) -> &str {
        &self.phase
    }

    fn repo_member(&self, repo: &str, member: Member<Text>) -> Option<&str> {
        let runs = doc::Coordinator::REPO_RUNS.get(&self.members)?;
        member.get(members::object(runs, repo)?)
    }

    pub fn repo_run(&self, repo: &str) -> Option<&str> {
        self.repo_member(repo, doc::RepoRun::RUN_ID)
    }

    pub fn repos(&self) -> impl Iterator<Item = &str> {
        doc::Coordinator::REPO_RUNS.entries(&self.members).map(|(id, _)| id.as_str())
    }

    pub fn pending_gate(&self) -> Option<&Object> {
        doc::Coordinator::PENDING_GATE.get(&self.members)
    }

    pub fn pending_gate_id(&self) -> Option<&str> {
        doc::MultiGate::GATE.get(self.pending_gate()?)
    }

    pub fn waiting_since(&self) -> Option<Time> {
        doc::MultiGate::REQUESTED_AT.get(self.pending_gate()?)
    }

    /// Whether a record line belongs to this initiative; a line that names none does.
    pub fn owns_line(&self, line: &Object) -> bool {
        let own = doc::MultiHistory::SUPER_RUN_ID.get(line);
        own.is_none_or(|own| own == self.super_run_id())
    }

    pub(super) fn dispatching(&self) -> Option<&Object> {
        doc::Coordinator::DISPATCHING.get(&self.members)
    }

    pub fn blocked_reason(&self) -> Option<&str> {
        doc::Coordinator::BLOCKED_REASON.get(&self.members)
    }

    pub(crate) fn repo_run_status(&self, repo: &str) -> Option<&str> {
        self.repo_member(repo, doc::RepoRun::STATUS)
    }

    /// The failure of an operation that the status does not allow.
    pub(super) fn refuse(&self, what: &str) -> Failure {
        let message = format!("an initiative that is {} {what}", self.status);
        Failure::new(Code::XchainInvalidStateTransition, message)
            .suggesting("`accord run coordinator status` shows what is next")
    }

    pub(super) fn set<K>(&mut self, member: Member<K>, value: impl Content<K>) {
        member.set(&mut self.members, value);
    }

    pub(super) fn clear<K>(&mut self, member: Member<K>) {
        member.set(&mut self.members, Value::Null);
    }

    pub(super) fn touch(&mut self, now: Time) {
        self.set(doc::Coordinator::UPDATED_AT, now);
    }

    pub(super) fn set_status(&mut self, status: CoordinatorStatus, now: Time) {
        self.status = status;
        self.touch(now);
    }

    pub(super) fn set_phase(&mut self, phase: &str) {
        phase.clone_into(&mut self.phase);
    }

    pub(super) fn set_gate(&mut self, gate: &str, status: GateStatus) {
        let gates = doc::Coordinator::PHASE_GATE_STATUS.get(&self.members);
        let mut gates = gates.cloned().unwrap_or_default();
        gates.insert(gate.to_owned(), status.as_str().into());
        self.set(doc::Coordinator::PHASE_GATE_STATUS, gates);
    }

    pub(super) fn set_of_repo(&mut self, repo: &str, member: Member<Text>, value: &str) {
        let mut runs = doc::Coordinator::REPO_RUNS.get(&self.members).cloned().unwrap_or_default();
        if let Some(Value::Object(run)) = runs.get_mut(repo) {
            member.set(run, value);
        }
        self.set(doc::Coordinator::REPO_RUNS, runs);
    }
}
