//! Who opens a socket, and from where.

use std::io::Write;
use std::sync::Arc;

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use super::{World, code};

/// Creates a key. Returns its id and the key itself.
pub(super) async fn key(world: &World, document: Value) -> (String, String) {
    let request = KeyRequest::from_document(document).unwrap();
    let created = world.host.keys().create(&Caller::owner(), request).await.unwrap();
    (created.key.key_id, created.secret)
}

pub(super) fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

const UPGRADE: [(&str, &str); 4] = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_keys_opens_sockets_for_keys_and_tokens() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    world.seed_in("atlas", "other").await;
    let (_, shop) =
        key(&world, json!({"label": "shop", "verbs": ["write"], "projects": ["shop"]})).await;
    let (_, both) = key(&world, json!({"label": "both", "verbs": ["write"]})).await;
    let (_, reader) = key(&world, json!({"label": "reader", "verbs": ["read"]})).await;
    for (path, headers, reason) in [
        ("/ws", vec![], "a bearer key is missing"),
        ("/ws?token=nothing", vec![], "unknown key"),
        ("/ws", vec![("Authorization", "Basic eA==")], "a bearer key is missing"),
        ("/ws", vec![("Cookie", "accord_session=x")], "a bearer key is missing"),
    ] {
        let headers: Vec<_> = UPGRADE.into_iter().chain(headers).collect();
        let refused = world.get(path, &headers);
        assert_eq!(refused.status, 401, "{refused:?}");
        assert_eq!(refused.body, format!("Unauthorized: {reason}"));
        refused.has("connection: close");
        refused.has("content-type: text/plain");
    }
    let headers = [("Authorization", bearer(&reader))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(world.try_client("/ws", &headers).err(), Some(401), "it may not write");

    // The only project of a key is its default.
    let headers = bearer(&shop);
    let headers = [("Authorization", headers.as_str())];
    let mut client = world.client_with("/ws", &headers);
    let ack = client.subscribe("new", json!({"appId": null}));
    assert_eq!(ack["payload"]["session"]["appId"], "shop");
    let mut client = world.client_with("/ws", &headers);
    let refused = client.try_subscribe("other", json!({"appId": "atlas"}));
    assert_eq!(code(&refused), "APP_MISMATCH");
    // A header counts before the query.
    assert!(world.try_client(&format!("/ws?token={shop}"), &[]).is_ok());
    let wrong = [("Authorization", "Bearer wrong")];
    assert_eq!(world.try_client(&format!("/ws?token={shop}"), &wrong).err(), Some(401));
    let mut client = world.client_with(&format!("/ws?token={both}"), &[]);
    assert_eq!(code(&client.try_subscribe("s1", json!({"appId": null}))), "APP_MISMATCH");

    // A token admits, and is verified by the subscription.
    let token = world.token("s1");
    let path = format!("/ws?wsToken={token}");
    let mut client = world.client_with(&path, &[]);
    assert_eq!(code(&client.try_subscribe("s1", json!({}))), "UNAUTHENTICATED");
    for (session, sent, more, expected) in [
        ("s1", "x.y", json!({}), "BOOTSTRAP_INVALID"),
        ("s2", token.as_str(), json!({}), "BOOTSTRAP_SESSION_MISMATCH"),
        ("s1", token.as_str(), json!({"appId": "atlas"}), "BOOTSTRAP_APP_MISMATCH"),
    ] {
        let mut more = more;
        more["wsToken"] = sent.into();
        let mut client = world.client_with(&path, &[]);
        assert_eq!(code(&client.try_subscribe(session, more)), expected);
    }
    let mut client = world.client_with(&path, &[]);
    let ack = client.subscribe("s1", json!({"appId": null, "wsToken": token}));
    let session_token = ack["payload"]["sessionToken"].as_str().unwrap().to_owned();
    // The session token is a bearer for this session alone.
    let headers = bearer(&session_token);
    let headers = [("Authorization", headers.as_str())];
    let mut client = world.client_with("/ws", &headers);
    client.subscribe("s1", json!({"appId": null}));
    let mut client = world.client_with("/ws", &headers);
    let refused = client.try_subscribe("s2", json!({}));
    assert_eq!(code(&refused), "BOOTSTRAP_SESSION_MISMATCH");
    assert_eq!(world.get(&format!("/ggui/auth-check?token={shop}"), &[]).status, 204);
    assert_eq!(world.get(&path.replace("/ws", "/ggui/auth-check"), &[]).status, 204);
    assert_eq!(world.get("/ggui/auth-check", &[]).status, 401);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_loses_its_sockets() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut local = world.subscribed("s1");
    let (id, secret) = key(&world, json!({"label": "a", "verbs": ["write"]})).await;
    // The first key ends what was open without one.
    assert_eq!(local.closed(), (1008, "unauthenticated".to_owned()));
    let mut idle = world.client_with(&format!("/ws?token={secret}"), &[]);
    idle.subscribe("s1", json!({}));
    let mut acting = world.client_with(&format!("/ws?token={secret}"), &[]);
    acting.subscribe("s1", json!({}));
    world.host.keys().revoke(&Caller::owner(), &id).await.unwrap();
    // At once for what it sends, soon for what it only hears.
    acting.send(&json!({"type": "action", "payload": super::action("s1", "late")}));
    let refused = loop {
        let frame = acting.next();
        if frame["type"] != "data" {
            break frame;
        }
    };
    assert_eq!(code(&refused), "UNAUTHENTICATED");
    assert_eq!(acting.closed(), (1008, "unauthenticated".to_owned()));
    assert_eq!(idle.closed(), (1008, "unauthenticated".to_owned()));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keyless_server_uses_its_default_project() {
    let world = World::open(&[]).await;
    let mut client = world.client();
    assert_eq!(code(&client.try_subscribe("s1", json!({"appId": null}))), "APP_MISMATCH");
    world.close().await;
    let world = World::open(&[("live.default_project", "atlas")]).await;
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({"appId": null}));
    assert_eq!(ack["payload"]["session"]["appId"], "atlas");
    // A project that does not exist.
    let mut client = world.client();
    assert_eq!(code(&client.try_subscribe("s2", json!({"appId": "nowhere"}))), "APP_MISMATCH");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_need_a_token() {
    let world = World::open(&[("allowed_origins", "https://board.example.org")]).await;
    world.seed("s1").await;
    let token = world.token("s1");
    let other = ("Origin", "https://evil.example");
    let own = format!("http://{}", world.address);
    assert_eq!(world.try_client("/ws", &[other]).err(), Some(403));
    assert!(world.try_client("/ws", &[("Origin", &own)]).is_ok());
    assert!(world.try_client("/ws", &[("Origin", "https://board.example.org")]).is_ok());
    let with = |token: &str| format!("/ws?wsToken={token}");
    assert!(world.try_client(&with(&token), &[other]).is_ok());
    // Not with another credential, and not with a token of somebody else.
    let path = format!("{}&token=x", with(&token));
    assert_eq!(world.try_client(&path, &[other]).err(), Some(403));
    let headers = [other, ("Authorization", "Bearer x")];
    assert_eq!(world.try_client(&with(&token), &headers).err(), Some(403));
    assert_eq!(world.try_client(&with("forged.token"), &[other]).err(), Some(403));
    // The host is always checked.
    // A refused upgrade ends the connection.
    let headers: Vec<_> = UPGRADE.into_iter().chain([("Host", "evil.example")]).collect();
    let refused = world.get(&with(&token), &headers);
    refused.has("connection: close");
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("HTTP_HOST_REFUSED")));
    // The routes beside the channel are for pages of every origin, with a token.
    let events = format!("/api/sessions/s1/events?sinceSequence=0&wsToken={token}");
    let answer = world.get(&events, &[other]);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.has("access-control-allow-origin: *");
    let answer = world.get("/api/sessions/s1/events?sinceSequence=0", &[other]);
    assert_eq!(answer.status, 403);
    answer.has("access-control-allow-origin: *");
    world.close().await;
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// On one thread, because the log is that of the thread.
#[tokio::test]
async fn tokens_in_a_query_are_in_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    // A second one, of no thread. While there is only one, whether a line is logged is decided by
    // the thread that reaches it first, which may be that of another test.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let token = world.token("s1");
    let (_, secret) = key(&world, json!({"label": "a", "verbs": ["write"]})).await;
    let paths = [
        format!("/ws?wsToken={token}&token={secret}"),
        format!("/ws?wsToken={token}"),
        format!("/ws?token={secret}"),
        format!("/ws?token={secret}x"),
        format!("/ws?wsToken={token}&wsToken={token}"),
        format!("/ws?wsToken={token}%ZZ"),
        format!("/api/sessions/s1/events?wsToken={token}"),
        format!("/api/sessions/s1/nothing?wsToken={token}"),
        format!("/api/sessions/s1/events?sinceSequence=0&wsToken={token}x"),
        format!("/v1/projects?token={secret}"),
        format!("/ggui/auth-check?token={secret}"),
    ];
    let address = world.address;
    let asking = tokio::task::spawn_blocking(move || {
        for path in paths {
            let headers: Vec<_> = UPGRADE.into_iter().collect();
            let text = super::request(&address.to_string(), &path, &headers);
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut some = [0; 64];
            assert!(std::io::Read::read(&mut stream, &mut some).unwrap() > 0);
        }
    });
    crate::support::soon("the answers", asking).await.unwrap();
    world.close().await;
    let written = String::from_utf8(log.0.lock().clone()).unwrap();
    assert!(written.contains("live_channel"), "the requests are in the log: {written}");
    // Neither the tokens nor their signatures.
    for part in [token.as_str(), token.split_once('.').unwrap().1, secret.as_str()] {
        assert!(!written.contains(part), "a token is in the log: {written}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_says_in_whose_name_a_page_answers() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let link =
        |actor: &str| post(&world, &format!("/accord/v1/live/s1/link?actor={actor}"), "", "");
    let made = link("human:lead").json();
    let (_, secret) = made["path"].as_str().unwrap().split_once("#t=").unwrap();
    let token = signed_in_token(&world, &json!({"link": secret}), "s1");
    let mut page = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    page.subscribe("s1", json!({"wsToken": token, "followLedger": true}));
    assert_eq!(page.ask("action", super::action("s1", "yes"))["type"], "ack");
    let heard = next_event(&mut page);
    assert_eq!(heard["data"]["x-by"], json!({"id": "lead", "type": "human"}));
    assert_eq!(heard["data"]["x-door"], "page");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_act_as_others_makes_links_and_is_named() {
    let world = World::open(&[]).await;
    let mut ui = super::contract();
    ui.insert("x-answeredBy".into(), "person".into());
    let (app, session) = (super::app_id("shop"), super::session_id("s1"));
    world.host.live().seed(&app, &session, ui, Default::default()).await.unwrap();
    let actor = json!({"id": "relay", "type": "agent"});
    let verbs = json!(["write", "read"]);
    let plain = json!({"label": "plain", "verbs": verbs});
    let agent = json!({"label": "agent", "verbs": verbs, "actor": actor});
    let acts = json!({"label": "acts", "verbs": verbs, "actor": actor, "act_as": true});
    let link = |secret: &str| {
        let header = format!("Authorization: {}\r\n", bearer(secret));
        post(&world, "/accord/v1/live/s1/link?actor=human:lead", &header, "")
    };
    for (document, refusal) in [(plain, "person_required"), (agent, "unauthorized")] {
        let (_, secret) = key(&world, document).await;
        let answer = link(&secret).json();
        assert_eq!(answer["code"], refusal, "{answer}");
    }
    let (id, secret) = key(&world, acts).await;
    let made = link(&secret).json();
    let (_, secret) =
        made["path"].as_str().unwrap_or_else(|| panic!("{made}")).split_once("#t=").unwrap();
    let token = signed_in_token(&world, &json!({"link": secret}), "s1");
    let mut page = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    page.subscribe("s1", json!({"wsToken": token, "followLedger": true}));
    assert_eq!(page.ask("action", super::action("s1", "yes"))["type"], "ack");
    let heard = next_event(&mut page)["data"].clone();
    assert_eq!(heard["x-by"], json!({"id": "lead", "type": "human"}));
    // The record says which key made the link.
    assert_eq!((&heard["x-person"], &heard["x-key"]), (&json!(true), &json!(id)), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_answers_what_a_person_must_answer_once() {
    let world = World::open(&[]).await;
    let mut ui = super::contract();
    ui.insert("x-answeredBy".into(), "person".into());
    ui.insert("x-closesOn".into(), "first".into());
    let (app, session) = (super::app_id("shop"), super::session_id("s1"));
    world.host.live().seed(&app, &session, ui, Default::default()).await.unwrap();
    let refusal = |client: &mut super::Client| {
        let answer = client.ask("action", super::action("s1", "yes"));
        assert_eq!(answer["type"], "error", "{answer}");
        answer["payload"].clone()
    };
    // Anybody on this machine, and the bearer of a token.
    let token = world.token("s1");
    let mut bearer_of_token = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    bearer_of_token.subscribe("s1", json!({"wsToken": token}));
    for client in [&mut world.subscribed("s1"), &mut bearer_of_token] {
        assert_eq!(refusal(client)["code"], "person_required");
    }
    // A page that is signed in without a key answers as the user of the operating system.
    let token = signed_in_token(&world, &json!({}), "s1");
    let mut page = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    page.subscribe("s1", json!({"wsToken": token, "followLedger": true}));
    assert_eq!(page.ask("action", super::action("s1", "yes"))["type"], "ack");
    let heard = next_event(&mut page)["data"].clone();
    assert_eq!((&heard["x-person"], &heard["x-by"]["type"]), (&json!(true), &json!("human")));
    // The second person learns who was first.
    let made = post(&world, "/accord/v1/live/s1/link?actor=human:ana", "", "").json();
    let (_, secret) = made["path"].as_str().unwrap().split_once("#t=").unwrap();
    let token = signed_in_token(&world, &json!({"link": secret}), "s1");
    let mut other = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    other.subscribe("s1", json!({"wsToken": token}));
    let stale = refusal(&mut other);
    assert_eq!(stale["code"], "decision_stale");
    assert_eq!(stale["details"]["by"], heard["x-by"], "{stale}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_answers_its_own_question_is_named() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let actor = json!({"id": "builder", "type": "agent"});
    let document = json!({"label": "builder", "verbs": ["write", "read"], "actor": actor});
    let (_, secret) = key(&world, document).await;
    let headers = bearer(&secret);
    let mut agent = world.client_with("/ws", &[("Authorization", headers.as_str())]);
    agent.subscribe("s1", json!({"followLedger": true}));
    assert_eq!(agent.ask("action", super::action("s1", "approved"))["type"], "ack");
    let heard = next_event(&mut agent);
    assert_eq!(heard["data"]["x-by"], actor);
    assert_eq!(heard["data"]["x-door"], "channel");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_a_page_ends_with_its_key_and_says_who_answered() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let actor = json!({"id": "ana", "type": "human"});
    let document = json!({"label": "ana", "verbs": ["write", "read"], "actor": actor});
    let (id, secret) = key(&world, document).await;
    let token = page_token(&world, &secret, "s1");
    let with_token = || world.client_with(&format!("/ws?wsToken={token}"), &[]);

    // A page that follows the ledger, and another client of the same session.
    let mut page = with_token();
    let more = json!({"wsToken": token, "followLedger": true, "clientId": "load-1"});
    let ack = page.subscribe("s1", more);
    let again = ack["payload"]["sessionToken"].as_str().unwrap().to_owned();
    let plain = world.token("s1");
    let mut other = world.client_with(&format!("/ws?wsToken={plain}"), &[]);
    other.subscribe("s1", json!({"wsToken": plain}));
    let mut forged = super::action("s1", "from another client");
    forged["x-by"] = json!({"id": "lead", "type": "human"});
    forged["x-door"] = json!("cli");
    forged["x-person"] = json!(true);
    assert_eq!(other.ask("action", forged)["type"], "ack");
    let heard = next_event(&mut page);
    assert_eq!(heard["data"]["payload"]["data"]["text"], "from another client");
    assert!(heard["data"].get("x-by").is_none(), "{heard}");
    assert_eq!(heard["data"]["x-door"], "channel");
    assert_eq!(heard["data"]["x-person"], false);

    let mut own = super::action("s1", "from the page");
    own["clientSeq"] = json!(1);
    let acked = page.ask("action", own.clone());
    assert_eq!(acked["type"], "ack");
    let heard = next_event(&mut page);
    assert_eq!(heard["data"]["x-by"], actor);
    assert_eq!(heard["data"]["x-door"], "page");
    assert_eq!((&heard["data"]["x-person"], &heard["data"]["x-key"]), (&json!(true), &json!(id)));
    // Sent again, it is the same action.
    let repeated = page.ask("action", own);
    assert_eq!(repeated["payload"]["sequence"], acked["payload"]["sequence"]);
    // A client that does not ask for the ledger gets none of it.
    assert!(other.barrier().iter().all(|frame| frame["type"] != "render_event"));

    let headers = bearer(&again);
    let headers = [("Authorization", headers.as_str())];
    let mut reconnected = world.client_with("/ws", &headers);
    reconnected.subscribe("s1", json!({"appId": null}));
    world.host.keys().revoke(&Caller::owner(), &id).await.unwrap();
    assert_eq!(page.closed(), (1008, "unauthenticated".to_owned()));
    assert_eq!(reconnected.closed(), (1008, "unauthenticated".to_owned()));
    // Neither token opens it again.
    assert_eq!(world.try_client("/ws", &headers).err(), Some(401));
    let mut late = with_token();
    late.send(&json!({"type": "subscribe", "payload": {"sessionId": "s1", "wsToken": token}}));
    assert_eq!(late.closed(), (1008, "unauthenticated".to_owned()));
    // What no page asked for is not bound to a key.
    assert_eq!(other.act("s1", "still there")["type"], "ack");
    world.close().await;
}

/// Signs in with a key, as the page of a session does. Returns the token that it gets.
fn page_token(world: &World, key: &str, session: &str) -> String {
    signed_in_token(world, &json!({"key": key}), session)
}

/// Sends a request of a page of this server.
pub(super) fn post(world: &World, path: &str, more: &str, body: &str) -> super::Answer {
    let (host, length) = (world.address, body.len());
    world.raw(&format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    ))
}

/// The token of a page that has signed in.
fn signed_in_token(world: &World, login: &Value, session: &str) -> String {
    let signed_in = post(world, "/accord/v1/login", "", &login.to_string());
    assert_eq!(signed_in.status, 200, "{signed_in:?}");
    let cookie = signed_in.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.unwrap().split(';').next().unwrap();
    let secret = signed_in.json()["secret"].as_str().unwrap().to_owned();
    let halves = format!("Cookie: {cookie}\r\nX-Accord-Console: {secret}\r\n");
    let token = post(world, &format!("/accord/v1/live/{session}/token"), &halves, "{}");
    token.json()["ws_token"].as_str().unwrap().to_owned()
}

/// The payload of the next event of the ledger.
fn next_event(client: &mut super::Client) -> Value {
    loop {
        let mut frame = client.next();
        if frame["type"] == "render_event" {
            return frame["payload"].take();
        }
    }
}
