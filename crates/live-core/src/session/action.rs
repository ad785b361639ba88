//! Actions of a person: validate, append, then acknowledge.
//!
//! An action reaches the ledger through the channel ([`act`]) or through the tool of a page
//! ([`submit`]). If the session has a pipe, the event gets an id, and with it a place in the pipe.

use accord_base::{contains_key, credential};
use accord_contract::{Code, Failure, Object, Timestamp, Value, rule, wire::same};

use super::change::{At, Change};
use super::ledger::minted_event_id;
use super::sender::{BY, Sender, unsign};
use super::{
    Ask, AskChange, Content, ContentChange, DedupKey, Delta, EXPECT, LedgerName, LedgerRow,
    Session, decision, kept,
};
use crate::asking::{REFUSE, SUBMIT};
use crate::frame::{Action, ActionAck, DATA_SUBMIT};
use crate::json::{members, put};
use crate::violation::{Source, Violation, ViolationDetails};
use crate::{contract::CompiledContract, refuse};

/// What is known when an action arrives. The tool of a page has no `client_id`.
#[derive(Clone, Copy, Debug)]
pub struct ActFacts<'a> {
    pub session: &'a Session,
    pub contract: &'a CompiledContract,
    pub client_id: Option<&'a str>,
    pub sender: &'a Sender,
    /// The stored event with the key of the action, if there is one.
    pub earlier: Option<&'a LedgerRow>,
    /// What the session asks, if it asks.
    pub ask: Option<&'a Ask>,
    /// What the session shows. It is read if the contract has rules about answers, or the sender
    /// decides.
    pub content: Option<&'a Content>,
    /// The answer that closed the ask of the present epoch.
    pub closed_by: Option<&'a LedgerRow>,
    pub at: At<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Acted {
    pub ack: ActionAck,
    /// What is written; nothing for an action that was recorded before.
    pub delta: Delta,
}

/// An action that a page submits through its tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    pub intent: String,
    pub data: Value,
    pub ui_context: Value,
    /// The id of the event in the pipe.
    pub action_id: String,
    /// When the person acted, as the page says.
    pub fired_at: Timestamp,
    /// The digest of what the person was shown.
    pub expect: Option<String>,
}

impl Action {
    /// The key that recognises the action if it is sent again.
    ///
    /// Clauses: GGUI-DEDUP-KEY.
    pub fn key(&self, client_id: Option<&str>) -> Option<DedupKey> {
        let client_id = rule!(client_id; NumbersAloneCount => Some(client_id.unwrap_or("")));
        let (client_id, client_seq) = client_id.zip(self.client_seq)?;
        Some(DedupKey::numbered(client_id, client_seq))
    }
}

/// Records an action that came over the channel. Fails with `SESSION_NOT_FOUND` when the session
/// has expired, `INVALID_MESSAGE` when the number of the client was used for another action,
/// `person_required`, `decision_stale`, `evidence_changed`, `LIVE_ASK_ENDED`,
/// `CONTRACT_VIOLATION`.
///
/// Clauses: GGUI-ACTION-APPEND-THEN-ACK, GGUI-ACTION-REFUSED, GGUI-DEDUP-FIRST-ACK.
pub fn act(action: Action, facts: ActFacts<'_>) -> Result<Acted, Failure> {
    let session = facts.session;
    // First, so that the time alone decides, and not when the rows are swept.
    if !session.is_active(facts.at.now) {
        return Err(refuse::session_not_found("the session has expired"));
    }
    // Before any other check: what was acknowledged stays acknowledged.
    if let Some(earlier) = rule!(facts.earlier; SentAgainTakenAgain => None) {
        return again(&action, earlier);
    }
    let key = action.key(facts.client_id);
    let Action { kind, mut envelope, .. } = action;
    facts.sender.sign(&mut envelope, facts.content);
    // Other types are recorded as they are.
    let is_answer = kind == DATA_SUBMIT;
    if is_answer {
        check_ask(&facts, &envelope)?;
    }
    let is_named = is_answer && check(&mut envelope, facts.contract)?;
    let in_pipe = is_named && session.head.has_pipe;
    let event_id = in_pipe.then(|| minted_event_id(session.head.ledger + 1));
    let warnings = warnings(&envelope);
    let mut change = Change::begin(session, facts.at);
    let kind = LedgerName::UserSubmitted.into();
    let sequence = change.append(kind, Value::Object(envelope), event_id, key);
    if is_answer {
        record(&mut change, &facts);
    }
    if is_answer || !facts.contract.contract().answers.by_person {
        end_ask(&mut change, facts.contract, sequence);
    }
    let sequence = rule!(sequence; AckBeforeAppend => sequence - 1);
    let ack = ActionAck { sequence, at: facts.at.now, warnings };
    Ok(Acted { ack, delta: change.finish() })
}

/// Records an action that a page submits through its tool. The `earlier` event of the facts is that
/// of the key [`DedupKey::identified`]. Fails with `PIPE_NOT_FOUND` when the session has expired or
/// has no pipe, else as [`act`].
///
/// Clauses: GGUI-PIPE-IDEMPOTENT, GGUI-ACTION-REFUSED.
pub fn submit(dispatch: Dispatch, facts: ActFacts<'_>) -> Result<Acted, Failure> {
    let ActFacts { session, contract, at, .. } = facts;
    if !session.is_active(at.now) || !session.head.has_pipe {
        return Err(refuse::pipe_not_found("the session has no pipe; render it first"));
    }
    if let Some(earlier) = facts.earlier {
        return Ok(recorded(earlier));
    }
    let Dispatch { intent, data, ui_context, action_id, fired_at, expect } = dispatch;
    let payload = members([
        ("action", intent.into()),
        ("data", data),
        ("uiContext", ui_context),
        ("firedAt", fired_at.as_str().into()),
    ]);
    let mut envelope = members([
        ("sessionId", session.id.as_str().into()),
        ("type", DATA_SUBMIT.into()),
        ("payload", Value::Object(payload)),
    ]);
    put(&mut envelope, EXPECT, expect);
    facts.sender.sign(&mut envelope, facts.content);
    check_ask(&facts, &envelope)?;
    check(&mut envelope, contract)?;
    let warnings = warnings(&envelope);
    let mut change = Change::begin(session, at);
    let kind = LedgerName::UserSubmitted.into();
    let key = DedupKey::identified(&action_id);
    let sequence = change.append(kind, Value::Object(envelope), Some(action_id), Some(key));
    record(&mut change, &facts);
    end_ask(&mut change, contract, sequence);
    let ack = ActionAck { sequence, at: at.now, warnings };
    Ok(Acted { ack, delta: change.finish() })
}

/// Checks that the ask takes this answer: from the sender, for the first time, in time, and to the
/// question that the sender was shown.
fn check_ask(facts: &ActFacts<'_>, envelope: &Object) -> Result<(), Failure> {
    let rules = facts.contract.contract().answers;
    if rules.by_person
        && let Err(refused) = &facts.sender.person
    {
        return Err((**refused).clone());
    }
    if let Some(first) = facts.closed_by {
        return Err(stale(first));
    }
    if let Some(until) = facts.ask.and_then(|ask| ask.ended(rules, facts.at.now)) {
        let message = format!("the time to answer was over at {until}");
        return Err(Failure::new(Code::LiveAskEnded, message).with("until", until.to_string()));
    }
    match facts.content.filter(|_| rules.decides()) {
        Some(content) => content.check_expected(envelope),
        None => Ok(()),
    }
}

/// The refusal of an answer after the one that closed the ask.
fn stale(first: &LedgerRow) -> Failure {
    let by = first.data.get(BY);
    let part = |name: &str| by.and_then(|by| by.get(name)).and_then(Value::as_str);
    let who = part("type").zip(part("id")).map(|(kind, id)| format!("{kind}:{id}"));
    let who = who.as_deref().unwrap_or("somebody who is not known");
    let (action, at) = (first.action().unwrap_or_default(), first.at);
    let message = format!("{who} answered {action:?} at {at}, and the first answer counts");
    Failure::new(Code::DecisionStale, message)
        .with("by", by.cloned().unwrap_or(Value::Null))
        .with("action", action)
        .with("at", at.to_string())
        .with("sequence", first.seq)
        .suggesting("if the answer is wrong, tell the agent; it can ask again")
}

/// Records the answer that was appended, if it decides.
fn record(change: &mut Change<'_>, facts: &ActFacts<'_>) {
    let Some(answer) = change.delta.ledger.last() else { return };
    let Some(decision) = decision::of_answer(facts, answer) else { return };
    let contract = facts.contract.contract();
    if let Some(content) = facts.content.filter(|_| contract.answers.keeps) {
        let named = |name| contract.actions.as_ref()?.get(name);
        let is_form = named(SUBMIT).is_some_and(|entry| entry.schema.is_some());
        let is_refused = is_form && answer.action() == Some(REFUSE);
        let about = (answer.action().and_then(named), is_refused);
        let id = decision.decision_id.clone();
        change.delta.kept = Some(kept::of_answer(id, answer, content, about));
    }
    change.delta.decision = Some(decision);
}

/// The session no longer asks. An answer that closes the ask is noted.
fn end_ask(change: &mut Change<'_>, contract: &CompiledContract, sequence: u64) {
    let head = &mut change.session.head;
    if contract.contract().answers.once {
        let closed = ContentChange::Closed { epoch: head.epoch, sequence };
        change.delta.content.push(closed);
    }
    if head.is_asking {
        head.is_asking = false;
        change.delta.ask = Some(AskChange::End);
    }
}

fn recorded(earlier: &LedgerRow) -> Acted {
    let ack = ActionAck { sequence: earlier.seq, at: earlier.at, warnings: Vec::new() };
    Acted { ack, delta: Delta::default() }
}

/// The first answer again. A number that a client uses for two actions is refused: to drop the
/// second one could lose what a person entered.
fn again(action: &Action, earlier: &LedgerRow) -> Result<Acted, Failure> {
    let sent = Value::Object(action.envelope.clone());
    if same(&as_sent(sent), &as_sent(earlier.data.clone())) {
        return Ok(recorded(earlier));
    }
    let message = "the client has sent another action with this clientSeq";
    Err(refuse::invalid_message(message).with("field", "payload.clientSeq"))
}

/// An action without what the server may have filled in, its tool and who sent it, and without what
/// its sender was shown. The same person may have signed in again meanwhile.
fn as_sent(mut envelope: Value) -> Value {
    if let Value::Object(members) = &mut envelope {
        unsign(members);
        members.shift_remove(EXPECT);
    }
    if let Some(Value::Object(payload)) = envelope.get_mut("payload") {
        payload.shift_remove("tool");
    }
    envelope
}

/// Warnings about credentials in what is submitted. It is accepted: the agent may have asked for
/// one.
fn warnings(envelope: &Object) -> Vec<String> {
    let data = envelope.get("payload").and_then(|payload| payload.get("data"));
    data.map(credential::warnings).unwrap_or_default()
}

/// The place of a text that contains a key of Accord.
fn key_in(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::String(text) => contains_key(text).then(|| place.to_owned()),
        Value::Array(entries) => {
            let mut entries = entries.iter().enumerate();
            entries.find_map(|(at, entry)| key_in(entry, &format!("{place}[{at}]")))
        }
        Value::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(name, member)| key_in(member, &format!("{place}.{name}")))
        }
        _ => None,
    }
}

/// Checks the payload of an action, and fills in the tool of its next step. Returns whether the
/// action has a name: without an actionSpec, it need not have one.
///
/// Clauses: GGUI-ACTION-TOOL-FILLED.
fn check(envelope: &mut Object, contract: &CompiledContract) -> Result<bool, Failure> {
    let payload = envelope.get("payload").unwrap_or(&Value::Null);
    let action = contract.check_action(payload).map_err(|violations| {
        let details = ViolationDetails::new(Source::Event, violations);
        details.into_failure(Code::GguiContractViolation)
    })?;
    let data = payload.get("data").unwrap_or(&Value::Null);
    let field = format!("{}.data", action.name.unwrap_or_default());
    if let Some(field) = key_in(data, field.trim_start_matches('.')) {
        // A form of an agent can look like a login. The agent would get the rights of the person.
        let message = "must not contain a key of Accord: the agent would get it";
        let details = ViolationDetails::new(Source::Event, vec![Violation::new(field, message)]);
        return Err(details.into_failure(Code::GguiContractViolation));
    }
    let (is_named, tool) = (action.name.is_some(), action.tool.map(str::to_owned));
    if let Some(Value::Object(payload)) = envelope.get_mut("payload")
        && let Some(tool) = rule!(tool; ToolNotFilled => None)
    {
        payload.insert("tool".into(), tool.into());
    }
    Ok(is_named)
}

pub(super) fn payload(row: &LedgerRow) -> Option<&Object> {
    row.data.get("payload").and_then(Value::as_object)
}
