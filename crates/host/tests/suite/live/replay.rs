//! Replay and live frames, without holes and without overlap.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{World, number_of};
use crate::support::soon;

#[tokio::test(flavor = "multi_thread")]
async fn two_sockets_get_the_same_frames() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let (mut first, mut second) = (world.subscribed("s1"), world.subscribed("s1"));
    for number in 0..20 {
        let channel = ["log", "state", "tick"][number % 3];
        world.emit("s1", channel, number as u64).await;
    }
    let last = world.emit("s1", "log", 20).await;
    let seen = first.until(last);
    assert_eq!(seen, second.until(last));
    // Every number, because a subscriber gets frames that are not kept too.
    let own: Vec<u64> = (last - 20..=last).collect();
    assert_eq!(seen[seen.len() - 21..], own);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_connects_again_and_again_misses_and_doubles_nothing() {
    let world = Arc::new(World::open(&[]).await);
    world.seed("s1").await;
    let is_done = Arc::new(AtomicBool::new(false));
    let emitting = tokio::spawn({
        let (world, is_done) = (Arc::clone(&world), Arc::clone(&is_done));
        async move {
            let mut last = 0;
            for number in 0..200 {
                last = world.emit("s1", "log", number).await;
            }
            is_done.store(true, Ordering::Release);
            last
        }
    });
    let reading = tokio::task::spawn_blocking({
        let world = Arc::clone(&world);
        move || {
            let mut seen: Vec<u64> = Vec::new();
            loop {
                let was_done = is_done.load(Ordering::Acquire);
                let mut client = world.client();
                let from = seen.last().copied().unwrap_or(0);
                let ack = client.subscribe("s1", json!({"fromSeq": from}));
                assert_eq!(ack["payload"].get("replayTruncated"), None, "{ack}");
                // Some live frames, and then the connection is lost.
                for frame in client.barrier() {
                    seen.extend(number_of(&frame));
                }
                if was_done {
                    return seen;
                }
            }
        }
    });
    let last = soon("the frames to be emitted", emitting).await.unwrap();
    let seen = soon("the reader to get them", reading).await.unwrap();
    let expected: Vec<u64> = (1..=last).collect();
    assert_eq!(seen, expected);
    let world = Arc::try_unwrap(world).unwrap_or_else(|_| panic!("nobody else uses it"));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_has_what_the_channels_keep() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    for number in 0..300 {
        world.emit("s1", "log", number).await;
    }
    for number in 0..3 {
        world.emit("s1", "state", number).await;
    }
    let last = world.emit("s1", "tick", 0).await;
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({"fromSeq": 0}));
    assert_eq!(ack["payload"]["replayTruncated"], true);
    assert_eq!(ack["payload"]["streamSeq"], last);
    let replayed: Vec<_> = client.barrier();
    let states = replayed.iter().filter(|frame| frame["payload"]["channel"] == "state").count();
    assert_eq!(states, 1);
    let logged = replayed.iter().filter(|frame| frame["payload"]["channel"] == "log").count();
    assert!((200..=256).contains(&logged), "{logged}");
    // A position that nothing was evicted after.
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({"fromSeq": last - 4}));
    assert_eq!(ack["payload"].get("replayTruncated"), None);
    assert_eq!(client.barrier().len(), 1, "the newest state");
    // Without a position only the channels of the platform are replayed.
    let channels: BTreeSet<String> = {
        let mut client = world.subscribed("s1");
        let frames = client.barrier();
        let channel = |frame: &serde_json::Value| frame["payload"]["channel"].to_string();
        frames.iter().map(channel).collect()
    };
    assert!(channels.iter().all(|channel| channel.contains("_ggui:")), "{channels:?}");
    // Positions that cannot be replayed are answered, and the socket is subscribed.
    let mut client = world.client();
    client.subscribe("s1", json!({"sinceSequence": 1_000}));
    let frames = client.barrier();
    assert_eq!(super::code(&frames[0]), "REPLAY_HORIZON_PASSED");
    assert!(frames[0]["payload"]["details"]["currentSequence"].is_u64());
    assert_eq!(client.act("s1", "subscribed")["type"], "ack");
    world.close().await;
}
