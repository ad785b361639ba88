//! Fixtures on the core alone, with files in memory: a second runner beside the one on real files,
//! so that a difference between core and services shows.

mod coordinator;
mod manifest;
mod operations;
mod world;

use accord_adapters::agentxchain::answer;
use accord_contract::{Object, Time};
use accord_runs_core::Ids;
use accord_runs_core::hooks::{HookChain, HookReport};
use serde_json::Value;

pub(crate) use self::world::World;

/// The progress of an operation.
pub(crate) enum Step {
    /// The answer.
    Done(Value),
    /// These hooks must run first; then [`hooks_ran`].
    Hooks(Box<HookChain>),
}

/// A fixture.
pub(crate) struct Fixture {
    pub(crate) id: String,
    pub(crate) setup: Object,
    pub(crate) operation: String,
    pub(crate) args: Object,
    pub(crate) expected: Value,
}

impl Fixture {
    pub(crate) fn read(document: &Value) -> Self {
        let object = |pointer: &str| Some(document.pointer(pointer)?.as_object()?.clone());
        let text = |pointer: &str| Some(document.pointer(pointer)?.as_str()?.to_owned());
        Self {
            id: text("/fixture_id").expect("an id"),
            setup: object("/setup").expect("a setup"),
            operation: text("/input/operation").expect("an operation"),
            args: object("/input/args").unwrap_or_default(),
            expected: document["expected"].clone(),
        }
    }
}

/// Performs a fixture's operation; an error when the fixture cannot be set up.
pub(crate) fn run(fixture: &Fixture, ids: &mut Ids, now: Time) -> Result<Step, String> {
    match fixture.operation.as_str() {
        "verify_dispatch_manifest" | "inspect_dispatch_manifest" => {
            manifest::run(fixture, now).map(Step::Done)
        }
        "validate_coordinator_config" | "project_repo_acceptance" => {
            coordinator::run(fixture, ids, now).map(Step::Done)
        }
        _ => operations::run(fixture, ids, now),
    }
}

/// The answer after the hooks of a fixture have run.
pub(crate) fn hooks_ran(outcome: &HookReport) -> Value {
    let lines = outcome.entries.iter().map(|entry| entry.line().clone());
    answer::hooks(outcome.ok, outcome.blocked, &lines.collect::<Vec<_>>())
}

fn text<'a>(document: &'a Object, name: &str) -> Option<&'a str> {
    document.get(name)?.as_str()
}

fn object(document: &Object, name: &str) -> Object {
    let found = document.get(name).and_then(Value::as_object);
    found.cloned().unwrap_or_default()
}

/// The objects of a list.
fn objects(document: &Object, name: &str) -> Vec<Object> {
    let list = document.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|line| line.as_object().cloned()).collect()
}
