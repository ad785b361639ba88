//! What waits for a person in a live session.

use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_contract::Object;

use super::{Ask, Session, asked_of};
use crate::contract::AnswerRules;

/// How long before its deadline a question is the most urgent, in seconds.
const URGENT: i64 = 15 * 60;

/// The item of a session that asks. `ui` is the JSON text of its UI, as a store has it. An ask is
/// the most urgent shortly before its deadline: then the answer is lost.
///
/// Clauses: GGUI-ASK-PENDING.
pub fn waiting(session: &Session, ask: Option<&Ask>, ui: &str) -> Option<Waiting> {
    let head = &session.head;
    let ask = ask.filter(|_| head.is_asking && !head.is_ended)?;
    // One that cannot be read is damage, which a verification reports.
    let ui: Object = serde_json::from_str(ui).unwrap_or_default();
    let deadline = ask.deadline(AnswerRules::of_ui(&ui));
    let who = ask.asked_by.as_ref().map_or_else(|| "An agent".to_owned(), ToString::to_string);
    let title = format!("{who} asks a person");
    let opening = ask.since.unix_millis().max(0).unsigned_abs();
    let mut item = Waiting::new(kind::LIVE_ASK, session.id.as_str(), opening, title, ask.since);
    item.words = words(&ask.intent);
    item.asked_by = ask.asked_by.as_ref().map(ToString::to_string);
    item.to = asked_of(&ui).as_ref().map(ToString::to_string);
    // Every question of the command has a deadline, so that alone does not make it urgent.
    // The session may end first.
    let until = deadline.map(|until| until.min(head.expires_at));
    item.rises = until.map(|until| (until.add_seconds(-URGENT), Urgency::Loss));
    item.deadline = Some(deadline.unwrap_or(head.expires_at).min(head.expires_at));
    item.gone_at = item.deadline;
    Some(item)
}
