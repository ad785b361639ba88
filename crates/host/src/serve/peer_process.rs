//! The process at the other end of a connection, for the case that it acts as a person.
//!
//! Invariants:
//! - a connection through the socket of the data folder belongs to the process that opened it. The
//!   system names that process, and it is remembered with its start, so that a later process with
//!   the same number is not taken for it;
//! - a connection over the loopback interface belongs to every process that has it open. On Linux
//!   they are found by the inode of the socket;
//! - a process that has ended, or that hides what it has open, cannot be examined. Then what only a
//!   person may do is refused ([`Caller::attribute`]).
//!
//! The process table is read only for callers that act as a person. Finding the owner of a socket
//! visits the open files of every process of this user, so it is done once for a connection, and
//! again only if one of them has ended.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use accord_base::Caller;
use accord_base::worker::{Ancestor, Ancestry, variables};
use accord_process::{AncestorProcess, RunningProcess, SocketOwners, tcp_owners};
use parking_lot::Mutex;
use tokio::net::UnixStream;

/// This process, as the system describes it.
pub fn this_process() -> Ancestry {
    ancestry(accord_process::ancestors(&variables()))
}

/// The caller of a connection through the socket of the data folder.
pub(super) fn socket_owner(stream: &UnixStream) -> Caller {
    let credentials = stream.peer_cred().ok();
    // A process outside of this process' namespace has the number 0.
    let pid = credentials.and_then(|credentials| u64::try_from(credentials.pid()?).ok());
    let process = pid.and_then(RunningProcess::find);
    Caller::owner().examined_by(move || Some(vec![examine(&process?)?]))
}

/// The other end of a connection over the network.
#[derive(Clone, Debug)]
pub(crate) struct NetworkPeer {
    /// Our own end.
    pub(crate) local: SocketAddr,
    remote: SocketAddr,
    /// The processes that had the connection open when they were looked for.
    owners: Arc<Mutex<Vec<RunningProcess>>>,
}

impl NetworkPeer {
    pub(crate) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        Self { local, remote, owners: Arc::default() }
    }

    /// The address of the other end.
    pub(crate) fn address(&self) -> IpAddr {
        self.remote.ip()
    }

    /// A caller without a key, whose process is examined where that is possible.
    pub(crate) fn caller(&self) -> Caller {
        if !cfg!(target_os = "linux") {
            return Caller::local();
        }
        let peer = self.clone();
        Caller::local().examined_by(move || peer.examine())
    }

    fn examine(&self) -> Option<Vec<Ancestry>> {
        let mut known = self.owners.lock();
        let still: Option<Vec<Ancestry>> = known.iter().map(examine).collect();
        if let Some(found) = still.filter(|found| !found.is_empty()) {
            return Some(found);
        }
        match tcp_owners(self.local, self.remote) {
            SocketOwners::Processes(found) => {
                *known = found;
                known.iter().map(examine).collect()
            }
            SocketOwners::Foreign => Some(Vec::new()),
            SocketOwners::Unknown => None,
        }
    }
}

fn examine(process: &RunningProcess) -> Option<Ancestry> {
    process.ancestors(&variables()).map(ancestry)
}

fn ancestry(found: Vec<AncestorProcess>) -> Ancestry {
    let processes = found.into_iter().map(|process| Ancestor {
        pid: process.pid,
        marks: process.variables,
        is_supervisor: process.is_supervisor,
    });
    Ancestry { processes: processes.collect() }
}
