//! Sessions expire, and their ids can be used again.

use accord_contract::Timestamp;
use accord_live::{LiveOptions, Waiting};
use accord_live_core::frame::Close;
use accord_store::{Scope, StoreError, StoreExt as _};
use serde_json::json;

use accord_live_core::session::Sender;

use crate::support::{
    act, action, app, arguments, create, document, emit, end, numbers, object, owner, places,
    project, seed, subscribe, until,
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
        live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        emit(&live, "s1", "log", 7).await;
        place.expire("s1");
        if is_swept {
            live.sweep().await.unwrap();
        }
        // The id stays with its app.
        let other = subscribe(&live, "s1", json!({"appId": "atlas"})).await.unwrap_err();
        assert_eq!(other.failure.code.as_str(), "APP_MISMATCH");
        let request = json!({"clientId": "page", "fromSeq": 0});
        let mut new = subscribe(&live, "s1", request).await.unwrap();
        let ack = document(&new.ack.text);
        assert_eq!(ack["payload"]["sequence"], 3);
        assert_eq!(ack["payload"]["streamSeq"], 2);
        assert_eq!(ack["payload"]["session"]["appId"], "shop");
        assert!(ack["payload"]["session"].get("actionSpec").is_none());
        // The number of the client was used by another session.
        let binding = new.subscriber.binding().clone();
        let ack =
            live.act(&binding, action("s1", "again", Some(1)), Sender::default()).await.unwrap();
        assert_eq!(ack.sequence, 4);
        // Nothing of before can be read, and the old subscriber gets nothing of the new session.
        assert!(place.ledger("s1").iter().map(|row| row.seq).eq([4]));
        let ui = object(crate::support::contract());
        let id = crate::support::session_id("s1");
        live.seed(&app("shop"), &id, ui, Default::default()).await.unwrap();
        assert_eq!(end(&mut old.subscriber).await.close, Close::SESSION_EXPIRED);
        assert_eq!(end(&mut new.subscriber).await.close, Close::SESSION_EXPIRED);
        let horizon = json!({"sinceSequence": 1});
        let mut late = subscribe(&live, "s1", horizon).await.unwrap();
        let frames = until(&mut late.subscriber, 3).await;
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
        let at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
        let removed: Result<u64, StoreError> =
            place.store.write(move |unit| unit.remove_project(&project("shop"), &at));
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
async fn an_action_that_is_sent_again_is_known_while_its_session_lives() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = person.subscriber.binding().clone();
        let first =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        let again =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        assert_eq!(again, first);
        place.expire("s1");
        // The same before and after the sweep.
        for _ in 0..2 {
            let refused = live
                .act(&binding, action("s1", "yes", Some(1)), Sender::default())
                .await
                .unwrap_err();
            assert_eq!(refused.code.as_str(), "SESSION_NOT_FOUND");
            live.sweep().await.unwrap();
        }
        // The refusal appended nothing, and the counter does not restart.
        assert_eq!(place.row("s1").session.head.ledger, first.sequence);
        let new = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        assert_eq!(document(&new.ack.text)["payload"]["sequence"], first.sequence);
        // Another session, in which the same number is another action.
        let binding = new.subscriber.binding().clone();
        let later =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        assert_eq!(later.sequence, first.sequence + 1);
    }
}

#[tokio::test]
async fn an_archived_project_takes_no_change_but_the_end_of_its_sessions() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = person.subscriber.binding().clone();
        let first =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        let consume = || arguments(json!({"sessionId": "s1"}));
        let waiting = Waiting::default();
        let taken = live.consume(&owner(), &app("shop"), consume(), waiting).await.unwrap();
        place.archive(true);
        let refused = act(&live, &binding, "no").await.unwrap_err();
        assert_eq!(refused.code.as_str(), "project_archived");
        // What was acknowledged stays acknowledged.
        let again =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        assert_eq!(again, first);
        let waiting = Waiting::default();
        let refused = live.consume(&owner(), &app("shop"), consume(), waiting).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "project_archived");
        // Events that did not reach their agent are given back all the same.
        drop(taken);
        let returned = || place.returned("s1");
        let given_back = async {
            while returned().is_none_or(|numbers| numbers == "[]") {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::support::LIMIT, given_back).await.expect("given back");
        place.expire("s1");
        assert_eq!(live.sweep().await.unwrap(), 1);
        assert!(place.kinds().iter().any(|kind| kind == "live.session.expired"));
    }
}

#[tokio::test]
async fn an_answer_that_nobody_read_outlasts_its_session_for_some_days() {
    for (place, seconds) in places().into_iter().chain(places()).zip([60, 60, 0, 0]) {
        let live = place.live_with(LiveOptions { unread_seconds: seconds, ..Default::default() });
        let unread = || async {
            let answers = live.unread(&owner(), &app("shop")).await.unwrap().answers;
            answers.iter().map(|it| it.action().1["text"].clone()).collect::<Vec<_>>()
        };
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let binding = person.subscriber.binding().clone();
        for text in ["read", "lost", "unread"] {
            act(&live, &binding, text).await.unwrap();
            let consume = match text {
                "read" => json!({"sessionId": "s1"}),
                "lost" => json!({"sessionId": "s1", "x-after": 0}),
                _ => continue,
            };
            let (caller, shop) = (owner(), app("shop"));
            let taken = live.consume(&caller, &shop, arguments(consume), Waiting::default());
            taken.await.unwrap().take();
        }
        assert_eq!(unread().await, ["lost", "unread"]);
        place.expire("s1");
        assert_eq!(live.sweep().await.unwrap(), 1);
        let kept: &[&str] = if seconds > 0 { &["lost", "unread"] } else { &[] };
        assert_eq!(unread().await, kept);
        assert_eq!(live.sweep().await.unwrap(), 0);
        let left = place.store.read(|unit| unit.settings(Scope::Store)).unwrap();
        assert_eq!(left.len(), usize::from(seconds > 0), "{left:?}");
    }
}

/// A project that is created again has no answers of the one that was removed.
#[tokio::test]
async fn an_answer_that_nobody_read_does_not_outlast_its_project() {
    for (place, is_swept) in places().into_iter().chain(places()).zip([true, true, false, false]) {
        let live = place.live_with(LiveOptions { unread_seconds: 60, ..Default::default() });
        let unread = async || live.unread(&owner(), &app("shop")).await.unwrap().answers.len();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        act(&live, person.subscriber.binding(), "before").await.unwrap();
        place.expire("s1");
        live.sweep().await.unwrap();
        assert_eq!(unread().await, 1);
        let at = Timestamp::emit(live.now());
        let removed: Result<u64, StoreError> =
            place.store.write(move |unit| unit.remove_project(&project("shop"), &at));
        removed.unwrap();
        create(&place.store);
        if is_swept {
            live.sweep().await.unwrap();
            assert_eq!(place.store.read(|unit| unit.settings(Scope::Store)).unwrap(), []);
        }
        assert_eq!(unread().await, 0);
    }
}
