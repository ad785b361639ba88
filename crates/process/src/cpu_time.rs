//! The CPU time of a group: a program that computes is alive, even if it prints nothing.
//!
//! A reading visits every process of the system once, so callers read it every few seconds at most.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::table::{Process, ProcessTable};

/// The CPU time that a group has used, with the descendants that left the group. A process that
/// left the group and lost its parent is not found. `None` if the system does not say.
///
/// The sum can shrink, if a process ends and its parent does not wait for it.
pub fn group_cpu_time(leader: u32) -> Option<Duration> {
    Some(sum(leader.into(), &ProcessTable::read()?.all()))
}

fn sum(leader: u64, processes: &[Process]) -> Duration {
    let mut children: BTreeMap<u64, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: BTreeSet<u64> = BTreeSet::new();
    let in_group = |process: &&Process| process.group == leader || process.pid == leader;
    let mut pending: Vec<&Process> = processes.iter().filter(in_group).collect();
    let mut total = Duration::ZERO;
    while let Some(process) = pending.pop() {
        // The list is not one snapshot, so parents could form a circle.
        if found.insert(process.pid) {
            total += process.cpu_time;
            pending.extend(children.get(&process.pid).into_iter().flatten());
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_and_its_descendants_count() {
        let process = |pid, parent, group, seconds| Process {
            pid,
            parent,
            group,
            session: None,
            start: None,
            cpu_time: Duration::from_secs(seconds),
            has_terminal: false,
            is_zombie: false,
        };
        let all = [
            process(1, 0, 1, 1000),
            process(10, 1, 10, 1),
            process(11, 10, 10, 2),
            // It has a group of its own, and a child.
            process(12, 11, 12, 4),
            process(13, 12, 12, 8),
            // Its parent has ended.
            process(14, 1, 10, 16),
            process(20, 1, 20, 1000),
        ];
        assert_eq!(sum(10, &all), Duration::from_secs(31));
    }
}
