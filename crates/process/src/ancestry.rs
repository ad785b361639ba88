//! The processes that a process descends from or belongs to, and the user that this one runs as.
//!
//! On Linux `/proc` has all of it, with the environment that each process was started with. On
//! systems without `/proc` (macOS), `ps` tells parents and groups, and only this process shows its
//! environment.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::io::Errno;

use crate::group::Ending;
use crate::invocation::{Invocation, system_program};
use crate::namespace::has_hidden_supervisor;
use crate::procfs;
use crate::record::left_processes;
use crate::run::{Spec, run};
use crate::supervisor::{is_supervisor, is_withheld};
use crate::table::{Process, ProcessTable};

/// The largest environment that is read. The system's own limit is lower by default.
const MAX_ENVIRONMENT: u64 = 8 * 1024 * 1024;
/// How often the parents are read until they stay the same.
const WALKS: usize = 16;
/// How long `id` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// A process that another one descends from or belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AncestorProcess {
    pub pid: u64,
    /// Those of the wanted variables that are in its environment.
    pub variables: Vec<(String, String)>,
    /// Whether it starts workers ([`supervise`](crate::supervise)), or a worker left it behind. The
    /// first is false for the process itself.
    pub is_supervisor: bool,
}

/// A process, and those that it descends from or belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lineage {
    /// The process first, then its parents, then the leaders of its group and session with their
    /// parents.
    pub processes: Vec<AncestorProcess>,
    pub has_terminal: bool,
}

/// The name of the user that this process belongs to; its number if it has no name.
pub fn os_user() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    let find = || {
        let id = system_program("id");
        let named = run(&Spec::new(Invocation::new(id, ["-un"])).time_limit(LIMIT));
        let named = named.ok().filter(|ran| ran.ending == Ending::Exited(0));
        let name = named.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
        let number = || format!("uid-{}", rustix::process::getuid().as_raw());
        name.filter(|name| !name.is_empty()).unwrap_or_else(number)
    };
    NAME.get_or_init(find).clone()
}

/// This process and its parents, each with those of `variables` that are in its environment.
/// `None` if the system does not show them, or may hide some of them: this process is in another
/// PID namespace than a process that starts workers.
pub fn ancestors(variables: &[&str]) -> Option<Lineage> {
    let table = ProcessTable::read()?;
    let own = std::process::id().into();
    if has_hidden_supervisor() || procfs::is_covered(own) {
        return None;
    }
    of(own, &table, variables)
}

/// A process that is examined later. A later process with the same number is not it, if the system
/// says when a process started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RunningProcess {
    pid: u64,
    start: Option<u64>,
}

impl RunningProcess {
    /// The process that has this number now. `None` if it has ended.
    pub fn find(pid: u64) -> Option<Self> {
        if pid == 0 {
            return None;
        }
        match Process::find(pid) {
            Some(found) => (!found.is_zombie).then_some(Self { pid, start: found.start }),
            // Without `/proc`, whether it runs is seen when it is examined.
            None if Process::find(std::process::id().into()).is_none() => {
                Some(Self { pid, start: None })
            }
            None => None,
        }
    }

    pub fn is_running(&self) -> bool {
        let found = Process::find(self.pid);
        found.is_some_and(|found| !found.is_zombie && found.start == self.start)
    }

    /// Whether it runs the program of this process. `false` if the system does not say.
    pub fn runs_this_program(&self) -> bool {
        let program = |process: &str| fs::metadata(format!("/proc/{process}/exe"));
        let same = (program(&self.pid.to_string()).ok()).zip(program("self").ok());
        same.is_some_and(|(one, own)| (one.dev(), one.ino()) == (own.dev(), own.ino()))
    }

    /// The process, and those that it descends from or belongs to, as [`ancestors`] lists them.
    /// `None` if it has ended.
    pub fn ancestors(&self, variables: &[&str]) -> Option<Lineage> {
        let table = ProcessTable::read()?;
        let runs = || {
            let found = table.find(self.pid);
            found.is_some_and(|found| !found.is_zombie && found.start == self.start)
        };
        let found = runs().then(|| of(self.pid, &table, variables))??;
        // It may have ended in between. Its parents were lost then, and its number may be used.
        runs().then_some(found)
    }
}

/// The lineage of a process. `None` if it cannot be read as it was at one moment: a process whose
/// parents end one after the other, while they are looked at, does not hide where it comes from.
fn of(start: u64, table: &ProcessTable, variables: &[&str]) -> Option<Lineage> {
    (0..WALKS).find_map(|_| walk(start, table, variables))
}

/// One walk over the parents. `None` if one of them ended meanwhile.
fn walk(start: u64, table: &ProcessTable, variables: &[&str]) -> Option<Lineage> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut visited = Vec::new();
    let left = left_processes();
    let itself = table.find(start)?;
    // The leaders too: a process whose parent has ended is a child of the system, but is still in
    // its group and session.
    let leaders = [Some(itself.group), itself.session];
    for first in [Some(start)].into_iter().chain(leaders).flatten() {
        let mut next = Some(first);
        // Not limited: a worker can start as many shells in each other as it likes. The table is
        // not one snapshot, so parents could form a circle.
        while let Some(pid) = next.filter(|pid| *pid > 0 && seen.insert(*pid)) {
            let Some(process) = table.find(pid) else {
                // A leader may have ended before, and the system may hide the processes of other
                // users. A parent has ended since its child was read, or cannot be read now.
                let signalled = signal_of(pid);
                let is_gone = pid == first && signalled == Err(Errno::SRCH);
                if !is_gone && signalled != Err(Errno::PERM) {
                    return None;
                }
                found.push(AncestorProcess { pid, variables: Vec::new(), is_supervisor: false });
                break;
            };
            // What a worker left behind starts workers, too.
            let is_supervisor =
                (pid != start && is_supervisor(pid)?) || left.iter().any(|left| left.is(&process));
            found.push(AncestorProcess { pid, variables: set(pid, variables)?, is_supervisor });
            visited.push(process);
            next = Some(process.parent);
        }
    }
    // A parent never comes back. What is the same now was so while the parents were read.
    let is_same = |known: &Process| {
        let now = table.find(known.pid);
        now.is_some_and(|now| (now.parent, now.start) == (known.parent, known.start))
    };
    visited
        .iter()
        .all(is_same)
        .then_some(Lineage { processes: found, has_terminal: itself.has_terminal })
}

/// Whether a process could be signalled. It needs no open file.
fn signal_of(pid: u64) -> Result<(), Errno> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.map_or(Err(Errno::SRCH), rustix::process::test_kill_process)
}

/// Those of the variables that a process has. For another process, they are those that it was
/// started with, and none where the system does not show them. `None` if they cannot be read now.
fn set(pid: u64, names: &[&str]) -> Option<Vec<(String, String)>> {
    if pid == u64::from(std::process::id()) {
        let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        let named = names.iter().filter_map(|it| Some(((*it).to_owned(), value(it)?)));
        return Some(named.collect());
    }
    let mut bytes = Vec::new();
    let file = procfs::open(&format!("{pid}/environ"));
    if let Err(error) = file.and_then(|file| file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes)) {
        return is_withheld(&error).then(Vec::new);
    }
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let named = variables.filter_map(|variable| {
        let (name, value) = variable.split_once('=')?;
        names.contains(&name).then(|| (name.to_owned(), value.to_owned()))
    });
    Some(named.collect())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_user_has_a_name() {
        let name = os_user();
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "{name:?}");
    }

    #[test]
    fn this_process_is_the_first_and_its_parent_the_second() {
        let found = ancestors(&["PATH"]).unwrap().processes;
        let parent = rustix::process::getppid().expect("a parent").as_raw_pid().unsigned_abs();
        let pids: Vec<u64> = found.iter().map(|ancestor| ancestor.pid).collect();
        assert_eq!(pids[..2], [u64::from(std::process::id()), u64::from(parent)], "{pids:?}");
        assert_eq!(found[0].variables[0].0, "PATH");
        let once: BTreeSet<&u64> = pids.iter().collect();
        assert_eq!(once.len(), pids.len(), "{pids:?}");
    }

    /// A parent that ends while it is looked at ends the walk, so that it hides nothing.
    #[test]
    fn a_parent_that_is_gone_is_no_end_of_the_lineage() {
        let child = u64::from(std::process::id());
        let [leader, gone] = [4_194_302, 4_194_303];
        let line = |parent, group| Process {
            pid: child,
            parent,
            group,
            session: None,
            start: None,
            cpu_time: Duration::ZERO,
            has_terminal: false,
            is_zombie: false,
        };
        let lineage = |process| {
            let found = of(child, &ProcessTable::Listed([(child, process)].into()), &[])?;
            Some(found.processes.iter().map(|it| it.pid).collect::<Vec<u64>>())
        };
        assert_eq!(lineage(line(gone, child)), None);
        // The leader of a group may have ended long ago. A parent outside of the namespace is 0.
        assert_eq!(lineage(line(0, leader)), Some(vec![child, leader]));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn another_process_is_examined_until_it_ends() {
        let mut cat = Command::new("cat")
            .env("ACCORD_TEST_MARK", "seen")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let process = RunningProcess::find(cat.id().into()).unwrap();
        // The program has begun once it answers.
        let mut line = [0; 2];
        std::io::Write::write_all(cat.stdin.as_mut().unwrap(), b"x\n").unwrap();
        cat.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        let found = process.ancestors(&["ACCORD_TEST_MARK"]).unwrap().processes;
        assert_eq!(found[0].variables, [("ACCORD_TEST_MARK".to_owned(), "seen".to_owned())]);
        assert_eq!(found[1].pid, u64::from(std::process::id()));
        let earlier = RunningProcess { start: Some(1), ..process };
        assert_eq!(earlier.ancestors(&[]), None, "an earlier process with its number");
        drop(cat.stdin.take());
        // Until it is waited for, it is in the table, without its environment.
        let ended = rustix::process::WaitId::Pid(rustix::process::Pid::from_child(&cat));
        let options =
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(ended, options).unwrap();
        assert_eq!(process.ancestors(&[]), None);
        assert_eq!(RunningProcess::find(cat.id().into()), None);
        cat.wait().unwrap();
        assert_eq!(process.ancestors(&[]), None);
        assert_eq!(RunningProcess::find(0), None);
    }
}
