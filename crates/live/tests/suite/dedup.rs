//! An action that is sent again counts once.

use serde_json::json;

use accord_live_core::session::Sender;

use crate::support::{action, places, seed, subscribe};

#[tokio::test]
async fn an_action_that_is_sent_again_gets_its_first_answer() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let first = subscribe(&live, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = first.subscriber.binding().clone();
        let ack =
            live.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        drop(first);
        // Another socket of the same page, over another host.
        let other = place.live();
        let again = subscribe(&other, "s1", json!({"clientId": "page"})).await.unwrap();
        let binding = again.subscriber.binding().clone();
        let repeated =
            other.act(&binding, action("s1", "yes", Some(1)), Sender::default()).await.unwrap();
        assert_eq!(repeated, ack);
        assert_eq!(place.ledger("s1").len(), 3);
        let refused =
            other.act(&binding, action("s1", "no", Some(1)), Sender::default()).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "INVALID_MESSAGE");
        // Another load of the page begins at 1 again.
        let reloaded = subscribe(&live, "s1", json!({"clientId": "page 2"})).await.unwrap();
        let ack = live
            .act(reloaded.subscriber.binding(), action("s1", "no", Some(1)), Sender::default())
            .await;
        assert_eq!(ack.unwrap().sequence, 4);
        // Without an id of the page, nothing is recognised.
        let plain = subscribe(&live, "s1", json!({})).await.unwrap();
        for sequence in [5, 6] {
            let ack = live
                .act(plain.subscriber.binding(), action("s1", "no", Some(1)), Sender::default())
                .await;
            assert_eq!(ack.unwrap().sequence, sequence);
        }
    }
}
