//! The CPU time of a group: a program that computes is alive, even if it prints nothing.
//!
//! A reading visits every process of the system once, so callers read it every few seconds at most.
//! On Linux it reads `/proc`; elsewhere it starts `ps`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A process, as far as it matters here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Process {
    id: u32,
    parent: u32,
    group: u32,
    /// Its CPU time, with that of its children that were waited for.
    time: Duration,
}

/// The CPU time that a group has used, with the descendants that left the group. A process that
/// left the group and lost its parent is not found. `None` if the system does not say.
///
/// The sum can shrink, if a process ends and its parent does not wait for it.
pub fn group_cpu_time(leader: u32) -> Option<Duration> {
    let processes = system::processes()?;
    Some(sum(leader, &processes))
}

fn sum(leader: u32, processes: &[Process]) -> Duration {
    let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: BTreeSet<u32> = BTreeSet::new();
    let mut pending: Vec<&Process> = processes
        .iter()
        .filter(|process| process.group == leader || process.id == leader)
        .collect();
    let mut total = Duration::ZERO;
    while let Some(process) = pending.pop() {
        // The list is not one snapshot, so parents could form a circle.
        if found.insert(process.id) {
            total += process.time;
            pending.extend(children.get(&process.id).into_iter().flatten());
        }
    }
    total
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::time::Duration;

    use super::Process;

    /// The ticks of `/proc` per second: a constant of Linux, whatever the kernel uses itself.
    const TICKS: u64 = 100;

    pub(super) fn processes() -> Option<Vec<Process>> {
        let entries = fs::read_dir("/proc").ok()?.flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // A process may end before its turn.
        let texts = ids.filter_map(|id| Some((id, fs::read(format!("/proc/{id}/stat")).ok()?)));
        Some(texts.filter_map(|(id, text)| read(id, &String::from_utf8_lossy(&text))).collect())
    }

    /// Reads a line of `/proc/PID/stat`. The name of the program can contain anything, so the
    /// fields are counted from its closing parenthesis.
    fn read(id: u32, line: &str) -> Option<Process> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
        Some(Process {
            id,
            parent: u32::try_from(number(1)?).ok()?,
            group: u32::try_from(number(2)?).ok()?,
            time: Duration::from_millis(ticks * 1000 / TICKS),
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_does_not_move_the_fields() {
            let line = "7 (a) 1 (b) S 3 5 6 0 -1 4194304 9 9 9 9 10 20 30 40 20 0 1 0 99\n";
            let time = Duration::from_millis(1000);
            assert_eq!(read(7, line), Some(Process { id: 7, parent: 3, group: 5, time }));
            assert_eq!(read(7, "7 (a) S 3"), None);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    use super::{Process, ps};
    use crate::{Ending, Invocation, Spec, run};

    pub(super) fn processes() -> Option<Vec<Process>> {
        let invocation = Invocation::new("ps", ["-A", "-o", "pid=,ppid=,pgid=,time="]);
        let output = run(&Spec::new(invocation).time_limit(Duration::from_secs(5))).ok()?;
        if output.ending != Ending::Exited(0) {
            return None;
        }
        Some(String::from_utf8_lossy(&output.stdout).lines().filter_map(ps::read).collect())
    }
}

/// The output of `ps`.
#[cfg(any(test, not(target_os = "linux")))]
mod ps {
    use std::time::Duration;

    use super::Process;

    /// Reads a line with the process, its parent, its group and its CPU time.
    pub(super) fn read(line: &str) -> Option<Process> {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse::<u32>().ok();
        let (id, parent, group) = (number()?, number()?, number()?);
        Some(Process { id, parent, group, time: time(fields.next()?)? })
    }

    /// Reads `[[days-]hours:]minutes:seconds[.hundredths]`.
    fn time(text: &str) -> Option<Duration> {
        let (days, clock) = match text.split_once('-') {
            Some((days, clock)) => (days.parse::<u64>().ok()?, clock),
            None => (0, text),
        };
        let (clock, hundredths) = match clock.split_once('.') {
            Some((clock, hundredths)) => (clock, hundredths.parse::<u64>().ok()?),
            None => (clock, 0),
        };
        let mut seconds = 0;
        for part in clock.split(':') {
            seconds = seconds * 60 + part.parse::<u64>().ok()?;
        }
        Some(Duration::from_millis((days * 86_400 + seconds) * 1000 + hundredths * 10))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn lines_of_two_systems_are_read() {
            let read = |line| read(line).map(|process| process.time.as_millis());
            assert_eq!(read("  10   1   10   0:01.50"), Some(1_500));
            assert_eq!(read("10 1 10 01:02:03"), Some(3_723_000));
            assert_eq!(read("10 1 10 2-00:00:01"), Some(172_801_000));
            assert_eq!(read("10 1 10 soon"), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_and_its_descendants_count() {
        let process = |id, parent, group, seconds| Process {
            id,
            parent,
            group,
            time: Duration::from_secs(seconds),
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
