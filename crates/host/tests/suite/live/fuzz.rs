//! Frames that nobody would send: the parser and the socket survive them.

use std::sync::atomic::{AtomicU64, Ordering};

use accord_live_core::frame::parse;
use accord_live_core::limits::Limits;
use serde_json::json;
use tungstenite::Message;

use super::{World, action};

/// A seeded source of numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Pieces of frames, right and wrong.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "-0",
    "1e400",
    "9007199254740993",
    r#""type""#,
    r#""payload""#,
    r#""requestId""#,
    r#""subscribe""#,
    r#""action""#,
    r#""ping""#,
    r#""channel_subscribe""#,
    r#""channel_unsubscribe""#,
    r#""host_context_observed""#,
    r#""sessionId""#,
    r#""s1""#,
    r#""appId""#,
    r#""shop""#,
    r#""sinceSequence""#,
    r#""\ud800""#,
    r#""data:submit""#,
    "\u{0}",
    "\u{202e}",
];

/// A frame that is nearly right, or nothing at all.
fn frame(random: &mut Random) -> Vec<u8> {
    let mut bytes = match random.below(4) {
        0 => (0..random.below(40)).map(|_| random.pick(&PIECES)).collect::<String>().into_bytes(),
        1 => (0..random.below(200)).map(|_| random.next().to_le_bytes()[0]).collect(),
        _ => valid(random).into_bytes(),
    };
    // Some of them are damaged.
    for _ in 0..random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let place = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[place] = random.next().to_le_bytes()[0],
            1 => bytes.truncate(place),
            2 => drop(bytes.splice(place..place, random.pick(&PIECES).bytes())),
            _ => bytes.reverse(),
        }
    }
    bytes
}

fn valid(random: &mut Random) -> String {
    let session = random.pick(&["s1", "s1", "s2", ""]);
    let number = random.next();
    let deep = "[".repeat(random.below(600));
    let kind = random.pick(&[
        "ping",
        "action",
        "subscribe",
        "host_context_observed",
        "channel_subscribe",
        "channel_unsubscribe",
        "render",
    ]);
    let payload = match random.below(6) {
        0 => json!(deep),
        1 => json!(null),
        2 => action(session, "x"),
        3 => json!({"sessionId": session, "appId": "shop", "channelName": "log", "args": {},
            "pollIntervalMs": number}),
        4 => json!({"sessionId": session, "hostContext": {"platform": "web", "locale": deep}}),
        _ => json!({"sessionId": session, "appId": "shop", "fromSeq": number % 5,
            "sinceSequence": number, "clientId": deep, "wsToken": "x.y",
            "supportedVersions": ["draft-2026-08-19"]}),
    };
    json!({"type": kind, "payload": payload, "requestId": number.to_string()}).to_string()
}

/// The seed of this run; `ACCORD_SEED` repeats one.
fn seed() -> u64 {
    let named = std::env::var("ACCORD_SEED").ok().and_then(|seed| seed.parse().ok());
    named.unwrap_or(0x9e37_79b9_7f4a_7c15)
}

#[test]
fn a_hundred_thousand_frames_are_parsed_without_a_panic() {
    let mut random = Random(seed());
    let limits = Limits::default();
    let mut read = 0;
    for number in 0..100_000 {
        let bytes = frame(&mut random);
        read += usize::from(parse(&bytes, number % 2 == 0, &limits).is_ok());
    }
    assert!((1_000..99_000).contains(&read), "{read} frames of 100000 are valid");
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
