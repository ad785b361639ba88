//! The table of the system's processes, and the only reader of it.
//!
//! On Linux `/proc` has it, one file for each process. On systems without `/proc` (macOS), one run
//! of `ps` lists all of them; it names neither sessions nor starts.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::group::Ending;
use crate::invocation::{Invocation, system_program};
use crate::procfs;
use crate::run::{Spec, run};

/// How long `ps` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// The unit of times in `/proc`, per second: a constant of Linux, whatever the kernel uses itself.
pub const TICKS_PER_SECOND: u64 = 100;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Process {
    pub pid: u64,
    /// Its parent. The number 0 is a process outside of this process' namespace.
    pub parent: u64,
    pub group: u64,
    /// The leader of its session, if the system says which one it is.
    pub session: Option<u64>,
    /// When it started, in ticks since the boot, if the system says so.
    pub start: Option<u64>,
    /// Its CPU time, with that of its children that were waited for.
    pub cpu_time: Duration,
    pub has_terminal: bool,
    /// Whether it has ended with all its threads, and only its parent has not asked for its exit
    /// status yet.
    pub is_zombie: bool,
}

impl Process {
    /// The process with a number, from `/proc`. `None` if there is no such process, or no `/proc`.
    pub fn find(pid: u64) -> Option<Self> {
        // The name of a program can be bytes that are no text.
        let stat = procfs::read(&format!("{pid}/stat")).ok()?;
        of_stat(pid, &String::from_utf8_lossy(&stat))
    }
}

/// Where processes are looked up.
pub(crate) enum ProcessTable {
    Files,
    /// All processes, from `ps`.
    Listed(BTreeMap<u64, Process>),
}

impl ProcessTable {
    /// The table now. `None` if the system does not show it, or if it is not the system that shows
    /// it.
    pub(crate) fn read() -> Option<Self> {
        let own = std::process::id().into();
        if Process::find(own).is_some() {
            return Some(Self::Files);
        }
        // Not `ps`, which would read the same files. An empty folder is no `/proc`.
        if procfs::is_covered(own) && pids().next().is_some() {
            return None;
        }
        let invocation =
            Invocation::new(system_program("ps"), ["-A", "-o", "pid=,ppid=,pgid=,time=,tty="]);
        let listed = run(&Spec::new(invocation).time_limit(LIMIT)).ok()?;
        if listed.ending != Ending::Exited(0) {
            return None;
        }
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let processes = listed.lines().filter_map(of_line);
        Some(Self::Listed(processes.map(|process| (process.pid, process)).collect()))
    }

    pub(crate) fn find(&self, pid: u64) -> Option<Process> {
        match self {
            Self::Files => Process::find(pid),
            Self::Listed(all) => all.get(&pid).copied(),
        }
    }

    /// Every process. A process may end while the others are read.
    pub(crate) fn all(&self) -> Vec<Process> {
        match self {
            Self::Files => pids().filter_map(Process::find).collect(),
            Self::Listed(all) => all.values().copied().collect(),
        }
    }
}

/// The numbers of the processes in `/proc`.
pub(crate) fn pids() -> impl Iterator<Item = u64> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Reads a `stat` file of `/proc`. Its second field is a name in parentheses that may contain
/// anything, so fields are counted from its closing parenthesis.
fn of_stat(pid: u64, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    Some(Process {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: Some(number(3)?),
        start: Some(number(19)?),
        cpu_time: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
        // The number of a device; 0 without one.
        has_terminal: fields.get(4).is_some_and(|device| *device != "0"),
        // The state is that of the first thread. Others can run after it has ended.
        is_zombie: matches!(fields[0], "Z" | "X" | "x") && number(17)? < 2,
    })
}

/// Reads a line of `ps` with a process, its parent, its group, its CPU time and its terminal.
fn of_line(line: &str) -> Option<Process> {
    let mut fields = line.split_ascii_whitespace();
    let mut number = || fields.next()?.parse().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let cpu_time = time(fields.next()?)?;
    // A process without a terminal has question marks or a dash there.
    let has_terminal = fields.next().is_some_and(|name| !name.starts_with(['?', '-']));
    let (session, start, is_zombie) = (None, None, false);
    Some(Process { pid, parent, group, session, start, cpu_time, has_terminal, is_zombie })
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
    fn a_name_does_not_move_the_fields() {
        let line = "7 (a) 1 (b) S 3 5 6 0 -1 4194304 9 9 9 9 10 20 30 40 20 0 1 0 99 12\n";
        let process = Process {
            pid: 7,
            parent: 3,
            group: 5,
            session: Some(6),
            start: Some(99),
            cpu_time: Duration::from_millis(1000),
            has_terminal: false,
            is_zombie: false,
        };
        assert_eq!(of_stat(7, line), Some(process));
        let ended = Process { is_zombie: true, ..process };
        assert_eq!(of_stat(7, &line.replace(" S ", " Z ")), Some(ended));
        let first_thread_ended = line.replace(" S ", " Z ").replace(" 20 0 1 0 99", " 20 0 2 0 99");
        assert_eq!(of_stat(7, &first_thread_ended), Some(process));
        let at_terminal = Process { has_terminal: true, ..process };
        assert_eq!(of_stat(7, &line.replace(" 6 0 -1 ", " 6 34816 -1 ")), Some(at_terminal));
        assert_eq!(of_stat(7, "7 (a) S 3"), None);
    }

    /// A process that was put into a container from outside has a group, a session and a parent
    /// that it cannot see.
    #[test]
    fn relatives_outside_of_the_namespace_have_no_number() {
        let line = "17 (a (b) c) S 0 0 0 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 99 12\n";
        let inside = of_stat(17, line).unwrap();
        assert_eq!((inside.parent, inside.group, inside.session), (0, 0, Some(0)));
    }

    #[test]
    fn lines_of_two_systems_are_read() {
        let time = |line| of_line(line).map(|process| process.cpu_time.as_millis());
        assert_eq!(time("  10   1   10   0:01.50"), Some(1_500));
        assert_eq!(time("10 1 10 01:02:03"), Some(3_723_000));
        assert_eq!(time("10 1 10 2-00:00:01"), Some(172_801_000));
        assert_eq!(time("10 1 10 soon"), None);
        assert_eq!(time("heading line"), None);
        let listed = of_line("40123   312   311  0:00").unwrap();
        assert_eq!((listed.pid, listed.parent, listed.group), (40123, 312, 311));
        assert_eq!((listed.session, listed.start), (None, None));
        let has_terminal = |line| of_line(line).map(|process| process.has_terminal);
        assert_eq!(has_terminal("10 1 10 0:00 ttys001"), Some(true));
        assert_eq!(has_terminal("10 1 10 0:00 ??"), Some(false));
        assert_eq!(has_terminal("10 1 10 0:00 -"), Some(false));
    }

    #[test]
    fn this_process_is_in_the_table() {
        let table = ProcessTable::read().unwrap();
        let own = u64::from(std::process::id());
        let parent = rustix::process::getppid().unwrap().as_raw_pid().unsigned_abs();
        assert_eq!(table.find(own).unwrap().parent, u64::from(parent));
        assert!(table.all().iter().any(|process| process.pid == own));
    }
}
