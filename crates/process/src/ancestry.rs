//! The processes that this process descends from or belongs to, and the user that it runs as.
//!
//! On Linux `/proc` has all of it, with the environment that each process was started with. On
//! systems without `/proc` (macOS), `ps` tells parents and groups, and only this process shows its
//! environment.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use crate::group::Ending;
use crate::invocation::Invocation;
use crate::run::{Spec, run};

/// The largest environment that is read. The system's own limit is lower by default.
const MAX_ENVIRONMENT: u64 = 8 * 1024 * 1024;
/// How many parents are followed.
const MAX_PARENTS: usize = 256;
/// How long `ps` and `id` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// A process: its number, and those of the wanted variables that are in its environment.
pub type AncestorProcess = (u64, Vec<(String, String)>);

/// The name of the user that this process belongs to; its number if it has no name.
pub fn os_user() -> String {
    let named = run(&Spec::new(Invocation::new("id", ["-un"])).time_limit(LIMIT));
    let named = named.ok().filter(|ran| ran.ending == Ending::Exited(0));
    let name = named.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    let number = || format!("uid-{}", rustix::process::getuid().as_raw());
    name.filter(|name| !name.is_empty()).unwrap_or_else(number)
}

/// This process first, then its parents, then the leaders of its group and session with their
/// parents; each with those of `variables` that are in its environment.
pub fn ancestors(variables: &[&str]) -> Vec<AncestorProcess> {
    let own = u64::from(std::process::id());
    let table = ProcessTable::read();
    let relatives = table.relatives(own).unwrap_or_default();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    // The leaders too: a process whose parent has ended is a child of the system, but is still in
    // its group and session. A leader outside of this process' namespace has the number 0.
    for start in [Some(own), Some(relatives.group), relatives.session].into_iter().flatten() {
        let mut next = Some(start);
        while let Some(pid) = next.filter(|pid| *pid > 0) {
            if seen.len() >= MAX_PARENTS || !seen.insert(pid) {
                break;
            }
            let set =
                if pid == own { own_variables(variables) } else { variables_of(pid, variables) };
            found.push((pid, set));
            next = table.relatives(pid).map(|relatives| relatives.parent);
        }
    }
    found
}

fn own_variables(names: &[&str]) -> Vec<(String, String)> {
    let found = names.iter().filter_map(|name| {
        let value = std::env::var_os(name)?;
        Some(((*name).to_owned(), value.to_string_lossy().into_owned()))
    });
    found.collect()
}

/// The variables in the environment that a process was started with; none where the system does
/// not show it.
fn variables_of(pid: u64, names: &[&str]) -> Vec<(String, String)> {
    let mut bytes = Vec::new();
    let read = File::open(format!("/proc/{pid}/environ"))
        .and_then(|file| file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let named = variables.filter_map(|variable| {
        let (name, value) = variable.split_once('=')?;
        names.contains(&name).then(|| (name.to_owned(), value.to_owned()))
    });
    named.collect()
}

/// The processes that a process descends from or belongs to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Relatives {
    parent: u64,
    /// The leader of its group.
    group: u64,
    /// The leader of its session, where the system says which one it is.
    session: Option<u64>,
}

/// Where the relatives of a process are looked up.
enum ProcessTable {
    /// `/proc`.
    Files,
    /// All processes, from `ps`.
    Listed(BTreeMap<u64, Relatives>),
}

impl ProcessTable {
    fn read() -> Self {
        if Self::Files.relatives(std::process::id().into()).is_some() {
            return Self::Files;
        }
        let columns = ["-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid="];
        let ran = run(&Spec::new(Invocation::new("ps", columns)).time_limit(LIMIT));
        let text = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned());
        Self::Listed(listed_relatives(&text.unwrap_or_default()))
    }

    fn relatives(&self, pid: u64) -> Option<Relatives> {
        match self {
            Self::Files => {
                stat_relatives(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
            }
            Self::Listed(all) => all.get(&pid).copied(),
        }
    }
}

/// The relatives of the process that a `stat` file of `/proc` describes.
fn stat_relatives(stat: &str) -> Option<Relatives> {
    // The second field is a name in parentheses that may contain anything. The state follows it,
    // then the parent, the group and the session.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut numbers = fields.split_ascii_whitespace().skip(1).map(str::parse);
    let mut number = || numbers.next()?.ok();
    Some(Relatives { parent: number()?, group: number()?, session: Some(number()?) })
}

/// The relatives of each process in the output of `ps`.
fn listed_relatives(listed: &str) -> BTreeMap<u64, Relatives> {
    let line = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse);
        let mut number = || numbers.next()?.ok();
        Some((number()?, Relatives { parent: number()?, group: number()?, session: None }))
    };
    listed.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_has_a_name() {
        let name = os_user();
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "{name:?}");
    }

    #[test]
    fn this_process_is_the_first_and_its_parent_the_second() {
        let found = ancestors(&["PATH"]);
        let parent = rustix::process::getppid().expect("a parent").as_raw_pid().unsigned_abs();
        let pids: Vec<u64> = found.iter().map(|(pid, _)| *pid).collect();
        assert_eq!(pids[..2], [u64::from(std::process::id()), u64::from(parent)], "{pids:?}");
        assert_eq!(found[0].1[0].0, "PATH");
        let once: BTreeSet<&u64> = pids.iter().collect();
        assert_eq!(once.len(), pids.len(), "{pids:?}");
    }

    #[test]
    fn relatives_are_read_from_the_output_of_ps() {
        let listed = "    1     0     1\n  312     1   312\n40123   312   312\nheading line\n\n";
        let all = listed_relatives(listed);
        assert_eq!(all.len(), 3);
        let shell = Relatives { parent: 312, group: 312, session: None };
        assert_eq!(ProcessTable::Listed(all).relatives(40123), Some(shell));
    }

    /// A process that was put into a container from outside has a group, a session and a parent
    /// that it cannot see.
    #[test]
    fn relatives_outside_of_the_namespace_have_no_number() {
        let inside = Relatives { parent: 0, group: 0, session: Some(0) };
        assert_eq!(stat_relatives("17 (a (b) c) S 0 0 0 0 -1 4194304 1"), Some(inside));
        assert_eq!(stat_relatives("17 (accord) S 0"), None);
    }
}
