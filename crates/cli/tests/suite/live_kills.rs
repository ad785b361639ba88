//! A server that is killed in the middle of everything loses no action of a person and doubles
//! none.
//!
//! Sixteen clients of one live session send actions while the server is ended by `kill -9` at some
//! moment. Each reconnects to the next server, sends the action again that was not acknowledged,
//! and goes on. Afterwards the ledger has every action once, in the order of its client, with the
//! sequence of its acknowledgement. `ACCORD_KILL_ROUNDS=100` makes it long.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use tungstenite::client::{ClientRequestBuilder, client_with_config};
use tungstenite::{Message, WebSocket};

use crate::server::Server;
use crate::wait::{LIMIT, wait_until};

const CLIENTS: usize = 16;

/// A page in a browser: it lives through many connections.
struct Page {
    client: usize,
    /// The sequences of the acknowledged actions, in order.
    acknowledged: Vec<u64>,
    /// How many actions were sent again after a reconnect, and were there.
    again: usize,
}

#[test]
fn a_killed_server_keeps_every_acknowledged_action_once_and_in_order() {
    let rounds = std::env::var("ACCORD_KILL_ROUNDS");
    let rounds: u64 = rounds.map_or(3, |rounds| rounds.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Server::start(folder.path(), &[]);
    let session = begin_session(&server);
    let mut pages: Vec<Page> =
        (0..CLIENTS).map(|client| Page { client, acknowledged: Vec::new(), again: 0 }).collect();
    for round in 0..rounds {
        act_until_killed(&mut server, &session, &mut pages, round);
        drop(server);
        server = Server::start(folder.path(), &[]);
        compare(&ledger(&server, &session), &pages, round);
    }
    let sent: usize = pages.iter().map(|page| page.acknowledged.len()).sum();
    let again: usize = pages.iter().map(|page| page.again).sum();
    println!("{sent} actions were acknowledged in {rounds} rounds; {again} came twice");
}

/// A session with one action, as an agent begins it.
fn begin_session(server: &Server) -> String {
    let integer = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {"client": integer, "number": integer},
        "required": ["client", "number"]});
    let contract = json!({"actionSpec": {"count": {"label": "Count", "schema": schema}}});
    let draft = json!({"intent": "Count", "blueprintDraft": {"contract": contract}});
    let made = tool(server, "ggui_handshake?project_id=shop", &draft);
    let asked = json!({"handshakeId": made["handshakeId"], "props": {}});
    let rendered = tool(server, "ggui_render", &asked);
    rendered["sessionId"].as_str().expect("a session").to_owned()
}

fn tool(server: &Server, name: &str, arguments: &Value) -> Value {
    let path = format!("/accord/v1/live/tools/{name}");
    let (status, answer) = server.ask("POST", &path, &arguments.to_string());
    assert_eq!(status, 200, "{name}: {answer}");
    answer["result"].clone()
}

/// Lets the pages act, until the server is killed at some moment.
fn act_until_killed(server: &mut Server, session: &str, pages: &mut [Page], round: u64) {
    let address = server.address.clone();
    let (count, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for page in pages {
            let (address, count, is_over) = (&address, &count, &is_over);
            scope.spawn(move || page.act(address, session, count, is_over));
        }
        // Sometimes early, sometimes late, at least after the first answers.
        let enough = 8 + (round * 37) % 190;
        wait_until(format_args!("{enough} acknowledged actions"), || {
            count.load(Ordering::Relaxed) >= enough
        });
        server.kill();
        is_over.store(true, Ordering::Relaxed);
    });
}

impl Page {
    /// Sends actions until the server is gone. The first one may be there already.
    fn act(&mut self, address: &str, session: &str, count: &AtomicU64, is_over: &AtomicBool) {
        let Some((mut socket, before)) = self.connect(address, session) else { return };
        while !is_over.load(Ordering::Relaxed) {
            let number = self.acknowledged.len() + 1;
            let payload = json!({"sessionId": session, "type": "data:submit", "clientSeq": number,
                "payload": {"action": "count", "data": {"client": self.client, "number": number}}});
            let Some(answer) = ask(&mut socket, "action", payload) else { return };
            assert_eq!(answer["type"], "ack", "{answer}");
            let sequence = answer["payload"]["sequence"].as_u64().expect("a sequence");
            self.again += usize::from(sequence <= before);
            self.acknowledged.push(sequence);
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A subscribed socket, and the last sequence of the ledger before; `None` if the server is
    /// gone.
    fn connect(&self, address: &str, session: &str) -> Option<(WebSocket<TcpStream>, u64)> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(LIMIT)).ok()?;
        let uri = format!("ws://{address}/ws").parse().expect("an address");
        let (mut socket, _) =
            client_with_config(ClientRequestBuilder::new(uri), stream, None).ok()?;
        let payload = json!({"sessionId": session, "appId": "shop",
            "clientId": format!("page-{}", self.client)});
        let answer = ask(&mut socket, "subscribe", payload)?;
        assert_eq!(answer["type"], "ack", "{answer}");
        Some((socket, answer["payload"]["sequence"].as_u64()?))
    }
}

/// Sends a frame and waits for its answer; `None` if the server is gone.
fn ask(socket: &mut WebSocket<TcpStream>, kind: &str, payload: Value) -> Option<Value> {
    let frame = json!({"type": kind, "payload": payload, "requestId": "asked"});
    socket.send(Message::text(frame.to_string())).ok()?;
    loop {
        let Message::Text(text) = socket.read().ok()? else { continue };
        let frame: Value = serde_json::from_str(text.as_str()).expect("a frame");
        if frame["requestId"] == "asked" {
            return Some(frame);
        }
    }
}

/// The actions of the ledger: client, number and sequence.
fn ledger(server: &Server, session: &str) -> Vec<(u64, u64, u64)> {
    let mut actions = Vec::new();
    let mut last = 0;
    loop {
        let asked = json!({"sessionId": session, "sinceSequence": last, "limit": 100});
        let page = tool(server, "ggui_runtime_pull", &asked);
        for event in page["events"].as_array().expect("events") {
            let sequence = event["seq"].as_u64().expect("a sequence");
            assert_eq!(sequence, last + 1, "the ledger has no gap");
            last = sequence;
            let data = &event["data"]["payload"]["data"];
            if event["type"] == "user.submitted" {
                let number = |name: &str| data[name].as_u64().expect("a number");
                actions.push((number("client"), number("number"), sequence));
            }
        }
        if page["hasMore"] != true {
            assert_eq!(page["lastSequence"], last);
            return actions;
        }
    }
}

/// Every action is there once, in the order of its client. One that was not acknowledged may be
/// there: then it is the last one of its client.
fn compare(actions: &[(u64, u64, u64)], pages: &[Page], round: u64) {
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (client, number, sequence) in actions {
        let known = found.entry(*client).or_default();
        known.push(*sequence);
        assert_eq!(*number, known.len() as u64, "round {round}: client {client} is out of order");
    }
    for page in pages {
        let found = found.remove(&(page.client as u64)).unwrap_or_default();
        let acknowledged = &page.acknowledged;
        assert!(found.len() <= acknowledged.len() + 1, "round {round}: client {}", page.client);
        assert_eq!(found.get(..acknowledged.len()), Some(&acknowledged[..]), "round {round}");
    }
}
