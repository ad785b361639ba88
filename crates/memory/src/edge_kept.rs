//! What a hub keeps of what an edge sent: the newest results, and what the agents of its newest
//! turns printed.
//!
//! Invariant: a result stays until the flow into the memory has looked at it.

use std::collections::BTreeSet;

use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind};
use accord_base::{EdgeId, ProjectId};
use accord_contract::{Time, Timestamp, Value, Wire as _};
use accord_outbox::output;
use accord_store::{EdgeItemRow, ReadUnit, WriteUnit};

use super::UnitResult;
use super::edges::{PAGE, RESULT, item_of};
use super::flow::{EDGES, FlowSource, position};

/// How many results of an edge are kept.
const RESULTS: usize = 200;
/// How many outputs of turns are kept.
const OUTPUTS: usize = 16;

/// Adds a piece of an output to what is kept of it.
pub(super) fn put_output(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    entry: &EdgeEntry,
    now: Time,
) -> UnitResult<()> {
    let known = unit.edge_item(project, edge.as_str(), &entry.id)?;
    let known = known.as_ref().map(item_of).transpose()?.and_then(|item| item.document);
    let body = output::received(known.as_ref(), &entry.body);
    unit.put_edge_item(&EdgeItemRow {
        project_id: project.clone(),
        edge_id: edge.as_str().to_owned(),
        item_id: entry.id.clone(),
        kind: EdgeEntryKind::Output.as_str().to_owned(),
        received_at: Timestamp::emit(now),
        text: EdgeEntry { body, ..entry.clone() }.encode().to_string(),
    })?;
    Ok(())
}

/// Removes the oldest results. Those that are not packages of the memory yet stay.
pub(super) fn drop_old_results(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
) -> UnitResult<()> {
    let items = unit.edge_items(project, edge.as_str())?;
    let mut unkept = None;
    for (kind, most) in [(EdgeEntryKind::Result, RESULTS), (EdgeEntryKind::Output, OUTPUTS)] {
        let mut of_kind: Vec<_> = items.iter().filter(|item| item.kind == kind.as_str()).collect();
        let most = of_kind.len().saturating_sub(most);
        if most == 0 {
            continue;
        }
        if kind == EdgeEntryKind::Result {
            unkept = Some(unkept_results(unit, project, edge)?);
        }
        of_kind.sort_by_key(|item| item.received_at.time());
        let is_kept = |id: &String| !unkept.as_ref().is_some_and(|unkept| unkept.contains(id));
        for item in of_kind.into_iter().take(most).filter(|item| is_kept(&item.item_id)) {
            unit.remove_edge_item(project, edge.as_str(), &item.item_id)?;
        }
    }
    Ok(())
}

/// The results whose events the flow into the memory has not looked at yet.
fn unkept_results(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    edge: &EdgeId,
) -> UnitResult<BTreeSet<String>> {
    let source = FlowSource { project: project.clone(), id: EDGES.to_owned() };
    let mut after = position(unit, &source)?.number;
    let mut unkept = BTreeSet::new();
    loop {
        let events = unit.events(project, after, PAGE)?;
        let Some(last) = events.last() else { return Ok(unkept) };
        after = last.seq;
        for event in events.iter().filter(|event| event.entry.kind == RESULT.as_str()) {
            let data: Value = serde_json::from_str(&event.entry.text).unwrap_or_default();
            let text = |name: &str| data.get(name).and_then(Value::as_str);
            if text("edge") == Some(edge.as_str()) {
                unkept.extend(text("id").map(str::to_owned));
            }
        }
    }
}
