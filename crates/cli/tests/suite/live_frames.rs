//! A server does not grow under frames that nobody would send. It is a process of its own, so that
//! what it uses can be measured.

use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::client::{ClientRequestBuilder, client_with_config};
use tungstenite::{Message, WebSocket};

use self::frames::{Random, frame, seed};
use crate::server::Server;
use crate::wait::LIMIT;

#[path = "../../../host/tests/suite/live/frames.rs"]
mod frames;

/// How many frames are sent between two measurements, by how many sockets at once, and how many
/// each socket sends before another takes its place.
const FRAMES: usize = 15_000;
const THREADS: usize = 4;
const OF_SOCKET: usize = 250;

/// A server that keeps this much of each frame grows.
const KEPT_BYTES: u64 = 70;

/// What is made on demand, such as a cache, can appear in a late round. What grows grows in each.
const ROUNDS: usize = 4;

#[test]
fn frames_that_nobody_would_send_do_not_grow_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    // A frame with a wrong version must not close its socket.
    let server = Server::start(folder.path(), &["--set", "live.version_policy=advisory"]);
    let (status, made) = server.ask("POST", "/v1/projects", r#"{"project_id":"shop"}"#);
    assert_eq!(status, 201, "{made}");
    send_all(&server, 0);
    let mut before = resident_bytes(&server);
    let mut grown = Vec::new();
    for round in 1..=ROUNDS {
        send_all(&server, round);
        let after = resident_bytes(&server);
        grown.push(after.saturating_sub(before));
        before = after;
        if grown.last() < Some(&(FRAMES as u64 * KEPT_BYTES)) {
            return;
        }
    }
    panic!("{FRAMES} frames each time, and the server grew by {grown:?} bytes");
}

fn send_all(server: &Server, round: usize) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let number = (round * THREADS + thread + 1) as u64;
                let mut random = Random(seed() ^ (number << 32));
                for socket in 0..FRAMES / THREADS / OF_SOCKET {
                    send(&server.address, &mut random, socket % 2 == 0);
                }
            });
        }
    });
}

/// Sends the frames of one socket, and waits until they are answered.
fn send(address: &str, random: &mut Random, is_subscribed: bool) {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("an option");
    stream.set_read_timeout(Some(LIMIT)).expect("an option");
    let uri = format!("ws://{address}/ws").parse().expect("an address");
    let (mut socket, _) =
        client_with_config(ClientRequestBuilder::new(uri), stream, None).expect("a socket");
    if is_subscribed {
        let payload = json!({"sessionId": "s1", "appId": "shop"});
        assert_eq!(ask(&mut socket, "subscribe", &payload)["type"], "ack");
    }
    for _ in 0..OF_SOCKET {
        let message = match String::from_utf8(frame(random)) {
            Ok(text) => Message::text(text),
            Err(error) => Message::binary(error.into_bytes()),
        };
        socket.send(message).expect("the server reads");
    }
    assert_eq!(ask(&mut socket, "ping", &json!({}))["type"], "pong");
}

/// Sends a frame and waits for its answer.
fn ask(socket: &mut WebSocket<TcpStream>, kind: &str, payload: &Value) -> Value {
    let asked = json!({"type": kind, "payload": payload, "requestId": "asked"});
    socket.send(Message::text(asked.to_string())).expect("the server reads");
    loop {
        let Message::Text(text) = socket.read().expect("a frame") else { continue };
        let answer: Value = serde_json::from_str(text.as_str()).expect("JSON");
        if answer["requestId"] == "asked" {
            return answer;
        }
    }
}

/// The memory of the server that no file backs.
fn resident_bytes(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a file");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line");
    let kilobytes = line.trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().expect("a number") * 1024
}
