//! Engines, services and requests.

use std::sync::Arc;
use std::time::Duration;

use accord_base::{Caller, ProjectId};
use accord_contract::{Failure, Object, Timestamp, Wire};
use accord_live::{Delivery, End, Live, LiveOptions, Subscriber, Subscription};
use accord_live_core::frame::{Action, ActionAck, Binding, ClientBody, parse};
use accord_live_core::limits::Limits;
use accord_live_core::session::{Sender, SubscribeRefusal};
use accord_live_core::tenancy::Identity;
use accord_live_core::{AppId, SessionId};
use accord_store::{
    LedgerEntry, LivePart, LiveSessionRow, ModelStore, ProjectRow, Store, StoreError, StoreExt as _,
};
use accord_store_sqlite::{Options, SqliteStore};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Much longer than anything takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A store with the project `shop`, and the folder that it needs.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn Store>,
    _folder: Option<TempDir>,
}

/// A store of each kind.
pub(crate) fn places() -> Vec<Place> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path(), &Options::default()).unwrap();
    let places = vec![model(), Place { store: Arc::new(sqlite), _folder: Some(folder) }];
    create(&places[1].store);
    places
}

/// A store in memory.
pub(crate) fn model() -> Place {
    let place = Place { store: Arc::new(ModelStore::new()), _folder: None };
    create(&place.store);
    place
}

/// Creates the projects, unless they exist.
pub(crate) fn create(store: &Arc<dyn Store>) {
    for name in ["shop", "atlas"] {
        let row = ProjectRow {
            project_id: project(name),
            created_at: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
            archived_at: None,
            conformance: false,
            text: "{}".to_owned(),
        };
        let made: Result<(), StoreError> = store.write(move |unit| {
            if unit.project(&row.project_id)?.is_none() {
                unit.insert_project(&row)?;
            }
            Ok(())
        });
        made.unwrap();
    }
}

impl Place {
    pub(crate) fn live(&self) -> Live {
        self.live_with(LiveOptions::default())
    }

    pub(crate) fn live_with(&self, options: LiveOptions) -> Live {
        Live::new(Arc::clone(&self.store), options)
    }

    pub(crate) fn row(&self, session: &str) -> LiveSessionRow {
        let id = session_id(session);
        self.store.read(|unit| unit.live_session(&id)).unwrap().unwrap()
    }

    pub(crate) fn ledger(&self, session: &str) -> Vec<LedgerEntry> {
        let id = session_id(session);
        self.store.read(|unit| unit.live_ledger(&id, 0, usize::MAX)).unwrap()
    }

    /// The numbers of the events that were given back, as JSON.
    pub(crate) fn returned(&self, session: &str) -> Option<String> {
        let id = session_id(session);
        self.store.read(|unit| unit.live_content(&id, LivePart::Returned)).unwrap()
    }

    /// The kinds of the events of the project.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let events = self.store.read(|unit| unit.events(&project("shop"), 0, usize::MAX));
        events.unwrap().into_iter().map(|event| event.entry.kind).collect()
    }

    /// Archives the project, or restores it.
    pub(crate) fn archive(&self, is_archived: bool) {
        let at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
        let written: Result<(), StoreError> = self.store.write(move |unit| {
            let mut row = unit.project(&project("shop"))?.unwrap();
            row.archived_at = is_archived.then(|| at.clone());
            unit.update_project(&row)
        });
        written.unwrap();
    }

    /// Lets a session expire, as time does.
    pub(crate) fn expire(&self, session: &str) {
        let row = self.row(session);
        let mut session = row.session;
        session.head.expires_at = session.head.created_at;
        let owner = row.project_id.unwrap();
        let written: Result<u64, StoreError> =
            self.store.write(move |unit| unit.put_live_session(&owner, &session));
        written.unwrap();
    }
}

pub(crate) fn project(name: &str) -> ProjectId {
    ProjectId::new(name).unwrap()
}

pub(crate) fn app(name: &str) -> AppId {
    AppId::new(name).unwrap()
}

pub(crate) fn session_id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn owner() -> Caller {
    Caller::owner()
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// The arguments of a tool.
pub(crate) fn arguments<T: Wire>(value: Value) -> T {
    accord_live_core::tools::read(object(value)).unwrap()
}

/// A contract with an action, and a channel of each policy.
pub(crate) fn contract() -> Value {
    json!({
        "actionSpec": {
            "answer": {"label": "Answer", "schema": {
                "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]
            }},
        },
        "streamSpec": {
            "log": {"schema": {"type": "integer"}, "replay": "all"},
            "state": {"schema": {"type": "integer"}, "replay": "latest"},
            "tick": {"schema": {"type": "integer"}},
        },
    })
}

/// A session with the contract, a pipe, and the first frame of its stream.
pub(crate) async fn seed(live: &Live, session: &str) {
    let ui = object(contract());
    live.seed(&app("shop"), &session_id(session), ui, Object::new()).await.unwrap();
}

/// Subscribes, with these members of the payload beside session and app.
pub(crate) async fn subscribe(
    live: &Live,
    session: &str,
    more: Value,
) -> Result<Subscription, SubscribeRefusal> {
    let mut payload = object(json!({"sessionId": session, "appId": "shop"}));
    payload.extend(object(more));
    let frame = json!({"type": "subscribe", "payload": payload});
    let frame = parse(frame.to_string().as_bytes(), false, &Limits::default()).unwrap();
    let ClientBody::Subscribe(request) = frame.body else { panic!("{frame:?}") };
    live.subscribe(&Identity::Open, &request, Some("r1")).await
}

/// An action with a text.
pub(crate) fn action(session: &str, text: &str, client_seq: Option<u64>) -> Action {
    let data = json!({"action": "answer", "data": {"text": text}});
    let mut payload = json!({"sessionId": session, "type": "data:submit", "payload": data});
    if let Some(number) = client_seq {
        payload["clientSeq"] = number.into();
    }
    let frame = json!({"type": "action", "payload": payload});
    let frame = parse(frame.to_string().as_bytes(), true, &Limits::default()).unwrap();
    match frame.body {
        ClientBody::Action(action) => action,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn act(live: &Live, binding: &Binding, text: &str) -> Result<ActionAck, Failure> {
    live.act(binding, action(binding.session_id.as_str(), text, None), Sender::default()).await
}

/// Sends a number on a channel. Returns its number in the stream.
pub(crate) async fn emit(live: &Live, session: &str, channel: &str, number: u64) -> u64 {
    let request = json!({"sessionId": session, "channel": channel, "payload": number});
    let answer = live.emit(&owner(), &app("shop"), arguments(request)).await.unwrap();
    answer.seq.unwrap()
}

pub(crate) fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The next frames of a subscriber.
pub(crate) async fn next(subscriber: &mut Subscriber) -> Vec<Value> {
    loop {
        let next = tokio::time::timeout(LIMIT, subscriber.next()).await.unwrap().unwrap();
        match next {
            // The end of a replay.
            Delivery::Frames(frames) if frames.is_empty() => {}
            Delivery::Frames(frames) => {
                return frames.iter().map(|frame| document(&frame.text)).collect();
            }
            Delivery::End(end) => panic!("{end:?}"),
        }
    }
}

/// The end of a subscriber, after the frames that are left.
pub(crate) async fn end(subscriber: &mut Subscriber) -> End {
    loop {
        let next = tokio::time::timeout(LIMIT, subscriber.next()).await.unwrap().unwrap();
        if let Delivery::End(end) = next {
            return end;
        }
    }
}

/// Everything that a subscriber gets until the frame of this number of the stream.
pub(crate) async fn until(subscriber: &mut Subscriber, last: u64) -> Vec<Value> {
    let mut frames = Vec::new();
    while numbers(&frames).last().is_none_or(|seq| *seq < last) {
        frames.extend(next(subscriber).await);
    }
    frames
}

/// The numbers of frames of the stream.
pub(crate) fn numbers(frames: &[Value]) -> Vec<u64> {
    let data = frames.iter().filter(|frame| frame["type"] == "data");
    data.map(|frame| frame["payload"]["seq"].as_u64().unwrap()).collect()
}

/// Looks until there is something.
pub(crate) async fn until_true<T, F: Future<Output = Option<T>>>(look: impl Fn() -> F) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, looking).await.unwrap()
}
