//! Who may subscribe, and what happens to subscribers that are too slow.

use accord_live::LiveOptions;
use accord_live_core::frame::{Close, HostContextObserved};
use accord_live_core::limits::Limits;
use serde_json::json;

use crate::support::{
    app, arguments, document, emit, end, next, numbers, places, seed, session_id, subscribe, until,
};

#[tokio::test]
async fn a_session_begins_with_its_first_subscriber_and_belongs_to_one_app() {
    for place in places() {
        let options = LiveOptions { default_app: Some(app("shop")), ..LiveOptions::default() };
        let live = place.live_with(options);
        let first = subscribe(&live, "s1", json!({})).await.unwrap();
        let ack = document(&first.ack.text);
        assert_eq!(ack["payload"]["sequence"], 0);
        assert_eq!(ack["payload"]["session"]["componentCode"], "");
        assert_eq!(place.kinds(), ["live.session.started"]);
        let refused = subscribe(&live, "s1", json!({"appId": "atlas"})).await.unwrap_err();
        assert_eq!(refused.failure.code.as_str(), "APP_MISMATCH");
        assert!(refused.spends && !refused.closes);
        assert_eq!(live.sockets(), 1);
        drop(first);
        assert_eq!(live.sockets(), 0);
        // Another version is refused before anything else.
        live.advertise(&session_id("s1"), Some("other".to_owned()));
        let request = json!({"supportedVersions": ["draft-2026-08-19"]});
        let refused = subscribe(&live, "s1", request.clone()).await.unwrap_err();
        assert_eq!(refused.failure.code.as_str(), "UPGRADE_REQUIRED");
        live.advertise(&session_id("s1"), None);
        subscribe(&live, "s1", request).await.unwrap();
    }
}

#[tokio::test]
async fn a_host_context_is_stored_as_it_is() {
    for place in places() {
        let live = place.live();
        let socket = subscribe(&live, "s1", json!({})).await.unwrap();
        let context = json!({"platform": "mobile", "containerDimensions": {"width": 320.5}});
        let observed: HostContextObserved =
            arguments(json!({"sessionId": "s1", "hostContext": context}));
        live.observe_host(socket.subscriber.binding(), observed).await.unwrap();
        let found = live.found(&session_id("s1"), None).await.unwrap().unwrap();
        assert_eq!(serde_json::Value::Object(found.content.host_context.unwrap()), context);
        assert_eq!(found.session.app_id, app("shop"));
    }
}

#[tokio::test]
async fn a_subscriber_that_is_too_slow_ends_and_can_come_again() {
    for place in places() {
        let mut limits = Limits::default();
        limits.subscriber_queue = 4;
        let options = LiveOptions { limits, ..LiveOptions::default() };
        let live = place.live_with(options);
        seed(&live, "s1").await;
        let mut slow = subscribe(&live, "s1", json!({})).await.unwrap();
        assert_eq!(numbers(&next(&mut slow.subscriber).await), [1]);
        for number in 0..4 {
            emit(&live, "s1", "log", number).await;
        }
        assert_eq!(numbers(&until(&mut slow.subscriber, 5).await), [2, 3, 4, 5]);
        for number in 0..6 {
            emit(&live, "s1", "log", number).await;
        }
        let ended = end(&mut slow.subscriber).await;
        assert_eq!(ended.close, Close::SLOW_SUBSCRIBER);
        let frame = document(&ended.frame.unwrap().text);
        assert_eq!(frame["payload"]["code"], "LIVE_SUBSCRIBER_SLOW");
        assert_eq!(frame["payload"]["details"]["fromSeq"], 5);
        let mut again = subscribe(&live, "s1", json!({"fromSeq": 5})).await.unwrap();
        assert_eq!(numbers(&until(&mut again.subscriber, 11).await), [6, 7, 8, 9, 10, 11]);
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_loses_nothing() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut person = subscribe(&live, "s1", json!({"fromSeq": 1})).await.unwrap();
        let waits = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(waits, person.subscriber.next()).await.is_err());
        emit(&live, "s1", "tick", 1).await;
        assert_eq!(numbers(&next(&mut person.subscriber).await), [2]);
    }
}
