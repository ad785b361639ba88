//! People.

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use serde_json::{Value, json};

use super::{Answer, Door};

async fn key(door: &Door, request: Value) -> String {
    let request = KeyRequest::from_document(request).unwrap();
    door.host.keys().create(&Caller::owner(), request).await.unwrap().secret
}

async fn ask(door: &Door, key: &str, (method, path): (&str, &str), body: &Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    door.ask(method, path, &[("Authorization", &bearer)], &body).await
}

const PEOPLE: &str = "/accord/v1/people";
const LEAD: &str = "/accord/v1/people/lead";

#[tokio::test]
async fn people_are_added_changed_and_removed() {
    let door = Door::open(&[]).await;
    let actor = json!({"id": "ops", "type": "human"});
    let admin = key(&door, json!({"label": "a", "verbs": ["admin"], "actor": actor})).await;
    let admin = admin.as_str();
    let lead = json!({"name": "lead", "email": "lead@example.org"});
    let added = ask(&door, admin, ("POST", PEOPLE), &lead).await;
    assert_eq!(added.status, 201, "{added:?}");
    let person = added.json()["person"].clone();
    assert_eq!(
        (&person["actor"], &person["added_by"]),
        (&json!("human:lead"), &json!("human:ops"))
    );
    assert_eq!(person["changed_at"], Value::Null);
    ask(&door, admin, ("POST", PEOPLE), &lead).await.refused(409, "PERSON_EXISTS");

    let changed = ask(&door, admin, ("PATCH", LEAD), &json!({"email": "lead@example.com"})).await;
    assert_eq!(changed.json()["person"]["email"], "lead@example.com");
    assert!(changed.json()["person"]["changed_at"].is_string());
    let listed = ask(&door, admin, ("GET", PEOPLE), &Value::Null).await.json();
    assert_eq!(listed["people"], json!([changed.json()["person"]]));
    let bare = ask(&door, admin, ("PATCH", LEAD), &json!({"email": null})).await;
    assert_eq!(bare.json()["person"]["email"], Value::Null);
    let refusal = ask(&door, admin, ("PATCH", LEAD), &json!({})).await;
    assert_eq!(refusal.refused(422, "WIRE_FIELD_MISSING")["error"]["pointer"], "/email");

    assert_eq!(ask(&door, admin, ("DELETE", LEAD), &Value::Null).await.status, 200);
    for method in ["DELETE", "PATCH"] {
        let body = if method == "PATCH" { json!({"email": null}) } else { Value::Null };
        ask(&door, admin, (method, LEAD), &body).await.refused(404, "PERSON_NOT_FOUND");
    }
    let listed = ask(&door, admin, ("GET", PEOPLE), &Value::Null).await.json();
    assert_eq!(listed["people"], json!([]));
    door.close().await;
}

#[tokio::test]
async fn only_a_key_to_everything_sees_an_address() {
    let door = Door::open(&[]).await;
    let admin = key(&door, json!({"label": "a", "verbs": ["admin"]})).await;
    let lead = json!({"name": "lead", "email": "lead@example.org"});
    assert_eq!(ask(&door, &admin, ("POST", PEOPLE), &lead).await.status, 201);
    let person = json!({"id": "lead", "type": "human"});
    let others = [
        json!({"label": "b", "verbs": ["admin"], "projects": ["p"]}),
        json!({"label": "c", "verbs": ["read", "write", "review", "approve"]}),
        json!({"label": "d", "verbs": ["read", "write", "approve"], "actor": person}),
    ];
    for other in others {
        let other = key(&door, other).await;
        let email = json!({"email": "other@example.org"});
        let add = json!({"name": "other"});
        for (request, body) in [
            (("GET", PEOPLE), &Value::Null),
            (("POST", PEOPLE), &add),
            (("PATCH", LEAD), &email),
            (("DELETE", LEAD), &Value::Null),
        ] {
            let answer = ask(&door, &other, request, body).await;
            assert!(!answer.body.contains("example.org"), "{answer:?}");
            answer.refused(403, "unauthorized");
        }
    }
    door.get(PEOPLE).await.refused(401, "AUTH_REQUIRED");
    door.close().await;
}

#[tokio::test]
async fn an_address_is_no_option_no_list_and_no_header() {
    let door = Door::open(&[]).await;
    let admin = key(&door, json!({"label": "a", "verbs": ["admin"]})).await;
    let long = format!("lead@{}.org", "e".repeat(300));
    for email in [
        "",
        "lead",
        "@example.org",
        "lead@",
        "-lead@example.org",
        "a@b@c",
        "lead@-b",
        "lead@b.",
        "lead@example.org,coder@example.org",
        "lead@example.org\nBcc: coder@example.org",
        "lead @example.org",
        "Lead <lead@example.org>",
        "lead@example.org;",
        "l\u{e9}@example.org",
        "$(id)@example.org",
        &long,
    ] {
        let body = json!({"name": "lead", "email": email});
        let answer = ask(&door, &admin, ("POST", PEOPLE), &body).await;
        assert_eq!(
            answer.refused(422, "WIRE_FIELD_VALUE")["error"]["pointer"],
            "/email",
            "{email}"
        );
    }
    for name in ["", "a\nb", "agent:coder", &"x".repeat(201)] {
        let answer = ask(&door, &admin, ("POST", PEOPLE), &json!({"name": name})).await;
        assert_eq!(answer.refused(422, "WIRE_FIELD_VALUE")["error"]["pointer"], "/name", "{name}");
    }
    door.close().await;
}
