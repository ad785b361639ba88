//! Followers get every commit to the store, whichever memory made it.

use accord_base::Caller;
use accord_memory::Since;
use serde_json::json;

use crate::support::{deposit, engines, memory_over, next, project_id};

#[tokio::test(flavor = "multi_thread")]
async fn two_memories_over_one_store_notify_each_other() {
    for (engine, _folder) in engines() {
        let (one, other) = (memory_over(&engine), memory_over(&engine));
        deposit(&one, "pkg_0", json!({})).await;
        let mut followers = Vec::new();
        for memory in [&one, &other] {
            let (caller, atlas) = (Caller::owner(), project_id("atlas"));
            followers.push(memory.follow(&caller, &atlas, Since::Now).await.unwrap());
        }
        for (memory, id, seq) in [(&one, "pkg_1", 3), (&other, "pkg_2", 4)] {
            deposit(memory, id, json!({})).await;
            for follower in &mut followers {
                let events = next(follower).await;
                let seen: Vec<u64> = events.iter().map(|event| event.seq).collect();
                assert_eq!(seen, [seq]);
            }
        }
        // A memory that is gone is not in the way of the others.
        drop((followers.remove(0), one));
        deposit(&other, "pkg_3", json!({})).await;
        assert_eq!(next(&mut followers[0]).await[0].seq, 5);
    }
}
