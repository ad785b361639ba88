//! Frames of an agent to many subscribers, some of which lose their connection again and again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::Gates;
use crate::action::runtime;
use crate::client::Client;
use crate::server::{Server, Store};

const SUBSCRIBERS: usize = 500;
const RATE: u32 = 100;
const SESSION: &str = "bench";
/// Every tenth subscriber connects again after so many frames.
const FRAMES: u64 = 150;
/// How long a subscriber may wait for the last frame.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(gates: &mut Gates, lasting: Duration) {
    let seconds = lasting.as_secs();
    println!("fanout: {RATE} frames a second to {SUBSCRIBERS} subscribers for {seconds} s");
    let mut server = Server::start(Store::Durable);
    server.seed(SESSION);
    let address = server.address;
    let (last, reconnects) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicU64::new(0)));
    let reading = std::thread::spawn({
        let (last, reconnects) = (Arc::clone(&last), Arc::clone(&reconnects));
        move || runtime().block_on(read(address, &last, &reconnects))
    });
    // All of them are subscribed when the first frame is emitted: the counter says so.
    while reconnects.load(Ordering::Acquire) == 0 {
        assert!(!reading.is_finished(), "the subscribers failed");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.emit(SESSION, RATE, lasting);
    let emitted = server.emitted();
    last.store(emitted, Ordering::Release);
    let seen = reading.join().expect("the subscribers");
    let frames: u64 = seen.iter().map(|seen| seen.frames).sum();
    let lost: u64 = seen.iter().map(|seen| emitted - seen.first + 1 - seen.frames).sum();
    let wrong: u64 = seen.iter().map(|seen| seen.wrong).sum();
    let reconnected = reconnects.load(Ordering::Relaxed) - 1;
    println!("  frames received                                   {frames:>9}");
    println!("  connections that were lost and replaced           {reconnected:>9}");
    gates.at_most("frames that were lost", lost as f64, 0.0);
    gates.at_most("frames that came twice, or out of order", wrong as f64, 0.0);
}

/// What a subscriber saw.
struct Seen {
    /// The number of the first frame that it had to get.
    first: u64,
    frames: u64,
    wrong: u64,
}

async fn read(
    address: SocketAddr,
    last: &Arc<AtomicU64>,
    reconnects: &Arc<AtomicU64>,
) -> Vec<Seen> {
    let mut clients = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let mut client = Client::open(address).await;
        let ack = client.subscribe(SESSION, None).await;
        clients.push((client, ack["streamSeq"].as_u64().expect("a number")));
    }
    reconnects.fetch_add(1, Ordering::Release);
    let reading = clients.into_iter().enumerate().map(|(number, (client, cursor))| {
        let (last, reconnects) = (Arc::clone(last), Arc::clone(reconnects));
        let drops = number % 10 == 0;
        tokio::spawn(
            async move { follow(address, client, cursor, drops, &last, &reconnects).await },
        )
    });
    let reading: Vec<_> = reading.collect();
    let mut seen = Vec::new();
    for work in reading {
        seen.push(work.await.expect("a subscriber"));
    }
    seen
}

async fn follow(
    address: SocketAddr,
    mut client: Client,
    mut cursor: u64,
    drops: bool,
    last: &AtomicU64,
    reconnects: &AtomicU64,
) -> Seen {
    let mut seen = Seen { first: cursor + 1, frames: 0, wrong: 0 };
    let mut quiet = Duration::ZERO;
    while cursor < last.load(Ordering::Acquire) {
        const PAUSE: Duration = Duration::from_millis(500);
        let Ok(frame) = tokio::time::timeout(PAUSE, client.next()).await else {
            quiet += PAUSE;
            if quiet > PATIENCE {
                return seen;
            }
            continue;
        };
        quiet = Duration::ZERO;
        let frame: Value = serde_json::from_slice(frame).expect("a frame");
        let Some(number) = frame["payload"]["seq"].as_u64() else { continue };
        // A replay has frames of the platform from before the subscription.
        if number <= cursor && seen.frames == 0 {
            continue;
        }
        seen.wrong += u64::from(number != cursor + 1);
        seen.frames += 1;
        cursor = number;
        if drops && seen.frames.is_multiple_of(FRAMES) {
            client = Client::open(address).await;
            let ack = client.subscribe(SESSION, Some(cursor)).await;
            assert_eq!(ack.get("replayTruncated"), None, "it was away too long");
            reconnects.fetch_add(1, Ordering::Relaxed);
        }
    }
    seen
}
