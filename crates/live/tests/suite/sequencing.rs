//! Numbers have no gaps, also when many write at the same time.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::task::JoinSet;

use accord_live_core::session::Sender;

use crate::support::{act, document, emit, places, seed, subscribe};

const TASKS: usize = 12;
const EACH: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_actions_and_frames_are_numbered_without_gaps() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let live = live.clone();
            tasks.spawn(async move {
                let subscribed = subscribe(&live, "s1", json!({})).await.unwrap();
                let binding = subscribed.subscriber.binding().clone();
                let mut acked = Vec::new();
                let mut emitted = Vec::new();
                for number in 0..EACH {
                    let text = format!("{task}.{number}");
                    let ack = act(&live, &binding, &text).await.unwrap();
                    acked.push((ack.sequence, text));
                    emitted.push(emit(&live, "s1", "tick", number as u64).await);
                }
                (acked, emitted)
            });
        }
        let (mut acked, mut emitted) = (Vec::new(), BTreeSet::new());
        for (of_task, frames) in tasks.join_all().await {
            assert!(of_task.is_sorted(), "an action is after the one before it");
            acked.extend(of_task);
            emitted.extend(frames);
        }
        acked.sort();
        // Two events and one frame are from the beginning of the session.
        let total = (TASKS * EACH) as u64;
        assert!(acked.iter().map(|(seq, _)| *seq).eq(3..=total + 2));
        assert!(emitted.into_iter().eq(2..=total + 1));
        let ledger = place.ledger("s1");
        assert!(ledger.iter().map(|row| row.seq).eq(1..=total + 2));
        for (seq, text) in &acked {
            let data = document(&ledger[*seq as usize - 1].text);
            assert_eq!(data["payload"]["data"]["text"], **text);
        }
        let head = place.row("s1").session.head;
        assert_eq!((head.ledger, head.stream), (total + 2, total + 1));
        // Each event of the ledger is in the stream of the project once.
        let submitted = place.kinds().iter().filter(|kind| *kind == "live.user.submitted").count();
        assert_eq!(submitted as u64, total);
        assert_eq!(place.kinds().len() as u64, total + 3);
    }
}

#[tokio::test]
async fn a_refused_action_appends_nothing() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let subscribed = subscribe(&live, "s1", json!({})).await.unwrap();
        let binding = subscribed.subscriber.binding();
        let before = (place.row("s1"), place.ledger("s1"), place.kinds());
        let mut wrong = crate::support::action("s1", "x", None);
        wrong.envelope["payload"]["data"]["text"] = 41.into();
        let refused = live.act(binding, wrong, Sender::default()).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "CONTRACT_VIOLATION");
        assert_eq!((place.row("s1"), place.ledger("s1"), place.kinds()), before);
        assert_eq!(act(&live, binding, "x").await.unwrap().sequence, 3);
    }
}
