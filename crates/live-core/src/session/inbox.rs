//! What waits for a person in a live session.

use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_contract::Object;

use super::{Ask, Session, asked_of};
use crate::contract::AnswerRules;

/// The item of a session that asks. `ui` is the JSON text of its UI, as a store has it. An ask with
/// a deadline is the most urgent: an agent stands still until a person answers.
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
    item.urgency = if deadline.is_some() { Urgency::Loss } else { Urgency::Piece };
    item.deadline = Some(deadline.unwrap_or(head.expires_at).min(head.expires_at));
    item.gone_at = item.deadline;
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Head;
    use crate::{AppId, SessionId};
    use accord_base::ActorKey;
    use accord_contract::Time;
    use serde_json::json;

    #[test]
    fn an_ask_with_a_deadline_is_the_most_urgent() {
        let at = Time::from_unix_millis;
        let head = Head { is_asking: true, ..Head::new(at(0), 600) };
        let id = SessionId::new("live_1").expect("an id");
        let mut session = Session { id, app_id: AppId::new("shop").expect("an id"), head };
        let asked_by = ActorKey::parse("agent:planner").ok();
        let ask = Ask { asked_by, intent: "Deploy\n3.0?".to_owned(), since: at(7) };
        let contract = json!({"x-answerWithin": 60, "x-to": "human:lead"}).to_string();
        let item = waiting(&session, Some(&ask), &contract).expect("it waits");
        assert_eq!((item.urgency, item.deadline), (Urgency::Loss, Some(at(60_007))));
        assert_eq!(item.title, "agent:planner asks a person");
        assert_eq!(item.words.as_deref(), Some("Deploy 3.0?"));
        assert_eq!(item.to.as_deref(), Some("human:lead"));
        assert_eq!(item.opening, 7);
        let item = waiting(&session, Some(&ask), "").expect("it waits");
        assert_eq!((item.urgency, item.gone_at), (Urgency::Piece, Some(at(600_000))));
        session.head.is_asking = false;
        assert_eq!(waiting(&session, Some(&ask), &contract), None);
        assert_eq!(waiting(&session, None, &contract), None);
    }
}
