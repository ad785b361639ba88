//! Engines, memories and documents.

use std::sync::Arc;
use std::time::Duration;

use accord_base::{Caller, Event, ProjectId};
use accord_memory::{DepositOptions, Follower, Memory, MemoryOptions};
use accord_store::{Engine, ModelStore};
use accord_store_sqlite::{Options, SqliteStore};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An engine of each kind, with the folder that it needs.
pub(crate) fn engines() -> Vec<(Arc<dyn Engine>, Option<TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path(), &Options::default()).unwrap();
    vec![(Arc::new(ModelStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

pub(crate) fn memory_over(engine: &Arc<dyn Engine>) -> Memory {
    Memory::new(Arc::clone(engine) as _, MemoryOptions::default())
}

pub(crate) fn project_id(id: &str) -> ProjectId {
    ProjectId::new(id).unwrap()
}

/// A package of the project atlas, with other or more members.
pub(crate) fn package_with(id: &str, members: Value) -> Value {
    let mut document = json!({
        "package_id": id,
        "project_id": "atlas",
        "relay_version": "0.1",
        "title": "Indexes rebuilt",
        "status": "complete",
        "package_type": "milestone",
        "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z",
        "created_by": {"id": "ada", "type": "agent"},
    });
    let Value::Object(members) = members else { panic!("members are an object") };
    document.as_object_mut().unwrap().extend(members);
    document
}

pub(crate) async fn deposit(memory: &Memory, id: &str, members: Value) {
    let sent = package_with(id, members).to_string().into();
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    memory.deposit(&caller, &atlas, sent, DepositOptions::default()).await.unwrap();
}

/// The next events of a follower, which must come within ten seconds.
pub(crate) async fn next(follower: &mut Follower) -> Vec<Event> {
    let page = tokio::time::timeout(Duration::from_secs(10), follower.next());
    page.await.expect("the follower is notified").unwrap()
}
