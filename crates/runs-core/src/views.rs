//! The members of governed documents that people are shown.
//!
//! A member of another type than the declared one reads as absent, as everywhere; `doctor` names
//! it.

use accord_contract::{Failure, Object, Value};

use crate::doc::{self, Kind as _, Texts};
use crate::{State, Turn};

/// A line of the history: a turn that ended.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct HistoryView {
    pub turn_id: Option<String>,
    pub role: Option<String>,
    pub phase: Option<String>,
    pub status: Option<String>,
    pub summary: Option<String>,
    pub accepted_at: Option<String>,
}

impl HistoryView {
    pub fn of(line: &Object) -> Self {
        type Line = doc::History;
        Self {
            turn_id: owned(Line::TURN_ID.get(line)),
            role: owned(Line::ROLE.get(line)),
            phase: owned(Line::PHASE.get(line)),
            status: owned(Line::STATUS.get(line)),
            summary: owned(Line::SUMMARY.get(line)),
            accepted_at: owned(Line::ACCEPTED_AT.get(line)),
        }
    }
}

/// A line of the decision ledger, or of the decisions of the repository.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct DecisionView {
    pub id: Option<String>,
    /// The role, or the person of a decision that a person took.
    pub who: Option<String>,
    pub phase: Option<String>,
    /// The statement, else the kind of the line.
    pub what: Option<String>,
    pub status: Option<String>,
    /// The id of the record of a person's decision, as the line has it.
    pub decision_id: Option<String>,
    /// Whether the line says that a person decided.
    pub is_person: bool,
}

impl DecisionView {
    pub fn of(line: &Object) -> Self {
        type Line = doc::Ledger;
        let role = Line::ROLE.get(line);
        // Decisions of a person have the role `human`, and who it was.
        let is_person = role.is_none_or(|role| role == "human");
        let who = doc::HumanDecision::ACTOR.get(line).filter(|_| is_person).or(role);
        let kind = Line::DECISION.get(line).or_else(|| Line::TYPE.get(line));
        Self {
            id: owned(Line::ID.get(line)),
            who: owned(who),
            phase: owned(Line::PHASE.get(line)),
            what: owned(Line::STATEMENT.get(line).or(kind)),
            status: owned(Line::STATUS.get(line)),
            decision_id: owned(doc::HumanDecision::DECISION_ID.get(line)),
            is_person: is_person && doc::HumanDecision::ACTOR.get(line).is_some(),
        }
    }
}

/// An event.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct EventView {
    pub timestamp: Option<String>,
    pub event_type: Option<String>,
    pub phase: Option<String>,
    pub status: Option<String>,
    pub turn_id: Option<String>,
}

impl EventView {
    pub fn of(line: &Object) -> Self {
        type Line = doc::Event;
        let turn = Line::TURN.get(line);
        Self {
            timestamp: owned(Line::TIMESTAMP.text(line)),
            event_type: owned(crate::event::type_name(line)),
            phase: owned(Line::PHASE.get(line)),
            status: owned(Line::STATUS.get(line)),
            turn_id: owned(turn.and_then(|turn| doc::EventTurn::TURN_ID.get(turn))),
        }
    }
}

/// A delegation that was not reviewed yet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct DelegationView {
    pub delegation_id: Option<String>,
    pub parent_role: Option<String>,
    pub to_role: Option<String>,
    pub status: Option<String>,
    pub charter: Option<String>,
}

impl State {
    /// The delegations that were not reviewed yet.
    pub fn open_delegations(&self) -> Vec<DelegationView> {
        type Item = doc::Queued;
        let view = |item: &Object| DelegationView {
            delegation_id: owned(Item::DELEGATION_ID.get(item)),
            parent_role: owned(Item::PARENT_ROLE.get(item)),
            to_role: owned(Item::TO_ROLE.get(item)),
            status: owned(Item::STATUS.get(item)),
            charter: owned(Item::CHARTER.get(item)),
        };
        doc::State::DELEGATION_QUEUE.objects(self.members()).map(view).collect()
    }

    /// The role that reviews the results of its delegations next.
    pub fn delegation_reviewer(&self) -> Option<&str> {
        let review = doc::State::PENDING_DELEGATION_REVIEW.get(self.members())?;
        doc::Review::PARENT_ROLE.get(review)
    }
}

/// A conflict of a turn with turns that were accepted since its assignment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConflictView {
    pub files: Vec<String>,
    pub accepted_since: Vec<String>,
}

impl Turn {
    /// The conflict of the turn, if it has one.
    pub fn conflict_view(&self) -> ConflictView {
        let Some(conflict) = self.conflict() else { return ConflictView::default() };
        ConflictView {
            files: doc::Conflict::CONFLICTING_FILES.get(conflict),
            accepted_since: doc::Conflict::ACCEPTED_SINCE_TURN_IDS.get(conflict),
        }
    }
}

/// A gate of an initiative that needs approval.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct InitiativeGateView {
    pub gate: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub requested_at: Option<String>,
    pub required_repos: Vec<String>,
    pub human_barriers: Vec<String>,
}

impl InitiativeGateView {
    pub fn of(gate: &Object) -> Self {
        type Gate = doc::MultiGate;
        Self {
            gate: owned(Gate::GATE.get(gate)),
            from: owned(Gate::FROM.get(gate)),
            to: owned(Gate::TO.get(gate)),
            requested_at: owned(Gate::REQUESTED_AT.text(gate)),
            required_repos: Gate::REQUIRED_REPOS.get(gate),
            human_barriers: Gate::HUMAN_BARRIERS.get(gate),
        }
    }
}

/// An accepted turn of a repository, in the history of an initiative.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProjectedTurnView {
    pub repo_id: Option<String>,
    pub repo_turn_id: Option<String>,
    pub summary: Option<String>,
}

impl ProjectedTurnView {
    pub fn of(line: &Object) -> Self {
        type Line = doc::MultiHistory;
        Self {
            repo_id: owned(Line::REPO_ID.get(line)),
            repo_turn_id: owned(Line::REPO_TURN_ID.get(line)),
            summary: owned(Line::SUMMARY.get(line)),
        }
    }
}

/// What explains a failure beside its message.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct FailureView {
    /// Everything that was found.
    pub errors: Vec<String>,
    /// The end of the output of a worker, or of the answer of a remote one.
    pub output: Vec<String>,
}

impl FailureView {
    pub fn of(failure: &Failure) -> Self {
        let detail = |name: &str| failure.details.as_ref()?.get(name);
        let output = ["last_message", "stderr", "body"]
            .into_iter()
            .filter_map(detail)
            .filter_map(Value::as_str);
        Self { errors: Texts::read(detail("errors")), output: output.map(str::to_owned).collect() }
    }
}

/// The files that a staged result names.
pub fn changed_files(result: &Object) -> Vec<String> {
    doc::Result::FILES_CHANGED.get(result)
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}
