//! Accord's own side: lists, answers without a page, watching.

use accord_base::{Actor, ActorKey, By, Door};
use accord_contract::Wire as _;
use accord_live::{Delivery, Live, PageQuery, Watcher};
use accord_live_core::operations::answer::LiveAnswerRequest;
use accord_live_core::operations::questions::LiveAsk;
use accord_live_core::session::StreamQuery;
use accord_store::{DecisionQuery, StoreExt as _};
use serde_json::{Value, json};

use crate::support::{
    LIMIT, app, arguments, contract, document, emit, owner, places, project, session_id,
};

/// Renders a UI that asks for something. Returns its session.
async fn ask(live: &Live, intent: &str) -> String {
    let request = json!({"intent": intent, "blueprintDraft": {"contract": contract()}});
    let made = live.handshake(&owner(), &app("shop"), arguments(request)).await.unwrap();
    let request = json!({"handshakeId": made.handshake_id.as_str(), "props": {}});
    let rendered = live.render(&owner(), &app("shop"), arguments(request), None).await.unwrap();
    rendered.session_id.as_str().to_owned()
}

async fn answer(live: &Live, session: &str, request: Value) -> Result<u64, String> {
    let request = LiveAnswerRequest::from_document(request).unwrap();
    let lead = ActorKey::parse("human:lead").unwrap();
    let by = By::new(Actor::new(lead.id, lead.kind), Door::Cli);
    let (shop, session) = (app("shop"), session_id(session));
    let answered = live.answer(&owner(), &shop, &session, request, by).await;
    answered.map(|ack| ack.sequence).map_err(|failure| failure.code.as_str().to_owned())
}

async fn next(watcher: &mut Watcher) -> Vec<Value> {
    let next = tokio::time::timeout(LIMIT, watcher.next()).await.unwrap().unwrap();
    match next {
        Delivery::Frames(frames) => frames.iter().map(|frame| document(&frame.text)).collect(),
        Delivery::End(end) => panic!("{end:?}"),
    }
}

/// The types of the frames until one of a type.
async fn until(watcher: &mut Watcher, kind: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    while frames.iter().all(|frame: &Value| frame["type"] != kind) {
        frames.extend(next(watcher).await);
    }
    frames
}

#[tokio::test]
async fn sessions_are_listed_page_by_page_with_what_they_wait_for() {
    for place in places() {
        let live = place.live();
        let mut rendered = Vec::new();
        for intent in ["one", "two", "three"] {
            rendered.push(ask(&live, intent).await);
        }
        answer(&live, &rendered[1], json!({"action": "answer", "data": {"text": "x"}}))
            .await
            .unwrap();
        let (mut page, mut found) = (PageQuery { cursor: None, limit: 2 }, Vec::new());
        loop {
            let answer = live.overview(&owner(), &app("shop"), None, &page).await.unwrap();
            assert!(answer.sessions.len() <= 2);
            found.extend(answer.sessions);
            page.cursor = answer.next_cursor;
            if page.cursor.is_none() {
                break;
            }
        }
        let mut ids: Vec<&str> = found.iter().map(|item| item.session_id.as_str()).collect();
        ids.sort_unstable();
        let mut expected: Vec<&str> = rendered.iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(ids, expected);
        for item in &found {
            let is_answered = item.session_id.as_str() == rendered[1];
            assert_eq!(item.ask.is_none(), is_answered, "{item:?}");
        }
        // By the beginning of an id.
        let page = PageQuery { cursor: None, limit: 10 };
        let named = live.overview(&owner(), &app("shop"), Some(rendered[0].clone()), &page).await;
        let named = named.unwrap().sessions;
        assert_eq!(named.len(), 1);
        assert_eq!(named[0].intent.as_deref(), Some("one"));
        // The asks, the oldest first, in pages.
        let page = PageQuery { cursor: None, limit: 1 };
        let first = live.pending_asks(&owner(), &app("shop"), &page).await.unwrap();
        let page = PageQuery { cursor: first.next_cursor.clone(), limit: 1 };
        let second = live.pending_asks(&owner(), &app("shop"), &page).await.unwrap();
        let intent = |asks: &[LiveAsk]| asks[0].intent.clone();
        assert_eq!((intent(&first.asks), intent(&second.asks)), ("one".into(), "three".into()));
        assert_eq!(second.next_cursor, None);
        let of_other = PageQuery { cursor: first.next_cursor, limit: 1 };
        let refused = live.overview(&owner(), &app("shop"), None, &of_other).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "invalid_cursor");
        let other = live.overview(&owner(), &app("atlas"), None, &page_of(5)).await.unwrap();
        assert!(other.sessions.is_empty());
        // An empty list of a project that does not exist would hide a wrong name.
        let page = page_of(5);
        let listed = live.overview(&owner(), &app("shpo"), None, &page).await.unwrap_err();
        let asked = live.pending_asks(&owner(), &app("shpo"), &page).await.unwrap_err();
        for refused in [listed, asked] {
            assert_eq!(refused.code.as_str(), "project_not_found");
            assert_eq!(refused.message, "there is no project \"shpo\"");
        }
    }
}

fn page_of(limit: usize) -> PageQuery {
    PageQuery { cursor: None, limit }
}

#[tokio::test]
async fn an_answer_is_checked_recorded_once_and_ends_the_ask() {
    for place in places() {
        let live = place.live();
        let session = ask(&live, "a colour").await;
        let before = place.row(&session).session.head.ledger;
        let wrong = json!({"action": "answer", "data": {"text": 3}});
        assert_eq!(answer(&live, &session, wrong).await.unwrap_err(), "CONTRACT_VIOLATION");
        let unknown = json!({"action": "ask"});
        assert_eq!(answer(&live, &session, unknown).await.unwrap_err(), "CONTRACT_VIOLATION");
        assert_eq!(place.row(&session).session.head.ledger, before);
        let (shop, id) = (app("shop"), session_id(&session));
        assert!(live.view(&owner(), &shop, &id).await.unwrap().ask.is_some());

        let right = json!({
            "action": "answer", "data": {"text": "red"}, "client_id": "c1", "client_seq": 1,
        });
        let sequence = answer(&live, &session, right.clone()).await.unwrap();
        assert_eq!(sequence, before + 1);
        assert_eq!(answer(&live, &session, right).await.unwrap(), sequence);
        assert_eq!(place.row(&session).session.head.ledger, sequence);
        assert_eq!(live.view(&owner(), &shop, &id).await.unwrap().ask, None);
        let row = place.ledger(&session).pop().unwrap();
        let recorded = document(&row.text);
        assert_eq!(recorded["x-by"], json!({"id": "lead", "type": "human"}));
        assert_eq!(recorded["x-door"], "cli");
        assert_eq!(recorded["payload"]["data"], json!({"text": "red"}));
        assert_eq!(
            answer(&live, "no-such", json!({"action": "answer"})).await.unwrap_err(),
            "SESSION_NOT_FOUND"
        );
    }
}

#[tokio::test]
async fn a_watcher_gets_frames_events_and_asks() {
    for place in places() {
        let live = place.live();
        let session = ask(&live, "a colour").await;
        let (shop, id) = (app("shop"), session_id(&session));
        let now = StreamQuery::default();
        let mut watcher = live.watch(&owner(), &shop, &id, now).await.unwrap();
        let frames = next(&mut watcher).await;
        assert_eq!((&frames[0]["type"], frames.len()), (&json!("x-ask"), 1));
        assert_eq!(frames[0]["payload"]["intent"], "a colour");
        // A channel whose frames are not kept.
        emit(&live, &session, "tick", 7).await;
        let frames = until(&mut watcher, "data").await;
        assert_eq!(frames.last().unwrap()["payload"]["payload"], 7);
        answer(&live, &session, json!({"action": "answer", "data": {"text": "red"}}))
            .await
            .unwrap();
        let frames = until(&mut watcher, "x-answered").await;
        assert_eq!(frames[0]["type"], "render_event", "{frames:?}");
        assert_eq!(frames[0]["payload"]["data"]["payload"]["action"], "answer");

        // From the beginning: the whole ledger, and the kept frames.
        let all = StreamQuery { since: Some(0), from_seq: Some(0) };
        let mut watcher = live.watch(&owner(), &shop, &id, all).await.unwrap();
        let mut frames = Vec::new();
        while frames.iter().filter(|frame: &&Value| frame["type"] == "render_event").count() < 3 {
            frames.extend(next(&mut watcher).await);
        }
        let events = frames.iter().filter(|frame| frame["type"] == "render_event");
        let numbers: Vec<&Value> = events.map(|frame| &frame["payload"]["seq"]).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert!(frames.iter().any(|frame| frame["payload"]["channel"] == "_ggui:lifecycle"));

        let missing = live.watch(&owner(), &app("atlas"), &id, now).await.unwrap_err();
        assert_eq!(missing.code.as_str(), "session_not_found");
        let late = StreamQuery { since: Some(99), from_seq: None };
        let late = live.watch(&owner(), &shop, &id, late).await.unwrap_err();
        assert_eq!(late.code.as_str(), "REPLAY_HORIZON_PASSED");
    }
}

#[tokio::test]
async fn a_page_that_polls_is_no_agent_that_waits() {
    let place = crate::support::model();
    let live = place.live();
    let session = ask(&live, "a colour").await;
    let (shop, id) = (app("shop"), session_id(&session));
    let request = json!({"sessionId": session, "sinceSequence": 2, "wait": 20});
    let polling = {
        let (live, shop) = (live.clone(), shop.clone());
        tokio::spawn(async move { live.pull(&owner(), &shop, arguments(request)).await })
    };
    let request =
        LiveAnswerRequest::from_document(json!({"action": "answer", "data": {"text": "red"}}));
    let lead = ActorKey::parse("human:lead").unwrap();
    let by = By::new(Actor::new(lead.id, lead.kind), Door::Cli);
    let ack = live.answer(&owner(), &shop, &id, request.unwrap(), by).await.unwrap();
    assert!(!ack.agent_waits);
    let page = tokio::time::timeout(LIMIT, polling).await.unwrap().unwrap().unwrap();
    assert_eq!(page.encode()["events"].as_array().unwrap().len(), 1);
}

/// An answer to an ask is a decision, which outlasts the session. What nobody waits for is none.
#[tokio::test]
async fn an_answer_to_an_ask_is_recorded_as_a_decision() {
    for place in places() {
        let live = place.live();
        let session = ask(&live, "a colour").await;
        let request = |seq: u64| {
            let data = json!({"text": "crimson"});
            json!({"action": "answer", "data": data, "client_id": "c", "client_seq": seq})
        };
        let first = answer(&live, &session, request(1)).await.unwrap();
        // The same answer again, and one more that nobody waits for.
        assert_eq!(answer(&live, &session, request(1)).await, Ok(first));
        answer(&live, &session, request(2)).await.unwrap();
        let decisions = || {
            let query = DecisionQuery { limit: 9, ..DecisionQuery::default() };
            place.store.read(|unit| unit.decisions(&project("shop"), &query)).unwrap()
        };
        let found = decisions();
        assert_eq!(found.len(), 1, "{found:?}");
        let record = document(&found[0].text);
        assert_eq!(record["actor"], "human:lead");
        assert_eq!(record["known_by"], "none");
        assert_eq!((&record["title"], &record["action"]), (&json!("a colour"), &json!("answer")));
        assert!(record["subject"].as_str().unwrap().starts_with(&format!("{session}/")));
        assert!(record["evidence"].as_str().unwrap().starts_with("sha256:"));
        assert!(record["asked_at"].is_string() && !found[0].text.contains("crimson"), "{record}");
        place.expire(&session);
        live.sweep().await.unwrap();
        assert!(place.kinds().iter().any(|kind| kind == "live.session.expired"));
        assert_eq!(decisions(), found);
    }
}
