//! A host in a temporary folder, and those who ask it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use accord_base::{ActorId, ActorKey, ActorType, Caller, KeyScope, ProjectId, Verb};
use accord_contract::{Code, Time};
use accord_host::Api;
use accord_host::http::{Host, api_as};
use accord_host::settings::Settings;
use accord_host::upkeep::repair;
use accord_memory::Repaired;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Request};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::undeclared::watch_codes;

/// The bound of every wait, far more than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until a condition is true.
pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for something that must happen.
pub(crate) async fn soon<T>(what: &str, awaited: impl IntoFuture<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, awaited).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}

/// A host on a folder that another one may have had a moment ago: its threads end by themselves.
pub(crate) async fn opened(folder: &Path, settings: Settings) -> Host {
    watch_codes();
    let deadline = Instant::now() + PATIENCE;
    loop {
        match Host::open(folder, settings.clone()) {
            Err(failure) if failure.code == Code::StoreLocked && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            host => return host.unwrap(),
        }
    }
}

/// A host whose folder goes when it does.
pub(crate) struct World {
    pub(crate) host: Host,
    _folder: TempDir,
}

/// A client.
#[derive(Clone)]
pub(crate) struct Asker(Arc<dyn Api>);

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        watch_codes();
        let folder = tempfile::tempdir().unwrap();
        Self { host: Host::open(folder.path(), settings).unwrap(), _folder: folder }
    }

    /// The same folder, after its store was repaired while nobody served it.
    pub(crate) fn repaired(self) -> (Self, Repaired) {
        let Self { host, _folder } = self;
        drop(host);
        let repaired = repair(_folder.path(), &mut |_, _| {}).unwrap();
        let host = Host::open(_folder.path(), Settings::default()).unwrap();
        (Self { host, _folder }, repaired)
    }

    pub(crate) fn folder(&self) -> &Path {
        self._folder.path()
    }

    /// The owner of the data folder.
    pub(crate) fn owner(&self) -> Asker {
        self.asker(Caller::owner())
    }

    /// The holder of a key.
    pub(crate) fn key(&self, scope: &KeyScope) -> Asker {
        self.asker(Caller::key("key_1", scope))
    }

    /// The holder of an actor's key to all projects.
    pub(crate) fn key_of(&self, actor: &str) -> Asker {
        self.key(&KeyScope::new(vec![Verb::Admin], None).bound_to(actor_key(actor), false))
    }

    pub(crate) fn asker(&self, caller: Caller) -> Asker {
        Asker(api_as(&self.host, caller))
    }
}

impl Asker {
    /// The owner of a host's data folder.
    pub(crate) fn of(host: &Host) -> Self {
        Self(api_as(host, Caller::owner()))
    }

    /// A caller of a host.
    pub(crate) fn through_host(host: &Host, caller: Caller) -> Self {
        Self(api_as(host, caller))
    }

    /// A client of a host in another place.
    pub(crate) fn through(api: impl Api + 'static) -> Self {
        Self(Arc::new(api))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[], &body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.ask("PATCH", path, &[], &body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &[], "").await
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let (parts, body) = self.0.call(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Deposits a package that is taken.
    pub(crate) async fn deposit(&self, package: &Value) -> Value {
        let project = package["project_id"].as_str().unwrap();
        let path = format!("/v1/projects/{}/packages", encoded(project));
        self.post(&path, package).await.expect(201)
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The document of an answer of that status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }

    /// Demands a refusal of that status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"]["code"], code, "{}", self.text);
        body["error"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A package of the project atlas.
pub(crate) fn package(id: &str) -> Value {
    json!({
        "package_id": id,
        "project_id": "atlas",
        "relay_version": "0.1",
        "title": "Indexes rebuilt",
        "status": "complete",
        "package_type": "milestone",
        "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z",
        "created_by": {"id": "ada", "type": "agent"},
    })
}

/// The package with other or more members.
pub(crate) fn package_with(id: &str, members: Value) -> Value {
    let mut document = package(id);
    let Value::Object(members) = members else { panic!("members are an object") };
    document.as_object_mut().unwrap().extend(members);
    document
}

pub(crate) fn actor_key(id: &str) -> ActorKey {
    ActorKey { id: ActorId::new(id).unwrap(), kind: ActorType::Agent }
}

pub(crate) fn project_id(id: &str) -> ProjectId {
    ProjectId::new(id).unwrap()
}

/// A text as a segment of a path, or as a value in a query.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    let bytes = text.as_bytes().iter();
    bytes
        .map(|byte| match plain(byte) {
            true => char::from(*byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// Now, so many days ago.
pub(crate) fn days_ago(days: u32) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let millis = i64::try_from(now.as_millis()).unwrap();
    Time::from_unix_millis(millis).days_before(days).to_string()
}

/// The values of one member of every item of a list.
pub(crate) fn each<'a>(list: &'a Value, member: &str) -> Vec<&'a str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[member].as_str().unwrap()).collect()
}
