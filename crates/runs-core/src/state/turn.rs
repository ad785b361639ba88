//! An active turn.

use std::collections::BTreeMap;

use accord_contract::time::Time;
use accord_contract::wire::{Extensible, Names as _, Object, Value};
use accord_contract::wire_enum;

use crate::members::{self, build, count, text};
use crate::{RunId, TurnId};

wire_enum! {
    /// How an active turn stands.
    pub enum TurnStatus("TurnStatus", closed) {
        /// Somebody has it.
        Assigned = "assigned",
        /// Its bundle was written.
        Dispatched = "dispatched",
        /// Its worker is coming up.
        Starting = "starting",
        /// Its worker works.
        Running = "running",
        /// It was rejected and may be tried again.
        Retrying = "retrying",
        /// It was rejected for good.
        Failed = "failed",
        /// Its result was refused.
        FailedAcceptance = "failed_acceptance",
        /// Another turn changed the same files.
        Conflicted = "conflicted",
        /// Its worker went quiet.
        Stalled = "stalled",
        /// Its worker never came up.
        FailedStart = "failed_start",
    }
}

/// The member of a baseline with what decides which changes are shown.
const VIEW: &str = "accord_view";

/// What the repository was like when a turn was assigned.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Baseline {
    /// The commit, where there is version control.
    pub head_ref: Option<String>,
    /// Whether nothing was changed since that commit, what is exempt aside.
    pub clean: bool,
    /// Files that were changed already, with a mark of their content.
    pub dirty: Vec<(String, String)>,
    /// What decided which changes version control showed, by name; nothing is known where it is
    /// empty.
    pub view: BTreeMap<String, String>,
}

/// An active turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    id: TurnId,
    role: String,
    status: Extensible<TurnStatus>,
    attempt: u64,
    assigned_sequence: u64,
    members: Object,
}

impl Turn {
    /// A turn out of a state; `Err` is the member and what is wrong with it.
    pub(super) fn read(
        key: &str,
        members: Object,
        run_id: Option<&RunId>,
    ) -> Result<Self, (&'static str, String)> {
        let id = text(&members, "turn_id").unwrap_or(key);
        let id = TurnId::parse(id)
            .filter(|id| id.as_str() == key)
            .ok_or_else(|| {
                (
                    "turn_id",
                    format!("{id:?} is not the id {key:?} of the turn"),
                )
            })?;
        let role = text(&members, "assigned_role")
            .or_else(|| text(&members, "role"))
            .ok_or_else(|| ("assigned_role", "the turn names no role".to_owned()))?
            .to_owned();
        let status = match text(&members, "status") {
            None => Extensible::Known(TurnStatus::Assigned),
            Some(text) => match TurnStatus::find(text) {
                Some(known) => Extensible::Known(known),
                None => Extensible::Unknown(text.to_owned()),
            },
        };
        let mut members = members;
        if let (false, Some(run)) = (members.contains_key("run_id"), run_id) {
            members.insert("run_id".into(), run.as_str().into());
        }
        Ok(Self {
            id,
            role,
            status,
            attempt: count(&members, "attempt").unwrap_or(1),
            assigned_sequence: count(&members, "assigned_sequence").unwrap_or(1),
            members,
        })
    }

    /// A turn that is assigned now.
    pub(crate) fn assign(id: TurnId, role: &str, assigned_sequence: u64, members: Object) -> Self {
        Self {
            id,
            role: role.to_owned(),
            status: Extensible::Known(TurnStatus::Assigned),
            attempt: 1,
            assigned_sequence,
            members,
        }
    }

    /// The document to write.
    pub fn document(&self) -> Object {
        let mut members = self.members.clone();
        let status = match &self.status {
            Extensible::Known(known) => known.as_str(),
            Extensible::Unknown(text) => text,
        };
        for (name, value) in build([
            ("turn_id", self.id.as_str().into()),
            ("assigned_role", self.role.as_str().into()),
            ("status", status.into()),
            ("attempt", self.attempt.into()),
            ("assigned_sequence", self.assigned_sequence.into()),
        ]) {
            members.insert(name, value);
        }
        members
    }

    /// Its id.
    pub fn id(&self) -> &TurnId {
        &self.id
    }

    /// Who has it.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// How it stands.
    pub fn status(&self) -> &Extensible<TurnStatus> {
        &self.status
    }

    /// Which try this is, from one.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// The tick of the run's clock at which it was assigned.
    pub fn assigned_sequence(&self) -> u64 {
        self.assigned_sequence
    }

    /// What carries it out.
    pub fn runtime_id(&self) -> Option<&str> {
        text(&self.members, "runtime_id")
    }

    /// When it was assigned, or its worker began, where that is known.
    pub fn began(&self) -> Option<Time> {
        let began =
            text(&self.members, "started_at").or_else(|| text(&self.members, "assigned_at"));
        began.and_then(Time::parse_iso)
    }

    /// Whether it was handed to a worker, as far as it tells.
    pub fn was_dispatched(&self) -> bool {
        use TurnStatus::{Dispatched, Running, Stalled, Starting};
        let is = |status| self.status == Extensible::Known(status);
        text(&self.members, "dispatched_at").is_some()
            || [Dispatched, Starting, Running, Stalled].into_iter().any(is)
    }

    /// When it should be done.
    pub fn deadline(&self) -> Option<Time> {
        text(&self.members, "deadline_at").and_then(Time::parse_iso)
    }

    /// The delegation that it carries out.
    pub fn delegation_context(&self) -> Option<&Object> {
        members::object(&self.members, "delegation_context")
    }

    /// The delegations whose outcome it reviews.
    pub fn delegation_review(&self) -> Option<&Object> {
        members::object(&self.members, "delegation_review")
    }

    /// How often it has come into conflict with others, tries that were rejected for it
    /// included.
    pub fn conflicts(&self) -> u64 {
        ["conflict_state", "conflict_context"]
            .into_iter()
            .filter_map(|name| count(members::object(&self.members, name)?, "detection_count"))
            .max()
            .unwrap_or(0)
    }

    /// What it is in conflict about, while that is not resolved.
    pub fn conflict(&self) -> Option<&Object> {
        let conflicted = self.status == Extensible::Known(TurnStatus::Conflicted);
        members::object(&self.members, "conflict_state").filter(|_| conflicted)
    }

    /// What the repository was like when it was assigned.
    pub fn baseline(&self) -> Option<Baseline> {
        let baseline = members::object(&self.members, "baseline")?;
        let dirty = members::entries(baseline, "dirty_snapshot");
        let view = members::entries(baseline, VIEW);
        Some(Baseline {
            head_ref: text(baseline, "head_ref").map(str::to_owned),
            clean: members::holds(baseline, "clean"),
            dirty: dirty
                .map(|(path, mark)| (path.clone(), mark.as_str().unwrap_or_default().to_owned()))
                .collect(),
            view: view
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
        })
    }

    /// Any member as it came in.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// The same turn with another runtime, role and sequence untouched.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.members.shift_remove(name);
    }

    pub(crate) fn set_status(&mut self, status: TurnStatus) {
        self.status = Extensible::Known(status);
    }

    /// Only what is accepted after this tick of the run's clock comes into conflict with it.
    pub(crate) fn count_from(&mut self, sequence: u64) {
        self.assigned_sequence = self.assigned_sequence.max(sequence);
    }

    /// Names a turn in place of another, where the turn runs beside that one.
    pub(crate) fn runs_beside(&mut self, new: &TurnId, old: &TurnId) {
        let others = self.members.get_mut("concurrent_with");
        let others = others.and_then(Value::as_array_mut);
        for other in others.into_iter().flatten() {
            if other == old.as_str() {
                *other = new.as_str().into();
            }
        }
    }

    pub(crate) fn next_attempt(&mut self) {
        self.attempt += 1;
    }
}

impl Baseline {
    /// The baseline as a turn has it.
    pub(crate) fn document(&self, now: Time) -> Object {
        let kind = if self.head_ref.is_some() {
            "git_worktree"
        } else {
            "no_git"
        };
        let dirty: Object = self
            .dirty
            .iter()
            .map(|(path, mark)| (path.clone(), mark.as_str().into()))
            .collect();
        let mut document = build([
            ("kind", kind.into()),
            ("head_ref", self.head_ref.clone().into()),
            ("clean", self.clean.into()),
            ("captured_at", now.to_string().into()),
            ("dirty_snapshot", dirty.into()),
        ]);
        if !self.view.is_empty() {
            let view = self.view.iter();
            let view: Object = view
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect();
            document.insert(VIEW.into(), view.into());
        }
        document
    }
}
