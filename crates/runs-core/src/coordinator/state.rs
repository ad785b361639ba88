//! `.agentxchain/multirepo/state.json`, and what is known about each repository.

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

use super::COORDINATOR_VERSION;
use crate::config::Config;
use crate::members::{self, build, entries, text};
use crate::state::State;

wire_enum! {
    /// How an initiative stands.
    pub enum CoordinatorStatus("CoordinatorStatus", closed) {
        /// Turns can be handed out.
        Active = "active",
        /// A person must approve a gate.
        Paused = "paused",
        /// A person must mend something.
        Blocked = "blocked",
        /// It is over.
        Completed = "completed",
    }
}

/// Where an initiative stands.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinatorState {
    status: CoordinatorStatus,
    phase: String,
    members: Object,
}

/// What is seen of a repository at one moment.
#[derive(Clone, Debug, Default)]
pub struct RepoView {
    /// Its configuration, where it has one that can be read.
    pub config: Option<Config>,
    /// Its state, where it has one that can be read.
    pub state: Option<State>,
    /// Its history lines, of all runs, in order.
    pub history: Vec<Object>,
}

impl CoordinatorState {
    /// Reads a state.
    ///
    /// # Errors
    /// With `coordinator_state_invalid` when a member that decisions depend on is not sound.
    pub fn read(document: Value) -> Result<Self, Failure> {
        let invalid = |pointer: &str, message: &str| {
            Failure::new(Code::XchainCoordinatorStateInvalid, message).at(pointer)
        };
        let Value::Object(members) = document else {
            return Err(invalid("", "the coordinator's state must be a JSON object"));
        };
        let status = text(&members, "status")
            .and_then(CoordinatorStatus::parse)
            .ok_or_else(|| invalid("/status", "the coordinator's status is not known"))?;
        let phase = text(&members, "phase")
            .ok_or_else(|| invalid("/phase", "the coordinator's state names no phase"))?
            .to_owned();
        if members::filled(&members, "super_run_id").is_none() {
            return Err(invalid(
                "/super_run_id",
                "the coordinator's state names no run",
            ));
        }
        Ok(Self {
            status,
            phase,
            members,
        })
    }

    pub(super) fn new(id: &str, project: &str, phase: &str, runs: Object, now: Time) -> Self {
        let members = build([
            ("schema_version", COORDINATOR_VERSION.into()),
            ("super_run_id", id.into()),
            ("project_id", project.into()),
            ("status", CoordinatorStatus::Active.as_str().into()),
            ("phase", phase.into()),
            ("repo_runs", runs.into()),
            ("pending_gate", Value::Null),
            ("phase_gate_status", Object::new().into()),
            ("created_at", now.to_string().into()),
            ("updated_at", now.to_string().into()),
        ]);
        Self {
            status: CoordinatorStatus::Active,
            phase: phase.to_owned(),
            members,
        }
    }

    /// The document to write.
    pub fn document(&self) -> Object {
        let mut members = self.members.clone();
        members.insert("status".into(), self.status.as_str().into());
        members.insert("phase".into(), self.phase.as_str().into());
        members
    }

    /// The run that spans the repositories.
    pub fn super_run_id(&self) -> &str {
        text(&self.members, "super_run_id").unwrap_or_default()
    }

    /// How it stands.
    pub fn status(&self) -> CoordinatorStatus {
        self.status
    }

    /// The phase.
    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// The run of a repository that belongs to it.
    pub fn repo_run(&self, repo: &str) -> Option<&str> {
        let runs = members::object(&self.members, "repo_runs")?;
        text(members::object(runs, repo)?, "run_id")
    }

    /// The repositories that belong to it.
    pub fn repos(&self) -> impl Iterator<Item = &str> {
        entries(&self.members, "repo_runs").map(|(id, _)| id.as_str())
    }

    /// The gate that waits for a person.
    pub fn pending_gate(&self) -> Option<&Object> {
        members::object(&self.members, "pending_gate")
    }

    /// The turn that is being handed out.
    pub(super) fn dispatching(&self) -> Option<&Object> {
        members::object(&self.members, "dispatching")
    }

    /// Why a person must mend something.
    pub fn blocked_reason(&self) -> Option<&str> {
        text(&self.members, "blocked_reason")
    }

    /// What is known of a repository's run.
    pub fn repo_run_status(&self, repo: &str) -> Option<&str> {
        let runs = members::object(&self.members, "repo_runs")?;
        text(members::object(runs, repo)?, "status")
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    pub(super) fn touch(&mut self, now: Time) {
        self.set("updated_at", now.to_string());
    }

    pub(super) fn set_status(&mut self, status: CoordinatorStatus, now: Time) {
        self.status = status;
        self.touch(now);
    }

    pub(super) fn set_phase(&mut self, phase: &str) {
        phase.clone_into(&mut self.phase);
    }

    pub(super) fn pass_gate(&mut self, gate: &str) {
        let mut gates = members::object(&self.members, "phase_gate_status")
            .cloned()
            .unwrap_or_default();
        gates.insert(gate.to_owned(), "passed".into());
        self.set("phase_gate_status", gates);
    }

    pub(super) fn set_repo_phase(&mut self, repo: &str, phase: &str) {
        self.set_of_repo(repo, "phase", phase);
    }

    pub(super) fn set_of_repo(&mut self, repo: &str, name: &str, value: &str) {
        let mut runs = members::object(&self.members, "repo_runs")
            .cloned()
            .unwrap_or_default();
        if let Some(Value::Object(run)) = runs.get_mut(repo) {
            run.insert(name.to_owned(), value.into());
        }
        self.set("repo_runs", runs);
    }
}
