//! Agents take events out of the pipe.

use std::collections::BTreeSet;
use std::time::Duration;

use accord_contract::Wire as _;
use accord_live::{Live, Waiting};
use accord_live_core::session::Ask;
use accord_store::{StoreError, StoreExt as _};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{
    LIMIT, act, app, arguments, contract, next, object, owner, places, seed, session_id, subscribe,
};

async fn consume(live: &Live, timeout: u64) -> Vec<Value> {
    let request = arguments(json!({"sessionId": "s1", "timeout": timeout}));
    let caller = owner();
    let shop = app("shop");
    let consumed = live.consume(&caller, &shop, request, Waiting::default());
    let answer = tokio::time::timeout(LIMIT, consumed).await.unwrap().unwrap().take();
    answer.events.into_iter().map(Value::Object).collect()
}

fn texts(events: &[Value]) -> Vec<String> {
    let text = |event: &Value| event["actionData"]["text"].as_str().unwrap().to_owned();
    events.iter().map(text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_event_is_taken_once_by_one_of_many_agents() {
    const EVENTS: usize = 60;
    for place in places() {
        let (live, other) = (place.live(), place.live());
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let mut agents = JoinSet::new();
        for agent in 0..4 {
            // Half of them at another host over the same store.
            let live = if agent % 2 == 0 { live.clone() } else { other.clone() };
            agents.spawn(async move {
                let mut taken = Vec::new();
                loop {
                    let events = texts(&consume(&live, 20).await);
                    let is_end = events.iter().any(|text| text == "end");
                    taken.extend(events);
                    if is_end {
                        // For the next agent.
                        return (live, taken);
                    }
                }
            });
        }
        let binding = person.subscriber.binding();
        let mut sent = BTreeSet::new();
        for number in 0..EVENTS {
            act(&live, binding, &number.to_string()).await.unwrap();
            sent.insert(number.to_string());
        }
        let mut taken = Vec::new();
        for _ in 0..4 {
            act(&live, binding, "end").await.unwrap();
            let (_, events) = agents.join_next().await.unwrap().unwrap();
            taken.extend(events.into_iter().filter(|text| text != "end"));
        }
        taken.sort();
        assert!(taken.is_sorted_by(|one, other| one < other), "twice: {taken:?}");
        assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), sent);
        assert_eq!(consume(&live, 0).await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_waiting_agent_is_woken_and_the_page_learns_of_it() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut person = subscribe(&live, "s1", json!({"fromSeq": 1})).await.unwrap();
        let agent = live.clone();
        let waiting = tokio::spawn(async move { consume(&agent, 25).await });
        // The lifecycle channel says that an agent waits.
        let frames = next(&mut person.subscriber).await;
        assert_eq!(frames[0]["payload"]["payload"]["kind"], "consume_polling");
        let asks = live.asks(&owner(), &app("shop"), None, 10).await.unwrap();
        assert_eq!(asks.len(), 1);
        act(&live, person.subscriber.binding(), "yes").await.unwrap();
        let events = waiting.await.unwrap();
        assert_eq!(texts(&events), ["yes"]);
        let frames = next(&mut person.subscriber).await;
        assert_eq!(frames[0]["type"], "drain_ack");
        assert_eq!(frames[0]["payload"]["eventId"], events[0]["actionId"]);
        let asks = live.asks(&owner(), &app("shop"), None, 10).await.unwrap();
        assert_eq!(asks, []);
    }
}

#[tokio::test]
async fn a_wait_that_is_aborted_takes_nothing() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut person = subscribe(&live, "s1", json!({"fromSeq": 1})).await.unwrap();
        let agent = live.clone();
        let waiting = tokio::spawn(async move { consume(&agent, 25).await });
        // It waits.
        next(&mut person.subscriber).await;
        let submit = |id: &str| {
            let payload = json!({"intent": "answer", "actionData": {"text": id}, "uiContext": {}});
            arguments(json!({
                "kind": "dispatch", "payload": payload, "sessionId": "s1", "appId": "shop",
                "actionId": id, "firedAt": "2026-01-01T00:00:00Z",
            }))
        };
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        let outcome = live.submit_action(&owner(), submit("a1")).await.unwrap().document();
        assert_eq!(outcome["consumerPresent"], false);
        // The same action twice is one event.
        live.submit_action(&owner(), submit("a1")).await.unwrap();
        assert_eq!(texts(&consume(&live, 0).await), ["a1"]);
    }
}

#[tokio::test]
async fn a_pull_waits_for_an_event() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let puller = live.clone();
        let waiting = tokio::spawn(async move {
            let request = arguments(json!({"sessionId": "s1", "sinceSequence": 2, "wait": 20}));
            puller.pull(&owner(), &app("shop"), request).await.unwrap().encode()
        });
        tokio::task::yield_now().await;
        act(&live, person.subscriber.binding(), "yes").await.unwrap();
        let page = tokio::time::timeout(LIMIT, waiting).await.unwrap().unwrap();
        assert_eq!((&page["lastSequence"], &page["hasMore"]), (&json!(3), &json!(false)));
        assert_eq!(page["events"][0]["seq"], 3);
        let request = arguments(json!({"sessionId": "s1", "sinceSequence": 9}));
        let page = live.pull(&owner(), &app("shop"), request).await.unwrap().encode();
        let passed = json!({"reason": "REPLAY_HORIZON_PASSED", "currentSequence": 3});
        assert_eq!(page, passed);
        // An empty pull ends with its time.
        let request = arguments(json!({"sessionId": "s1", "sinceSequence": 3, "wait": 1}));
        let began = std::time::Instant::now();
        let page = live.pull(&owner(), &app("shop"), request).await.unwrap().encode();
        assert_eq!(page["events"], json!([]));
        assert!(began.elapsed() >= Duration::from_millis(900));
    }
}

/// Waits until the pipe gives something, as a commit that nobody waits for takes its time.
async fn consume_some(live: &Live) -> Vec<Value> {
    let began = std::time::Instant::now();
    loop {
        let events = consume(live, 5).await;
        if !events.is_empty() {
            return events;
        }
        assert!(began.elapsed() < LIMIT, "no event came back into the pipe");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_taken_gives_its_events_back() {
    for place in places() {
        let (live, other) = (place.live(), place.live());
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let binding = person.subscriber.binding();
        for text in ["one", "two"] {
            act(&live, binding, text).await.unwrap();
        }
        let request = || arguments(json!({"sessionId": "s1"}));
        let (caller, shop) = (owner(), app("shop"));
        let consumed = live.consume(&caller, &shop, request(), Waiting::default()).await.unwrap();
        assert!(!consumed.is_empty());
        // Another event arrives and another agent takes it before the first one goes away.
        act(&live, binding, "three").await.unwrap();
        assert_eq!(texts(&consume(&live, 0).await), ["three"]);
        drop(consumed);
        // Another host over the same store gets them, in their order, and once.
        assert_eq!(texts(&consume_some(&other).await), ["one", "two"]);
        assert_eq!(consume(&live, 0).await, Vec::<Value>::new());
        assert_eq!(consume(&other, 0).await, Vec::<Value>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_is_cancelled_anywhere_loses_nothing() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let binding = person.subscriber.binding();
        let mut taken = Vec::new();
        for number in 0..40_u64 {
            act(&live, binding, &number.to_string()).await.unwrap();
            let agent = live.clone();
            let call = tokio::spawn(async move { consume(&agent, 25).await });
            // At another moment each time: before, during and after the commit.
            tokio::time::sleep(Duration::from_micros(number * 50)).await;
            call.abort();
            if let Ok(events) = call.await {
                taken.extend(texts(&events));
            }
        }
        let mut began = std::time::Instant::now();
        while taken.len() < 40 {
            let events = texts(&consume(&live, 1).await);
            if !events.is_empty() {
                began = std::time::Instant::now();
            }
            taken.extend(events);
            assert!(began.elapsed() < LIMIT, "lost: {taken:?}");
        }
        taken.sort_by_key(|text| text.parse::<u64>().unwrap());
        let all: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        assert_eq!(taken, all);
    }
}

#[tokio::test]
async fn an_agent_learns_that_the_time_to_answer_is_over() {
    for place in places() {
        let live = place.live();
        let mut ui = object(contract());
        ui.insert("x-answerWithin".into(), 60.into());
        live.seed(&app("shop"), &session_id("s1"), ui, Default::default()).await.unwrap();
        let asked = |timeout: u64| {
            let request = arguments(json!({"sessionId": "s1", "timeout": timeout}));
            let (live, caller, shop) = (&live, owner(), app("shop"));
            async move {
                let consumed = live.consume(&caller, &shop, request, Waiting::default());
                tokio::time::timeout(LIMIT, consumed).await.unwrap().unwrap().take()
            }
        };
        assert_eq!(asked(0).await.ask_ended, None, "the ask has begun");
        let written: Result<(), StoreError> = place.store.write(|unit| {
            let id = session_id("s1");
            let ask = unit.live_ask(&id)?.expect("it asks");
            unit.put_live_ask(&id, Some(&Ask { since: ask.since.add_seconds(-61), ..ask }))
        });
        written.unwrap();
        let answer = asked(25).await;
        assert!(answer.ask_ended.is_some() && answer.events.is_empty(), "{answer:?}");
        assert!(answer.encode()["x-askEnded"].is_string());
        assert!(asked(0).await.ask_ended.is_some(), "the next call does not ask anew");
    }
}
