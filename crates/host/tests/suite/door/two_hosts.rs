//! Two hosts over one store: keys of one are keys of the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use accord_host::http::Host;
use accord_store::{Engine, ModelStore};
use accord_store_sqlite::{Options, SqliteStore};
use serde_json::json;
use tokio::time::sleep;

use super::{Door, settings_of};

async fn serve_over(engine: &Arc<dyn Engine>) -> Door {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings_of(folder.path(), &[]);
    let host = Host::over(Arc::clone(engine), folder.path(), settings).unwrap();
    Door::serve(folder, host).await.unwrap()
}

#[tokio::test]
async fn a_key_of_one_host_works_at_the_other_until_it_is_revoked() {
    let engine: Arc<dyn Engine> = Arc::new(ModelStore::new());
    let (one, other) = (serve_over(&engine).await, serve_over(&engine).await);
    let request = json!({"label": "builder", "verbs": ["read"]});
    let request = KeyRequest::from_document(request).unwrap();
    let keys = one.host.keys();
    let created = keys.create(&Caller::owner(), request).await.unwrap();
    let answer = other.get_with("/v1/projects", &created.secret).await;
    assert_eq!(answer.status, 200, "{answer:?}");

    let id = &created.key.key_id;
    keys.revoke(&Caller::owner(), id).await.unwrap();
    let revoked = Instant::now();
    let answer = one.get_with("/v1/projects", &created.secret).await;
    assert_eq!(answer.status, 403, "the host that revoked it refuses it at once");
    let refused = loop {
        let asked = Instant::now();
        let answer = other.get_with("/v1/projects", &created.secret).await;
        if answer.status != 200 {
            break answer;
        }
        let late = asked.saturating_duration_since(revoked);
        assert!(late < Duration::from_secs(1), "still accepted after {late:?}");
        sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.body.contains("this key was revoked"), "{refused:?}");
    one.close().await;
    other.close().await;
}

#[tokio::test]
async fn a_host_that_closes_leaves_the_store_to_the_other() {
    let store = tempfile::tempdir().unwrap();
    let engine = SqliteStore::open(store.path(), &Options::default()).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(engine);
    let (one, other) = (serve_over(&engine).await, serve_over(&engine).await);
    one.close().await;
    let body = r#"{"project_id": "atlas", "name": "Atlas"}"#;
    let answer = other.ask("POST", "/v1/projects", &[], body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    other.close().await;
}
