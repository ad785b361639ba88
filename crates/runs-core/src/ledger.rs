//! `decision-ledger.jsonl`: decisions of turns, and actions on a run.
//!
//! Invariants:
//! - the decisions that one run writes have different ids;
//! - a generated id is the run's next free one;
//! - a ledger with duplicate ids can still be read; [`duplicates`] lists them.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use crate::evidence::{ExpectedDigest, LastDecision};
use crate::names::Names;
use crate::patterns::{decision_number, is_decision_id};
use crate::{Result, State, Turn, array, build, doc, members, rule};

wire_enum! {
    pub enum DecisionCategory("DecisionCategory", closed) {
        Implementation = "implementation",
        Architecture = "architecture",
        Scope = "scope",
        Process = "process",
        Quality = "quality",
        Release = "release",
    }

    /// The `type` of a line about an action on a run.
    pub enum LedgerType("LedgerType", closed) {
        GateApproval = "gate_approval",
        /// A command of a gate ran.
        GateAction = "gate_action",
        /// A gate failed, or a person sent its request back.
        GateFailure = "gate_failure",
        /// The approval policy passed a gate.
        ApprovalPolicy = "approval_policy",
        NonProgressBlock = "non_progress_block",
        TimeoutWarning = "timeout_warning",
        Timeout = "timeout",
    }

    /// The `decision` of a line about an action on a run.
    pub enum LedgerDecision("LedgerDecision", closed) {
        /// A turn revised files of a later turn.
        ForwardRevisionAccepted = "forward_revision_accepted",
        ConflictDetected = "conflict_detected",
        /// A person merged a conflict.
        ConflictResolved = "conflict_resolved",
        ConflictRejected = "conflict_rejected",
        /// A policy blocked the run.
        PolicyEscalation = "policy_escalation",
        /// A person blocked the run.
        OperatorEscalated = "operator_escalated",
        /// A person resolved a block.
        EscalationResolved = "escalation_resolved",
        TurnReissued = "turn_reissued",
        GateSentBack = "gate_sent_back",
        ProposalApplied = "proposal_applied",
        ProposalRejected = "proposal_rejected",
    }
}

/// The decision of a person that makes a later one outdated: the one about the expected evidence,
/// else the last one. `lines` are those of a ledger, about what is decided.
pub fn last_decision<'a>(
    lines: impl DoubleEndedIterator<Item = &'a Object>,
    expected: &ExpectedDigest,
) -> Option<LastDecision> {
    let mut decided = lines.rev().filter_map(decision_of_person).peekable();
    let last = decided.peek().cloned();
    let is_it = |it: &LastDecision| it.evidence.as_ref().is_some_and(|it| expected.is(it));
    decided.find(is_it).or(last)
}

fn decision_of_person(line: &Object) -> Option<LastDecision> {
    let evidence = doc::HumanDecision::EVIDENCE_DIGEST.get(line)?;
    let outcome = match doc::Ledger::DECISION.get(line) {
        Some("gate_sent_back") => "sent_back",
        Some("escalation_resolved") => "resolved",
        Some("conflict_resolved") => "merged",
        Some("proposal_applied") => "applied",
        Some("proposal_rejected") => "dropped",
        Some("operator_escalated") => "stopped",
        _ => "approved",
    };
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    Some(LastDecision {
        by: doc::HumanDecision::ACTOR.get(line)?.to_owned(),
        outcome: outcome.to_owned(),
        at: text("timestamp").or_else(|| text("created_at")).unwrap_or_default().to_owned(),
        evidence: Some(evidence.to_owned()),
    })
}

/// Greater numbers are ignored when the next id is generated.
const GREATEST: u64 = 1_000_000_000;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DecisionIds {
    taken: Names,
    greatest: u64,
}

impl DecisionIds {
    /// Adds an id. Returns false when it exists.
    pub fn add(&mut self, id: &str) -> bool {
        // A greater number could only exhaust the numbers.
        if let Some(number) = decision_number(id).filter(|number| *number <= GREATEST) {
            self.greatest = self.greatest.max(number);
        }
        self.taken.insert(id)
    }

    pub fn contains(&self, id: &str) -> bool {
        self.taken.contains(id)
    }

    /// Takes the next free id: one more than the greatest number in use.
    pub fn take_next(&mut self) -> String {
        self.greatest += 1;
        let id = format!("DEC-{:03}", self.greatest);
        self.taken.insert(&id);
        id
    }

    /// An empty list that continues the numbers of this one.
    pub fn continued(&self) -> Self {
        Self { taken: Names::default(), greatest: self.greatest }
    }

    pub(crate) fn document(&self) -> Object {
        build([("taken", self.taken.document().into()), ("greatest", self.greatest.into())])
    }

    /// Reads what [`DecisionIds::document`] wrote.
    pub(crate) fn read(document: &Object) -> Option<Self> {
        Some(Self {
            taken: Names::read(members::object(document, "taken")?)?,
            greatest: members::count(document, "greatest")?,
        })
    }

    /// The ids, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.taken.iter()
    }
}

impl<'a> FromIterator<&'a str> for DecisionIds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> Self {
        let mut all = Self::default();
        for id in ids {
            all.add(id);
        }
        all
    }
}

/// Checks a new decision of a run, in the order that the protocol defines. Fails with the code of
/// the first rule that it violates.
///
/// Clauses: AX-DL-ID, AX-DL-STATEMENT, AX-DL-CATEGORY, AX-DL-DUPLICATE.
pub fn check_entry(entry: &Value, is_taken: impl Fn(&str) -> bool) -> Result<String> {
    let empty = Object::new();
    let entry = entry.as_object().unwrap_or(&empty);
    let sound = |id: &&str| rule!(is_decision_id(id); AnyDecisionId => true);
    let Some(id) = doc::Decision::ID.get(entry).filter(sound) else {
        let found = doc::Decision::ID.raw(entry).unwrap_or(&Value::Null);
        let message = format!("{found} is not the id of a decision");
        return Err(Failure::new(Code::XchainInvalidDecisionIdFormat, message).at("/id"));
    };
    if rule!(doc::Decision::STATEMENT.filled(entry).is_none(); BlankStatement => false) {
        let message = "the decision has no statement";
        return Err(Failure::new(Code::XchainEmptyRequiredField, message)
            .at("/statement")
            .with("error_field", "statement"));
    }
    let category = doc::Decision::CATEGORY.get(entry).and_then(DecisionCategory::parse);
    if rule!(category.is_none(); AnyCategory => false) {
        let names: Vec<&str> = DecisionCategory::ALL.iter().map(|name| name.as_str()).collect();
        let message = format!("the category must be one of {}", names.join(", "));
        return Err(Failure::new(Code::XchainInvalidEnumValue, message)
            .at("/category")
            .with("error_field", "category")
            .with("valid_values", array(&names)));
    }
    if rule!(is_taken(id); DuplicateAppended => false) {
        let message = format!("the run already has a decision {id}");
        let failure = Failure::new(Code::XchainDuplicateDecisionId, message);
        return Err(failure.at("/id").with("duplicate_id", id));
    }
    Ok(id.to_owned())
}

/// The ledger line of a decision of an accepted turn.
///
/// Clauses: AX-DL-APPEND.
pub(crate) fn decision_line(
    decision: &Object,
    objections: &[Value],
    turn: &Turn,
    state: &State,
    now: Time,
) -> Object {
    let id = doc::Decision::ID.get(decision).unwrap_or_default();
    let objections = objections.iter().filter_map(Value::as_object);
    let against = objections.filter(|it| doc::Objection::AGAINST_DECISION_ID.get(*it) == Some(id));
    let against: Vec<&str> = against.filter_map(|it| doc::Objection::ID.get(it)).collect();
    let mut line = build([
        doc::Ledger::ID.to(doc::Decision::ID.copy(decision)),
        doc::Ledger::TURN_ID.to(turn.id().as_str()),
        doc::Ledger::RUN_ID.to(state.run_id()),
        doc::Ledger::ROLE.to(turn.role()),
        doc::Ledger::PHASE.to(state.phase()),
        doc::Ledger::RUNTIME_ID.to(turn.runtime_id()),
        doc::Ledger::CATEGORY.to(doc::Decision::CATEGORY.copy(decision)),
        doc::Ledger::STATEMENT.to(doc::Decision::STATEMENT.copy(decision)),
        doc::Ledger::RATIONALE.to(doc::Decision::RATIONALE.copy(decision)),
        doc::Ledger::OBJECTIONS_AGAINST.to(&against),
        doc::Ledger::STATUS.to("accepted"),
        doc::Ledger::OVERRIDDEN_BY.to(Value::Null),
        doc::Ledger::CREATED_AT.to(now),
    ]);
    for (member, of) in [
        (doc::Ledger::DURABILITY, doc::Decision::DURABILITY),
        (doc::Ledger::OVERRIDES, doc::Decision::OVERRIDES),
    ] {
        if let Some(value) = of.given(decision) {
            member.set(&mut line, value.clone());
        }
    }
    line
}

/// The line of an action on a run that is named in `decision`.
pub(crate) fn governance(
    decision: LedgerDecision,
    state: &State,
    now: Time,
    details: Object,
) -> Object {
    about(doc::Ledger::DECISION.to(decision), state, now, details)
}

/// The line of an action on a run that is named in `type`.
pub(crate) fn typed(kind: LedgerType, state: &State, now: Time, details: Object) -> Object {
    about(doc::Ledger::TYPE.to(kind), state, now, details)
}

/// The ids that occur more than once among the decisions of one run, for diagnostics.
pub fn duplicates<'a>(lines: impl IntoIterator<Item = &'a Object>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for line in lines {
        let Some(id) = doc::Ledger::ID.get(line).filter(|id| is_decision_id(id)) else { continue };
        // Only ids within one run must differ; runs number their decisions independently.
        if !seen.insert((doc::Ledger::RUN_ID.get(line), id)) {
            twice.insert(id.to_owned());
        }
    }
    twice.into_iter().collect()
}

fn about(action: (&str, Value), state: &State, now: Time, details: Object) -> Object {
    let mut line = build([
        doc::Ledger::TIMESTAMP.to(now),
        action,
        doc::Ledger::RUN_ID.to(state.run_id()),
        doc::Ledger::PHASE.to(state.phase()),
    ]);
    line.extend(details);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_id_is_always_free() {
        let mut ids: DecisionIds = ["DEC-001", "DEC-7", "DEC-003"].into_iter().collect();
        assert_eq!(ids.take_next(), "DEC-008");
        assert_eq!(ids.take_next(), "DEC-009");
        let mut full: DecisionIds = ["DEC-18446744073709551615", "DEC-001"].into_iter().collect();
        assert_eq!(full.take_next(), "DEC-002");
        assert_eq!(full.continued().take_next(), "DEC-003");
    }
}
