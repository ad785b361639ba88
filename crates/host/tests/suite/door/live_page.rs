//! The page of a live session: its login, its headers, and what it is allowed to load.

use accord_api::operations::keys::KeyRequest;
use accord_base::{ActorKey, Caller};
use accord_contract::Wire;
use accord_host::http::Host;
use accord_live::Waiting;
use accord_live_core::tools::{ConsumeRequest, HandshakeRequest, RenderRequest};
use accord_live_core::{AppId, SessionId};
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

#[tokio::test]
async fn a_navigation_gets_a_page_without_data() {
    let (page, _) = Page::with_key(&["write", "read"]).await;
    let path = format!("/live/{}", page.session);
    // A link in a chat of another site leads here as well.
    for site in ["none", "cross-site", "same-origin"] {
        let shown = page.door.ask("GET", &path, &[("Sec-Fetch-Site", site)], "").await;
        assert_eq!(shown.status, 200, "{shown:?}");
        assert!(!shown.body.contains(&page.session), "{shown:?}");
        assert!(!shown.head.contains("set-cookie"), "{shown:?}");
    }
    let other = page.door.get("/live/live_nobody").await;
    assert_eq!(other.body, page.door.get(&path).await.body, "it does not say what exists");
    let wrong = page.door.get(&format!("/live/{}", "x".repeat(5_000))).await;
    assert_eq!(wrong.status, 404);
    assert!(wrong.body.contains("<h1>Not available</h1>"), "{wrong:?}");
    page.door.close().await;
}

#[tokio::test]
async fn pages_load_scripts_from_their_assets_alone() {
    let page = Page::open(&[]).await;
    let address = page.door.address;
    let shown = page.door.get(&format!("/live/{}", page.session)).await;
    for header in [
        format!("script-src {address}/assets/;"),
        format!("style-src {address}/assets/;"),
        "default-src 'none';".to_owned(),
        "frame-ancestors 'none';".to_owned(),
        "base-uri 'none';".to_owned(),
        "form-action 'none';".to_owned(),
        "require-trusted-types-for 'script'".to_owned(),
        "cache-control: no-store".to_owned(),
        "x-content-type-options: nosniff".to_owned(),
        "referrer-policy: no-referrer".to_owned(),
        "cross-origin-opener-policy: same-origin".to_owned(),
        "x-frame-options: deny".to_owned(),
    ] {
        assert!(shown.head.contains(&header), "{header} is not in {}", shown.head);
    }
    // No page of the server may load a script of any other path, such as /code.
    for path in ["/docs", "/", &format!("/live/{}", page.session), "/live/%00"] {
        let shown = page.door.get(path).await;
        let policy =
            shown.head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
        let policy = policy.unwrap_or_else(|| panic!("{path}: {shown:?}"));
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        for directive in policy.split(';').map(str::trim) {
            let Some(sources) = directive.strip_prefix("script-src") else { continue };
            assert!(!directive.starts_with("script-src-"), "{path}: {policy}");
            let sources: Vec<_> = sources.split_whitespace().collect();
            assert_eq!(sources, [format!("{address}/assets/")], "{path}: {policy}");
        }
    }
    let src = shown.body.split("<script type=\"module\" src=\"").nth(1).unwrap();
    let src = src.split('"').next().unwrap();
    let module = page.door.get(src).await;
    assert_eq!(module.status, 200);
    for header in [
        "content-type: text/javascript; charset=utf-8",
        "cache-control: public, max-age=31536000, immutable",
        "x-content-type-options: nosniff",
        // The frame of a host loads it from its own origin.
        "access-control-allow-origin: *",
        "cross-origin-resource-policy: cross-origin",
    ] {
        assert!(module.head.contains(header), "{header} is not in {}", module.head);
    }
    let tag = module.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let again = page.door.ask("GET", src, &[("If-None-Match", &tag)], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let old = page.door.get("/assets/0000000000000000/live.js").await;
    old.refused(404, "HTTP_ROUTE_UNKNOWN");
    page.door.close().await;
}

#[tokio::test]
async fn a_page_under_an_ipv6_address_loads_what_it_names() {
    let page = Page::open(&[]).await;
    let host = format!("[::1]:{}", page.door.address.port());
    let ask = || async {
        let path = format!("/live/{}", page.session);
        let shown = page.door.ask("GET", &path, &[("Host", &host)], "").await;
        assert_eq!(shown.status, 200, "{shown:?}");
        let nonce = shown.head.split_once("script-src 'nonce-").expect("a nonce").1;
        let nonce = nonce.split_once('\'').unwrap().0.to_owned();
        let named = format!(" nonce=\"{nonce}\"");
        // The script and the style, and nothing else.
        assert_eq!(shown.body.matches(&named).count(), 2, "{shown:?}");
        nonce
    };
    assert_ne!(ask().await, ask().await, "each page has its own");
    page.door.close().await;
}

#[tokio::test]
async fn a_link_signs_in_once() {
    let (page, _) = Page::with_key(&["write", "read"]).await;
    let link = page.link().await;
    page.login(&json!({"link": "0123"})).await.refused(401, "LOGIN_LINK_INVALID");
    let answer = page.login(&json!({"link": link})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("cache-control: no-store"), "{answer:?}");
    let cookie = cookie_of(&answer);
    assert!(cookie.starts_with("accord_"), "{cookie}");
    for attribute in ["; path=/", "; max-age=43200", "; httponly", "; samesite=strict"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("secure"), "{cookie}");
    let secret = answer.json()["secret"].as_str().unwrap().to_owned();
    assert!(!cookie.contains(&secret));
    page.login(&json!({"link": link})).await.refused(401, "LOGIN_LINK_INVALID");
    page.door.close().await;
}

#[tokio::test]
async fn data_needs_both_halves() {
    let (page, key) = Page::with_key(&["write", "read"]).await;
    let halves = page.sign_in(&json!({"key": key})).await;
    let shown = page.send("GET", &page.path("page"), Some(&halves), "").await;
    assert_eq!(shown.status, 200, "{shown:?}");
    let actions = shown.json()["page"]["actions"].as_str().unwrap().to_owned();
    assert!(actions.contains("data-action=\"approve\""), "{actions}");
    assert!(shown.head.contains("cache-control: no-store"));
    let token = page.send("POST", &page.path("token"), Some(&halves), "{}").await;
    assert_eq!(token.status, 200, "{token:?}");
    let token = token.json();
    assert_eq!(token["app_id"], "shop");
    let claims = page
        .door
        .host
        .live()
        .verify_token(token["ws_token"].as_str().unwrap(), accord_live_core::token::TokenKind::Ws);
    assert_eq!(claims.unwrap().session_id, SessionId::new(page.session.as_str()).unwrap());

    // The cookie alone is what a server on another port receives, and can replay.
    let other = page.sign_in(&json!({"key": key})).await;
    let name = halves.cookie.split('=').next().unwrap();
    for (cookie, secret) in [
        (Some(halves.cookie.clone()), None),
        (None, Some(halves.secret.clone())),
        (Some(halves.cookie.clone()), Some(other.secret.clone())),
        (Some(halves.cookie.clone()), Some(String::new())),
        (Some(format!("{name}=")), Some(halves.secret.clone())),
        (Some(format!("other={}", halves.secret)), Some(halves.secret.clone())),
        (None, None),
    ] {
        for (method, path, body) in [
            ("GET", page.path("page"), ""),
            ("POST", page.path("token"), "{}"),
            ("POST", "/accord/v1/logout".to_owned(), "{}"),
        ] {
            let origin = page.origin();
            let mut headers = vec![("Origin", origin.as_str())];
            headers.extend(cookie.as_deref().map(|cookie| ("Cookie", cookie)));
            headers.extend(secret.as_deref().map(|secret| ("X-Accord-Console", secret)));
            let answer = page.door.ask(method, &path, &headers, body).await;
            answer.refused(401, "LOGIN_REQUIRED");
        }
        // And nothing else is opened by a login.
        let mut headers = vec![];
        headers.extend(cookie.as_deref().map(|cookie| ("Cookie", cookie)));
        let status = page.door.ask("GET", "/accord/v1/status", &headers, "").await;
        status.refused(401, "AUTH_REQUIRED");
    }
    page.door.close().await;
}

#[tokio::test]
async fn other_pages_cannot_use_a_login() {
    let allowed = "https://board.example.org";
    let page = Page::open(&[("allowed_origins", allowed)]).await;
    let halves = page.sign_in(&json!({})).await;
    let own = page.origin();
    let both = [("Cookie", halves.cookie.as_str()), ("X-Accord-Console", halves.secret.as_str())];
    let token = page.path("token");
    let json = ("Content-Type", "application/json");
    // A missing Origin is no permission, and an origin that may use other routes is another one.
    for headers in [
        vec![json],
        vec![("Origin", "null"), json],
        vec![("Origin", "http://127.0.0.1:1"), json],
        vec![("Origin", allowed), json],
        vec![("Origin", own.as_str()), ("Sec-Fetch-Site", "same-site"), json],
        vec![("Origin", own.as_str()), ("Sec-Fetch-Site", "cross-site"), json],
        vec![("Origin", own.as_str()), ("Sec-Fetch-Site", "none"), json],
    ] {
        for path in [token.as_str(), "/accord/v1/login", "/accord/v1/logout"] {
            let headers: Vec<_> = both.iter().copied().chain(headers.clone()).collect();
            let answer = page.door.ask("POST", path, &headers, "").await;
            answer.refused(403, "HTTP_ORIGIN_REFUSED");
        }
    }
    let read = [both[0], both[1], ("Sec-Fetch-Site", "same-site")];
    let answer = page.door.ask("GET", &page.path("page"), &read, "").await;
    answer.refused(403, "HTTP_ORIGIN_REFUSED");
    // A form of another page can send text, and no JSON.
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let headers = [both[0], both[1], ("Origin", own.as_str()), ("Content-Type", kind)];
        let answer = page.door.ask("POST", "/accord/v1/login", &headers, "").await;
        answer.refused(415, "HTTP_MEDIA_TYPE");
    }
    let headers = [both[0], both[1], ("Origin", own.as_str())];
    let answer = page.door.ask("POST", &token, &headers, "").await;
    answer.refused(415, "HTTP_MEDIA_TYPE");
    assert_eq!(page.send("POST", &token, Some(&halves), "{}").await.status, 200, "still signed in");
    page.door.close().await;
}

#[tokio::test]
async fn a_login_ends_with_its_key_and_when_it_is_signed_out() {
    let (page, key) = Page::with_key(&["write", "read"]).await;
    let halves = page.sign_in(&json!({"key": key})).await;
    let other = page.sign_in(&json!({"key": key})).await;
    let answer = page.send("POST", "/accord/v1/logout", Some(&halves), "{}").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(cookie_of(&answer).contains("max-age=0"), "{answer:?}");
    let path = page.path("page");
    page.send("GET", &path, Some(&halves), "").await.refused(401, "LOGIN_REQUIRED");
    assert_eq!(page.send("GET", &path, Some(&other), "").await.status, 200);
    let id = key.split('_').nth(1).unwrap();
    page.door.host.keys().revoke(&Caller::owner(), id).await.unwrap();
    page.send("GET", &path, Some(&other), "").await.refused(401, "LOGIN_REQUIRED");
    page.send("POST", &page.path("token"), Some(&other), "{}").await.refused(401, "LOGIN_REQUIRED");
    page.door.close().await;
}

#[tokio::test]
async fn the_tokens_of_a_page_end_with_its_login() {
    let (page, key) = Page::with_key(&["write", "read"]).await;
    for end in ["sign out", "revoke"] {
        let halves = page.sign_in(&json!({"key": key})).await;
        let token = page.send("POST", &page.path("token"), Some(&halves), "{}").await;
        let token = token.json()["ws_token"].as_str().unwrap().to_owned();
        let read = format!("/api/sessions/{}/state?wsToken={token}", page.session);
        let state = page.door.get(&read).await;
        assert_eq!(state.status, 200, "{state:?}");
        let derived = &state.json()["ai.ggui/render"]["wsToken"];
        let derived = read.replace(&token, derived.as_str().unwrap());
        if end == "revoke" {
            let id = key.split('_').nth(1).unwrap();
            page.door.host.keys().revoke(&Caller::owner(), id).await.unwrap();
        } else {
            let answer = page.send("POST", "/accord/v1/logout", Some(&halves), "{}").await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        for path in [&read, &derived] {
            let refused = page.door.get(path).await;
            assert_eq!(
                (refused.status, &refused.json()["code"]),
                (401, &json!("BOOTSTRAP_INVALID"))
            );
        }
    }
    page.door.close().await;
}

#[tokio::test]
async fn the_page_of_an_archived_project_is_read_and_opens_nothing() {
    let page = Page::open(&[]).await;
    let halves = page.sign_in(&json!({})).await;
    let archived = page.door.ask("POST", "/v1/projects/shop/archive", &[], "").await;
    assert_eq!(archived.status, 200, "{archived:?}");
    let shown = page.send("GET", &page.path("page"), Some(&halves), "").await;
    assert_eq!(shown.status, 200, "{shown:?}");
    let token = page.send("POST", &page.path("token"), Some(&halves), "{}").await;
    token.refused(403, "project_archived");
    page.door.ask("POST", &page.path("link"), &[], "").await.refused(403, "project_archived");
    page.door.close().await;
}

#[tokio::test]
async fn the_page_says_who_asks() {
    let page = Page::open(&[]).await;
    let halves = page.sign_in(&json!({})).await;
    let shown = page.send("GET", &page.path("page"), Some(&halves), "").await.json();
    let head = shown["page"]["head"].as_str().unwrap();
    assert!(head.contains("<bdi>agent:painter</bdi>"), "{head}");
    page.door.close().await;
}

/// What the page says about the agent, without its marks.
async fn agent_line(page: &Page, halves: &Halves) -> String {
    let shown = page.send("GET", &page.path("page"), Some(halves), "").await.json();
    shown["page"]["agent"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_page_says_what_was_answered_and_whether_the_agent_has_read_it() {
    let page = Page::open(&[]).await;
    let halves = page.sign_in(&json!({})).await;
    let line = agent_line(&page, &halves).await;
    let asked = "data-agent=\"asked\">Your answer is asked for. The agent does not wait at the";
    assert!(line.contains(asked), "{line}");
    // The page says that the agent waits while it does, and no longer.
    let (live, id) = (page.door.host.live().clone(), SessionId::new(&page.session).unwrap());
    let (caller, app) = (Caller::owner(), AppId::new("shop").unwrap());
    let request = json!({"sessionId": page.session, "timeout": 25});
    let wait = {
        let live = live.clone();
        let request = arguments::<ConsumeRequest>(request);
        tokio::spawn(async move {
            drop(live.consume(&caller, &app, request, Waiting::default()).await);
        })
    };
    while !live.has_consumer(&id) {
        tokio::task::yield_now().await;
    }
    let line = agent_line(&page, &halves).await;
    assert!(line.contains("data-agent=\"waiting\">The agent waits for your answer.<"), "{line}");
    wait.abort();
    while live.has_consumer(&id) {
        tokio::task::yield_now().await;
    }
    let line = agent_line(&page, &halves).await;
    assert!(line.contains(asked), "{line}");

    let owner = crate::support::Asker::of(&page.door.host);
    let sessions = "/accord/v1/projects/shop/live/sessions";
    let actions = format!("{sessions}/{}/actions?actor=human:lead", page.session);
    owner.post(&actions, &json!({"action": "approve"})).await.expect(200);
    let line = agent_line(&page, &halves).await;
    for part in [
        "data-agent=\"answered\">Answered: Approve, <time",
        "<bdi>human:lead</bdi>. The agent has not read it yet.",
    ] {
        assert!(line.contains(part), "no {part} in {line}");
    }

    let consume = "/accord/v1/live/tools/ggui_consume?project_id=shop";
    let asked = json!({"sessionId": page.session});
    let consumed = owner.post(consume, &asked).await.expect(200);
    assert_eq!(consumed["result"]["events"].as_array().unwrap().len(), 1, "{consumed}");
    let line = agent_line(&page, &halves).await;
    assert!(line.contains("data-agent=\"read\">Answered: Approve,"), "{line}");
    assert!(line.contains("The agent has read it."), "{line}");

    // It comes back for more.
    let consumed = owner.post(consume, &asked).await.expect(200);
    assert_eq!(consumed["result"]["events"], json!([]), "{consumed}");
    let line = agent_line(&page, &halves).await;
    for part in ["data-agent=\"asked\">Your next answer is asked for.", "Before: Approve,"] {
        assert!(line.contains(part), "no {part} in {line}");
    }
    page.door.close().await;
}

/// What a page without a socket does.
#[tokio::test]
async fn a_page_answers_over_http() {
    let page = Page::open(&[]).await;
    let halves = page.sign_in(&json!({})).await;
    let body = r#"{"action": "approve", "client_id": "load-1", "client_seq": 1}"#;
    let refused = page.send("POST", &page.path("actions"), None, body).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    let path = page.path("actions");
    let wrong = page.send("POST", &path, Some(&halves), r#"{"action": "no"}"#).await;
    assert_eq!(wrong.json()["error"]["code"], "CONTRACT_VIOLATION", "{wrong:?}");
    let mut sequences = Vec::new();
    for _ in 0..2 {
        let answer = page.send("POST", &page.path("actions"), Some(&halves), body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        sequences.push(answer.json()["result"]["sequence"].clone());
    }
    assert_eq!(sequences[0], sequences[1], "an answer that is sent again counts once");
    let owner = crate::support::Asker::of(&page.door.host);
    let consume = "/accord/v1/live/tools/ggui_consume?project_id=shop";
    let consumed = owner.post(consume, &json!({"sessionId": page.session})).await.expect(200);
    let event = &consumed["result"]["events"][0];
    assert_eq!((&event["x-door"], &event["x-person"]), (&json!("page"), &json!(true)), "{event}");
    page.door.close().await;
}

#[tokio::test]
async fn a_page_under_a_wrong_name_says_so_to_a_person() {
    let page = Page::open(&[]).await;
    let path = format!("/live/{}", page.session);
    let refused = page.door.ask("GET", &path, &[("Host", "other.example")], "").await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.head.contains("content-type: text/html; charset=utf-8"), "{refused:?}");
    assert!(refused.head.contains("default-src 'none'"), "{refused:?}");
    for part in ["is not a name of this server.", "allowed_hosts", "HTTP_HOST_REFUSED"] {
        assert!(refused.body.contains(part), "no {part} in {refused:?}");
    }
    assert!(!refused.body.contains("<script"), "{refused:?}");
    // A program gets the common error body.
    let refused = page.door.ask("GET", &page.path("page"), &[("Host", "other.example")], "").await;
    refused.refused(403, "HTTP_HOST_REFUSED");
    page.door.close().await;
}

#[tokio::test]
async fn a_login_has_the_rights_of_its_key() {
    let (page, reader) = Page::with_key(&["read"]).await;
    let halves = page.sign_in(&json!({"key": reader})).await;
    assert_eq!(page.send("GET", &page.path("page"), Some(&halves), "").await.status, 200);
    let token = page.send("POST", &page.path("token"), Some(&halves), "{}").await;
    token.refused(403, "unauthorized");
    let request = json!({"label": "bo", "verbs": ["write", "read"], "projects": ["other"]});
    let request = KeyRequest::from_document(request).unwrap();
    let made = page.door.host.keys().create(&Caller::owner(), request).await.unwrap();
    let stranger = page.sign_in(&json!({"key": made.secret})).await;
    let refused = page.send("GET", &page.path("page"), Some(&stranger), "").await;
    let missing = page.send("GET", "/accord/v1/live/live_none/page", Some(&stranger), "").await;
    let (refused, missing) =
        (refused.refused(404, "SESSION_NOT_FOUND"), missing.refused(404, "SESSION_NOT_FOUND"));
    assert_eq!(refused["error"], missing["error"], "it does not say what exists");
    let bearer = format!("Bearer {}", made.secret);
    let link = page.door.ask("POST", &page.path("link"), &[("Authorization", &bearer)], "").await;
    link.refused(404, "SESSION_NOT_FOUND");
    page.door.ask("POST", &page.path("link"), &[], "").await.refused(401, "AUTH_REQUIRED");
    page.door.close().await;
}

#[tokio::test]
async fn failed_attempts_are_limited() {
    let (page, key) = Page::with_key(&["write", "read"]).await;
    page.login(&json!({})).await.refused(401, "AUTH_REQUIRED");
    for _ in 0..4 {
        page.login(&json!({"key": "accord_a_b"})).await.refused(403, "unauthorized");
    }
    page.login(&json!({"key": "accord_a_b"})).await.refused(429, "LOGIN_TOO_OFTEN");
    page.login(&json!({"link": "guessed"})).await.refused(429, "LOGIN_TOO_OFTEN");
    // Whoever shares the address and has a right credential is not kept out.
    let halves = page.sign_in(&json!({"key": key})).await;
    assert_eq!(page.send("GET", &page.path("page"), Some(&halves), "").await.status, 200);
    let bearer = format!("Bearer {key}");
    let link = page.door.ask("POST", &page.path("link"), &[("Authorization", &bearer)], "").await;
    let link: Value = serde_json::from_str(&link.body).unwrap();
    let (_, secret) = link["path"].as_str().unwrap().split_once("#t=").unwrap();
    page.sign_in(&json!({"link": secret})).await;
    page.door.close().await;
}

#[tokio::test]
async fn without_keys_a_person_signs_in_without_one_until_there_is_one() {
    let page = Page::open(&[]).await;
    let shown = page.door.get(&format!("/live/{}", page.session)).await;
    assert!(!shown.body.contains("id=\"login-form\""), "{shown:?}");
    let halves = page.sign_in(&json!({})).await;
    let path = page.path("page");
    assert_eq!(page.send("GET", &path, Some(&halves), "").await.status, 200);
    page.send("GET", &path, None, "").await.refused(401, "LOGIN_REQUIRED");
    let request = KeyRequest::from_document(json!({"label": "a", "verbs": ["admin"]})).unwrap();
    page.door.host.keys().create(&Caller::owner(), request).await.unwrap();
    page.send("GET", &path, Some(&halves), "").await.refused(401, "LOGIN_REQUIRED");
    let shown = page.door.get(&format!("/live/{}", page.session)).await;
    assert!(shown.body.contains("id=\"login-form\""), "{shown:?}");
    page.door.close().await;
}

#[tokio::test]
async fn with_tls_the_cookie_is_bound_to_the_host() {
    let (page, key) = Page::with_key(&["read", "write"]).await;
    let folder = page.door.close().await;
    let settings = super::settings_of(folder.path(), &[("behind_proxy", "true")]);
    let host = Host::open(folder.path(), settings).unwrap();
    let door = Door::serve(folder, host).await.unwrap();
    let page = Page { session: page.session, door };
    let answer = page.login(&json!({"key": key})).await;
    let cookie = cookie_of(&answer);
    assert!(cookie.starts_with("__host-accord_") && cookie.ends_with("; secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().replace("__host-", "__Host-");
    let secret = answer.json()["secret"].as_str().unwrap().to_owned();
    let halves = Halves { cookie, secret };
    assert_eq!(page.send("GET", &page.path("page"), Some(&halves), "").await.status, 200);
    page.door.close().await;
}

#[tokio::test]
async fn a_login_outlasts_a_restart_of_the_server() {
    let (page, key) = Page::with_key(&["write", "read"]).await;
    let halves = page.sign_in(&json!({"key": key})).await;
    let ended = page.sign_in(&json!({"key": key})).await;
    assert_eq!(page.send("POST", "/accord/v1/logout", Some(&ended), "{}").await.status, 200);
    let folder = page.door.close().await;
    let host = Host::open(folder.path(), super::settings_of(folder.path(), &[])).unwrap();
    let page = Page { session: page.session, door: Door::serve(folder, host).await.unwrap() };
    let path = page.path("page");
    assert_eq!(page.send("GET", &path, Some(&halves), "").await.status, 200);
    assert_eq!(page.send("POST", &page.path("token"), Some(&halves), "{}").await.status, 200);
    page.send("GET", &path, Some(&ended), "").await.refused(401, "LOGIN_REQUIRED");
    // Its key is checked as before.
    let id = key.split('_').nth(1).unwrap();
    page.door.host.keys().revoke(&Caller::owner(), id).await.unwrap();
    page.send("GET", &path, Some(&halves), "").await.refused(401, "LOGIN_REQUIRED");
    page.door.close().await;
}
