//! Live sessions.

use accord_base::Actor;
use accord_contract::Value;
use accord_live_core::operations::answer::LiveAckAnswer;
use accord_live_core::operations::questions::{LiveAsk, LiveSessionItem, LiveUnreadAnswer};
use accord_live_core::operations::watch::{FrameContent, LiveFrame};

use super::page::{LINE, Page, Style};
use super::table::table;
use super::text::{actor_key, clean, one_line};
use super::time::Times;

/// Live sessions, one per line, with what they wait for.
pub(crate) fn live_sessions(page: &mut Page, sessions: &[LiveSessionItem]) {
    let times = Times::among(sessions.iter().map(|session| session.expires_at.as_str()));
    let row = |session: &LiveSessionItem| {
        let (state, intent) = match &session.ask {
            Some(ask) => (page.styled(Style::Waiting, "waits"), Some(&ask.intent)),
            None => ("idle".to_owned(), session.intent.as_ref()),
        };
        let asked_by = session.ask.as_ref().and_then(|ask| ask.asked_by.as_ref());
        vec![
            clean(session.session_id.as_str()),
            state,
            intent.map(|intent| one_line(intent, LINE)).unwrap_or_default(),
            between(asked_by.or(session.asked_by.as_ref()), session.ask.as_ref()),
            times.at(Some(&session.expires_at)),
            session.last_sequence.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = sessions.iter().map(row).collect();
    table(page, &["SESSION", "STATE", "FOR", "ASKED BY", "UNTIL", "EVENTS"], &rows);
}

/// What sessions wait for, one per line.
pub(crate) fn live_asks(page: &mut Page, asks: &[LiveAsk]) {
    let times = asks.iter().flat_map(|ask| [ask.since.as_str(), ask.until.as_str()]);
    let times = Times::among(times);
    let row = |ask: &LiveAsk| {
        vec![
            clean(ask.session_id.as_str()),
            one_line(&ask.intent, LINE),
            between(ask.asked_by.as_ref(), Some(ask)),
            times.at(Some(&ask.since)),
            times.at(Some(&ask.until)),
        ]
    };
    let rows: Vec<Vec<String>> = asks.iter().map(row).collect();
    table(page, &["SESSION", "FOR", "ASKED BY", "SINCE", "UNTIL"], &rows);
}

/// Who asks, and whom, if the question says so.
fn between(asked_by: Option<&Actor>, ask: Option<&LiveAsk>) -> String {
    match ask.and_then(|ask| ask.to.as_ref()) {
        Some(to) => format!("{} to {}", actor(asked_by), actor(Some(to))).trim_start().to_owned(),
        None => actor(asked_by),
    }
}

/// Answers that no agent has read, one per line.
pub(crate) fn live_answers(page: &mut Page, answers: &[LiveUnreadAnswer]) {
    let times = answers.iter().map(|answer| answer.at.as_str());
    let times = Times::among(
        times.chain(answers.iter().filter_map(|it| Some(it.until.as_ref()?.as_str()))),
    );
    let row = |answer: &LiveUnreadAnswer| {
        let (action, data) = answer.action();
        vec![
            clean(answer.session_id.as_str()),
            answer.intent.as_ref().map(|intent| one_line(intent, LINE)).unwrap_or_default(),
            one_line(&format!("{action} {}", text(data)), LINE),
            actor(answer.by().as_ref()),
            times.at(Some(&answer.at)),
            times.at(answer.until.as_ref()),
        ]
    };
    let rows: Vec<Vec<String>> = answers.iter().map(row).collect();
    table(page, &["SESSION", "FOR", "ANSWER", "BY", "AT", "KEPT UNTIL"], &rows);
}

pub(crate) fn live_ack(page: &mut Page, ack: &LiveAckAnswer) {
    let recorded = page.styled(Style::Good, "recorded");
    let (action, session) = (clean(&ack.action), clean(ack.session_id.as_str()));
    page.line(format!("{recorded} {action} as event {} of {session}", ack.sequence));
    page.line(match ack.agent_waits {
        true => "  an agent waits for it",
        false => "  nobody waits at this moment; the one who asked gets it with its next look",
    });
    for warning in ack.warnings.iter().flatten() {
        page.line(page.styled(Style::Waiting, &format!("  warning: {}", clean(warning))));
    }
}

/// A frame of the channel on one line.
pub(crate) fn live_frame(frame: &LiveFrame) -> String {
    let parts: Vec<String> = match frame.content() {
        FrameContent::Event(event) => {
            let time = event.timestamp.as_str();
            let about = match event.action() {
                Some((action, data)) => format!("{action} {}", text(data)),
                None => text(&event.data),
            };
            vec![
                format!("event {}", event.seq),
                time.get(11..19).unwrap_or(time).to_owned(),
                event.kind.clone(),
                about,
                actor(event.by().as_ref()),
            ]
        }
        FrameContent::Data { seq, channel, payload } => {
            vec![format!("frame {seq}"), channel, text(&payload)]
        }
        FrameContent::Ask(ask) => {
            let by = actor(ask.asked_by.as_ref());
            let by = if by.is_empty() { by } else { format!("by {by}") };
            let until = format!("until {}", Times::default().at(Some(&ask.until)));
            vec!["ask".to_owned(), ask.intent, by, until]
        }
        FrameContent::AskEnded => vec!["ask ended".to_owned()],
        FrameContent::Other(members) => {
            std::iter::once(frame.kind.clone()).chain(members.iter().map(text)).collect()
        }
    };
    let parts = parts.iter().map(|part| one_line(part, LINE)).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
}

fn actor(actor: Option<&Actor>) -> String {
    actor.map(actor_key).unwrap_or_default()
}

/// What an agent or a person sent, on one line; nothing for none.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => clean(text),
        Value::Object(members) if members.is_empty() => String::new(),
        other => clean(&other.to_string()),
    }
}
