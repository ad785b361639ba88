//! Links of people, which open one question and nothing else.

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use serde_json::{Value, json};

use super::{Halves, Page, render};
use crate::support::{Answer as Asked, Asker};

const LEAD: &str = "/accord/v1/people/lead";

struct Invited {
    page: Page,
    owner: Asker,
}

impl Invited {
    /// A server with a key, a person, and a session that asks.
    async fn open() -> Self {
        let (page, _) = Page::with_key(&["read", "write"]).await;
        let owner = Asker::of(&page.door.host);
        let lead = json!({"name": "lead", "email": "lead@example.org"});
        owner.ask("POST", "/accord/v1/people", JSON, &lead.to_string()).await.expect(201);
        Self { page, owner }
    }

    /// The items of the inbox.
    async fn items(&self) -> Vec<Value> {
        let listed = self.owner.ask("GET", "/accord/v1/inbox", &[], "").await.expect(200);
        listed["items"].as_array().unwrap().clone()
    }

    async fn item(&self, session: &str) -> String {
        let items = self.items().await;
        let item = items.iter().find(|item| item["subject"] == session).expect("an item");
        item["id"].as_str().unwrap().to_owned()
    }

    async fn ask_link(&self, item: &str) -> Asked {
        let path = format!("{LEAD}/link?actor=human:ops");
        self.owner.ask("POST", &path, JSON, &json!({"item": item}).to_string()).await
    }

    /// The secret of a link to the question of the session.
    async fn link(&self) -> String {
        let made = self.ask_link(&self.item(&self.page.session).await).await.expect(201);
        let url = made["url"].as_str().unwrap();
        let start = format!("{}/live/{}#p=", self.page.origin(), self.page.session);
        url.strip_prefix(&start).unwrap_or_else(|| panic!("{url}")).to_owned()
    }

    async fn sign_in(&self) -> Halves {
        let link = self.link().await;
        self.page.sign_in(&json!({"link": link})).await
    }

    async fn shown(&self, halves: &Halves) -> super::Answer {
        self.page.send("GET", &self.page.path("page"), Some(halves), "").await
    }

    async fn approve(&self, halves: &Halves) -> super::Answer {
        let body = r#"{"action":"approve"}"#;
        self.page.send("POST", &self.page.path("actions"), Some(halves), body).await
    }
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

#[tokio::test]
async fn a_look_at_the_address_uses_no_link_and_a_login_does_once() {
    let invited = Invited::open().await;
    let page = &invited.page;
    let link = invited.link().await;
    for _ in 0..3 {
        let shell = page.send("GET", &format!("/live/{}", page.session), None, "").await;
        assert_eq!(shell.status, 200);
        assert!(!shell.body.contains(&link) && !shell.head.contains(&link));
        // A secret where it does not belong is refused, and uses nothing.
        let path = format!("/live/{}?p={link}", page.session);
        assert_eq!(page.send("GET", &path, None, "").await.status, 400);
    }
    let halves = page.sign_in(&json!({"link": link})).await;
    assert_eq!(invited.shown(&halves).await.status, 200);
    let again = page.login(&json!({"link": link})).await;
    let again = again.refused(401, "LOGIN_LINK_INVALID");
    let message = again["error"]["message"].as_str().unwrap();
    assert_eq!(message, "this link was used before; ask the operator of this server for a new one");
    // The second attempt ended nothing.
    assert_eq!(invited.shown(&halves).await.status, 200);
    // Guesses are limited.
    for _ in 0..4 {
        page.login(&json!({"link": "0123"})).await.refused(401, "LOGIN_LINK_INVALID");
    }
    page.login(&json!({"link": link})).await.refused(429, "LOGIN_TOO_OFTEN");
    let fresh = invited.link().await;
    assert_eq!(page.login(&json!({"link": fresh})).await.status, 200, "a right one is no guess");
    invited.page.door.close().await;
}

#[tokio::test]
async fn a_link_reads_and_answers_its_question_and_nothing_else() {
    let invited = Invited::open().await;
    let page = &invited.page;
    let other = render(&page.door.host).await;
    let halves = invited.sign_in().await;
    let shown = invited.shown(&halves).await.json();
    assert_eq!(shown["page"]["no_channel"], true);
    for (method, path) in [
        ("GET", format!("/accord/v1/live/{other}/page")),
        ("POST", format!("/accord/v1/live/{other}/actions")),
        ("GET", "/accord/v1/live/none/page".to_owned()),
    ] {
        let body = if method == "POST" { r#"{"action":"approve"}"# } else { "" };
        let answer = page.send(method, &path, Some(&halves), body).await;
        answer.refused(404, "SESSION_NOT_FOUND");
    }
    // No channel, which has what was said before, and whose token is a credential of its own.
    let token = page.send("POST", &page.path("token"), Some(&halves), "{}").await;
    assert_eq!(token.status, 501, "{token:?}");
    for path in [
        "/accord/v1/inbox",
        "/accord/v1/people",
        "/accord/v1/me",
        "/accord/v1/events",
        "/v1/projects",
        "/v1/projects/shop/orient",
        "/v1/projects/shop/packages",
        "/accord/v1/projects/shop/decisions",
        &format!("/accord/v1/live/{}", page.session),
    ] {
        let answer = page.send("GET", path, Some(&halves), "").await;
        answer.refused(401, "AUTH_REQUIRED");
    }
    let answered = invited.approve(&halves).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    invited.shown(&halves).await.refused(410, "LIVE_ASK_ENDED");
    invited.approve(&halves).await.refused(410, "LIVE_ASK_ENDED");

    let path = "/accord/v1/projects/shop/decisions";
    let listed = invited.owner.ask("GET", path, &[], "").await.expect(200);
    let records = listed["decisions"].as_array().unwrap();
    let of = |kind: &str| records.iter().find(|record| record["kind"] == kind);
    let made = of("person.link").expect("the record of the link");
    assert_eq!(made["actor"], "human:ops");
    assert_eq!(made["subject"], page.session.as_str());
    assert_eq!(made["title"], "a link for human:lead");
    invited.page.door.close().await;
}

#[tokio::test]
async fn an_answer_names_the_person_and_its_login() {
    let invited = Invited::open().await;
    let owner = &invited.owner;
    let body = json!({"question": "Deploy 3.0?", "id": "deploy", "wait_seconds": 0});
    let asked = owner
        .ask(
            "POST",
            "/accord/v1/projects/shop/live/asks?actor=agent:coder",
            JSON,
            &body.to_string(),
        )
        .await;
    assert!(asked.status < 300, "{asked:?}");
    let items = invited.items().await;
    let item = items.iter().find(|item| item["words"] == "Deploy 3.0?").expect("the question");
    let session = item["subject"].as_str().unwrap();
    let made = invited.ask_link(item["id"].as_str().unwrap()).await.expect(201);
    let link = made["path"].as_str().unwrap().split_once("#p=").unwrap().1.to_owned();
    let page = &invited.page;
    let halves = page.sign_in(&json!({"link": link})).await;
    let path = format!("/accord/v1/live/{session}/actions");
    let answered = page.send("POST", &path, Some(&halves), r#"{"action":"yes"}"#).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    let path = "/accord/v1/projects/shop/decisions?kind=live.answer";
    let listed = owner.ask("GET", path, &[], "").await.expect(200);
    let record = &listed["decisions"][0];
    assert_eq!((&record["actor"], &record["known_by"]), (&json!("human:lead"), &json!("login")));
    assert_eq!((&record["door"], &record["action"]), (&json!("page"), &json!("yes")));
    invited.page.door.close().await;
}

#[tokio::test]
async fn a_person_who_is_removed_has_no_link_and_no_login() {
    let invited = Invited::open().await;
    let halves = invited.sign_in().await;
    let link = invited.link().await;
    assert_eq!(invited.shown(&halves).await.status, 200);
    invited.owner.ask("DELETE", LEAD, &[], "").await.expect(200);
    invited.shown(&halves).await.refused(401, "LOGIN_REQUIRED");
    invited.approve(&halves).await.refused(401, "LOGIN_REQUIRED");
    let refused = invited.page.login(&json!({"link": link})).await;
    refused.refused(401, "LOGIN_LINK_INVALID");
    // Another person of the same name has neither.
    let lead = json!({"name": "lead"}).to_string();
    invited.owner.ask("POST", "/accord/v1/people", JSON, &lead).await.expect(201);
    invited.shown(&halves).await.refused(401, "LOGIN_REQUIRED");
    let refused = invited.page.login(&json!({"link": link})).await;
    refused.refused(401, "LOGIN_LINK_INVALID");
    invited.page.door.close().await;
}

#[tokio::test]
async fn only_an_operator_makes_links_and_only_to_questions() {
    let invited = Invited::open().await;
    let page = &invited.page;
    let item = invited.item(&page.session).await;
    let request = json!({"label": "r", "verbs": ["read", "write", "review", "approve"]});
    let request = KeyRequest::from_document(request).unwrap();
    let key = page.door.host.keys().create(&Caller::owner(), request).await.unwrap().secret;
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    let path = format!("{LEAD}/link");
    let body = json!({"item": item}).to_string();
    page.door.ask("POST", &path, &headers, &body).await.refused(403, "unauthorized");
    let halves = invited.sign_in().await;
    page.send("POST", &path, Some(&halves), &body).await.refused(401, "AUTH_REQUIRED");

    let refused = |answer: Asked, status: u16, code: &str| {
        let document: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!((answer.status, &document["error"]["code"]), (status, &json!(code)));
    };
    refused(invited.ask_link("none").await, 404, "INBOX_ITEM_NOT_FOUND");
    let package = json!({
        "package_id": "pkg_1", "project_id": "shop", "relay_version": "0.1", "title": "T",
        "status": "awaiting_review", "package_type": "standard", "review_type": "human",
        "created_at": "2026-11-15T08:00:00Z", "created_by": {"id": "coder", "type": "agent"},
    });
    let path = "/v1/projects/shop/packages";
    let deposited = invited.owner.ask("POST", path, JSON, &package.to_string()).await;
    assert_eq!(deposited.status, 201, "{deposited:?}");
    let review = invited.item("pkg_1").await;
    refused(invited.ask_link(&review).await, 409, "ITEM_NEEDS_LOGIN");
    invited.owner.ask("DELETE", LEAD, &[], "").await.expect(200);
    refused(invited.ask_link(&item).await, 404, "PERSON_NOT_FOUND");
    invited.page.door.close().await;
}
