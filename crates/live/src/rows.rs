//! Conversion between rows of the store and what the core decides about.

use accord_base::ProjectId;
use accord_contract::{Code, Failure, Object, Value};
use accord_live_core::contract::{Mode, Replay};
use accord_live_core::handshake::{self, Blueprint, BlueprintKey, Handshake, HandshakeAction};
use accord_live_core::limits::{HANDSHAKE_TTL_SECONDS, PAGE_BYTES};
use accord_live_core::session::{Content, LedgerRow, Session, StreamRow, ledger_kind};
use accord_live_core::{AppId, SessionId};
use accord_store::{BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LivePart};
use accord_store::{ReadUnit, StoreError};
use serde_json::json;

use super::unit::UnitResult;

const CODE_HASH: &str = "x-codeHash";
const CODE: &str = "componentCode";

fn damaged(what: &str) -> Failure {
    Failure::new(Code::AgenticIntegrityError, format!("a stored {what} is damaged"))
}

fn value(text: &str, what: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|_| damaged(what))
}

fn object(text: &str, what: &str) -> Result<Object, Failure> {
    match value(text, what)? {
        Value::Object(members) => Ok(members),
        _ => Err(damaged(what)),
    }
}

pub(crate) fn entry(row: &LedgerRow) -> LedgerEntry {
    LedgerEntry {
        seq: row.seq,
        at: row.at,
        kind: row.kind.as_str().to_owned(),
        text: row.data.to_string(),
        event_id: row.event_id.clone(),
        key: row.key.as_ref().map(|key| key.as_str().to_owned()),
    }
}

pub(crate) fn ledger(entry: &LedgerEntry) -> UnitResult<LedgerRow> {
    Ok(LedgerRow {
        seq: entry.seq,
        at: entry.at,
        kind: ledger_kind(&entry.kind).ok_or_else(|| damaged("ledger event"))?,
        data: value(&entry.text, "ledger event")?,
        event_id: entry.event_id.clone(),
        // A key is only looked up.
        key: None,
    })
}

pub(crate) fn frame_entry(replay: Replay, row: &StreamRow) -> FrameEntry {
    let text = json!({"mode": row.mode.as_str(), "payload": row.payload, "complete": row.complete});
    FrameEntry {
        seq: row.seq,
        channel: row.channel.clone(),
        is_latest: replay == Replay::Latest,
        text: text.to_string(),
    }
}

pub(crate) fn frame(entry: &FrameEntry) -> UnitResult<StreamRow> {
    let mut members = object(&entry.text, "frame")?;
    let mode = members.get("mode").and_then(Value::as_str).and_then(Mode::parse);
    Ok(StreamRow {
        seq: entry.seq,
        channel: entry.channel.clone(),
        mode: mode.ok_or_else(|| damaged("frame"))?,
        complete: members.get("complete") == Some(&Value::Bool(true)),
        payload: members.shift_remove("payload").ok_or_else(|| damaged("frame"))?,
    })
}

/// A UI without its code, which is stored under its hash, and the code.
pub(crate) fn without_code(ui: &Object) -> (Object, Option<(&str, &str)>) {
    let text = |name: &str| ui.get(name).and_then(Value::as_str);
    let code = text(CODE_HASH).zip(text(CODE));
    let mut stored = ui.clone();
    if code.is_some() {
        stored.shift_remove(CODE);
    }
    (stored, code)
}

/// The members of the UI of a session, without its code.
pub(crate) fn ui(unit: &dyn ReadUnit, session: &SessionId) -> UnitResult<Object> {
    match unit.live_content(session, LivePart::Ui)? {
        Some(text) => Ok(object(&text, "UI")?),
        None => Ok(Content::provisioned().ui),
    }
}

pub(crate) fn content(unit: &dyn ReadUnit, session: &Session) -> UnitResult<Content> {
    let part = |part: LivePart| -> UnitResult<Option<Object>> {
        let text = unit.live_content(&session.id, part)?;
        Ok(text.map(|text| object(&text, "content")).transpose()?)
    };
    let mut ui = ui(unit, &session.id)?;
    if let Some(hash) = ui.get(CODE_HASH).and_then(Value::as_str) {
        let code = unit.live_code(hash)?.unwrap_or_default();
        ui.insert(CODE.to_owned(), code.into());
    }
    Ok(Content {
        ui,
        props: part(LivePart::Props(session.head.epoch))?,
        host_context: part(LivePart::HostContext)?,
        context: part(LivePart::Context)?,
        closed: closed(unit, &session.id)?.map(|(epoch, _)| epoch),
    })
}

/// The epoch whose ask was closed last, and the number of the event that closed it.
fn closed(unit: &dyn ReadUnit, session: &SessionId) -> UnitResult<Option<(u64, u64)>> {
    let text = unit.live_content(session, LivePart::Closed)?;
    let read = |text: String| serde_json::from_str(&text).map_err(|_| damaged("closed ask"));
    Ok(text.map(read).transpose()?)
}

/// The answer that closed the ask of the present epoch.
pub(crate) fn closed_by(unit: &dyn ReadUnit, session: &Session) -> UnitResult<Option<LedgerRow>> {
    let closed = closed(unit, &session.id)?;
    let Some((_, seq)) = closed.filter(|(epoch, _)| *epoch == session.head.epoch) else {
        return Ok(None);
    };
    let found = unit.live_ledger(&session.id, seq.saturating_sub(1), 1)?;
    found.first().map(ledger).transpose()
}

/// The events that were taken out of the pipe of a session and given back, in order.
pub(crate) fn returned(unit: &dyn ReadUnit, session: &SessionId) -> UnitResult<Vec<LedgerRow>> {
    let Some(text) = unit.live_content(session, LivePart::Returned)? else { return Ok(Vec::new()) };
    let numbers = serde_json::from_str::<Vec<u64>>(&text);
    let numbers = numbers.map_err(|_| damaged("list of returned events"))?;
    let mut rows = Vec::new();
    for number in numbers {
        let found = unit.live_ledger(session, number.saturating_sub(1), 1)?;
        rows.extend(found.iter().map(ledger).collect::<UnitResult<Vec<_>>>()?);
    }
    Ok(rows)
}

/// Rows that are read at once for a page.
const STEP: usize = 8;

/// A page of rows after a number: at most `limit`, and none after the first [`PAGE_BYTES`]. A row
/// can be large, so few are read at once. `place` is the number of a row and its size.
pub(crate) fn page<T>(
    mut after: u64,
    limit: usize,
    read: impl Fn(u64, usize) -> Result<Vec<T>, StoreError>,
    place: impl Fn(&T) -> (u64, usize),
) -> Result<Vec<T>, StoreError> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while rows.len() < limit && bytes < PAGE_BYTES {
        let wanted = STEP.min(limit - rows.len());
        let found = read(after, wanted)?;
        let is_last = found.len() < wanted;
        for row in found {
            let (seq, size) = place(&row);
            (after, bytes) = (seq, bytes + size);
            rows.push(row);
        }
        if is_last {
            break;
        }
    }
    Ok(rows)
}

pub(crate) fn ledger_page(
    unit: &dyn ReadUnit,
    session: &SessionId,
    after: u64,
    limit: usize,
) -> UnitResult<Vec<LedgerRow>> {
    let read = |after, limit| unit.live_ledger(session, after, limit);
    page(after, limit, read, place_of_event)?.iter().map(ledger).collect()
}

/// The events in the pipe of a session that were not taken out yet, in pages of `limit`.
pub(crate) fn pending(
    unit: &dyn ReadUnit,
    session: &Session,
    limit: usize,
) -> UnitResult<Vec<LedgerRow>> {
    let read = |after, limit| unit.live_pipe(&session.id, after, limit);
    page(session.head.drained, limit, read, place_of_event)?.iter().map(ledger).collect()
}

pub(crate) fn place_of_event(row: &LedgerEntry) -> (u64, usize) {
    (row.seq, row.text.len())
}

pub(crate) fn handshake_row(handshake: &Handshake, project_id: ProjectId) -> HandshakeRow {
    let text = json!({
        "appId": handshake.app_id.as_str(),
        "intent": handshake.intent,
        "contract": handshake.contract,
        "variance": handshake.variance,
        "contractHash": handshake.key.contract_hash,
        "variantKey": handshake.key.variant_key,
        "isReuse": handshake.action == HandshakeAction::Reuse,
    });
    HandshakeRow {
        project_id,
        handshake_id: handshake.id.clone(),
        expires_at: handshake.expires_at,
        text: text.to_string(),
    }
}

/// The handshake of a row: made again from what it was made from.
pub(crate) fn handshake(row: &HandshakeRow) -> UnitResult<Handshake> {
    let mut members = object(&row.text, "handshake")?;
    let is_reuse = members.get("isReuse") == Some(&Value::Bool(true));
    let mut text = |name: &str| match members.shift_remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(damaged("handshake")),
    };
    let (app, intent) = (text("appId")?, text("intent")?);
    let (contract_hash, variant_key) = (text("contractHash")?, text("variantKey")?);
    let key = BlueprintKey { contract_hash, variant_key };
    let app = AppId::new(app).map_err(|_| damaged("handshake"))?;
    let mut part = |name: &str| match members.shift_remove(name) {
        Some(Value::Object(part)) => Ok(part),
        _ => Err(damaged("handshake")),
    };
    let (contract, variance) = (part("contract")?, part("variance")?);
    let known = Blueprint { key: key.clone(), code_hash: None, intent: intent.clone() };
    let force_create = !is_reuse;
    let asked = handshake::NewHandshake { intent, contract, variance, key, force_create };
    let made_at = row.expires_at.add_seconds(-HANDSHAKE_TTL_SECONDS);
    Ok(handshake::begin(row.handshake_id.clone(), &app, asked, Some(&known), made_at))
}

pub(crate) fn blueprint(row: &BlueprintRow) -> Blueprint {
    Blueprint { key: row.key.clone(), code_hash: row.code_hash.clone(), intent: row.intent.clone() }
}

pub(crate) fn blueprint_contract(row: &BlueprintRow) -> UnitResult<Object> {
    Ok(object(&row.text, "blueprint")?)
}
