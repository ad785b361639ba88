//! What a page shows and loads, and answers without a socket.

use accord_base::Caller;
use accord_live::Waiting;
use accord_live_core::tools::ConsumeRequest;
use accord_live_core::{AppId, SessionId};
use serde_json::json;

use super::{Halves, Page, arguments};

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
