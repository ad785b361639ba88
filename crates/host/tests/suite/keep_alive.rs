//! An event stream on which nothing happens says so now and then, so that nobody in between takes
//! it for dead.

use std::time::Duration;

use accord_base::Caller;
use accord_host::http::api_as;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use serde_json::json;
use tokio::time::Instant;

use crate::support::World;

#[tokio::test]
async fn a_stream_without_events_says_every_quarter_of_a_minute_that_it_is_there() {
    let world = World::new();
    let project = json!({"project_id": "p", "name": "p"});
    world.owner().post("/v1/projects", &project).await.expect(201);
    let request = Request::get("/v1/projects/p/events").body(Body::empty());
    let api = api_as(&world.host, Caller::owner());
    let mut body = api.call(request.unwrap()).await.unwrap().into_body();
    let mut next = async || {
        let frame = body.frame().await.unwrap().unwrap();
        let text = frame.into_data().unwrap().to_vec();
        String::from_utf8(text).unwrap()
    };
    assert!(next().await.starts_with("retry: "));
    // From here on time passes only where everybody waits for it.
    tokio::time::pause();
    for _ in 0..3 {
        let began = Instant::now();
        assert_eq!(next().await, ": keep-alive\n\n");
        let waited = began.elapsed();
        assert!((Duration::from_secs(15)..Duration::from_secs(16)).contains(&waited), "{waited:?}");
    }
}
