//! What waits for a person in a live session.

use accord_base::ActorKey;
use accord_base::inbox::Urgency;
use accord_contract::Time;
use accord_live_core::session::{Ask, Head, Session, waiting};
use accord_live_core::{AppId, SessionId};
use serde_json::json;

#[test]
fn an_ask_is_the_most_urgent_shortly_before_its_deadline() {
    let at = Time::from_unix_millis;
    let head = Head { is_asking: true, ..Head::new(at(0), 600) };
    let id = SessionId::new("live_1").expect("an id");
    let mut session = Session { id, app_id: AppId::new("shop").expect("an id"), head };
    let asked_by = ActorKey::parse("agent:planner").ok();
    let ask = Ask { asked_by, intent: "Deploy\n3.0?".to_owned(), since: at(7) };
    let contract = json!({"x-answerWithin": 60, "x-to": "human:lead"}).to_string();
    let item = waiting(&session, Some(&ask), &contract).expect("it waits");
    assert_eq!((item.urgency_at(at(7)), item.deadline), (Urgency::Loss, Some(at(60_007))));
    let hour = json!({"x-answerWithin": 3_600}).to_string();
    let later =
        Session { head: Head { is_asking: true, ..Head::new(at(0), 7_200) }, ..session.clone() };
    let long = waiting(&later, Some(&ask), &hour).expect("it waits");
    let (early, late) = (at(2_700_006), at(2_700_007));
    assert_eq!(long.urgency_at(early), Urgency::Piece);
    assert_eq!(long.urgency_at(late), Urgency::Loss);
    // The session ends before the deadline.
    let short =
        Session { head: Head { is_asking: true, ..Head::new(at(0), 1_800) }, ..session.clone() };
    let short = waiting(&short, Some(&ask), &hour).expect("it waits");
    assert_eq!(short.deadline, Some(at(1_800_000)));
    assert_eq!(short.urgency_at(at(899_999)), Urgency::Piece);
    assert_eq!(short.urgency_at(at(900_000)), Urgency::Loss);
    assert_eq!(item.title, "agent:planner asks a person");
    assert_eq!(item.words.as_deref(), Some("Deploy 3.0?"));
    assert_eq!(item.to.as_deref(), Some("human:lead"));
    assert_eq!(item.opening, 7);
    let item = waiting(&session, Some(&ask), "").expect("it waits");
    assert_eq!((item.urgency_at(at(9)), item.gone_at), (Urgency::Piece, Some(at(600_000))));
    session.head.is_asking = false;
    assert_eq!(waiting(&session, Some(&ask), &contract), None);
    assert_eq!(waiting(&session, None, &contract), None);
}
