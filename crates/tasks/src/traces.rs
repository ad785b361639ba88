//! What the files of a tree say about Accord, if nothing is committed about the tree. That is so in
//! a tree that another tool made, and in one whose log was removed. Accord leaves traces outside
//! its log: the ids of runs, and numbered events. They say whose a lease is, and which ids were
//! given out.

use std::collections::{BTreeMap, HashSet};

use accord_contract::Value;
use accord_tasks_core::referee::LeaseTraces;
use accord_tasks_core::{TaskId, event};
use accord_trees::record::RecordLines;
use accord_trees::{Disk, Kind, Result, read_file};

use crate::committed::LeaseOrigin;
use crate::layout::RunLayout;
use crate::scan::{MAX_FILE, readable};
use crate::writers::writer_of;

/// The artifacts of a run that have its id.
const ARTIFACTS: [&str; 3] = ["run.json", "run_heartbeat.json", "run_result.json"];

/// The traces of Accord in the event logs of a tree.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    pub(crate) last_event: u64,
    pub(crate) tasks: HashSet<TaskId>,
    /// The tasks whose leases Accord gave out, or a person adopted.
    leased: HashSet<TaskId>,
    /// Those of which a named log says so: in a clone, it is that of another copy.
    leased_by: HashSet<TaskId>,
    /// Whether git carries the tree.
    is_in_git: bool,
    /// Whether the numbers of the events have no gap.
    is_whole: bool,
}

impl Traces {
    /// Reads the event logs. A damaged line is skipped, which leaves a gap if it was Accord's.
    pub(crate) fn read(disk: &dyn Disk, is_in_git: bool) -> Result<Self> {
        let (mut traces, mut writers) =
            (Self { is_in_git, ..Self::default() }, BTreeMap::<_, Vec<u64>>::new());
        for entry in disk.list("events")?.unwrap_or_default() {
            if !entry.name.ends_with(".jsonl") || entry.kind != Kind::File {
                continue;
            }
            let lines = RecordLines::open(disk, &format!("events/{}", entry.name), 0, 0)?;
            let numbers = writers.entry(writer_of(&entry.name).map(str::to_owned)).or_default();
            for line in lines.filter_map(std::result::Result::ok) {
                numbers.extend(event::number(&line.object));
                let Some(id) = event::task(&line.object) else { continue };
                traces.tasks.insert(id);
                if event::is_lease(&line.object) {
                    traces.leased.insert(id);
                    if writer_of(&entry.name).is_some() {
                        traces.leased_by.insert(id);
                    }
                }
            }
        }
        traces.is_whole = true;
        for (writer, mut numbers) in writers {
            numbers.sort_unstable();
            let last = numbers.last().copied().unwrap_or(0);
            traces.last_event = traces.last_event.max(last);
            // A writer that went on from another one does not begin with 1.
            let first = numbers.first().copied().filter(|_| writer.is_some()).unwrap_or(1);
            traces.is_whole &= numbers.iter().copied().eq(first..first + numbers.len() as u64);
        }
        Ok(traces)
    }

    pub(crate) fn lease(&self, disk: &dyn Disk, id: TaskId) -> Result<LeaseOrigin> {
        // Git ignores the run: where it is, the lease was given out.
        if self.is_in_git && self.leased_by.contains(&id) && !has_run(disk, id)? {
            return Ok(LeaseOrigin::Elsewhere);
        }
        let traces = LeaseTraces {
            has_run_id: has_run_id(disk, id)?,
            has_event: self.leased.contains(&id),
            is_log_whole: self.is_whole,
        };
        let is_other = traces.is_of_another_tool();
        Ok(if is_other { LeaseOrigin::Other } else { LeaseOrigin::Unknown })
    }
}

/// Whether this copy has the run of a task.
fn has_run(disk: &dyn Disk, id: TaskId) -> Result<bool> {
    for layout in [RunLayout::Guide, RunLayout::Reference] {
        for name in &ARTIFACTS[..2] {
            if disk.stat(&format!("{}/{name}", layout.folder(id)))?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether an artifact of a task's run has an id, in either layout.
fn has_run_id(disk: &dyn Disk, id: TaskId) -> Result<bool> {
    for layout in [RunLayout::Guide, RunLayout::Reference] {
        for name in ARTIFACTS {
            let path = format!("{}/{name}", layout.folder(id));
            let bytes = readable(read_file(disk, &path, MAX_FILE))?.unwrap_or_default();
            let document: Option<Value> = accord_canon::read(&bytes).ok();
            if document.is_some_and(|document| document.get("runId").is_some()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
