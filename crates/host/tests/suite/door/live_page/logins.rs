//! Logins of a page: how they begin, what they allow, how they end.

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use accord_live_core::SessionId;
use serde_json::{Value, json};

use super::{Halves, Page, cookie_of};
use crate::door::{Door, settings_of};
use crate::support::opened;

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
    let settings = settings_of(folder.path(), &[("behind_proxy", "true")]);
    let host = opened(folder.path(), settings).await;
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
    let host = opened(folder.path(), settings_of(folder.path(), &[])).await;
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
