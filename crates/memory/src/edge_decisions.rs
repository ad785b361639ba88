//! Decisions that a person takes here about what waits at an edge.
//!
//! Invariants:
//! - at most one decision about a request is open;
//! - a decision is about the evidence as the edge sent it: its digest is computed here;
//! - a decision that was applied has its record, in the transaction in which that becomes known;
//! - what happens at the edge wins;
//! - an edge reports how a decision ended. It makes none: a decision that this store does not know
//!   counts only if it was taken on a store that this one was restored from, and is the word of the
//!   edge in the record.

use accord_api::operations::edge_decisions::{
    EdgeDecidable, EdgeDecision, EdgeDecisionRequest, EdgeDecisionState,
};
use accord_api::operations::edges::{EdgeEntry, EdgeItem, EdgeSource};
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_base::{By, Caller, EdgeId, EventKind, KnownBy, NewEvent, Presence, ProjectId, Verb};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, Wire as _};
use accord_outbox::{EdgeRecord, decision, evidence};
use accord_store::{
    EdgeDecisionRow, INCARNATION, INCARNATIONS_BEFORE, ReadUnit, Scope, WriteUnit, record_decision,
};
use accord_system::{durable_step, random, random_hex};

use super::edges::{about, incarnation, item_of, left, not_found, nothing, record_of, writable};
use super::record::record;
use super::{Memory, UnitResult, load};

const DECISION: EventKind = EventKind::declared("edge.decision");

/// How many decisions of an edge that ended are kept.
const ENDED: usize = 200;
/// The commands that show the evidence.
const SHOWN_BY: &str = "`accord project edges EDGE ITEM`";

impl Memory {
    /// A person decides about a request of an edge.
    pub async fn decide_edge_item(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        by: By,
        request: EdgeDecisionRequest,
    ) -> Result<EdgeDecision, Failure> {
        let expected = ExpectedDigest::parse(&request.evidence);
        let expected =
            expected.map_err(|why| Failure::new(Code::WireFieldValue, why).at("/evidence"))?;
        if decision::needs_note(request.verb) && request.note.is_none() {
            let message = "the note says why";
            return Err(Failure::new(Code::WireFieldMissing, message).at("/note"));
        }
        let (caller, project, edge) = (caller.clone(), project.clone(), edge.clone());
        let decided = self.write_decision(caller, project, edge, by, request, expected);
        let decided = decided.await?;
        durable_step("hub.decided");
        Ok(decided)
    }

    async fn write_decision(
        &self,
        caller: Caller,
        project: ProjectId,
        edge: EdgeId,
        by: By,
        request: EdgeDecisionRequest,
        expected: ExpectedDigest,
    ) -> Result<EdgeDecision, Failure> {
        let memory = self.clone();
        let (chance, minted) = (random_hex::<16>(), random());
        self.write(move |unit| {
            let project = writable(unit, &caller, Verb::Approve, &project)?;
            let row = unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let stored = record_of(&row)?;
            if stored.left_at.is_some() {
                return Err(left(&edge).into());
            }
            let items = unit.edge_items(&project, edge.as_str())?;
            let row = items.iter().find(|row| row.item_id == request.item);
            let item = item_of(row.ok_or_else(|| nothing(&edge, &request.item))?)?;
            check_decidable(&stored, &item, &by, &request)?;
            let digest = item.evidence.as_deref().and_then(EvidenceDigest::parse);
            let digest = digest.ok_or_else(|| not_decidable("its evidence has no digest"))?;
            expected.check(Some((&digest, true)), None, SHOWN_BY)?;
            let now = memory.now_in(unit, &project)?;
            end_over(unit, &project, &edge, now)?;
            let known = decisions(unit, &project, &edge)?;
            let is_of = |it: &&EdgeDecision| it.item == request.item && decision::is_open(it.state);
            if let Some(open) = known.iter().find(is_of) {
                let message = format!("{} decided before: {}", open.actor, open.verb);
                return Err(Failure::new(Code::EdgeDecisionWaits, message)
                    .with("decision_id", open.decision_id.as_str())
                    .into());
            }
            let (at, body) = (now.to_string(), item.document.unwrap_or_default());
            let parts = [project.as_str(), edge.as_str(), &request.item, &at, &chance];
            let decided = EdgeDecision {
                decision_id: DecisionId::of(&parts),
                item: request.item.clone(),
                type_name: decision::decidable(&item.type_name, request.verb).to_owned(),
                verb: request.verb,
                state: EdgeDecisionState::Waiting,
                state_at: Timestamp::emit(now),
                reason: None,
                evidence: digest.to_string(),
                note: request.note.clone(),
                actor: by.name().to_owned(),
                known_by: by.presence.known_by(),
                key_id: by.presence.key_id.clone(),
                door: by.door,
                hub: incarnation(unit, minted)?,
                decided_at: Timestamp::emit(now),
                expires_at: Timestamp::emit(decision::expires(now, &body)),
                seconds_left: None,
                extra: Object::new(),
            };
            put(unit, &project, &edge, &decided, now)?;
            forget_ended(unit, &project, &edge)?;
            Ok(decided)
        })
        .await
    }

    /// The decisions about an edge, the newest first.
    pub async fn edge_decisions(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
    ) -> Result<Vec<EdgeDecision>, Failure> {
        let (access, project, edge) = (caller.access().clone(), project.clone(), edge.clone());
        let now = self.now();
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let mut decisions = decisions(unit, &project, &edge)?;
            let incarnation = known_incarnation(unit)?;
            decisions.iter_mut().for_each(|it| show_over(it, now, incarnation.as_deref()));
            decisions.reverse();
            Ok(decisions)
        })
        .await
    }

    /// Takes a decision back that is not known to be applied.
    pub async fn withdraw_edge_decision(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        id: &DecisionId,
        by: By,
    ) -> Result<EdgeDecision, Failure> {
        let (memory, caller, id) = (self.clone(), caller.clone(), id.clone());
        let (project, edge) = (project.clone(), edge.clone());
        self.write(move |unit| {
            let project = writable(unit, &caller, Verb::Approve, &project)?;
            let row = unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let now = memory.now_in(unit, &project)?;
            end_over(unit, &project, &edge, now)?;
            let known = decisions(unit, &project, &edge)?;
            let found = known.into_iter().find(|it| it.decision_id == id);
            let found = found.ok_or_else(|| nothing(&edge, id.as_str()))?;
            check_decider(&record_of(&row)?, &by)?;
            if !decision::is_open(found.state) {
                let message = format!("the decision is {} since {}", found.state, found.state_at);
                return Err(Failure::new(Code::EdgeDecisionEnded, message)
                    .with("state", found.state.as_str())
                    .into());
            }
            let why = format!("withdrawn by {}", by.name());
            let state = EdgeDecisionState::Withdrawn;
            change(unit, &project, &edge, found, (state, Some(why)), now)
        })
        .await
    }
}

fn check_decidable(
    stored: &EdgeRecord,
    item: &EdgeItem,
    by: &By,
    request: &EdgeDecisionRequest,
) -> Result<(), Failure> {
    let about = decision::decidable(&item.type_name, request.verb);
    let named = stored.decide.iter().flatten().any(|kind| kind.as_str() == about);
    if !named {
        let message = format!("the join does not let this hub decide about a {about}");
        return Err(not_decidable(&message));
    }
    check_decider(stored, by)?;
    if item.verbs.iter().flatten().any(|verb| *verb == request.verb) {
        return Ok(());
    }
    let why = item.document.as_ref().and_then(|body| body.get("why_not")?.as_str());
    let why = why.unwrap_or("the request does not offer it");
    Err(not_decidable(&format!("{} cannot be decided here: {why}", request.verb)))
}

fn check_decider(stored: &EdgeRecord, by: &By) -> Result<(), Failure> {
    if stored.deciders.iter().flatten().any(|decider| decider == by.name()) {
        return Ok(());
    }
    Err(not_decidable(&format!("the join does not let {} decide on this hub", by.name())))
}

fn not_decidable(message: &str) -> Failure {
    Failure::new(Code::EdgeNotDecidable, message.to_owned())
}

/// The decisions about an edge, the oldest first.
pub(crate) fn decisions(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    edge: &EdgeId,
) -> UnitResult<Vec<EdgeDecision>> {
    let rows = unit.edge_decisions(project, edge.as_str())?.into_iter();
    let mut found = rows.map(|row| read(&row)).collect::<Result<Vec<_>, Failure>>()?;
    found.sort_by_key(|it| it.decided_at.time());
    Ok(found)
}

fn read(row: &EdgeDecisionRow) -> Result<EdgeDecision, Failure> {
    let document = serde_json::from_str(&row.text).ok();
    let read = document.and_then(|document| EdgeDecision::from_document(document).ok());
    read.ok_or_else(|| load::integrity(format!("the decision {} is damaged", row.decision_id)))
}

/// The newest decision about each item, as it is now.
pub(crate) fn newest_of_items(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    edge: &EdgeId,
    items: &mut [EdgeItem],
    now: Time,
) -> UnitResult<()> {
    let incarnation = known_incarnation(unit)?;
    for mut found in decisions(unit, project, edge)? {
        show_over(&mut found, now, incarnation.as_deref());
        if let Some(item) = items.iter_mut().find(|item| item.id == found.item) {
            item.decision = Some(found);
        }
    }
    Ok(())
}

/// Shows a decision as it ended by itself. A reader does not write that.
fn show_over(found: &mut EdgeDecision, now: Time, incarnation: Option<&str>) {
    let Some((state, why)) = decision::over(found, now, incarnation) else { return };
    if state == EdgeDecisionState::Expired {
        found.state_at = found.expires_at.clone();
    }
    (found.state, found.reason) = (state, Some(why.to_owned()));
}

fn known_incarnation(unit: &dyn ReadUnit) -> UnitResult<Option<String>> {
    Ok(unit.setting(Scope::Store, INCARNATION)?)
}

/// What the edge may take or apply now, the oldest first.
pub(crate) fn open_for_edge(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    now: Time,
) -> UnitResult<Vec<EdgeDecision>> {
    end_over(unit, project, edge, now)?;
    let mut open = decisions(unit, project, edge)?;
    open.retain(|it| decision::is_open(it.state));
    for it in &mut open {
        it.seconds_left = Some(it.expires_at.time().millis_since(now) / 1000);
    }
    Ok(open)
}

/// Ends the decisions that ended by themselves.
fn end_over(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    now: Time,
) -> UnitResult<()> {
    let incarnation = known_incarnation(unit)?;
    end(unit, project, edge, now, |it| {
        let (state, why) = decision::over(it, now, incarnation.as_deref())?;
        Some((state, why.to_owned()))
    })
}

/// A request ended at the edge, or its evidence changed. A decision that the edge has taken ends as
/// the edge reports it.
pub(crate) fn end_for_item(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    (item, digest): (&str, Option<&str>),
    now: Time,
) -> UnitResult<()> {
    end(unit, project, edge, now, |it| {
        let is_waiting = it.item == item && it.state == EdgeDecisionState::Waiting;
        match digest {
            _ if !is_waiting => None,
            Some(digest) if digest == it.evidence => None,
            Some(_) => Some((EdgeDecisionState::Returned, "changed since".to_owned())),
            None => Some((EdgeDecisionState::Superseded, "it ended at the edge".to_owned())),
        }
    })
}

/// The edge left: it takes no decision any more.
pub(crate) fn end_all(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    now: Time,
) -> UnitResult<()> {
    end(unit, project, edge, now, |it| {
        let is_open = decision::is_open(it.state);
        is_open.then(|| (EdgeDecisionState::Withdrawn, "the edge left".to_owned()))
    })
}

fn end(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    now: Time,
    to: impl Fn(&EdgeDecision) -> Option<(EdgeDecisionState, String)>,
) -> UnitResult<()> {
    for found in decisions(unit, project, edge)? {
        if let Some((state, why)) = to(&found) {
            change(unit, project, edge, found, (state, Some(why)), now)?;
        }
    }
    Ok(())
}

/// What an edge says about a decision. It is recorded once it was applied.
pub(crate) fn report(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    (edge, stored): (&EdgeId, &EdgeRecord),
    entry: &EdgeEntry,
    now: Time,
) -> UnitResult<()> {
    let Some(state) = EdgeDecisionState::parse(&entry.type_name) else { return Ok(()) };
    let rows = unit.edge_decisions(project, edge.as_str())?;
    let Some(row) = rows.iter().find(|row| row.decision_id == entry.id) else {
        return take_over(unit, project, (edge, stored), entry, now);
    };
    let found = read(row)?;
    let reason = entry.body.get("reason").and_then(Value::as_str).map(str::to_owned);
    if decision::reported(found.state, state).is_none() {
        return Ok(());
    }
    let found = change(unit, project, edge, found, (state, reason), now)?;
    if state == EdgeDecisionState::Applied {
        record_decision(unit, project, &record_of_decision(edge, stored.source, &found)?, now)?;
    }
    Ok(())
}

/// A decision that an edge says it has applied, and that this store does not know: it was taken
/// after the backup from which this store was restored. The edge's word is recorded as such, if the
/// decision is one that the join allows.
fn take_over(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    (edge, stored): (&EdgeId, &EdgeRecord),
    entry: &EdgeEntry,
    now: Time,
) -> UnitResult<()> {
    let told = entry.body.get("decision").cloned();
    let told = told.and_then(|told| EdgeDecision::from_document(told).ok());
    let told = told.filter(|told| told.decision_id.as_str() == entry.id);
    let Some(told) = told.filter(|_| entry.type_name == EdgeDecisionState::Applied.as_str()) else {
        return Ok(());
    };
    let before = unit.setting(Scope::Store, INCARNATIONS_BEFORE)?.unwrap_or_default();
    let was_taken_here = before.split(' ').any(|name| !name.is_empty() && name == told.hub);
    let kind = EdgeDecidable::parse(&told.type_name);
    let is_named = stored.decide.iter().flatten().any(|named| Some(*named) == kind);
    let may = kind.is_some_and(|kind| decision::verbs_of(kind).contains(&told.verb));
    let is_decider = stored.deciders.iter().flatten().any(|decider| *decider == told.actor);
    let is_known = unit.decision(project, &told.decision_id)?.is_some();
    if !was_taken_here || !is_named || !may || !is_decider || is_known {
        tracing::warn!(
            edge = edge.as_str(),
            decision = told.decision_id.as_str(),
            "an edge reports a decision that was not taken on this hub, or that its join does not \
             allow; it is not recorded"
        );
        return Ok(());
    }
    let told = EdgeDecision { known_by: KnownBy::Nothing, key_id: None, ..told };
    let mut record = record_of_decision(edge, stored.source, &told)?;
    record.taken_over_from = Some(format!("edge {edge}"));
    if record.decided_at.time() > now {
        record.decided_at = Timestamp::emit(now);
    }
    record_decision(unit, project, &record, now)?;
    Ok(())
}

fn record_of_decision(
    edge: &EdgeId,
    source: EdgeSource,
    found: &EdgeDecision,
) -> Result<DecisionRecord, Failure> {
    let presence = Presence {
        known_by: Some(found.known_by),
        key_id: found.key_id.clone(),
        ..Presence::default()
    };
    let by = By::parse(&found.actor, found.door)?.present(presence);
    let decided = Decided {
        protocol: match source {
            EdgeSource::Runs => DecisionProtocol::Runs,
            EdgeSource::Tasks => DecisionProtocol::Tasks,
        },
        kind: &found.type_name,
        subject: &format!("{edge}/{}", found.item),
        outcome: decision::outcome(found.verb),
    };
    let at = found.decided_at.time();
    let record = DecisionRecord::new(found.decision_id.clone(), decided, &by, at);
    let (evidence, note) = (Some(found.evidence.clone()), found.note.clone());
    Ok(DecisionRecord { evidence, note, ..record })
}

fn change(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    found: EdgeDecision,
    (state, reason): (EdgeDecisionState, Option<String>),
    now: Time,
) -> UnitResult<EdgeDecision> {
    let state_at = Timestamp::emit(now);
    let changed = EdgeDecision { state, state_at, reason, seconds_left: None, ..found };
    put(unit, project, edge, &changed, now)?;
    Ok(changed)
}

/// Writes a decision and its event.
fn put(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    decided: &EdgeDecision,
    now: Time,
) -> UnitResult<()> {
    unit.put_edge_decision(&EdgeDecisionRow {
        project_id: project.clone(),
        edge_id: edge.as_str().to_owned(),
        decision_id: decided.decision_id.as_str().to_owned(),
        item_id: decided.item.clone(),
        decided_at: decided.decided_at.clone(),
        text: decided.encode().to_string(),
    })?;
    let mut data = about(edge);
    data.insert("id".into(), decided.item.as_str().into());
    data.insert("decision_id".into(), decided.decision_id.as_str().into());
    data.insert("verb".into(), decided.verb.as_str().into());
    data.insert("state".into(), decided.state.as_str().into());
    data.insert("actor".into(), decided.actor.as_str().into());
    if let Some(reason) = &decided.reason {
        data.insert("reason".into(), reason.as_str().into());
    }
    record(unit, &NewEvent::new(DECISION, project, data, now))?;
    Ok(())
}

/// Removes the oldest decisions that ended. Their records and events stay.
fn forget_ended(unit: &mut dyn WriteUnit, project: &ProjectId, edge: &EdgeId) -> UnitResult<()> {
    let mut ended = decisions(unit, project, edge)?;
    ended.retain(|it| !decision::is_open(it.state));
    for old in ended.iter().take(ended.len().saturating_sub(ENDED)) {
        unit.remove_edge_decision(project, edge.as_str(), old.decision_id.as_str())?;
    }
    Ok(())
}

/// The item as a person decides about it: with the digest that is computed from what is stored.
pub(crate) fn with_evidence(mut item: EdgeItem) -> EdgeItem {
    let body = item.document.as_ref();
    item.evidence = body.and_then(evidence::digest);
    item.verbs = body.map(decision::offered).filter(|verbs| !verbs.is_empty());
    item
}

/// Refuses a request whose evidence is not what its digest says.
pub(crate) fn check_evidence(entry: &EdgeEntry) -> Result<(), Failure> {
    let told = entry.body.get(evidence::EVIDENCE).and_then(Value::as_str);
    match told {
        Some(told) if evidence::digest(&entry.body).as_deref() != Some(told) => {
            let message = format!("the evidence of {:?} is not what its digest says", entry.id);
            Err(Failure::new(Code::EdgeDamaged, message).with("seq", entry.seq))
        }
        _ => Ok(()),
    }
}
