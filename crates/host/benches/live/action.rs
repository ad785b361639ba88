//! Action round trips of 100 sockets: in memory, on the disk, and on a slow disk.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Gates;
use crate::client::{Client, framed};
use crate::server::{DELAY, Server, Store};

const SOCKETS: usize = 100;
/// Sessions, so that sockets of one and of several sessions act at the same time.
const SESSIONS: usize = 20;
const LASTING: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;
const ALONE: usize = 300;

pub(crate) fn run(gates: &mut Gates) {
    println!("action: round trips of {SOCKETS} sockets in {SESSIONS} sessions");
    let ping = framed(&json!({"type": "ping", "payload": {}, "requestId": "p"}).to_string());
    let (mut floor, mut memory, mut durable) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        let server = serve_sessions(Store::Memory);
        floor = floor.max(together(server.address, |_| ping.clone()));
        memory = memory.max(together(server.address, action));
        drop(server);
        durable = durable.max(together(serve_sessions(Store::Durable).address, action));
    }
    println!("  pings, which store nothing                        {floor:>9.0} a second");
    println!("  actions, in memory                                {memory:>9.0} a second");
    println!("  actions, durable                                  {durable:>9.0} a second");
    gates.at_least("actions a second in memory", memory, 20_000.0);
    gates.at_least("durable against in memory", durable / memory, 0.5);

    let single = alone(serve_sessions(Store::Durable).address);
    let one_by_one = 1.0 / (DELAY + single).as_secs_f64();
    let rounds = (0..ROUNDS).map(|_| together(serve_sessions(Store::Slow).address, action));
    let slow = rounds.fold(0.0, f64::max);
    println!("  with 5 ms more a commit, one commit an action     {one_by_one:>9.0} a second");
    println!("  with 5 ms more a commit, {SOCKETS} sockets              {slow:>9.0} a second");
    gates.at_least("slow disk, against one commit an action", slow / one_by_one, 20.0);
}

/// A server with the sessions.
fn serve_sessions(store: Store) -> Server {
    let mut server = Server::start(store);
    for number in 0..SESSIONS {
        server.seed(&session(number));
    }
    server
}

fn session(number: usize) -> String {
    format!("bench-{}", number % SESSIONS)
}

fn action(number: usize) -> Vec<u8> {
    let payload = json!({
        "sessionId": session(number),
        "type": "data:submit",
        "payload": {"action": "answer", "data": {"text": "yes, at nine o'clock"}},
    });
    framed(&json!({"type": "action", "payload": payload, "requestId": "a"}).to_string())
}

/// Round trips a second of all sockets.
fn together(address: SocketAddr, frame: impl Fn(usize) -> Vec<u8>) -> f64 {
    let runtime = runtime();
    runtime.block_on(async {
        let mut clients = Vec::new();
        for number in 0..SOCKETS {
            let mut client = Client::open(address).await;
            client.subscribe(&session(number), None).await;
            clients.push((client, frame(number)));
        }
        let began = Instant::now();
        let working = clients.into_iter().map(|(mut client, frame)| {
            tokio::spawn(async move {
                let mut answered = 0_u64;
                while began.elapsed() < LASTING {
                    client.send(&frame).await;
                    // Frames of the stream have no id.
                    while !is_answer(client.next().await) {}
                    answered += 1;
                }
                answered
            })
        });
        let working: Vec<_> = working.collect();
        let mut total = 0;
        for work in working {
            total += work.await.expect("a client");
        }
        total as f64 / began.elapsed().as_secs_f64()
    })
}

/// Whether a frame answers one of ours, and is no refusal.
fn is_answer(frame: &[u8]) -> bool {
    assert!(!frame.starts_with(br#"{"type":"error""#), "{}", String::from_utf8_lossy(frame));
    frame.starts_with(br#"{"type":"ack""#) || frame.starts_with(br#"{"type":"pong""#)
}

/// How long one socket waits for an answer, p50.
fn alone(address: SocketAddr) -> Duration {
    runtime().block_on(async {
        let mut client = Client::open(address).await;
        client.subscribe(&session(0), None).await;
        let frame = action(0);
        let mut took = Vec::with_capacity(ALONE);
        for _ in 0..ALONE {
            let began = Instant::now();
            client.send(&frame).await;
            while !is_answer(client.next().await) {}
            took.push(began.elapsed());
        }
        took.sort();
        took[ALONE / 2]
    })
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
