//! An active turn.

use std::collections::BTreeMap;

use accord_contract::time::Time;
use accord_contract::wire::{Extensible, Object, Value};
use accord_contract::wire_enum;

use crate::doc::{self, Content, Member};
use crate::event::About;
use crate::members::build;
use crate::{RunId, TurnId};

wire_enum! {
    /// The status of an active turn.
    pub enum TurnStatus("TurnStatus", closed) {
        /// A role has it.
        Assigned = "assigned",
        /// Its bundle was written.
        Dispatched = "dispatched",
        /// Its worker starts.
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
        /// Its worker stopped responding.
        Stalled = "stalled",
        /// Its worker did not start.
        FailedStart = "failed_start",
    }
}

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
        mut members: Object,
        run_id: Option<&RunId>,
    ) -> Result<Self, (&'static str, String)> {
        let id = doc::Turn::TURN_ID.get(&members).unwrap_or(key);
        let id = TurnId::parse(id)
            .filter(|id| id.as_str() == key)
            .ok_or_else(|| {
                let message = format!("{id:?} is not the id {key:?} of the turn");
                (doc::Turn::TURN_ID.name(), message)
            })?;
        let no_role = || {
            let message = "the turn names no role".to_owned();
            (doc::Turn::ASSIGNED_ROLE.name(), message)
        };
        let role = doc::Turn::ASSIGNED_ROLE
            .get(&members)
            .or_else(|| doc::Turn::ROLE.get(&members))
            .ok_or_else(no_role)?
            .to_owned();
        let status = doc::Turn::STATUS.get(&members);
        let status = status.map_or(TurnStatus::Assigned.into(), Extensible::from_text);
        if let (false, Some(run)) = (doc::Turn::RUN_ID.is_in(&members), run_id) {
            doc::Turn::RUN_ID.set(&mut members, run.as_str());
        }
        Ok(Self {
            id,
            role,
            status,
            attempt: doc::Turn::ATTEMPT.get(&members).unwrap_or(1),
            assigned_sequence: doc::Turn::ASSIGNED_SEQUENCE.get(&members).unwrap_or(1),
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
        for (name, value) in build([
            doc::Turn::TURN_ID.to(self.id.as_str()),
            doc::Turn::ASSIGNED_ROLE.to(self.role.as_str()),
            doc::Turn::STATUS.to(self.status.as_str()),
            doc::Turn::ATTEMPT.to(self.attempt),
            doc::Turn::ASSIGNED_SEQUENCE.to(self.assigned_sequence),
        ]) {
            members.insert(name, value);
        }
        members
    }

    /// The turn as events name it.
    pub(crate) fn about(&self) -> About<'_> {
        Some((self.id.as_str(), &self.role))
    }

    /// Its id.
    pub fn id(&self) -> &TurnId {
        &self.id
    }

    /// Its role.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Its status.
    pub fn status(&self) -> &Extensible<TurnStatus> {
        &self.status
    }

    /// The number of the attempt, from one.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// The tick of the run's clock at which it was assigned.
    pub fn assigned_sequence(&self) -> u64 {
        self.assigned_sequence
    }

    /// What carries it out.
    pub fn runtime_id(&self) -> Option<&str> {
        doc::Turn::RUNTIME_ID.get(&self.members)
    }

    /// When it was assigned, or its worker began, where that is known.
    pub fn began(&self) -> Option<Time> {
        let began = doc::Turn::STARTED_AT
            .get(&self.members)
            .or_else(|| doc::Turn::ASSIGNED_AT.get(&self.members));
        began.and_then(Time::parse_iso)
    }

    /// Whether it was handed to a worker, as far as it tells.
    pub fn was_dispatched(&self) -> bool {
        use TurnStatus::{Dispatched, Running, Stalled, Starting};
        let is = |status| self.status == Extensible::Known(status);
        doc::Turn::DISPATCHED_AT.get(&self.members).is_some()
            || [Dispatched, Starting, Running, Stalled].into_iter().any(is)
    }

    /// When it should be done.
    pub fn deadline(&self) -> Option<Time> {
        doc::Turn::DEADLINE_AT.get(&self.members)
    }

    /// The delegation that it carries out.
    pub fn delegation_context(&self) -> Option<&Object> {
        doc::Turn::DELEGATION_CONTEXT.get(&self.members)
    }

    /// The delegations whose outcome it reviews.
    pub fn delegation_review(&self) -> Option<&Object> {
        doc::Turn::DELEGATION_REVIEW.get(&self.members)
    }

    /// How often it has come into conflict with others, attempts that were rejected for it
    /// included.
    pub fn conflicts(&self) -> u64 {
        [doc::Turn::CONFLICT_STATE, doc::Turn::CONFLICT_CONTEXT]
            .into_iter()
            .filter_map(|member| doc::Conflict::DETECTION_COUNT.get(member.get(&self.members)?))
            .max()
            .unwrap_or(0)
    }

    /// What it is in conflict about, while that is not resolved.
    pub fn conflict(&self) -> Option<&Object> {
        let conflicted = self.status == Extensible::Known(TurnStatus::Conflicted);
        doc::Turn::CONFLICT_STATE
            .get(&self.members)
            .filter(|_| conflicted)
    }

    /// The changes of its last worker, where they were noted.
    pub(crate) fn left_behind(&self) -> Option<&Object> {
        doc::Turn::LEFT_BEHIND.get(&self.members)
    }

    /// What the repository was like when it was assigned.
    pub fn baseline(&self) -> Option<Baseline> {
        let baseline = doc::Turn::BASELINE.get(&self.members)?;
        let texts = |(name, value): (&String, &Value)| {
            (name.clone(), value.as_str().unwrap_or_default().to_owned())
        };
        let dirty = doc::Baseline::DIRTY_SNAPSHOT.entries(baseline);
        let view = doc::Baseline::ACCORD_VIEW.entries(baseline);
        Some(Baseline {
            head_ref: doc::Baseline::HEAD_REF.get(baseline).map(str::to_owned),
            clean: doc::Baseline::CLEAN.get(baseline),
            dirty: dirty.map(texts).collect(),
            view: view.map(texts).collect(),
        })
    }

    /// Any member as it came in.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// A member that is no field of the turn, as it came in.
    pub(crate) fn value<K>(&self, member: Member<K>) -> Option<&Value> {
        member.raw(&self.members)
    }

    pub(crate) fn set<K>(&mut self, member: Member<K>, value: impl Content<K>) {
        member.set(&mut self.members, value);
    }

    pub(crate) fn set_named(&mut self, name: String, value: Value) {
        self.members.insert(name, value);
    }

    pub(crate) fn unset<K>(&mut self, member: Member<K>) {
        member.remove(&mut self.members);
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
        let others = doc::Turn::CONCURRENT_WITH.raw_mut(&mut self.members);
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
            doc::Baseline::KIND.to(kind),
            doc::Baseline::HEAD_REF.to(self.head_ref.clone()),
            doc::Baseline::CLEAN.to(self.clean),
            doc::Baseline::CAPTURED_AT.to(now),
            doc::Baseline::DIRTY_SNAPSHOT.to(dirty),
        ]);
        if !self.view.is_empty() {
            let view = self.view.iter();
            let view: Object = view
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect();
            doc::Baseline::ACCORD_VIEW.set(&mut document, view);
        }
        document
    }
}
