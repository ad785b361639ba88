//! Which changes of the records may be taken over without a person.
//!
//! While a worker runs, other processes may work on other turns of the same run. The worker itself
//! can write the same files. Nothing shows who wrote them, so the content decides: a change is
//! taken over if it concerns other turns, if state, history and events agree about it, and if it
//! gives away nothing that is a person's decision.

use std::collections::BTreeSet;

use accord_base::decision::DecisionRecord;
use accord_contract::{Object, Value};

use crate::evidence::STOP;
use crate::{EventType, LedgerDecision, LedgerType, State, Status, TurnId, doc, event, members};

/// A change of the records by another process. The records only grew: a line that was there before
/// is unchanged.
#[derive(Clone, Copy, Debug)]
pub struct ForeignChange<'a> {
    pub before: &'a State,
    pub after: &'a State,
    pub history: &'a [Object],
    pub ledger: &'a [Object],
    pub events: &'a [Object],
    /// The turns whose workers run.
    pub guarded: &'a BTreeSet<TurnId>,
    /// The decisions of people that are noted where workers do not reach.
    pub noted: &'a [DecisionRecord],
}

/// Members of the state that follow from the work on other turns.
const MOVING: &[&str] = &[
    doc::State::ACTIVE_TURNS.name(),
    doc::State::TURN_SEQUENCE.name(),
    doc::State::ACCEPTED_SEQUENCE.name(),
    doc::State::LAST_COMPLETED_TURN_ID.name(),
    doc::State::ACCEPTED_INTEGRATION_REF.name(),
    doc::State::BUDGET_STATUS.name(),
    doc::State::BUDGET_RESERVATIONS.name(),
    doc::State::NEXT_RECOMMENDED_ROLE.name(),
    doc::State::NON_PROGRESS_SIGNATURE.name(),
    doc::State::NON_PROGRESS_COUNT.name(),
    doc::State::DELEGATION_QUEUE.name(),
    doc::State::PENDING_DELEGATION_REVIEW.name(),
    doc::State::REPO_DECISIONS.name(),
];

/// Those of [`MOVING`] that only the end of a turn changes. They say how much a run may still cost,
/// when it has made no progress, and who comes next.
const AFTER_A_TURN: &[&str] = &[
    doc::State::BUDGET_STATUS.name(),
    doc::State::NEXT_RECOMMENDED_ROLE.name(),
    doc::State::NON_PROGRESS_SIGNATURE.name(),
    doc::State::NON_PROGRESS_COUNT.name(),
    doc::State::REPO_DECISIONS.name(),
    doc::State::PENDING_DELEGATION_REVIEW.name(),
];

/// Members of a line of the ledger that name a person, or what the person decided about.
const OF_A_PERSON: &[&str] = &[
    doc::HumanDecision::ACTOR.name(),
    doc::HumanDecision::OS_USER.name(),
    doc::HumanDecision::NOTE.name(),
    doc::HumanDecision::DOOR.name(),
    doc::HumanDecision::PRESENCE.name(),
    doc::HumanDecision::EVIDENCE_DIGEST.name(),
    doc::HumanDecision::DECISION_ID.name(),
    doc::HumanDecision::KNOWN_BY.name(),
    doc::HumanDecision::ASKED_AT.name(),
    doc::HumanDecision::DECIDED_AT.name(),
    doc::HumanDecision::SANDBOX.name(),
    doc::HumanDecision::HUB.name(),
    doc::HumanDecision::LEFT_RUNNING.name(),
];

/// Members of the lines of the ledger that Accord writes without a turn when a run is stopped.
const OF_A_STOP: &[&str] = &[
    doc::Ledger::TIMESTAMP.name(),
    doc::Ledger::TYPE.name(),
    doc::Ledger::DECISION.name(),
    doc::Ledger::RUN_ID.name(),
    doc::Ledger::PHASE.name(),
    "reason",
    "blocked_on",
    "detail",
    "scope",
    "limit_minutes",
    "elapsed_minutes",
    "action",
];

/// Members that change when a run is stopped. To stop a run takes no decision from a person.
const STOPPING: &[&str] = &[
    doc::State::STATUS.name(),
    doc::State::BLOCKED_ON.name(),
    doc::State::BLOCKED_REASON.name(),
    doc::State::ESCALATION.name(),
];

/// Events about the work on one turn, and about a stop of the run.
const PERMITTED: &[EventType] = &[
    EventType::TurnDispatched,
    EventType::TurnAccepted,
    EventType::TurnRejected,
    EventType::TurnConflicted,
    EventType::ConflictResolved,
    EventType::AcceptanceFailed,
    EventType::TurnReissued,
    EventType::TurnStalled,
    EventType::TurnStartFailed,
    EventType::RuntimeSpawnFailed,
    EventType::StdoutAttachFailed,
    EventType::TurnCheckpointed,
    EventType::RunBlocked,
    EventType::EscalationRaised,
    EventType::BudgetExceededWarn,
    EventType::DispatchProgress,
    EventType::ArtifactTypeAutoNormalized,
    EventType::StagedResultAutoNormalized,
];

/// Checks whether a change may be taken over without a person. The error has the reasons why not.
pub fn check_foreign_change(change: &ForeignChange<'_>) -> Result<(), Vec<String>> {
    let mut reasons = Vec::new();
    check_members(change, &mut reasons);
    check_turns(change, &mut reasons);
    check_history(change, &mut reasons);
    check_events(change, &mut reasons);
    check_ledger(change, &mut reasons);
    check_delegations(change, &mut reasons);
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

fn check_members(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    let (before, after) = (change.before.document(), change.after.document());
    let stopped = is_stop(change);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let moves = MOVING.contains(&name.as_str())
            && (!change.history.is_empty() || !AFTER_A_TURN.contains(&name.as_str()));
        let free = moves
            || stopped && STOPPING.contains(&name.as_str())
            || members::given(&before, name) == members::given(&after, name);
        if !free {
            reasons.push(format!("{name} of the state changed"));
        }
    }
    let clocks = [
        (change.before.turn_sequence(), change.after.turn_sequence()),
        (change.before.accepted_sequence(), change.after.accepted_sequence()),
    ];
    if clocks.iter().any(|(before, after)| after < before) {
        reasons.push("the clock of the run went back".to_owned());
    }
    if change.after.spent_usd() < change.before.spent_usd() {
        reasons.push("the cost of the run went down".to_owned());
    }
    let reserved = |state: &Object, turn: &TurnId| {
        let reserved = doc::State::BUDGET_RESERVATIONS.get(state);
        reserved.and_then(|reserved| reserved.get(turn.as_str()).cloned())
    };
    for turn in change.guarded {
        if reserved(&before, turn) != reserved(&after, turn) {
            reasons.push(format!("the budget of {turn} changed"));
        }
    }
}

/// Whether the run was active and is blocked now.
fn is_stop(change: &ForeignChange<'_>) -> bool {
    (change.before.status(), change.after.status()) == (Status::Active, Status::Blocked)
}

fn check_turns(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    for turn in change.guarded {
        let document = |state: &State| state.turn(turn).map(crate::state::Turn::document);
        if document(change.before) != document(change.after) {
            reasons.push(format!("{turn} changed, and its worker runs"));
        }
    }
    let ended: BTreeSet<&str> = lines_of(change.history).collect();
    for turn in change.before.turns() {
        if change.after.turn(turn.id()).is_none() && !ended.contains(turn.id().as_str()) {
            reasons.push(format!("{} is not active any more, and has no history", turn.id()));
        }
    }
    for turn in change.after.turns() {
        let is_new = change.before.turn(turn.id()).is_none();
        if is_new && turn.assigned_sequence() <= change.before.turn_sequence() {
            reasons.push(format!("{} was assigned in the past", turn.id()));
        }
    }
}

fn check_history(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    let about = |kinds: &[EventType], turn: &str| {
        change.events.iter().any(|line| {
            let kind = doc::Event::EVENT_TYPE.get(line);
            let names = event_turn(line) == Some(turn) || old_turn(line) == Some(turn);
            names && kind.is_some_and(|kind| kinds.contains(&kind))
        })
    };
    let mut accepted = None;
    for line in change.history {
        let turn = doc::History::TURN_ID.get(line).unwrap_or_default();
        if !change.after.owns_line(line) {
            reasons.push(format!("the history has a line of another run ({turn})"));
        }
        if change.guarded.iter().any(|guarded| guarded.as_str() == turn) {
            reasons.push(format!("the history has {turn}, whose worker runs"));
        }
        if change.after.turns().any(|active| active.id().as_str() == turn) {
            reasons.push(format!("{turn} is in the history and active"));
        }
        let is_acceptance = doc::History::ACCEPTED_SEQUENCE.get(line).is_some();
        let kind = if is_acceptance { EventType::TurnAccepted } else { EventType::TurnReissued };
        if !about(&[kind], turn) {
            reasons.push(format!("the history has {turn}, but no event says so"));
        }
        if is_acceptance {
            accepted = Some(turn);
        }
    }
    let last = |state: &State| state.value(doc::State::LAST_COMPLETED_TURN_ID);
    let (was, is) = (last(change.before), last(change.after));
    let agrees = match accepted {
        Some(turn) => is == *turn,
        None => was == is && change.before.accepted_sequence() == change.after.accepted_sequence(),
    };
    if !agrees {
        reasons.push("state and history name different last turns".to_owned());
    }
}

fn check_events(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    let history: BTreeSet<&str> = lines_of(change.history).collect();
    for line in change.events {
        let permitted = doc::Event::EVENT_TYPE.get(line).filter(|kind| PERMITTED.contains(kind));
        let Some(kind) = permitted else {
            let name = event::type_name(line).unwrap_or("without a type");
            reasons.push(format!("an event {name} was added"));
            continue;
        };
        if !change.after.owns_line(line) {
            reasons.push(format!("an event {kind} of another run was added"));
        }
        let turn = event_turn(line).unwrap_or_default();
        if change.guarded.iter().any(|guarded| guarded.as_str() == turn) {
            reasons.push(format!("an event {kind} names {turn}, whose worker runs"));
        }
        if kind == EventType::TurnAccepted && !history.contains(turn) {
            reasons.push(format!("an event says that {turn} was accepted, but no history"));
        }
    }
    let stops = [EventType::RunBlocked, EventType::EscalationRaised];
    let mut kinds = change.events.iter().filter_map(|line| doc::Event::EVENT_TYPE.get(line));
    let said = kinds.any(|kind| stops.contains(&kind));
    if is_stop(change) != said {
        reasons.push("state and events do not agree whether the run is blocked".to_owned());
    }
}

fn check_ledger(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    let ended = lines_of(change.history);
    let active = change.before.turns().chain(change.after.turns()).map(|turn| turn.id().as_str());
    let known: BTreeSet<&str> = ended.chain(active).collect();
    for line in change.ledger {
        let line = &without_noted_stop(change, line);
        let turn = doc::Ledger::TURN_ID.get(line);
        if !turn.is_some_and(|turn| known.contains(turn)) && !is_about_stop(change, line) {
            reasons.push("the ledger has a line that belongs to no turn".to_owned());
        }
        if !change.after.owns_line(line) {
            reasons.push("the ledger has a line of another run".to_owned());
        }
        if change.guarded.iter().any(|guarded| Some(guarded.as_str()) == turn) {
            reasons.push("the ledger has a line of a turn whose worker runs".to_owned());
        }
        let of_a_person = line.keys().any(|name| OF_A_PERSON.contains(&name.as_str()));
        if of_a_person || doc::Ledger::ROLE.get(line) == Some("human") {
            reasons.push("the ledger has a line that names a person".to_owned());
        }
        let action = doc::Ledger::DECISION.get(line).or_else(|| doc::Ledger::TYPE.get(line));
        let decisive = ["gate", "approv", "transition", "completion", "resolved"];
        if let Some(name) = action.filter(|name| decisive.iter().any(|part| name.contains(part))) {
            reasons.push(format!("the ledger has {name:?}, which is a person's decision"));
        }
    }
}

/// A line without the person in it, if it is about a stop that is noted as a decision of that
/// person. To stop a run gives nothing away, but only a note says who did it.
fn without_noted_stop(change: &ForeignChange<'_>, line: &Object) -> Object {
    let (text, mut line) = (|member: doc::Member<doc::Text>| member.get(line), line.clone());
    let is_it = |noted: &&DecisionRecord| {
        noted.kind == STOP
            && text(doc::HumanDecision::DECISION_ID) == Some(noted.decision_id.as_str())
            && text(doc::HumanDecision::ACTOR) == Some(noted.actor.as_str())
            && text(doc::HumanDecision::DOOR) == Some(noted.door.as_str())
            && text(doc::HumanDecision::EVIDENCE_DIGEST) == noted.evidence.as_deref()
            && text(doc::HumanDecision::NOTE) == noted.note.as_deref()
    };
    let is_stop =
        doc::Ledger::DECISION.get(&line) == Some(LedgerDecision::OperatorEscalated.as_str());
    if is_stop && change.noted.iter().any(|noted| is_it(&noted)) {
        line.retain(|name, _| !OF_A_PERSON.contains(&name.as_str()));
    }
    line
}

/// Whether a line of the ledger without a turn is one that Accord writes when a run is stopped: by
/// a limit at the end of a turn, or by a person for the reason in the state.
fn is_about_stop(change: &ForeignChange<'_>, line: &Object) -> bool {
    if !line.keys().all(|name| OF_A_STOP.contains(&name.as_str())) {
        return false;
    }
    let limits = [LedgerType::Timeout, LedgerType::TimeoutWarning, LedgerType::NonProgressBlock];
    let kind = doc::Ledger::TYPE.get(line).and_then(LedgerType::parse);
    let decision = doc::Ledger::DECISION.get(line).and_then(LedgerDecision::parse);
    let raised = doc::State::ESCALATION.get(change.after.members());
    let reason = raised.and_then(|raised| raised.get("reason"));
    match (kind, decision) {
        (Some(kind), None) => limits.contains(&kind) && !change.history.is_empty(),
        (None, Some(LedgerDecision::OperatorEscalated)) => {
            is_stop(change) && reason.is_some() && line.get("reason") == reason
        }
        _ => false,
    }
}

/// Delegated work comes from a turn that ended, and is taken by a new turn or ended by its own.
fn check_delegations(change: &ForeignChange<'_>, reasons: &mut Vec<String>) {
    let queue = |state| doc::State::DELEGATION_QUEUE.get(State::members(state));
    let (before, after) = (queue(change.before), queue(change.after));
    let same = |one: &Value, other: &Value| {
        doc::Queued::DELEGATION_ID.get(one) == doc::Queued::DELEGATION_ID.get(other)
            && doc::Queued::PARENT_TURN_ID.get(one) == doc::Queued::PARENT_TURN_ID.get(other)
    };
    let ended: BTreeSet<&str> = lines_of(change.history).collect();
    let has_ended = |turn: Option<&str>| turn.is_some_and(|turn| ended.contains(turn));
    let is_new = |id: Option<&str>| {
        let started = |turn: &crate::Turn| Some(turn.id().as_str()) == id;
        change.after.turns().any(started) && !change.before.turns().any(started)
    };
    for item in after.iter().filter(|item| !before.contains(item)) {
        let child = doc::Queued::CHILD_TURN_ID.get(item);
        let explained = match before.iter().find(|old| same(old, item)) {
            None => has_ended(doc::Queued::PARENT_TURN_ID.get(item)),
            Some(old) if is_new(child) => attached(old, child) == *item,
            Some(old) => has_ended(child) || has_ended(doc::Queued::CHILD_TURN_ID.get(old)),
        };
        if !explained {
            let id = doc::Queued::DELEGATION_ID.get(item).unwrap_or("?");
            reasons.push(format!("the delegation {id} changed, but no turn says so"));
        }
    }
    let is_left = |old: &Value| after.iter().any(|item| same(item, old));
    if change.history.is_empty() && !before.iter().all(is_left) {
        reasons.push("a delegation was removed".to_owned());
    }
}

/// A delegation, once a turn has taken it.
fn attached(item: &Value, child: Option<&str>) -> Value {
    let mut item = item.clone();
    if let Some(members) = item.as_object_mut() {
        doc::Queued::STATUS.set(members, "active");
        doc::Queued::CHILD_TURN_ID.set(members, child);
    }
    item
}

fn lines_of(history: &[Object]) -> impl Iterator<Item = &str> {
    history.iter().filter_map(|line| doc::History::TURN_ID.get(line))
}

fn event_turn(line: &Object) -> Option<&str> {
    doc::Event::TURN.get(line).and_then(|turn| doc::EventTurn::TURN_ID.get(turn))
}

fn old_turn(line: &Object) -> Option<&str> {
    doc::Event::PAYLOAD.get(line)?.get("old_turn_id")?.as_str()
}
