//! The routes for clients that cannot open the channel.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use accord_contract::Object;
use accord_live_core::token::{Secret, TokenKind};
use serde_json::{Value, json};

use super::{World, app_id, request, session_id};
use crate::support::{PATIENCE, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_is_read_in_pages() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.subscribed("s1");
    for number in 0..5 {
        client.act("s1", &number.to_string());
    }
    let token = world.token("s1");
    let ask =
        |query: &str| world.get(&format!("/api/sessions/s1/events?wsToken={token}&{query}"), &[]);
    let page = ask("sinceSequence=0&limit=3").json();
    assert_eq!(page["events"].as_array().unwrap().len(), 3);
    assert_eq!((&page["events"][0]["seq"], &page["hasMore"]), (&json!(1), &json!(true)));
    let last = page["lastSequence"].as_u64().unwrap();
    let rest = ask(&format!("sinceSequence={}", last - 2)).json();
    assert_eq!(rest["events"].as_array().unwrap().len(), 2);
    assert_eq!(rest["hasMore"], false);
    for query in [
        "",
        "sinceSequence=-1",
        "sinceSequence=1.5",
        "sinceSequence=0&limit=0",
        "sinceSequence=0&limit=501",
    ] {
        let refused = ask(query);
        assert_eq!(refused.status, 400, "{query}");
        refused.has("access-control-allow-origin: *");
    }
    let passed = ask(&format!("sinceSequence={}", last + 1));
    assert_eq!(passed.status, 410);
    let expected = json!({"reason": "REPLAY_HORIZON_PASSED", "currentSequence": last});
    assert_eq!(passed.json(), expected);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_checked_before_anything_is_read() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let (live, app) = (world.host.live(), app_id("shop"));
    let old = live.now().add_seconds(-1_000);
    let secret = live.secret().unwrap();
    let s1 = session_id("s1");
    let expired = secret.mint(TokenKind::Ws, &s1, &app, old, [1; 12]).text;
    let forged = Secret::new(*b"another secret of another server")
        .mint(TokenKind::Ws, &s1, &app, live.now(), [1; 12])
        .text;
    let bearer = live.mint_token_with(TokenKind::Session, &s1, &app, Object::new()).unwrap().text;
    let (other, missing) = (world.token("s2"), world.token("nothing"));
    for route in ["events?sinceSequence=0&", "stream?", "state?"] {
        let ask = |session: &str, token: &str| {
            let query = if token.is_empty() { String::new() } else { format!("wsToken={token}") };
            let answer = world.get(&format!("/api/sessions/{session}/{route}{query}"), &[]);
            answer.has("access-control-allow-origin: *");
            (answer.status, answer.json()["code"].as_str().unwrap().to_owned())
        };
        let refused = |status, code: &str| (status, code.to_owned());
        assert_eq!(ask("", &missing), refused(400, "INVALID_MESSAGE"), "{route}");
        assert_eq!(ask("s1", ""), refused(401, "UNAUTHENTICATED"), "{route}");
        assert_eq!(ask("s1", "x"), refused(401, "BOOTSTRAP_INVALID"));
        assert_eq!(ask("s1", &forged), refused(401, "BOOTSTRAP_INVALID"));
        assert_eq!(ask("s1", &bearer), refused(401, "BOOTSTRAP_INVALID"), "another kind");
        assert_eq!(ask("s1", &other), refused(401, "BOOTSTRAP_INVALID"), "another session");
        assert_eq!(ask("s1", &expired), refused(410, "BOOTSTRAP_EXPIRED"));
        assert_eq!(ask("nothing", &missing), refused(404, "SESSION_NOT_FOUND"));
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_session_has_a_new_token() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.subscribed("s1");
    let last = client.act("s1", "first")["payload"]["sequence"].clone();
    let answer = world.get(&format!("/api/sessions/s1/state?wsToken={}", world.token("s1")), &[]);
    let slice = answer.json()["ai.ggui/render"].clone();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.has("access-control-allow-origin: *");
    answer.has("cache-control: no-store");
    assert_eq!((&slice["sessionId"], &slice["appId"]), (&json!("s1"), &json!("shop")));
    assert_eq!((&slice["lastSequence"], &slice["epoch"]), (&last, &json!(0)));
    let address = world.address;
    assert_eq!(slice["wsUrl"], format!("ws://{address}/ws"));
    let token = slice["wsToken"].as_str().unwrap();
    for (name, end) in [("pollingUrl", "events"), ("sseUrl", "stream")] {
        let url = format!("http://{address}/api/sessions/s1/{end}?wsToken={token}");
        assert_eq!(slice[name], url);
    }
    // A page that opens no socket has no other credential than the address.
    let path = slice["pollingUrl"].as_str().unwrap().split_once(&address.to_string()).unwrap().1;
    assert_eq!(world.get(&format!("{path}&sinceSequence=0"), &[]).status, 200);
    assert!(slice["expiresAt"].as_str().unwrap().ends_with('Z'), "{slice}");
    let mut client = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    client.subscribe("s1", json!({"wsToken": token}));
    world.close().await;
}

/// A stream of events.
pub(super) struct Events(BufReader<TcpStream>);

impl Events {
    /// Opens a stream, after its head and the time to wait before it is opened again.
    pub(super) fn open(world: &World, path: &str, headers: &[(&str, &str)]) -> (Self, String) {
        let mut stream = TcpStream::connect(world.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let text = request(&world.address.to_string(), path, headers);
        stream.write_all(text.replace("Connection: close\r\n", "").as_bytes()).unwrap();
        let mut events = Self(BufReader::new(stream));
        let mut head = String::new();
        loop {
            let line = events.line();
            if line.is_empty() {
                break;
            }
            head.push_str(&line.to_lowercase());
            head.push('\n');
        }
        while events.line() != "retry: 3000" {}
        (events, head)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    /// The next event: its id and its frame. Sizes of chunks are passed over.
    pub(super) fn next(&mut self) -> (Option<String>, Value) {
        let mut id = None;
        loop {
            let line = self.line();
            if let Some(sent) = line.strip_prefix("id: ") {
                id = Some(sent.to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_has_the_frames_of_the_channel() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({}));
    let before = ack["payload"]["sequence"].as_u64().unwrap();
    client.act("s1", "first");
    let kept = world.emit("s1", "log", 1).await;
    let path = format!(
        "/api/sessions/s1/stream?wsToken={}&sinceSequence=0&fromSeq={}",
        world.token("s1"),
        kept - 1
    );
    // The header counts before the query.
    let last = before.to_string();
    let (mut events, head) = Events::open(&world, &path, &[("Last-Event-ID", &last)]);
    for header in [
        "content-type: text/event-stream",
        "cache-control: no-store, no-cache, must-revalidate",
        "x-accel-buffering: no",
        "access-control-allow-origin: *",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    let (id, ack) = events.next();
    assert_eq!((id, &ack["type"]), (None, &json!("ack")));
    let (id, replayed) = events.next();
    assert_eq!((id, &replayed["type"]), (Some((before + 1).to_string()), &json!("render_event")));
    let (id, data) = events.next();
    assert_eq!((id, &data["payload"]["seq"]), (None, &json!(kept)));
    let live = world.emit("s1", "tick", 2).await;
    let (id, data) = events.next();
    assert_eq!((id, &data["payload"]["seq"]), (None, &json!(live)));
    // A position that cannot be replayed is an event, with the last number as its id. A header that
    // is no number is ignored.
    let path = path.replace("sinceSequence=0", "sinceSequence=999");
    let (mut events, _) = Events::open(&world, &path, &[("Last-Event-ID", "x")]);
    assert_eq!(events.next().1["type"], "ack");
    let (id, error) = events.next();
    assert_eq!(super::code(&error), "REPLAY_HORIZON_PASSED");
    assert_eq!(id, Some((before + 1).to_string()));
    drop(events);
    // They are subscribers like others, and end with the server.
    wait_until("the streams to be counted", || world.host.live().sockets() <= 2).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_the_channel_is_public() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let _client = world.subscribed("s1");
    assert_eq!(world.get("/ggui/live", &[]).status, 200);
    let answer = world.get("/ggui/health", &[]);
    answer.has("access-control-allow-origin: *");
    let health = answer.json();
    assert_eq!((answer.status, &health["status"]), (200, &json!("ok")));
    assert_eq!(
        (&health["channel"]["path"], &health["channel"]["subscribers"]),
        (&json!("/ws"), &json!(1))
    );
    assert!(health["tools"].as_array().unwrap().len() > 10);
    assert_eq!(world.get("/ggui/auth-check", &[]).status, 204);
    // A store that cannot be written is no store to be used.
    let (database, moved) = (world.folder.path().join("accord.db"), world.folder.path().join("x"));
    std::fs::rename(&database, &moved).unwrap();
    let answer = world.get("/ggui/health", &[]);
    let health = answer.json();
    assert_eq!((answer.status, &health["status"]), (503, &json!("degraded")));
    assert_eq!(health["checks"], json!({"store": "failed", "channel": "ok"}));
    assert_eq!(world.get("/ggui/live", &[]).status, 200);
    std::fs::rename(&moved, &database).unwrap();
    assert_eq!(world.get("/ggui/health", &[]).status, 200);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_is_served_by_its_digest_and_cannot_do_harm() {
    let world = World::open(&[]).await;
    let code = "export default () => null;";
    let hash = accord_canon::sha256(code.as_bytes()).hex();
    let mut ui = super::contract();
    ui.insert("componentCode".into(), code.into());
    ui.insert("x-codeHash".into(), hash.as_str().into());
    let (app, session) = (app_id("shop"), session_id("s1"));
    world.host.live().seed(&app, &session, ui, Default::default()).await.unwrap();
    let answer = world.get(&format!("/code/{hash}.js"), &[("Origin", "https://host.example")]);
    assert_eq!((answer.status, answer.body.as_str()), (200, code));
    for header in [
        "content-type: text/javascript",
        "cache-control: public, max-age=31536000, immutable",
        "content-security-policy: sandbox\r\n",
        "x-content-type-options: nosniff",
        "access-control-allow-origin: *",
    ] {
        answer.has(header);
    }
    for path in [format!("/code/{hash}"), "/code/x.js".to_owned()] {
        assert_eq!(world.get(&path, &[]).status, 404);
    }
    world.close().await;
}
