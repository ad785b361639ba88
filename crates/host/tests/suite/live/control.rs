//! Conformance control v1.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use accord_host::serve::ControlServer;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Answer, World, code};
use crate::support::{PATIENCE, soon};

pub(super) struct Control {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    running: tokio::task::JoinHandle<()>,
}

impl Control {
    pub(super) async fn open(world: &World) -> Self {
        let address = "127.0.0.1:0".parse().unwrap();
        let is_authorized = |header: Option<&hyper::header::HeaderValue>| {
            header.is_some_and(|header| header == "Bearer t0ken")
        };
        let bound = ControlServer::bind(world.host.clone(), address, Box::new(is_authorized)).await;
        let server = bound.unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let address = server.address();
        let running = tokio::spawn(server.run(async move { drop(ended.await) }));
        Self { address, end, running }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn close(self) {
        drop(self.end);
        soon("the control to end", self.running).await.unwrap();
    }

    fn ask(&self, head: &str, token: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (host, length) = (self.address, body.len());
        let text = format!(
            "{head} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        Answer::read(&answer)
    }

    #[track_caller]
    fn setup(&self, step: Value) {
        let answer = self.ask("POST /setup", "t0ken", &step.to_string());
        assert_eq!(answer.status, 200, "{step}: {answer:?}");
    }

    fn field(&self, session: &str, field: &str) -> Answer {
        let path = format!("GET /session-field?sessionId={session}&field={field}");
        self.ask(&path, "t0ken", "")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kit_brings_sessions_into_a_state_and_reads_them() {
    let world = World::open(&[("live.default_project", "conformance")]).await;
    let control = Control::open(&world).await;
    // Twice, because a kit runs more than once.
    for _ in 0..2 {
        control.setup(json!({
            "kind": "create-session", "sessionId": "ck-1",
            "actionSpec": {"toggle": {"schema": {
                "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
            }}},
        }));
        let mut client = world.client();
        let versions = json!(["draft-2026-08-19"]);
        client.subscribe("ck-1", json!({"appId": "conformance", "supportedVersions": versions}));
        let data = json!({"action": "toggle", "data": {"id": 41}});
        let payload = json!({"sessionId": "ck-1", "type": "data:submit", "payload": data});
        assert_eq!(code(&client.ask("action", payload)), "CONTRACT_VIOLATION");
        let context = json!({"platform": "web"});
        client.send(&json!({
            "type": "host_context_observed",
            "payload": {"sessionId": "ck-1", "hostContext": context},
        }));
        client.barrier();
        assert_eq!(control.field("ck-1", "hostContext").json(), json!({"value": context}));
        control.setup(json!({
            "kind": "server-version-override", "sessionId": "ck-1", "advertiseVersion": "99.99",
        }));
        let mut client = world.client();
        let more = json!({"appId": "conformance", "supportedVersions": versions});
        assert_eq!(code(&client.try_subscribe("ck-1", more)), "UPGRADE_REQUIRED");
    }
    control.setup(json!({
        "kind": "create-session", "sessionId": "ck-2", "appId": "conformance-other",
    }));
    let mut client = world.client();
    let refused = client.try_subscribe("ck-2", json!({"appId": "conformance"}));
    assert_eq!(code(&refused), "APP_MISMATCH");
    // A subscriber that names no app.
    let mut client = world.client();
    client.subscribe("ck-3", json!({"appId": null}));
    assert_eq!(control.field("ck-3", "appId").json(), json!({"value": "conformance"}));
    world.close().await;
    control.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_the_platform_reach_subscribers() {
    let world = World::open(&[]).await;
    let control = Control::open(&world).await;
    control.setup(json!({
        "kind": "create-session", "sessionId": "ck-1",
        "streamSpec": {"log": {"schema": {"type": "integer"}, "replay": "all"}},
    }));
    let mut client = world.client();
    client.subscribe("ck-1", json!({"appId": "conformance"}));
    client.barrier();
    let lifecycle = json!({"kind": "consume_polling", "sessionId": "ck-1", "state": "open"});
    control.setup(json!({
        "kind": "emit-envelope", "channel": "_ggui:lifecycle", "payload": lifecycle,
    }));
    control.setup(json!({"kind": "emit-envelope", "channel": "log", "payload": 7}));
    assert_eq!(client.next()["payload"]["payload"], lifecycle);
    assert_eq!(client.next()["payload"]["payload"], 7);
    let unknown = json!({"kind": "emit-envelope", "channel": "_ggui:props", "payload": {}});
    assert_eq!(control.ask("POST /setup", "t0ken", &unknown.to_string()).status, 422);
    world.close().await;
    control.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kit_gets_the_address_of_a_page_and_changes_how_it_starts() {
    let world = World::open(&[]).await;
    let control = Control::open(&world).await;
    control.setup(json!({"kind": "create-session", "sessionId": "ck-1"}));
    let step = |session: &str| json!({"kind": "page-url", "sessionId": session}).to_string();
    let url = control.ask("POST /setup", "t0ken", &step("ck-1")).json()["url"].clone();
    let url = url.as_str().unwrap();
    let path = url.split('#').next().unwrap();
    assert!(path == "/live/ck-1" && url.contains("#t="), "{url}");
    assert_eq!(control.ask("POST /setup", "t0ken", &step("ck-2")).status, 404);
    let module = |page: &Answer| page.body.contains("src=\"/elsewhere/gone.js\"");
    let page = world.get(path, &[]);
    assert!(page.status == 200 && !module(&page), "{page:?}");
    control.setup(json!({"kind": "renderer-url-override", "url": "/elsewhere/gone.js"}));
    assert!(module(&world.get(path, &[])));
    // A session that begins again has no overrides.
    control.setup(json!({"kind": "create-session", "sessionId": "ck-1"}));
    assert!(!module(&world.get(path, &[])));
    world.close().await;
    control.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_without_the_token() {
    let world = World::open(&[]).await;
    let control = Control::open(&world).await;
    let step = json!({"kind": "create-session", "sessionId": "ck-1"}).to_string();
    let refused = control.ask("POST /setup", "wrong", &step);
    assert_eq!((refused.status, &refused.json()["code"]), (401, &json!("UNAUTHORIZED")));
    assert_eq!(control.ask("GET /nothing", "wrong", "").status, refused.status);
    assert_eq!(control.ask("GET /nothing", "t0ken", "").status, 404);
    assert_eq!(control.ask("GET /setup", "t0ken", "").status, 405);
    for unknown in [json!({}), json!({"kind": "explode"}), json!({"kind": "create-session"})] {
        let refused = control.ask("POST /setup", "t0ken", &unknown.to_string());
        assert_eq!(refused.status, 422, "{unknown}");
    }
    assert_eq!(control.ask("POST /setup", "t0ken", "no json").status, 400);
    assert_eq!(control.field("ck-1", "appId").status, 404, "no session was created");
    assert_eq!(control.field("ck-1", "secret").status, 422);
    // The host itself has no such routes.
    assert_eq!(world.get("/setup", &[]).status, 404);
    world.close().await;
    control.close().await;
}
