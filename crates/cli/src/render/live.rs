//! Live sessions.

use accord_contract::wire::Value;

use super::page::{LINE, Page, Style, list};
use super::table::table;
use super::text::{actor, clean, member, one_line};
use super::time::Times;

/// Live sessions, one per line, with what they wait for.
pub(crate) fn live_sessions(page: &mut Page, sessions: &Value) {
    let times = Times::of(list(sessions), &["expires_at"]);
    let row = |session: &Value| {
        let ask = &session["ask"];
        let (state, intent) = match ask.is_object() {
            true => (page.styled(Style::Waiting, "waits"), member(ask, "intent")),
            false => ("idle".to_owned(), member(session, "intent")),
        };
        let by = if ask["asked_by"].is_object() { ask } else { session };
        vec![
            member(session, "session_id"),
            state,
            one_line(&intent, LINE),
            actor(&by["asked_by"]),
            times.show(&session["expires_at"]),
            member(session, "last_sequence"),
        ]
    };
    let rows: Vec<Vec<String>> = list(sessions).iter().map(row).collect();
    if !rows.is_empty() {
        table(page, &["SESSION", "STATE", "FOR", "ASKED BY", "UNTIL", "EVENTS"], &rows);
    }
}

/// What sessions wait for, one per line.
pub(crate) fn live_asks(page: &mut Page, asks: &Value) {
    let times = Times::of(list(asks), &["since", "until"]);
    let row = |ask: &Value| {
        vec![
            member(ask, "session_id"),
            one_line(&member(ask, "intent"), LINE),
            actor(&ask["asked_by"]),
            times.show(&ask["since"]),
            times.show(&ask["until"]),
        ]
    };
    let rows: Vec<Vec<String>> = list(asks).iter().map(row).collect();
    if !rows.is_empty() {
        table(page, &["SESSION", "FOR", "ASKED BY", "SINCE", "UNTIL"], &rows);
    }
}

/// An action that is recorded.
pub(crate) fn live_ack(page: &mut Page, ack: &Value) {
    let recorded = page.styled(Style::Good, "recorded");
    let (action, session) = (member(ack, "action"), member(ack, "session_id"));
    let sequence = member(ack, "sequence");
    page.line(format!("{recorded} {action} as event {sequence} of {session}"));
    match ack["agent_waits"].as_bool() {
        Some(true) => page.line("  an agent waits for it"),
        _ => page.line("  no agent waits now; the next ggui_consume returns it"),
    }
}

/// A frame of the channel on one line.
pub(crate) fn live_frame(frame: &Value) -> String {
    let payload = &frame["payload"];
    let kind = member(frame, "type");
    let parts: Vec<String> = match frame["type"].as_str().unwrap_or_default() {
        "render_event" => {
            let time = payload["timestamp"].as_str().unwrap_or_default();
            let submitted = &payload["data"]["payload"];
            let about = match submitted["action"].as_str() {
                Some(action) => format!("{action} {}", text(&submitted["data"])),
                None => text(&payload["data"]),
            };
            vec![
                format!("event {}", member(payload, "seq")),
                time.get(11..19).unwrap_or(time).to_owned(),
                member(payload, "type"),
                about,
                actor(&payload["data"]["x-by"]),
            ]
        }
        "data" => vec![
            format!("frame {}", member(payload, "seq")),
            member(payload, "channel"),
            text(&payload["payload"]),
        ],
        "x-ask" => {
            let by = actor(&payload["asked_by"]);
            let by = if by.is_empty() { by } else { format!("by {by}") };
            let until = format!("until {}", super::moment(&payload["until"]));
            vec!["ask".to_owned(), member(payload, "intent"), by, until]
        }
        "x-answered" => vec!["ask ended".to_owned()],
        "props_update" => vec![kind, text(&payload["props"])],
        "render" => vec![kind, member(&payload["session"], "prompt")],
        "drain_ack" => vec![kind, member(payload, "eventId")],
        "error" => vec![kind, member(payload, "code"), member(payload, "message")],
        _ => vec![kind, text(payload)],
    };
    let parts = parts.iter().map(|part| one_line(part, LINE)).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
}

/// A value on one line; nothing for none.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => clean(text),
        Value::Object(members) if members.is_empty() => String::new(),
        other => clean(&other.to_string()),
    }
}
