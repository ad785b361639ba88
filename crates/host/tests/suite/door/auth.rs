//! Keys.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::{Time, Timestamp, Wire as _};
use accord_host::http::Host;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Door, PATIENCE, settings_of};
use crate::support::opened;

async fn make(host: &Host, request: Value) -> (String, String) {
    let request = KeyRequest::from_document(request).unwrap();
    let made = host.keys().create(&Caller::owner(), request).await.unwrap();
    (made.key.key_id.clone(), made.secret)
}

#[tokio::test]
async fn without_keys_local_clients_are_accepted_and_with_one_only_its_holders() {
    let door = Door::open(&[]).await;
    assert_eq!(door.get("/accord/v1/status").await.status, 200);
    // The first key is made over the network, too.
    let body = r#"{"label": "the first", "verbs": ["admin"]}"#;
    let made = door.ask("POST", "/accord/v1/keys", &[], body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let (secret, key_id) =
        (made["secret"].as_str().unwrap(), made["key"]["key_id"].as_str().unwrap());
    assert!(secret.starts_with(&format!("accord_{key_id}_")), "{secret}");

    let answer = door.get("/accord/v1/status").await;
    answer.refused(401, "AUTH_REQUIRED");
    assert!(answer.head.contains("www-authenticate: bearer realm=\"accord\""));
    for (scheme, status) in [("Basic eA==", 401), ("Bearer", 401), ("bearer  nonsense", 403)] {
        let answer = door.ask("GET", "/accord/v1/status", &[("Authorization", scheme)], "").await;
        assert_eq!(answer.status, status, "{scheme}: {answer:?}");
    }
    assert_eq!(door.get_with("/accord/v1/status", secret).await.status, 200);
    // What says nothing about anybody's data stays open.
    for open in ["/healthz", "/openapi.json", "/docs"] {
        assert_eq!(door.get(open).await.status, 200, "{open}");
    }
    door.get("/metrics").await.refused(401, "AUTH_REQUIRED");

    // Revoked, it is worth nothing at once; and keys are needed still.
    let revoke = format!("/accord/v1/keys/{key_id}");
    let bearer = format!("Bearer {secret}");
    let revoked = door.ask("DELETE", &revoke, &[("Authorization", &bearer)], "").await;
    assert_eq!(revoked.status, 200, "{revoked:?}");
    assert!(revoked.json()["key"]["revoked_at"].is_string());
    let answer = door.get_with("/accord/v1/status", secret).await;
    let body = answer.refused(403, "unauthorized");
    assert_eq!(body["error"]["message"], "this key was revoked");
    door.get("/accord/v1/status").await.refused(401, "AUTH_REQUIRED");
    door.close().await;
}

#[tokio::test]
async fn keys_survive_the_server_and_never_as_themselves() {
    let door = Door::open(&[]).await;
    let (key_id, secret) = make(&door.host, json!({"label": "ada", "verbs": ["read"]})).await;
    let (_, gone) = make(&door.host, json!({"label": "gone", "verbs": ["read"]})).await;
    let gone_id = gone.split('_').nth(1).unwrap();
    door.host.keys().revoke(&Caller::owner(), gone_id).await.unwrap();
    assert_eq!(door.get_with("/accord/v1/status", &secret).await.status, 200);
    let folder = door.close().await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let proof = secret.rsplit('_').next().unwrap().as_bytes();
        assert!(!bytes.windows(proof.len()).any(|window| window == proof));
    }
    let host = opened(folder.path(), settings_of(folder.path(), &[])).await;
    let door = Door::serve(folder, host).await.unwrap();
    assert_eq!(door.get_with("/accord/v1/status", &secret).await.status, 200);
    door.get_with("/accord/v1/status", &gone).await.refused(403, "unauthorized");
    let keys = door.host.keys().list(&Caller::owner()).await.unwrap();
    assert_eq!(keys.len(), 2);
    let ada = keys.iter().find(|key| key.key_id == key_id).unwrap();
    assert!(ada.last_used_at.is_some(), "its use was noted before the restart");
    door.close().await;
}

#[tokio::test]
async fn a_caller_is_told_who_it_is() {
    let door = Door::open(&[]).await;
    let own = door.get("/accord/v1/me").await.json();
    assert_eq!((&own["actor"], &own["projects"]), (&Value::Null, &Value::Null), "{own}");
    assert_eq!(own["verbs"], json!(["admin"]));
    let actor = json!({"id": "lead", "type": "human"});
    let of = async |more: Value| {
        let mut request = json!({"label": "k", "verbs": ["write"]});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (_, secret) = make(&door.host, request).await;
        door.get_with("/accord/v1/me", &secret).await.json()
    };
    let plain = of(json!({"projects": ["shop"]})).await;
    assert_eq!((&plain["caller"], &plain["actor"]), (&json!("plain_key"), &Value::Null));
    assert_eq!((&plain["verbs"], &plain["projects"]), (&json!(["write"]), &json!(["shop"])));
    let person = of(json!({"actor": actor})).await;
    assert_eq!((&person["caller"], &person["actor"]), (&json!("person_key"), &actor));
    assert_eq!(person["act_as"], false);
    let other = of(json!({"actor": {"id": "dev", "type": "agent"}, "act_as": true})).await;
    assert_eq!((&other["caller"], &other["act_as"]), (&json!("act_as_key"), &json!(true)));
    door.get("/accord/v1/me").await.refused(401, "AUTH_REQUIRED");
    door.get_with("/accord/v1/me", "accord_a_b").await.refused(403, "unauthorized");
    door.close().await;
}

#[tokio::test]
async fn wrong_and_expired_keys_are_refused() {
    let door = Door::open(&[]).await;
    let (id, secret) = make(&door.host, json!({"label": "a", "verbs": ["read"]})).await;
    let (_, other) = make(&door.host, json!({"label": "b", "verbs": ["read"]})).await;
    let proof = other.rsplit('_').next().unwrap();
    for wrong in [
        format!("accord_{id}_{proof}"),
        format!("{secret}x"),
        secret[..secret.len() - 1].to_owned(),
        format!("accord_{id}_"),
        "accord__".into(),
        "x".repeat(10_000),
    ] {
        let body = door.get_with("/accord/v1/status", &wrong).await;
        let body = body.refused(403, "unauthorized");
        assert_eq!(body["error"]["message"], "unknown key");
    }
    let soon = SystemTime::now() + Duration::from_millis(1_500);
    let soon = soon.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let soon = Timestamp::emit(Time::from_unix_millis(i64::try_from(soon).unwrap()));
    let ended = json!({"label": "c", "verbs": ["read"], "expires_at": soon.as_str()});
    let (_, ended) = make(&door.host, ended).await;
    let expired = async {
        loop {
            let answer = door.get_with("/accord/v1/status", &ended).await;
            if answer.status != 200 {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let body = timeout(PATIENCE, expired).await.unwrap();
    let body = body.refused(403, "unauthorized");
    assert_eq!(body["error"]["message"], "this key has expired");
    let later = json!({"label": "d", "verbs": ["read"], "expires_at": "2999-01-01T00:00:00Z"});
    let (_, later) = make(&door.host, later).await;
    assert_eq!(door.get_with("/accord/v1/status", &later).await.status, 200);
    door.close().await;
}

#[tokio::test]
async fn only_a_key_to_everything_manages_keys() {
    let door = Door::open(&[]).await;
    let (_, admin) = make(&door.host, json!({"label": "a", "verbs": ["admin"]})).await;
    let one = json!({"label": "b", "verbs": ["admin"], "projects": ["p"]});
    let (_, one) = make(&door.host, one).await;
    let (_, writer) = make(&door.host, json!({"label": "c", "verbs": ["write", "review"]})).await;
    assert_eq!(door.get_with("/accord/v1/keys", &admin).await.status, 200);
    for key in [&one, &writer] {
        door.get_with("/accord/v1/keys", key).await.refused(403, "unauthorized");
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str())];
        let body = r#"{"label": "mine", "verbs": ["admin"]}"#;
        let answer = door.ask("POST", "/accord/v1/keys", &headers, body).await;
        answer.refused(403, "unauthorized");
        let answer = door.ask("DELETE", "/accord/v1/keys/x", &headers, "").await;
        answer.refused(403, "unauthorized");
    }
    // A key that may write and not read sees no status and no metrics.
    door.get_with("/accord/v1/status", &writer).await.refused(403, "unauthorized");
    door.get_with("/metrics", &writer).await.refused(403, "unauthorized");
    let bearer = format!("Bearer {admin}");
    let answer = door.ask("DELETE", "/accord/v1/keys/x", &[("Authorization", &bearer)], "").await;
    answer.refused(404, "KEY_NOT_FOUND");
    door.close().await;
}

#[tokio::test]
async fn a_key_that_makes_no_sense_is_not_made() {
    let door = Door::open(&[]).await;
    for (body, code, place) in [
        (r#"{"verbs": ["read"]}"#, "WIRE_FIELD_MISSING", "/label"),
        (r#"{"label": "", "verbs": ["read"]}"#, "WIRE_FIELD_VALUE", "/label"),
        (r#"{"label": "a\nb", "verbs": ["read"]}"#, "WIRE_FIELD_VALUE", "/label"),
        (r#"{"label": "x", "verbs": []}"#, "WIRE_FIELD_VALUE", "/verbs"),
        (r#"{"label": "x", "verbs": ["rule"]}"#, "WIRE_FIELD_VALUE", "/verbs/0"),
        (r#"{"label": "x", "verbs": ["read"], "projects": []}"#, "WIRE_FIELD_VALUE", "/projects"),
        (r#"{"label": "x", "verbs": ["read"], "secret": "mine"}"#, "WIRE_FIELD_UNKNOWN", "/secret"),
        (
            r#"{"label": "x", "verbs": ["read"], "expires_at": "soon"}"#,
            "WIRE_FIELD_VALUE",
            "/expires_at",
        ),
    ] {
        let answer = door.ask("POST", "/accord/v1/keys", &[], body).await;
        let refusal = answer.refused(422, code);
        assert_eq!(refusal["error"]["pointer"], place, "{body}");
    }
    let answer = door.ask("POST", "/accord/v1/keys", &[], "{").await;
    answer.refused(400, "CANON_INVALID_JSON");
    let twice = r#"{"label": "x", "label": "y", "verbs": ["read"]}"#;
    let answer = door.ask("POST", "/accord/v1/keys", &[], twice).await;
    answer.refused(422, "CANON_DUPLICATE_KEY");
    assert!(!door.host.keys().required().await.unwrap(), "nothing of that made a key");
    door.close().await;
}

#[tokio::test]
async fn metrics_may_be_opened() {
    let door = Door::open(&[("metrics_open", "true")]).await;
    make(&door.host, json!({"label": "a", "verbs": ["admin"]})).await;
    assert_eq!(door.get("/metrics").await.status, 200);
    door.get("/accord/v1/status").await.refused(401, "AUTH_REQUIRED");
    door.close().await;
}
