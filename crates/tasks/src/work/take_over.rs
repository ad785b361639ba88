//! Commits of other processes, in the index of this one.

use accord_contract::Value;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::Record;
use accord_trees::{Disk, Result as TreeResult};

use crate::committed::{LeaseOrigin, State};
use crate::index::Index;
use crate::layout::{RunLayout, task_file};
use crate::scan::{entry_of, is_committed, read_task};

/// Takes the commits of other processes over into the index.
pub(crate) fn take_over(
    index: &mut Index,
    disk: &dyn Disk,
    layout: RunLayout,
    state: &State,
    records: &[Record],
) -> TreeResult<()> {
    let lengths = std::mem::take(&mut index.lengths);
    if records.is_empty() {
        index.last_lengths.extend(lengths);
    } else {
        // Other processes appended to the logs.
        index.last_lengths.clear();
    }
    for record in records {
        let event = record.detail.get("event").and_then(Value::as_u64);
        index.last_event = index.last_event.max(event.unwrap_or(0));
        let tasks = record.detail.get("tasks").and_then(Value::as_object).into_iter().flatten();
        for id in tasks.filter_map(|(id, _)| TaskId::parse(id).ok()) {
            index.note(id);
            reread(index, disk, layout, state, id)?;
        }
    }
    Ok(())
}

/// Reads a task again that another process changed.
fn reread(
    index: &mut Index,
    disk: &dyn Disk,
    layout: RunLayout,
    state: &State,
    id: TaskId,
) -> TreeResult<()> {
    let Some(held) = state.held(id) else {
        for status in [Status::Done, Status::Cancelled] {
            if disk.stat(&task_file(status, id))?.is_some() {
                index.put_closed(id, status);
                return Ok(());
            }
        }
        index.board.remove(id);
        return Ok(());
    };
    let path = task_file(held.status, id);
    match read_task(disk, &path)? {
        Some(Ok(file)) if is_committed(&file, id, held.status, Some(held)) => {
            index.broken.remove(&path);
            let is_elsewhere = held.lease == LeaseOrigin::Elsewhere;
            index.put(entry_of(disk, layout, &file)?.elsewhere(is_elsewhere));
        }
        // Others changed it since.
        _ => {
            index.odd.insert(id);
        }
    }
    Ok(())
}
