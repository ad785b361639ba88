//! The page of a live session: its login, its headers, and what it is allowed to load.

mod linked;
mod logins;
mod shown;

use accord_api::operations::keys::KeyRequest;
use accord_base::{ActorKey, Caller};
use accord_contract::Wire;
use accord_host::http::Host;
use accord_live_core::AppId;
use accord_live_core::tools::{HandshakeRequest, RenderRequest};
use serde_json::{Value, json};

use super::{Answer, Door};

/// A server with a project and a live session that asks for something.
struct Page {
    door: Door,
    session: String,
}

/// Both halves of a login.
#[derive(Clone, Debug)]
struct Halves {
    cookie: String,
    secret: String,
}

fn arguments<T: Wire>(document: Value) -> T {
    T::from_document(document).unwrap()
}

/// Renders a session in the project `shop`.
async fn render(host: &Host) -> String {
    let (caller, app) = (Caller::owner(), AppId::new("shop").unwrap());
    let contract = json!({
        "propsSpec": {"properties": {"total": {"schema": {"type": "number"}}}},
        "actionSpec": {"approve": {"label": "Approve"}},
    });
    let draft = json!({"intent": "Approve it", "blueprintDraft": {"contract": contract}});
    let live = host.live();
    let made = live.handshake(&caller, &app, arguments::<HandshakeRequest>(draft)).await.unwrap();
    let made = made.encode();
    let render = json!({"handshakeId": made["handshakeId"], "props": {"total": 12}});
    let asks = Some(ActorKey::parse("agent:painter").unwrap());
    let rendered = live.render(&caller, &app, arguments::<RenderRequest>(render), asks).await;
    rendered.unwrap().encode()["sessionId"].as_str().unwrap().to_owned()
}

impl Page {
    async fn open(settings: &[(&str, &str)]) -> Self {
        let door = Door::open(settings).await;
        let made = door.ask("POST", "/v1/projects", &[], r#"{"project_id": "shop"}"#).await;
        assert_eq!(made.status, 201, "{made:?}");
        let session = render(&door.host).await;
        Self { door, session }
    }

    /// As [`Page::open`], on a server with a key, which is returned.
    async fn with_key(verbs: &[&str]) -> (Self, String) {
        let page = Self::open(&[]).await;
        let request = json!({"label": "ana", "verbs": verbs, "projects": ["shop"]});
        let request = KeyRequest::from_document(request).unwrap();
        let made = page.door.host.keys().create(&Caller::owner(), request).await.unwrap();
        (page, made.secret)
    }

    fn path(&self, rest: &str) -> String {
        format!("/accord/v1/live/{}/{rest}", self.session)
    }

    fn origin(&self) -> String {
        format!("http://{}", self.door.address)
    }

    /// A request of the page itself, as a browser sends it.
    async fn send(&self, method: &str, path: &str, halves: Option<&Halves>, body: &str) -> Answer {
        let origin = self.origin();
        let mut headers = vec![("Sec-Fetch-Site", "same-origin")];
        if method != "GET" {
            headers.push(("Origin", &origin));
        }
        if let Some(halves) = halves {
            headers.push(("Cookie", &halves.cookie));
            headers.push(("X-Accord-Console", &halves.secret));
        }
        self.door.ask(method, path, &headers, body).await
    }

    async fn login(&self, body: &Value) -> Answer {
        self.send("POST", "/accord/v1/login", None, &body.to_string()).await
    }

    async fn sign_in(&self, body: &Value) -> Halves {
        let answer = self.login(body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = cookie_of(&answer);
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Halves { cookie, secret: answer.json()["secret"].as_str().unwrap().to_owned() }
    }

    /// A link of the owner, as `accord live open` asks for it.
    async fn link(&self) -> String {
        let owner = crate::support::Asker::of(&self.door.host);
        let made = owner.ask("POST", &self.path("link"), &[], "").await.expect(201);
        let url = made["url"].as_str().unwrap();
        let start = format!("{}/live/{}#t=", self.origin(), self.session);
        url.strip_prefix(&start).unwrap_or_else(|| panic!("{url}")).to_owned()
    }
}

fn cookie_of(answer: &Answer) -> String {
    let line = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    line.expect("a cookie").to_owned()
}
