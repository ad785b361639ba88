//! Barriers: the condition under which a workstream is done.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use super::history::{self, LineType};
use super::{CoordinatorConfig, Workstream};
use crate::members::{array, build, texts};
use crate::{Result, doc, rule};

wire_enum! {
    pub enum BarrierType("BarrierType", closed) {
        /// Every repository has accepted a turn.
        AllReposAccepted = "all_repos_accepted",
        /// Every repository has made the decisions that align its interface.
        InterfaceAlignment = "interface_alignment",
        NamedDecisions = "named_decisions",
        /// The first repository has accepted a turn, after which the others may follow.
        OrderedRepoSequence = "ordered_repo_sequence",
        SharedHumanGate = "shared_human_gate",
    }

    pub enum BarrierStatus("BarrierStatus", closed) {
        Pending = "pending",
        PartiallySatisfied = "partially_satisfied",
        /// It is satisfied, which is final.
        Satisfied = "satisfied",
    }
}

impl BarrierType {
    /// The member of a workstream that lists the required decisions.
    pub fn settings(self) -> Option<&'static str> {
        matches!(self, Self::InterfaceAlignment | Self::NamedDecisions).then(|| self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    id: String,
    kind: BarrierType,
    status: BarrierStatus,
    members: Object,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Barriers {
    all: Vec<Barrier>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Effect {
    pub barrier_id: String,
    pub previous: BarrierStatus,
    pub status: BarrierStatus,
}

impl Effect {
    pub fn document(&self) -> Object {
        build([
            ("barrier_id", self.barrier_id.as_str().into()),
            ("previous_status", self.previous.as_str().into()),
            ("new_status", self.status.as_str().into()),
        ])
    }

    /// The line of `barrier-ledger.jsonl`.
    pub fn line(&self, causation: Object, now: Time) -> Object {
        let now = now.to_string();
        let mut line = build([("type", "barrier_transition".into()), ("timestamp", now.into())]);
        line.extend(self.document());
        line.insert("causation".into(), causation.into());
        line
    }
}

impl Barrier {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn workstream(&self) -> &str {
        doc::Barrier::WORKSTREAM_ID.get(&self.members).unwrap_or_default()
    }

    pub fn kind(&self) -> BarrierType {
        self.kind
    }

    pub fn status(&self) -> BarrierStatus {
        self.status
    }

    pub fn required_repos(&self) -> Vec<String> {
        doc::Barrier::REQUIRED_REPOS.get(&self.members)
    }

    pub fn satisfied_repos(&self) -> Vec<String> {
        doc::Barrier::SATISFIED_REPOS.get(&self.members)
    }

    fn decisions_of(&self, repo: &str, workstream: &Workstream) -> Vec<String> {
        // Runners use one of two names. Without both, the configuration decides.
        let named = doc::Barrier::REQUIRED_DECISION_IDS_BY_REPO.get(&self.members);
        match named.or_else(|| doc::Barrier::ALIGNMENT_DECISION_IDS.get(&self.members)) {
            Some(by_repo) => texts(by_repo, repo),
            None => workstream.decisions_of(repo),
        }
    }

    /// Computes the status, and the repositories that satisfy it, from the coordinator's history.
    ///
    /// Clauses: AX-CO-FIRST, AX-CO-ALL, AX-CO-ORDERED, AX-CO-HUMAN, AX-CO-ALIGNMENT, AX-CO-NAMED.
    fn judge(&self, workstream: &Workstream, lines: &[Object]) -> (BarrierStatus, Vec<String>) {
        let counts = |line: &&Object| {
            let is_projection = history::is(line, LineType::AcceptanceProjection);
            rule!(is_projection; AnyLineCounts => true)
                && doc::MultiHistory::WORKSTREAM_ID.get(line) == Some(&workstream.id)
        };
        let projections: Vec<&Object> = lines.iter().filter(counts).collect();
        let repos = projections.iter().filter_map(|line| doc::MultiHistory::REPO_ID.get(line));
        let accepted: BTreeSet<&str> = repos.collect();
        let required = self.required_repos();
        // A repository without required decisions never satisfies a barrier about decisions.
        let decided = |repo: &str| {
            let wanted = self.decisions_of(repo, workstream);
            let made = decisions(&projections, repo);
            let has_made = |id: &String| made.contains(id.as_str());
            !wanted.is_empty()
                && rule!(
                    wanted.iter().all(has_made);
                    OneDecisionAligns => wanted.iter().any(has_made)
                )
        };
        let counts = |repo: &&String| match self.kind {
            BarrierType::InterfaceAlignment => decided(repo),
            BarrierType::NamedDecisions => rule!(
                decided(repo);
                NamedDecisionsUnread => accepted.contains(repo.as_str())
            ),
            _ => accepted.contains(repo.as_str()),
        };
        let satisfied: Vec<String> = required.iter().filter(counts).cloned().collect();
        let some = required.iter().any(|repo| accepted.contains(repo.as_str()));
        let all = !required.is_empty() && satisfied.len() == required.len();
        let open = match self.kind {
            // Projections never open this barrier. Only an approval does.
            BarrierType::SharedHumanGate => {
                rule!(return (self.status, satisfied); PeopleNotAwaited => all)
            }
            // The protocol asks only for the entry repository; the others may follow later.
            BarrierType::OrderedRepoSequence => {
                rule!(accepted.contains(workstream.entry_repo.as_str()); OrderIgnored => all)
            }
            _ => all,
        };
        let status = if open {
            BarrierStatus::Satisfied
        } else if some {
            rule!(
                BarrierStatus::PartiallySatisfied;
                FirstSatisfies => BarrierStatus::Satisfied;
                UndecidedIsNothing => if satisfied.is_empty() {
                    BarrierStatus::Pending
                } else {
                    BarrierStatus::PartiallySatisfied
                }
            )
        } else {
            BarrierStatus::Pending
        };
        (status, satisfied)
    }

    fn change(&mut self, status: BarrierStatus) -> Effect {
        let previous = std::mem::replace(&mut self.status, status);
        Effect { barrier_id: self.id.clone(), previous, status }
    }
}

impl Barriers {
    /// Reads `barriers.json`. Fails with `coordinator_state_invalid` when a barrier is invalid.
    pub fn read(document: &Value) -> Result<Self> {
        let mut all = Vec::new();
        for (id, value) in document.as_object().into_iter().flatten() {
            let invalid = |what: &str| {
                let message = format!("the barrier {id} {what}");
                Failure::new(Code::XchainCoordinatorStateInvalid, message).at(format!("/{id}"))
            };
            let members = value.as_object().ok_or_else(|| invalid("must be an object"))?;
            let kind = doc::Barrier::TYPE.get(members);
            let status = doc::Barrier::STATUS.get(members);
            // A name that cannot be read would be one repository less to wait for.
            let is_name = |repos: &Vec<Value>| repos.iter().all(Value::is_string);
            let repos = doc::Barrier::REQUIRED_REPOS.raw(members);
            if repos.is_some_and(|repos| !repos.as_array().is_some_and(is_name)) {
                return Err(invalid("must list the repositories that it waits for"));
            }
            all.push(Barrier {
                id: id.clone(),
                kind: kind.ok_or_else(|| invalid("is of no known type"))?,
                status: status.ok_or_else(|| invalid("has no known status"))?,
                members: members.clone(),
            });
        }
        Ok(Self { all })
    }

    pub(super) fn of_config(config: &CoordinatorConfig, now: Time) -> Self {
        let barrier = |workstream: &Workstream| {
            let mut members = build([
                doc::Barrier::WORKSTREAM_ID.to(workstream.id.as_str()),
                doc::Barrier::TYPE.to(workstream.barrier),
                doc::Barrier::STATUS.to(BarrierStatus::Pending),
                doc::Barrier::REQUIRED_REPOS.to(&workstream.repos),
                doc::Barrier::SATISFIED_REPOS.to(Value::Array(Vec::new())),
            ]);
            if workstream.barrier.settings().is_some() {
                let decisions = workstream.decision_ids.iter();
                let by_repo: Object =
                    decisions.map(|(repo, ids)| (repo.clone(), array(ids))).collect();
                doc::Barrier::REQUIRED_DECISION_IDS_BY_REPO.set(&mut members, by_repo);
            }
            doc::Barrier::CREATED_AT.set(&mut members, now);
            Barrier {
                // This is the name that the reference runner uses.
                id: format!("{}_completion", workstream.id),
                kind: workstream.barrier,
                status: BarrierStatus::Pending,
                members,
            }
        };
        Self { all: config.workstreams().iter().map(barrier).collect() }
    }

    pub fn document(&self) -> Object {
        let document = |barrier: &Barrier| {
            let mut members = barrier.members.clone();
            doc::Barrier::STATUS.set(&mut members, barrier.status);
            (barrier.id.clone(), members.into())
        };
        self.all.iter().map(document).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Barrier> {
        self.all.iter()
    }

    pub(crate) fn of_workstream(&self, workstream: &str) -> Option<&Barrier> {
        // Fixtures and other runners name barriers differently, so the id is not used.
        self.all.iter().find(|barrier| barrier.workstream() == workstream)
    }

    pub fn is_satisfied(&self, workstream: &str) -> bool {
        let barrier = self.of_workstream(workstream);
        barrier.is_some_and(|barrier| barrier.status == BarrierStatus::Satisfied)
    }

    /// Computes the barriers of a workstream again. Satisfied ones stay satisfied.
    ///
    /// Clauses: AX-CO-SATISFIED-STAYS.
    pub(super) fn recompute(&mut self, workstream: &Workstream, history: &[Object]) -> Vec<Effect> {
        let mut effects = Vec::new();
        for barrier in &mut self.all {
            let satisfied = barrier.status == BarrierStatus::Satisfied;
            let stays = rule!(satisfied; BarrierShutsAgain => false);
            if barrier.workstream() != workstream.id || stays {
                continue;
            }
            let (status, satisfied) = barrier.judge(workstream, history);
            // The list is updated even if the status stays, because the next choice depends on it.
            doc::Barrier::SATISFIED_REPOS.set(&mut barrier.members, &satisfied);
            if status != barrier.status {
                effects.push(barrier.change(status));
            }
        }
        effects
    }

    pub(super) fn approve(&mut self, id: &str) -> Option<Effect> {
        let barrier = self.all.iter_mut().find(|barrier| barrier.id == id)?;
        let waits = barrier.kind == BarrierType::SharedHumanGate
            && barrier.status != BarrierStatus::Satisfied;
        waits.then(|| barrier.change(BarrierStatus::Satisfied))
    }
}

fn decisions<'a>(projections: &[&'a Object], repo: &str) -> BTreeSet<&'a str> {
    let own =
        projections.iter().filter(|line| doc::MultiHistory::REPO_ID.get(**line) == Some(repo));
    let made = own.flat_map(|line| doc::MultiHistory::DECISIONS.get(*line));
    // In the protocol a decision is an id or an object with one.
    let id = |decision: &'a Value| decision.as_str().or_else(|| doc::Decision::ID.get(decision));
    made.filter_map(id).collect()
}
