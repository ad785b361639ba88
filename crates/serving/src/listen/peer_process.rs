//! The process at the other end of a connection, for the case that it acts as a person.
//!
//! Invariants:
//! - a connection through the socket of the data folder belongs to the process that opened it. The
//!   system names that process, and it is remembered with its start, so that a later process with
//!   the same number is not taken for it;
//! - a connection over the loopback interface belongs to every process that has it open. On Linux
//!   they are found by the inode of the socket. A program that takes over descriptors of others can
//!   have the connection of a worker open. The program of this host takes over none, so only its
//!   connections are certain to be its own;
//! - a process that has ended, or that hides what it has open, cannot be examined. Then what only a
//!   person may do is refused ([`accord_base::policy`]). So is a process of another user.
//!
//! The process table is read only for callers that act as a person. Finding the owner of a socket
//! visits the open files of every process of this user, so the owners are looked for and examined
//! once for a connection, and again only if one of them has ended.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use accord_base::worker::{Ancestor, Ancestry, find_worker, variables};
use accord_base::{Caller, CallerProcess};
use accord_process::{Lineage, RunningProcess, SocketOwners, tcp_owners};
use parking_lot::Mutex;
use tokio::net::UnixStream;
use tokio::net::unix::UCred;

/// How often the processes of a connection are looked for if they change meanwhile.
const LOOKS: usize = 5;

/// This process, as the system describes it.
pub fn this_process() -> CallerProcess {
    seen(accord_process::ancestors(&variables()).map(ancestry))
}

/// The caller of a connection through the socket of the data folder.
pub(super) fn socket_owner(stream: &UnixStream) -> Caller {
    let credentials = stream.peer_cred().ok();
    // A process outside of this process' namespace has the number 0.
    let pid = credentials.and_then(|credentials| u64::try_from(credentials.pid()?).ok());
    let process = pid.and_then(RunningProcess::find);
    Caller::owner().examined_by(move || seen(process.as_ref().and_then(examine)))
}

/// Refuses a server of a socket that a worker started: it could show other evidence than the host.
/// A worker uses its own servers.
pub(crate) fn check_server(server: &UCred) -> Result<(), String> {
    // A process outside of this process' namespace has the number 0, and is no worker inside.
    let Some(pid) = server.pid().and_then(|pid| u64::try_from(pid).ok()).filter(|pid| *pid > 0)
    else {
        return Ok(());
    };
    let worker = match seen(RunningProcess::find(pid).as_ref().and_then(examine)) {
        CallerProcess::Seen(found) => found.iter().find_map(|found| find_worker(found, &[])),
        // A process that sees none decides nothing by itself.
        _ if !matches!(this_process(), CallerProcess::Seen(_)) => return Ok(()),
        _ => return Err(format!("the process {pid}, which opened the socket, has ended")),
    };
    let own = Caller::owner().examined_by(this_process);
    if worker.is_none() || own.refuse_worker().is_err() {
        return Ok(());
    }
    Err(format!(
        "a worker, the process {pid}, opened the socket of the data folder; it could show other \
         evidence than the host"
    ))
}

/// The other end of a connection over the network.
#[derive(Clone, Debug)]
pub struct NetworkPeer {
    pub local: SocketAddr,
    remote: SocketAddr,
    /// The processes that had the connection open when they were looked for, as they were then:
    /// what a process descends from does not change.
    owners: Arc<Mutex<Vec<(RunningProcess, Ancestry)>>>,
}

impl NetworkPeer {
    pub fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        Self { local, remote, owners: Arc::default() }
    }

    pub fn address(&self) -> IpAddr {
        self.remote.ip()
    }

    /// A caller without a key, whose process is examined. Only Linux shows the processes of a
    /// connection.
    pub fn caller(&self) -> Caller {
        let peer = self.clone();
        Caller::local().examined_by(move || peer.examine())
    }

    fn examine(&self) -> CallerProcess {
        let mut known = self.owners.lock();
        let all = |known: &[(RunningProcess, Ancestry)]| {
            let found = known.iter().map(|(_, seen)| seen.clone()).collect();
            match known.iter().all(|(process, _)| process.runs_this_program()) {
                true => CallerProcess::Seen(found),
                false => CallerProcess::Loopback(found),
            }
        };
        if !known.is_empty() && known.iter().all(|(process, _)| process.is_running()) {
            return all(&known);
        }
        let look = || tcp_owners(self.local, self.remote);
        // A child that a process is about to start has its connections open, too. It may end before
        // it is examined, or become a worker, which has them no more.
        for _ in 0..LOOKS {
            let found = look();
            let owners = match &found {
                SocketOwners::Processes(found) => found,
                SocketOwners::Foreign => return CallerProcess::OtherUser,
                SocketOwners::Unknown => return CallerProcess::Unknown,
            };
            let examined = owners.iter().map(|owner| Some((*owner, examine(owner)?))).collect();
            let is_stable = owners.len() == 1 || look() == found;
            if let Some(examined) = Option::filter(examined, |_| is_stable) {
                *known = examined;
                return all(&known);
            }
        }
        CallerProcess::Unknown
    }
}

fn seen(process: Option<Ancestry>) -> CallerProcess {
    process.map_or(CallerProcess::Unknown, |process| CallerProcess::Seen(vec![process]))
}

fn examine(process: &RunningProcess) -> Option<Ancestry> {
    process.ancestors(&variables()).map(ancestry)
}

fn ancestry(found: Lineage) -> Ancestry {
    let processes = found.processes.into_iter().map(|process| Ancestor {
        pid: process.pid,
        marks: process.variables,
        is_supervisor: process.is_supervisor,
    });
    let os_user = Some(accord_process::os_user());
    Ancestry { processes: processes.collect(), has_terminal: found.has_terminal, os_user }
}
