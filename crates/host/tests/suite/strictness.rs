//! What a request says that its route does not know, and what the lines of an import must not say.

use serde_json::{Value, json};

use crate::support::{World, package_with};

fn package(project: &str, id: &str) -> Value {
    package_with(id, json!({"project_id": project}))
}

#[tokio::test]
async fn a_query_parameter_that_a_route_does_not_know_is_named() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&package("p", "one")).await;
    for (path, name, known) in [
        ("/v1/projects/p/packages?limits=1", "limits", "mode, limit, cursor"),
        ("/v1/projects/p/packages?limit=1&Limit=2", "Limit", "mode, limit"),
        ("/v1/projects/p/orient?project%5Fid=p", "project_id", "format, window_days, limit"),
        ("/v1/conformance?x", "x", "it has none"),
        ("/accord/v1/status?x=1", "x", "it has none"),
        ("/healthz?x=1", "x", "it has none"),
    ] {
        let body = owner.get(path).await.refused(400, "invalid_schema");
        let message = body["message"].as_str().unwrap();
        assert!(message.contains(&format!("{name:?}")) && message.contains(known), "{message}");
        assert_eq!(body["field"], name, "{body}");
    }
    // Another method is refused as such: the parameters are those of the methods that exist.
    let other = owner.ask("PUT", "/v1/projects/p/packages?mint=true", &[], "").await;
    assert_eq!(other.status, 405, "{}", other.text);
    let verify = "/accord/v1/verify?project_id=p";
    owner.post(verify, &json!({})).await.refused(400, "invalid_schema");
    // A write that is refused for its query has written nothing.
    let path = "/v1/projects/p/packages?mint=1&dry_run=1";
    owner.post(path, &package("p", "two")).await.refused(400, "invalid_schema");
    owner.get("/v1/packages/two").await.refused(404, "package_not_found");
    owner.get("/v1/orchestrate?project_id=p").await.expect(200);
}

#[tokio::test]
async fn a_cursor_leads_through_the_project_that_gave_it_and_no_other() {
    let world = World::new();
    let owner = world.owner();
    for project in ["p", "q"] {
        for id in ["one", "two"] {
            owner.deposit(&package(project, id)).await;
            let path = format!("/v1/projects/{project}/facts");
            let fact = json!({"subject": id, "predicate": "is", "value": "there"});
            owner.post(&path, &fact).await.expect(201);
            let path = format!("/v1/projects/{project}/sessions");
            let session = json!({"actor_id": "lead", "actor_type": "agent"});
            owner.post(&path, &session).await.expect(201);
        }
    }
    for list in ["packages", "facts", "sessions"] {
        let first = owner.get(&format!("/v1/projects/p/{list}?limit=1")).await.expect(200);
        let cursor = first["next_cursor"].as_str().unwrap();
        let rest = format!("{list}?limit=1&cursor={cursor}");
        owner.get(&format!("/v1/projects/p/{rest}")).await.expect(200);
        owner.get(&format!("/v1/projects/q/{rest}")).await.refused(400, "invalid_cursor");
    }
}

#[tokio::test]
async fn a_session_that_ended_before_it_began_is_not_taken_in() {
    let world = World::new();
    let session = |id: &str, ended: &str| {
        json!({"session_id": id, "project_id": "p", "actor_id": "lead", "actor_type": "agent",
               "started_at": "2026-04-18T20:00:00Z", "ended_at": ended})
    };
    let lines = [
        session("backwards", "2026-04-18T19:59:59Z").to_string(),
        json!({"kind": "session", "data": session("wrapped", "2026-04-17T00:00:00Z")}).to_string(),
        session("short", "2026-04-18T20:00:00Z").to_string(),
    ];
    let headers = [("content-type", "application/x-ndjson")];
    let owner = world.owner();
    let answer = owner.ask("POST", "/v1/projects/p/import", &headers, &lines.join("\n")).await;
    let summary = answer.expect(200);
    assert_eq!(summary["refused_count"], 2, "{summary}");
    assert_eq!(summary["refused"][0]["line"], 1, "{summary}");
    let list = owner.get("/v1/projects/p/sessions").await.expect(200);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(list["sessions"][0]["session_id"], "short");
}

#[tokio::test]
async fn bodies_that_are_packed_or_in_another_alphabet_are_refused() {
    let world = World::new();
    let owner = world.owner();
    let document = package("p", "one").to_string();
    let deposit = "/v1/projects/p/packages";
    for (path, name, value) in [
        (deposit, "content-encoding", "gzip"),
        (deposit, "content-encoding", "identity, br"),
        (deposit, "content-type", "application/json; charset=iso-8859-1"),
        (deposit, "content-type", "application/json; a=b; Charset=\"UTF-16\""),
        ("/v1/projects/p/import", "content-encoding", "zstd"),
        ("/v1/projects/p/import", "content-type", "text/plain;charset=latin1"),
        ("/v1/blobs/sha256:0", "content-encoding", "gzip"),
    ] {
        let method = if path.contains("blobs") { "PUT" } else { "POST" };
        let answer = owner.ask(method, path, &[(name, value)], &document).await;
        answer.refused(415, "HTTP_MEDIA_TYPE");
    }
    owner.get("/v1/packages/one").await.refused(404, "package_not_found");
    let headers =
        [("content-encoding", "identity"), ("content-type", "application/json; charset=\"UTF-8\"")];
    owner.ask("POST", deposit, &headers, &document).await.expect(201);
}

#[tokio::test]
async fn a_key_cannot_be_made_that_has_expired() {
    let world = World::new();
    let asked = json!({"label": "late", "verbs": ["read"], "expires_at": "2020-01-01T00:00:00Z"});
    let body = world.owner().post("/accord/v1/keys", &asked).await.refused(422, "WIRE_FIELD_VALUE");
    assert_eq!(body["field"], "expires_at", "{body}");
    assert!(!world.host.keys().required().await.unwrap(), "no key was made");
}
