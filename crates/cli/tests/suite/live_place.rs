//! Live sessions of a test's own, and where commands find them.

use std::ops::Deref;
use std::time::{Duration, Instant};

use accord_base::{ActorKey, Caller, KeyScope, Verb};
use accord_contract::{Code, Object, Wire};
use accord_host::http::{Host, local_api};
use accord_host::settings::Settings;
use accord_live_core::AppId;
use axum::body::Body;
use serde_json::{Value, json};

use crate::shop::Shop;
use crate::wait::LIMIT;

/// The live sessions of the project `shop`.
pub(crate) struct Sessions(Shop);

impl Deref for Sessions {
    type Target = Shop;

    fn deref(&self) -> &Shop {
        &self.0
    }
}

impl Sessions {
    /// A project without sessions, in a folder that is not served.
    pub(crate) fn new() -> Self {
        let place = Self(Shop::new("live"));
        place.on_host(async |host| {
            let body = json!({"project_id": "shop", "name": "The shop"}).to_string();
            let request = hyper::Request::builder().method("POST").uri("/v1/projects");
            let request = request.header("content-type", "application/json");
            let request = request.body(Body::from(body)).expect("a request");
            let answer = local_api(host).call(request).await.expect("an answer");
            assert_eq!(answer.status(), 201);
        });
        place
    }

    /// The same sessions, with a host that serves the folder.
    pub(crate) fn served(mut self) -> Self {
        self.0.serve();
        self
    }

    /// The same sessions, after the end of their host by a crash.
    pub(crate) fn killed(mut self) -> Self {
        self.0.kill_host();
        self
    }

    /// Does something on the folder while nobody serves it.
    fn on_host<T>(&self, act: impl AsyncFnOnce(&Host) -> T) -> T {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let deadline = Instant::now() + LIMIT;
            let host = loop {
                match Host::open(&self.data(), Settings::default()) {
                    Ok(host) => break host,
                    // A program that another test starts has the lock until it is replaced.
                    Err(failure) if failure.code == Code::StoreLocked => {
                        assert!(Instant::now() < deadline, "waited {LIMIT:?} for the store");
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    Err(failure) => panic!("{failure:?}"),
                }
            };
            act(&host).await
        })
    }

    /// An agent asks for something. Returns the session.
    pub(crate) fn ask(&self, intent: &str, contract: &Value, props: &Value) -> String {
        self.on_host(async |host| {
            let painter = ActorKey::parse("agent:painter").expect("an actor");
            let scope = KeyScope::new(vec![Verb::Write], None).bound_to(painter.clone(), false);
            let (caller, shop) =
                (Caller::key("key_1", &scope), AppId::new("shop").expect("an app"));
            let draft = json!({"intent": intent, "blueprintDraft": {"contract": contract}});
            let made = host.live().handshake(&caller, &shop, arguments(draft)).await;
            let made = made.expect("a handshake");
            let request = json!({"handshakeId": made.handshake_id.as_str(), "props": props});
            let rendered =
                host.live().render(&caller, &shop, arguments(request), Some(painter)).await;
            rendered.expect("a session").session_id.as_str().to_owned()
        })
    }
}

/// A contract with two actions and a channel.
pub(crate) fn contract() -> Value {
    json!({
        "propsSpec": {"properties": {"version": {"schema": {"type": "string"}}}},
        "actionSpec": {
            "approve": {"label": "Approve", "schema": {
                "type": "object",
                "properties": {
                    "version": {"type": "integer", "description": "The version that you checked"},
                    "note": {"type": "string"},
                },
                "required": ["version"],
            }},
            "reject": {"label": "Reject"},
        },
        "streamSpec": {"log": {"schema": {"type": "string"}, "replay": "all"}},
    })
}

fn arguments<T: Wire>(value: Value) -> T {
    let members: Object = serde_json::from_value(value).expect("an object");
    accord_live_core::tools::read(members).expect("arguments")
}
