//! Frames that nobody would send: the parser and the socket survive them.

use std::sync::atomic::{AtomicU64, Ordering};

use accord_live_core::frame::parse;
use accord_live_core::limits::Limits;
use serde_json::json;
use tungstenite::Message;

use super::World;
use super::frames::{Random, frame, seed};

/// How many frames are parsed.
const FRAMES: usize = 100_000;

#[test]
fn a_hundred_thousand_frames_are_parsed_and_leave_nothing_behind() {
    let mut random = Random(seed());
    let limits = Limits::default();
    let mut read = 0;
    let mut half = || {
        for number in 0..FRAMES / 2 {
            let bytes = frame(&mut random);
            read += usize::from(parse(&bytes, number % 2 == 0, &limits).is_ok());
        }
    };
    // What is made once, such as a compiled pattern, is made by the first half.
    half();
    let kept = allocation_counter::measure(half).bytes_current;
    assert!((1_000..99_000).contains(&read), "{read} frames of {FRAMES} are valid");
    // Less than a byte a frame: one that is kept, or a part of one, is more.
    assert!(kept < FRAMES as i64 / 2, "{kept} bytes are left of {} frames", FRAMES / 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_answer_frames_that_nobody_would_send() {
    // A damaged version would close the socket.
    let world = World::in_memory(&[("live.version_policy", "advisory")]).await;
    world.seed("s1").await;
    let frames = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (world, frames) = (&world, &frames);
            scope.spawn(move || {
                let mut random = Random(seed() ^ (thread + 1));
                for round in 0..10 {
                    let mut client = world.client();
                    if round % 2 == 0 {
                        client.subscribe("s1", json!({}));
                    }
                    for _ in 0..250 {
                        let bytes = frame(&mut random);
                        let sent = match String::from_utf8(bytes) {
                            Ok(text) => Message::text(text),
                            Err(error) => Message::binary(error.into_bytes()),
                        };
                        client.0.send(sent).unwrap();
                        frames.fetch_add(1, Ordering::Relaxed);
                    }
                    // It is still there, and answers.
                    client.barrier();
                }
            });
        }
    });
    assert_eq!(frames.into_inner(), 10_000);
    // Nothing of them is left.
    crate::support::wait_until("the sockets to end", || world.host.live().sockets() == 0).await;
    let mut client = world.subscribed("s1");
    assert_eq!(client.act("s1", "after all of it")["type"], "ack");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_websocket_end_the_socket() {
    use std::io::{Read as _, Write as _};
    let world = World::in_memory(&[]).await;
    world.seed("s1").await;
    let mut random = Random(seed());
    for _ in 0..100 {
        let mut client = world.client();
        let bytes: Vec<u8> =
            (0..random.below(300)).map(|_| random.next().to_le_bytes()[0]).collect();
        let stream = client.0.get_mut();
        // The server may have closed the socket before all of it is sent.
        drop(stream.write_all(&bytes));
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
    }
    crate::support::wait_until("the sockets to end", || {
        world.get("/ggui/health", &[]).json()["channel"]["caps"]["open"] == 0
    })
    .await;
    world.close().await;
}
