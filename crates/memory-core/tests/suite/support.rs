//! What the tests share.

use accord_base::{Actor, ActorId, ActorKey, ActorType, ProjectId};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value};
use accord_memory_core::project::{Project, ProjectPolicy, Writing};
use accord_memory_core::{Fact, Package};
use serde_json::json;

/// The nine members that every package has.
pub(crate) fn minimal() -> Value {
    json!({
        "package_id": "pkg_1",
        "project_id": "atlas",
        "relay_version": "0.1",
        "title": "Indexes rebuilt",
        "status": "complete",
        "package_type": "milestone",
        "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z",
        "created_by": {"id": "ada", "type": "human"},
    })
}

/// The minimal package with other or more members.
pub(crate) fn with(members: Value) -> Value {
    let mut document = minimal();
    let Value::Object(members) = members else { panic!("members are an object") };
    document.as_object_mut().unwrap().extend(members);
    document
}

pub(crate) fn package(document: &Value) -> Package {
    Package::parse(document.to_string().as_bytes()).unwrap()
}

/// The code and the place of a refusal.
pub(crate) fn refused<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> (Code, String) {
    let failure = outcome.unwrap_err();
    (failure.code, failure.pointer.unwrap_or_default())
}

pub(crate) fn invalid(pointer: &str) -> (Code, String) {
    (Code::AgenticInvalidSchema, pointer.to_owned())
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(crate) fn at(text: &str) -> Time {
    time(text).time()
}

pub(crate) fn now() -> Time {
    at("2026-05-01T00:00:00Z")
}

pub(crate) fn project_id() -> ProjectId {
    ProjectId::new("atlas").unwrap()
}

pub(crate) fn project() -> Project {
    Project::bare(project_id(), at("2026-01-01T00:00:00Z"))
}

pub(crate) fn actor(id: &str, kind: ActorType) -> Actor {
    Actor::new(ActorId::new(id).unwrap(), kind)
}

pub(crate) fn key(id: &str, kind: ActorType) -> ActorKey {
    actor(id, kind).key()
}

pub(crate) fn writing<'a>(
    id: &'a ProjectId,
    project: Option<&'a Project>,
    actor: Option<&'a Actor>,
) -> Writing<'a> {
    Writing { project_id: id, project, policy: ProjectPolicy::Create, actor, now: now() }
}

/// A fact with the members that matter to a test.
pub(crate) fn fact(members: Value) -> Fact {
    let mut document = json!({
        "fact_id": "fact_1", "project_id": "atlas", "subject": "site", "predicate": "status",
        "value": "up", "valid_from": "2026-04-10T12:00:00Z", "created_at": "2026-04-10T12:00:01Z",
    });
    document.as_object_mut().unwrap().extend(object(members));
    Fact::read(object(document)).unwrap()
}
