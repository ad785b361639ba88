//! An active turn.

use std::collections::BTreeMap;

use accord_base::client_output::ClientCost;
use accord_contract::{Extensible, Object, Time, Value, wire_enum};

use crate::doc::{self, Content, Member};
use crate::event::About;
use crate::{RunId, TurnId, build};

wire_enum! {
    pub enum TurnStatus("TurnStatus", closed) {
        Assigned = "assigned",
        /// Its bundle was written.
        Dispatched = "dispatched",
        Starting = "starting",
        Running = "running",
        /// It was rejected and can be retried.
        Retrying = "retrying",
        /// It was rejected and has no retries left.
        Failed = "failed",
        FailedAcceptance = "failed_acceptance",
        /// Another turn changed the same files.
        Conflicted = "conflicted",
        /// Its worker stopped responding.
        Stalled = "stalled",
        FailedStart = "failed_start",
    }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Baseline {
    /// The commit, under version control.
    pub head_ref: Option<String>,
    /// The commit from which every commit is the turn's, if it is not `head_ref`: others committed
    /// before the worker started.
    pub way_ref: Option<String>,
    /// Whether there were no uncommitted changes, except in exempt paths.
    pub clean: bool,
    /// Files that were already changed, each with a digest of its content.
    pub dirty: Vec<(String, String)>,
    /// The settings that decide which changes version control shows, by name. Empty when they were
    /// not recorded.
    pub view: BTreeMap<String, String>,
}

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
    /// Reads a turn from a state. An error is a member and its problem.
    pub(super) fn read(
        key: &str,
        mut members: Object,
        run_id: Option<&RunId>,
    ) -> Result<Self, (&'static str, String)> {
        let id = doc::Turn::TURN_ID.get(&members).unwrap_or(key);
        // Folders are named after the id and turns are looked up by the key, so the two must not
        // differ.
        let id = TurnId::parse(id).filter(|id| id.as_str() == key).ok_or_else(|| {
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
        let status = doc::Turn::STATUS
            .get(&members)
            .map_or(TurnStatus::Assigned.into(), Extensible::from_text);
        if !doc::Turn::RUN_ID.is_in(&members)
            && let Some(run) = run_id
        {
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

    pub(crate) fn about(&self) -> About<'_> {
        Some((self.id.as_str(), &self.role))
    }

    pub fn id(&self) -> &TurnId {
        &self.id
    }

    pub fn role(&self) -> &str {
        &self.role
    }

    /// The status; other runners may write unknown ones.
    pub fn status(&self) -> &Extensible<TurnStatus> {
        &self.status
    }

    /// The number of the attempt, starting at one.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// The run's clock at the assignment.
    pub fn assigned_sequence(&self) -> u64 {
        self.assigned_sequence
    }

    pub fn runtime_id(&self) -> Option<&str> {
        doc::Turn::RUNTIME_ID.get(&self.members)
    }

    /// When its worker started, or else when it was assigned.
    pub fn began(&self) -> Option<Time> {
        let began = doc::Turn::STARTED_AT
            .get(&self.members)
            .or_else(|| doc::Turn::ASSIGNED_AT.get(&self.members));
        began.and_then(Time::parse_iso)
    }

    /// Whether it was dispatched to a worker, according to its members.
    pub(crate) fn was_dispatched(&self) -> bool {
        use TurnStatus::{Dispatched, Running, Stalled, Starting};
        let is = |status| self.status == Extensible::Known(status);
        doc::Turn::DISPATCHED_AT.get(&self.members).is_some()
            || [Dispatched, Starting, Running, Stalled].into_iter().any(is)
    }

    pub fn deadline(&self) -> Option<Time> {
        doc::Turn::DEADLINE_AT.get(&self.members)
    }

    pub fn delegation_context(&self) -> Option<&Object> {
        doc::Turn::DELEGATION_CONTEXT.get(&self.members)
    }

    pub fn delegation_review(&self) -> Option<&Object> {
        doc::Turn::DELEGATION_REVIEW.get(&self.members)
    }

    /// The number of its conflicts, including those of rejected attempts.
    pub fn conflicts(&self) -> u64 {
        // A rejection moves the conflict from the first member to the second.
        [doc::Turn::CONFLICT_STATE, doc::Turn::CONFLICT_CONTEXT]
            .into_iter()
            .filter_map(|member| doc::Conflict::DETECTION_COUNT.get(member.get(&self.members)?))
            .max()
            .unwrap_or(0)
    }

    pub fn conflict(&self) -> Option<&Object> {
        let conflicted = self.status == Extensible::Known(TurnStatus::Conflicted);
        doc::Turn::CONFLICT_STATE.get(&self.members).filter(|_| conflicted)
    }

    /// The recorded changes of its last worker.
    pub(crate) fn left_behind(&self) -> Option<&Object> {
        doc::Turn::LEFT_BEHIND.get(&self.members)
    }

    pub fn baseline(&self) -> Option<Baseline> {
        let baseline = doc::Turn::BASELINE.get(&self.members)?;
        let texts = |(name, value): (&String, &Value)| {
            (name.clone(), value.as_str().unwrap_or_default().to_owned())
        };
        let dirty = doc::Baseline::DIRTY_SNAPSHOT.entries(baseline);
        let view = doc::Baseline::ACCORD_VIEW.entries(baseline);
        Some(Baseline {
            head_ref: doc::Baseline::HEAD_REF.get(baseline).map(str::to_owned),
            way_ref: doc::Baseline::ACCORD_WAY_REF.get(baseline).map(str::to_owned),
            clean: doc::Baseline::CLEAN.get(baseline),
            dirty: dirty.map(texts).collect(),
            view: view.map(texts).collect(),
        })
    }

    /// What the clients of its workers say that they cost, all attempts together.
    pub fn observed_cost(&self) -> Option<ClientCost> {
        doc::Turn::OBSERVED_COST.get(&self.members).map(ClientCost::read)
    }

    /// What it cost: what its clients say, or what its result claims if that is more.
    pub(crate) fn cost_usd(&self, claimed: f64) -> f64 {
        claimed.max(self.observed_cost().and_then(|cost| cost.usd).unwrap_or(0.0))
    }

    pub fn worker_pid(&self) -> Option<u64> {
        self.value(doc::Turn::WORKER_PID)?.as_u64()
    }

    pub fn worker_started_at(&self) -> Option<Time> {
        doc::Turn::WORKER_STARTED_AT.get(&self.members)
    }

    /// The sandbox that its worker was started in.
    pub fn worker_sandbox(&self) -> Option<&str> {
        doc::Turn::WORKER_SANDBOX.get(&self.members)
    }

    /// Whether other turns were active when it was assigned.
    pub fn is_concurrent(&self) -> bool {
        let others = self.value(doc::Turn::CONCURRENT_WITH);
        others.and_then(Value::as_array).is_some_and(|others| !others.is_empty())
    }

    /// Any member as it was read.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// A member that is not a field of `Turn`.
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

    /// Ignores acceptances up to this value of the run's clock when conflicts are detected.
    pub(crate) fn skip_conflicts_until(&mut self, sequence: u64) {
        self.assigned_sequence = self.assigned_sequence.max(sequence);
    }

    /// Replaces a turn in the list of turns that run concurrently.
    pub(crate) fn replace_concurrent(&mut self, new: &TurnId, old: &TurnId) {
        let others =
            doc::Turn::CONCURRENT_WITH.raw_mut(&mut self.members).and_then(Value::as_array_mut);
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
    pub(crate) fn document(&self, now: Time) -> Object {
        let kind = if self.head_ref.is_some() { "git_worktree" } else { "no_git" };
        let dirty: Object =
            self.dirty.iter().map(|(path, mark)| (path.clone(), mark.as_str().into())).collect();
        let mut document = build([
            doc::Baseline::KIND.to(kind),
            doc::Baseline::HEAD_REF.to(self.head_ref.clone()),
            doc::Baseline::CLEAN.to(self.clean),
            doc::Baseline::CAPTURED_AT.to(now),
            doc::Baseline::DIRTY_SNAPSHOT.to(dirty),
        ]);
        if let Some(way_ref) = &self.way_ref {
            doc::Baseline::ACCORD_WAY_REF.set(&mut document, way_ref.as_str());
        }
        if !self.view.is_empty() {
            let view: Object = self
                .view
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect();
            doc::Baseline::ACCORD_VIEW.set(&mut document, view);
        }
        document
    }
}
