//! The pipe: what an agent takes out of a session.
//!
//! A drain takes every event out at once and moves [`Head::drained`](super::Head::drained), so
//! that an event is taken once, also by two agents at the same time. The answer of a drain may not
//! reach its agent, because the call was cancelled meanwhile. Then its events are given back
//! ([`give_back`]), and the next drain takes them first. An agent that confirms what it got keeps
//! its events there until it does.

use std::collections::BTreeSet;

use accord_base::ActorKey;
use accord_contract::{Failure, Object, Time, Value, rule};

use super::change::{At, Change};
use super::{Ask, AskChange, Content, ContentChange, Delta, Emitted, LedgerRow, Session};
use super::{
    BY, DOOR, PERSON, action::payload, ask::asked_by as rendered_by, stream::record_lifecycle,
};
use crate::{contract::CompiledContract, frame::ServerFrame, json::members, refuse};

#[derive(Clone, Debug, PartialEq)]
pub struct Drained {
    /// The events, in the order of the ledger.
    pub events: Vec<ConsumedEvent>,
    pub numbers: Vec<u64>,
    /// The number of the last event that was given, or that is confirmed.
    pub cursor: u64,
    /// One frame for each of them, for the subscribers of the session.
    pub acks: Vec<ServerFrame>,
    /// What is written; nothing when the pipe was empty.
    pub delta: Delta,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConsumedEvent {
    pub session_id: String,
    pub intent: String,
    pub action_data: Value,
    pub ui_context: Value,
    pub action_id: String,
    pub fired_at: String,
    /// Who answered, through which door, and whether it is a known person.
    pub sent: Object,
}

impl ConsumedEvent {
    /// Clauses: GGUI-CONSUME-MAPPING.
    fn of(session: &Session, row: &LedgerRow) -> Option<Self> {
        let action_id = row.event_id.clone()?;
        let payload = payload(row)?;
        let text = |name: &str| payload.get(name).and_then(Value::as_str);
        let data = payload.get("data").cloned();
        Some(Self {
            session_id: session.id.as_str().to_owned(),
            intent: text("action")?.to_owned(),
            action_data: rule!(data; DataLost => None).unwrap_or(Value::Null),
            ui_context: payload.get("uiContext").cloned().unwrap_or_else(|| Object::new().into()),
            action_id,
            fired_at: text("firedAt").map_or_else(|| row.at.to_string(), str::to_owned),
            sent: [BY, DOOR, PERSON]
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), row.data.get(name)?.clone())))
                .collect(),
        })
    }

    pub fn document(&self) -> Object {
        let mut event = members([
            ("type", "action".into()),
            ("sessionId", self.session_id.as_str().into()),
            ("intent", self.intent.as_str().into()),
            ("actionData", self.action_data.clone()),
            ("uiContext", self.ui_context.clone()),
            ("actionId", self.action_id.as_str().into()),
            ("firedAt", self.fired_at.as_str().into()),
        ]);
        event.extend(self.sent.clone());
        event
    }
}

/// Takes the events out of the pipe. `returned` are the rows that were given back or are not
/// confirmed, `pending` those of the ledger with an event id after
/// [`Head::drained`](super::Head::drained), in order. With `after`, the events up to this number
/// are confirmed, and the others stay until they are, too. Fails with `session_not_found` when the
/// session has expired, `PIPE_NOT_FOUND` when it has no pipe.
///
/// Clauses: GGUI-CONSUME-DRAIN, GGUI-CONSUME-DRAIN-ACK.
pub fn drain(
    session: &Session,
    returned: &[LedgerRow],
    pending: &[LedgerRow],
    after: Option<u64>,
    at: At<'_>,
) -> Result<Drained, Failure> {
    check_pipe(session, at.now)?;
    let drained = rule!(session.head.drained; DrainedAgain => 0);
    let again = returned.iter().filter(|row| after.is_none_or(|after| row.seq > after));
    let new = pending.iter().filter(|row| row.seq > drained);
    let taken = again.chain(new);
    let taken = taken.filter_map(|row| Some((row.seq, ConsumedEvent::of(session, row)?)));
    let (numbers, events): (Vec<_>, Vec<_>) = taken.unzip();
    let confirmed = after.map_or(0, |after| after.min(session.head.drained));
    let cursor = numbers.iter().copied().max().unwrap_or(0).max(confirmed);
    let kept = if after.is_some() { numbers.clone() } else { Vec::new() };
    let is_kept = returned.iter().map(|row| row.seq).eq(kept.iter().copied());
    if events.is_empty() && is_kept {
        let delta = Delta::default();
        return Ok(Drained { events, numbers, cursor, acks: Vec::new(), delta });
    }
    let mut change = Change::begin(session, at);
    let last = pending.last().map_or(0, |row| row.seq);
    change.session.head.drained = last.max(session.head.drained);
    if !is_kept {
        change.delta.content.push(ContentChange::Returned(kept));
    }
    // An event that is given again was acknowledged before.
    let first = numbers.iter().filter(|number| after.is_some() && **number <= drained).count();
    let told = rule!(events.len(); OneDrainAck => 1);
    let acks = events.iter().take(told).skip(first).map(|event| ServerFrame::DrainAck {
        app_id: session.app_id.clone(),
        session_id: session.id.clone(),
        event_id: event.action_id.clone(),
        drained_at: at.now,
    });
    let acks = acks.collect();
    Ok(Drained { events, numbers, cursor, acks, delta: change.finish() })
}

/// Confirms events up to a number. `returned` are the numbers of those that are not confirmed.
/// `None` if nothing changes.
pub fn confirm(session: &Session, returned: &[u64], after: u64, now: Time) -> Option<Delta> {
    let left: Vec<u64> = returned.iter().copied().filter(|number| *number > after).collect();
    if left.len() == returned.len() || !session.is_active(now) {
        return None;
    }
    let content = vec![ContentChange::Returned(left)];
    Some(Delta { session: Some(session.clone()), content, ..Delta::default() })
}

/// Gives events back that were taken out and did not reach their agent, by their numbers.
/// `returned` are the numbers of those that were given back before. `None` if the session has
/// expired meanwhile.
///
/// Clauses: GGUI-CONSUME-DRAIN.
pub fn give_back(session: &Session, returned: &[u64], numbers: &[u64], now: Time) -> Option<Delta> {
    if !session.is_active(now) {
        return None;
    }
    // An id that is used again continues its numbers: those up to the horizon are of before.
    let kept = returned.iter().chain(numbers).filter(|number| **number > session.head.horizon);
    let numbers: BTreeSet<u64> = kept.copied().collect();
    let content = vec![ContentChange::Returned(numbers.into_iter().collect())];
    Some(Delta { session: Some(session.clone()), content, ..Delta::default() })
}

/// Records that an agent waits for events: once for each call that finds the pipe empty. The
/// session asks again, if its UI has actions. `oldest` is as for [`emit`](super::emit). Fails as
/// [`drain`].
///
/// Clauses: GGUI-CONSUME-POLLING, GGUI-ASK-PENDING.
pub fn begin_consume(
    session: &Session,
    content: &Content,
    contract: &CompiledContract,
    asked_by: Option<ActorKey>,
    oldest: Option<u64>,
    at: At<'_>,
) -> Result<Emitted, Failure> {
    check_pipe(session, at.now)?;
    let mut change = Change::begin(session, at);
    if content.closed != Some(session.head.epoch) {
        begin_ask(&mut change, &content.ui, contract, asked_by, at.now);
    }
    let payload = members([
        ("kind", "consume_polling".into()),
        ("sessionId", session.id.as_str().into()),
        ("state", rule!("open"; WaitUnsaid => "closed").into()),
    ]);
    let row = record_lifecycle(&mut change, payload, oldest);
    Ok(Emitted { row, delta: change.finish() })
}

/// The session asks, if its UI has actions and it does not ask yet.
pub(super) fn begin_ask(
    change: &mut Change<'_>,
    ui: &Object,
    contract: &CompiledContract,
    asked_by: Option<ActorKey>,
    now: Time,
) {
    let has_actions = contract.contract().actions.as_ref().is_some_and(|spec| !spec.is_empty());
    if change.session.head.is_asking || !has_actions {
        return;
    }
    let intent = ui.get("prompt").and_then(Value::as_str).unwrap_or_default().to_owned();
    change.session.head.is_asking = true;
    if let Some(seconds) = contract.contract().answers.within {
        let head = &mut change.session.head;
        head.expires_at = head.expires_at.max(now.add_seconds(seconds));
    }
    // An agent that waits and does not say who it is counts as the one that rendered.
    let asked_by = asked_by.or_else(|| rendered_by(ui));
    change.delta.ask = Some(AskChange::Begin(Ask { asked_by, intent, since: now }));
}

fn check_pipe(session: &Session, now: Time) -> Result<(), Failure> {
    if !session.is_active(now) {
        return Err(refuse::tool_session_not_found("there is no such session"));
    }
    if !session.head.has_pipe {
        return Err(refuse::pipe_not_found("the session has no pipe; render it first"));
    }
    Ok(())
}
