//! Backups and retention, over HTTP.

use accord_host::http::Host;
use serde_json::json;

use super::{Door, settings_of};
use crate::support::World;

#[tokio::test]
async fn a_backup_is_a_data_folder() {
    let world = World::new();
    let owner = world.owner();
    let body = json!({"project_id": "p", "name": "p"});
    assert_eq!(owner.post("/v1/projects", &body).await.status, 201);
    let blobs = world.host.folder().join("blobs");
    std::fs::create_dir_all(blobs.join("ab")).unwrap();
    std::fs::write(blobs.join("ab/cdef"), "a blob").unwrap();
    std::fs::write(world.host.folder().join("accord.toml"), "strict_projects = true\n").unwrap();
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("copy");
    let body = json!({"to": to});
    let answer = owner.post("/accord/v1/store/backup", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["blobs"], 1);
    assert_eq!(std::fs::read(to.join("blobs/ab/cdef")).unwrap(), b"a blob");
    let copy = Host::open(&to, settings_of(&to, &[])).unwrap();
    assert!(copy.settings().strict_projects);
    let copy = accord_host::http::local_api(&copy);
    let request = hyper::Request::get("/v1/projects/p").body(axum::body::Body::empty()).unwrap();
    assert_eq!(copy.call(request).await.unwrap().status(), 200);
    // Never over something that is there, and never from a folder that moves with the process.
    let again = owner.post("/accord/v1/store/backup", &body).await;
    assert_eq!((again.status, &again.json()["code"]), (409, &json!("STORE_OCCUPIED")));
    let body = json!({"to": "copy"});
    let relative = owner.post("/accord/v1/store/backup", &body).await;
    assert_eq!((relative.status, &relative.json()["code"]), (422, &json!("WIRE_FIELD_VALUE")));
}

#[tokio::test]
async fn a_network_client_cannot_name_files_of_this_machine() {
    let door = Door::open(&[]).await;
    let body = r#"{"to": "/tmp/accord-never"}"#;
    let answer = door.ask("POST", "/accord/v1/store/backup", &[], body).await;
    answer.refused(403, "HOST_OWNER_ONLY");
    assert!(!std::path::Path::new("/tmp/accord-never").exists());
    door.close().await;
}

#[tokio::test]
async fn events_are_removed_on_request() {
    let world = World::new();
    let owner = world.owner();
    for name in ["one", "two", "three"] {
        let body = json!({"project_id": "p", "name": name});
        owner.post("/v1/projects", &body).await;
        owner.patch("/v1/projects/p", &json!({"name": name})).await;
    }
    let far = json!({"events_before": "2999-01-01", "dry_run": true});
    let would = owner.post("/accord/v1/store/trim", &far).await;
    assert_eq!(would.status, 200, "{would:?}");
    let count = would.json()["events"].as_u64().unwrap();
    assert!(count > 0, "{would:?}");
    let none = owner.post("/accord/v1/store/trim", &json!({"days": 1})).await;
    assert_eq!(none.json()["events"], 0);
    let done = owner.post("/accord/v1/store/trim", &json!({"events_before": "2999-01-01"})).await;
    assert_eq!(done.json()["events"], count);
    assert_eq!(done.json()["projects"][0]["project_id"], "p");
    for unclear in [
        json!({}),
        json!({"days": 1, "events_before": "2999-01-01"}),
        json!({"events_before": "soon"}),
    ] {
        let answer = owner.post("/accord/v1/store/trim", &unclear).await;
        assert_eq!(answer.status, 422, "{unclear}: {answer:?}");
    }
}
