//! Sessions expire, and their ids can be used again.

use accord_live::Waiting;
use accord_live_core::frame::Close;
use serde_json::json;

use crate::support::{
    act, action, app, arguments, document, emit, end, next, numbers, object, owner, places, seed,
    subscribe,
};

#[tokio::test]
async fn an_expired_session_is_recorded_once_and_its_subscribers_end() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut person = subscribe(&live, "s1", json!({})).await.unwrap();
        let binding = person.subscriber.binding().clone();
        act(&live, &binding, "yes").await.unwrap();
        assert_eq!(live.sweep().await.unwrap(), 0);
        place.expire("s1");
        let refused = act(&live, &binding, "late").await.unwrap_err();
        assert_eq!(refused.code.as_str(), "SESSION_NOT_FOUND");
        let consume = arguments(json!({"sessionId": "s1"}));
        let refused =
            live.consume(&owner(), &app("shop"), consume, Waiting::default()).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "session_not_found");
        assert_eq!(live.sweep().await.unwrap(), 1);
        assert_eq!(live.sweep().await.unwrap(), 0);
        let ended = end(&mut person.subscriber).await;
        assert_eq!(ended.close, Close::SESSION_EXPIRED);
        let kinds = place.kinds();
        assert_eq!(kinds.iter().filter(|kind| *kind == "live.session.expired").count(), 1);
        assert_eq!(place.ledger("s1"), []);
        let asks = live.asks(&owner(), &app("shop"), None, 10).await.unwrap();
        assert_eq!(asks, []);
    }
}

#[tokio::test]
async fn an_id_that_is_used_again_continues_its_counters() {
    for (place, is_swept) in places().into_iter().chain(places()).zip([true, true, false, false]) {
        let live = place.live();
        seed(&live, "s1").await;
        let mut old = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = old.subscriber.binding().clone();
        live.act(&binding, action("s1", "yes", Some(1))).await.unwrap();
        emit(&live, "s1", "log", 7).await;
        place.expire("s1");
        if is_swept {
            live.sweep().await.unwrap();
        }
        // In another app, too.
        let request = json!({"appId": "atlas", "clientId": "page", "fromSeq": 0});
        let mut new = subscribe(&live, "s1", request).await.unwrap();
        let ack = document(&new.ack.text);
        assert_eq!(ack["payload"]["sequence"], 3);
        assert_eq!(ack["payload"]["streamSeq"], 2);
        assert_eq!(ack["payload"]["session"]["appId"], "atlas");
        assert!(ack["payload"]["session"].get("actionSpec").is_none());
        // The number of the client was used by another session.
        let binding = new.subscriber.binding().clone();
        let ack = live.act(&binding, action("s1", "again", Some(1))).await.unwrap();
        assert_eq!(ack.sequence, 4);
        // Nothing of before can be read, and the old subscriber gets nothing of the new session.
        assert!(place.ledger("s1").iter().map(|row| row.seq).eq([4]));
        let ui = object(crate::support::contract());
        let id = crate::support::session_id("s1");
        live.seed(&app("atlas"), &id, ui, Default::default()).await.unwrap();
        assert_eq!(end(&mut old.subscriber).await.close, Close::SESSION_EXPIRED);
        assert_eq!(end(&mut new.subscriber).await.close, Close::SESSION_EXPIRED);
        let horizon = json!({"appId": "atlas", "sinceSequence": 1});
        let mut late = subscribe(&live, "s1", horizon).await.unwrap();
        let frames = next(&mut late.subscriber).await;
        assert_eq!(frames[0]["payload"]["code"], "REPLAY_HORIZON_PASSED");
        assert_eq!(numbers(&frames), [3]);
    }
}

#[tokio::test]
async fn the_counters_survive_the_removal_of_the_project() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut person = subscribe(&live, "s1", json!({})).await.unwrap();
        act(&live, person.subscriber.binding(), "yes").await.unwrap();
        let at = accord_contract::time::Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
        let removed: Result<u64, accord_store::StoreError> = {
            use accord_store::StoreExt as _;
            let shop = crate::support::project("shop");
            place.store.write(move |unit| unit.remove_project(&shop, &at))
        };
        removed.unwrap();
        assert_eq!(end(&mut person.subscriber).await.close, Close::SESSION_EXPIRED);
        let refused = subscribe(&live, "s2", json!({})).await.unwrap_err();
        assert_eq!(refused.failure.code.as_str(), "APP_MISMATCH");
        let again = subscribe(&live, "s1", json!({"appId": "atlas"})).await.unwrap();
        let ack = document(&again.ack.text);
        assert_eq!(
            (&ack["payload"]["sequence"], &ack["payload"]["streamSeq"]),
            (&json!(3), &json!(1))
        );
    }
}

#[tokio::test]
async fn an_action_that_is_sent_again_is_known_until_the_sweep() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = person.subscriber.binding().clone();
        let first = live.act(&binding, action("s1", "yes", Some(1))).await.unwrap();
        place.expire("s1");
        let again = live.act(&binding, action("s1", "yes", Some(1))).await.unwrap();
        assert_eq!(again.sequence, first.sequence);
        live.sweep().await.unwrap();
        let refused = live.act(&binding, action("s1", "yes", Some(1))).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "SESSION_NOT_FOUND");
        // The refusal appended nothing, and the counter does not restart.
        assert_eq!(place.row("s1").session.head.ledger, first.sequence);
        let new = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        assert_eq!(document(&new.ack.text)["payload"]["sequence"], first.sequence);
    }
}
