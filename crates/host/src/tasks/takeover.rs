//! Taking the events of task trees over into the streams of their projects.
//!
//! A tree's own log is the record. Each of its events appears once in the project's stream, as
//! `task.` and its type, with its source and its number there. A source is a writer: one copy of
//! the tree. The logs of other copies come with git. The position is in the
//! store, in the same transaction as the events: a host that is killed at any moment neither loses
//! nor repeats one. The same holds for the decisions that events report (`payload.decision`).

use accord_base::decision::DecisionRecord;
use accord_base::{EventKind, ProjectId};
use accord_contract::{Failure, Object, Value};
use accord_memory::{EventSource, Memory, SourceEvent};
use accord_tasks::Tree;
use accord_tasks::decisions::decisions_after;
use accord_tasks::event_log::{EventLine, EventPlace, events_of, sources};

use super::TaskTrees;

/// How many events are appended with one commit.
const PAGE: usize = 256;
/// The namespace of the events of trees.
const NAMESPACE: &str = "task.";

/// Takes over what is new in every tree that is known. A tree that cannot be read is left to the
/// next call, and logged.
pub(crate) fn take_over_all(memory: &Memory, trees: &TaskTrees) -> u64 {
    let mut taken = 0;
    for project in trees.projects() {
        let tree = trees.find(&project);
        match tree.and_then(|tree| tree.map_or(Ok(0), |tree| take_over(memory, &tree, &project))) {
            Ok(count) => taken += count,
            Err(failure) => {
                let (project, code) = (project.as_str(), failure.code);
                tracing::warn!(project, %code, "events of tasks wait: {}", failure.message);
            }
        }
    }
    taken
}

/// Takes over what is new in a tree. Returns the number of events. Fails when the tree cannot be
/// read or the store cannot be written.
pub(crate) fn take_over(memory: &Memory, tree: &Tree, project: &ProjectId) -> Result<u64, Failure> {
    let mut taken = 0;
    for id in sources(tree)? {
        taken += take_over_from(memory, tree, EventSource { project: project.clone(), id })?;
    }
    Ok(taken)
}

/// Takes over what one writer wrote.
fn take_over_from(memory: &Memory, tree: &Tree, source: EventSource) -> Result<u64, Failure> {
    let mut taken = 0;
    loop {
        let known = memory.taken_over(&source)?;
        let document: Option<Value> = serde_json::from_str(&known.place).ok();
        let place = document.and_then(|document| EventPlace::read(&document));
        // The number decides; the place in the log is where the search begins.
        let place = place.filter(|place| place.number == known.number);
        let place = place.unwrap_or(EventPlace { number: known.number, log: None });
        let (lines, next) = events_of(tree, &source.id, place, PAGE)?;
        if lines.is_empty() {
            return Ok(taken);
        }
        let held = match lines.iter().any(|line| decision_id(line).is_some()) {
            true => decisions_after(tree, None)?.records,
            false => Vec::new(),
        };
        let events = lines.iter().map(|line| event(line, &source.id, &held)).collect();
        taken += memory.take_over(&source, events, &next.document().to_string())?;
    }
}

/// An event of a tree, for the stream of the project.
fn event(line: &EventLine, source: &str, held: &[DecisionRecord]) -> SourceEvent {
    let mut data = Object::new();
    data.insert("source".into(), source.into());
    data.insert("sequence".into(), line.number.into());
    for name in ["type", "timestamp", "actor", "taskId", "payload"] {
        if let Some(value) = line.object.get(name) {
            data.insert(name.into(), value.clone());
        }
    }
    SourceEvent {
        number: line.number,
        kind: EventKind::within(NAMESPACE, &line.kind),
        at: line.at,
        decision: decision(line, held),
        data: data.into(),
    }
}

/// The record of the decision that an event of a tree reports. The event only names it, because an
/// agent can write events: the record is the one that the log of the tree holds.
fn decision(line: &EventLine, held: &[DecisionRecord]) -> Option<DecisionRecord> {
    let id = decision_id(line)?;
    held.iter().find(|record| record.decision_id.as_str() == id).cloned()
}

fn decision_id(line: &EventLine) -> Option<&str> {
    line.object.get("payload")?.get("decision")?.get("decision_id")?.as_str()
}
