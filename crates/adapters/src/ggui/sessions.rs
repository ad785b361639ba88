//! Decisions about one session.

use accord_contract::{Object, Value};
use accord_live_core::frame::{Action, ClientBody, ServerFrame, parse};
use accord_live_core::limits::{Limits, SESSION_TTL_SECONDS};
use accord_live_core::session::{
    ActFacts, Acted, Content, LedgerName, LedgerRow, Sender, Session, Subscribed, act,
    begin_consume, drain, sync_context,
};
use accord_live_core::version::PROTOCOL_VERSION;
use serde_json::json;

use super::parts::{APP, NOW, app, at, binding, contract, members, project, session, time};
use crate::{BadCall, Call, Outcome};

pub(super) fn provision(call: &Call) -> Outcome {
    let mut stored = session()?;
    stored.app_id = app(call.optional_text("storedApp")?.unwrap_or(APP))?;
    stored.head.ledger = call.optional_count("ledger")?.unwrap_or(0);
    stored.head.stream = call.optional_count("stream")?.unwrap_or(0);
    let (stored, now) = match call.optional_text("stored")? {
        None => (None, time(NOW)?),
        Some("active") => (Some(stored), time(NOW)?),
        Some("expired") => (Some(stored), time(NOW + SESSION_TTL_SECONDS)?),
        Some(_) => return Err(BadCall::kind("stored", "active or expired").into()),
    };
    let subscribed = Subscribed { binding: binding(None)?, session_token: None };
    let project = project()?;
    let (session, delta) = subscribed.session(stored.as_ref(), at(&project, now))?;
    let version = call.optional_text("version")?.unwrap_or(PROTOCOL_VERSION);
    let ack = subscribed.ack(&session, &Content::provisioned(), false, version, now);
    let ack = ServerFrame::Subscribed(Box::new(ack)).encode(version, None);
    Ok(json!({
        "accepted": true,
        "began": delta.is_some_and(|delta| !delta.content.is_empty()),
        "ack": ack["payload"],
        "horizon": session.head.horizon,
    }))
}

pub(super) fn act_on(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let mut session = session()?;
    session.head.ledger = call.optional_count("last")?.unwrap_or(6);
    session.head.has_pipe = call.flag("pipe", true)?;
    let age = if call.flag("expired", false)? { SESSION_TTL_SECONDS } else { 0 };
    let client_id = call.optional_text("clientId")?;
    let action = action(call.object("action")?)?;
    let earlier = call.optional_object("earlier")?;
    let earlier = earlier.map(|earlier| recorded(&session, earlier, client_id)).transpose()?;
    // A store finds an earlier action by its key.
    let key = action.key(client_id);
    let earlier = earlier.as_ref().filter(|row| key.is_some() && row.key == key);
    let project = project()?;
    let at = at(&project, time(NOW + age)?);
    let facts = ActFacts {
        session: &session,
        contract: &contract,
        client_id,
        sender: &Sender::default(),
        earlier,
        ask: None,
        content: None,
        closed_by: None,
        at,
    };
    let Acted { ack, delta, .. } = act(action, facts)?;
    Ok(json!({
        "accepted": true,
        "sequence": ack.sequence,
        "appended": delta.ledger.iter().map(LedgerRow::document).collect::<Vec<_>>(),
        "inPipe": delta.ledger.iter().any(|row| row.event_id.is_some()),
        "published": delta.events.len(),
    }))
}

fn action(payload: &Object) -> Result<Action, BadCall> {
    let text = json!({"type": "action", "payload": payload}).to_string();
    match parse(text.as_bytes(), true, &Limits::default()).map(|frame| frame.body) {
        Ok(ClientBody::Action(action)) => Ok(action),
        _ => Err(BadCall::kind("action", "the payload of an action")),
    }
}

/// An action that is in the ledger as event 3.
fn recorded(session: &Session, payload: &Object, by: Option<&str>) -> Result<LedgerRow, BadCall> {
    let action = action(payload)?;
    Ok(LedgerRow { key: action.key(by), ..row(session, 3, action.envelope) })
}

fn row(session: &Session, seq: u64, envelope: Object) -> LedgerRow {
    LedgerRow {
        seq,
        at: session.head.created_at,
        kind: LedgerName::UserSubmitted.into(),
        data: Value::Object(envelope),
        event_id: Some(format!("{seq:08x}")),
        key: None,
    }
}

/// Takes events out of the pipe.
pub(super) fn consume(call: &Call) -> Outcome {
    let mut session = session()?;
    session.head.has_pipe = call.flag("pipe", true)?;
    session.head.drained = call.optional_count("drained")?.unwrap_or(0);
    let mut pending = Vec::new();
    for (seq, payload) in (1..).zip(call.list("actions")?) {
        let action = action(members(payload, "actions")?)?;
        pending.push(row(&session, seq, action.envelope));
    }
    session.head.ledger = pending.len() as u64;
    let project = project()?;
    let drained = drain(&session, &[], &pending, None, at(&project, time(NOW)?))?;
    let events: Vec<Object> = drained.events.iter().map(|event| event.document()).collect();
    let acks = drained.acks.iter().map(|ack| ack.encode("v", None)["payload"].clone());
    let acks: Vec<Value> = acks.collect();
    let after = drained.delta.session.as_ref().unwrap_or(&session).head.drained;
    Ok(json!({"accepted": true, "events": events, "drainAcks": acks, "drained": after}))
}

pub(super) fn consume_wait(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let mut session = session()?;
    session.head.has_pipe = true;
    let project = project()?;
    let at = at(&project, time(NOW)?);
    let content = Content::provisioned();
    let waits = begin_consume(&session, &content, &contract, None, None, at)?;
    Ok(json!({
        "kept": super::streams::kept(&waits.delta),
        "channel": waits.row.channel,
        "payload": waits.row.payload,
        "asks": waits.delta.ask.is_some(),
    }))
}

pub(super) fn context_snapshot(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let session = session()?;
    let session = call.flag("exists", true)?.then_some(&session);
    let app = app(call.optional_text("app")?.unwrap_or(APP))?;
    let snapshot = call.object("snapshot")?.clone();
    let project = project()?;
    let delta = sync_context(session, &app, &contract, snapshot, at(&project, time(NOW)?))?;
    Ok(json!({"accepted": !delta.content.is_empty()}))
}
