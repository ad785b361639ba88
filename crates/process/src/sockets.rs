//! The processes at the other end of a TCP connection on this machine.
//!
//! On Linux the tables of sockets in `/proc/net` name the inode of the other end, and the open
//! files of each process of this user are searched for it. That takes some milliseconds. On other
//! systems nothing is found.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use crate::ancestry::RunningProcess;
use crate::table::pids;

/// How often the tables of sockets are read for a connection that is not in them.
const READINGS: usize = 3;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SocketOwners {
    Processes(Vec<RunningProcess>),
    /// Another user, or another machine.
    Foreign,
    /// A connection of this machine whose processes are not found: they have ended, or hide what
    /// they have open.
    Unknown,
}

/// Who has the other end of a TCP connection open. `local` is this end.
pub fn tcp_owners(local: SocketAddr, remote: SocketAddr) -> SocketOwners {
    // A table that changes while it is read can miss a line.
    match (0..READINGS).find_map(|_| find(local, remote)) {
        // The end of a closed connection has no owner any more.
        Some(socket) if socket.inode == 0 => SocketOwners::Unknown,
        Some(socket) if socket.uid != rustix::process::geteuid().as_raw() => SocketOwners::Foreign,
        Some(socket) => match holders(socket.inode) {
            found if found.is_empty() => SocketOwners::Unknown,
            found => SocketOwners::Processes(found),
        },
        None if remote.ip().to_canonical().is_loopback() => SocketOwners::Unknown,
        None => SocketOwners::Foreign,
    }
}

/// The other end of a connection, if the tables have it.
fn find(local: SocketAddr, remote: SocketAddr) -> Option<TcpSocket> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let table = fs::read_to_string(table).ok()?;
        table
            .lines()
            .filter_map(TcpSocket::read)
            .find(|socket| is_same(socket.local, remote) && is_same(socket.remote, local))
    })
}

/// The processes of this user that have a socket open.
fn holders(inode: u64) -> Vec<RunningProcess> {
    let wanted = format!("socket:[{inode}]");
    let has = |pid: u64| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
        links.any(|link| link.as_os_str() == wanted.as_str())
    };
    pids().filter(|pid| has(*pid)).filter_map(RunningProcess::find).collect()
}

/// Whether two addresses are the same, written as IPv4 or as IPv6.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

/// A line of a socket table in `/proc/net`.
#[derive(Debug, Eq, PartialEq)]
struct TcpSocket {
    local: SocketAddr,
    remote: SocketAddr,
    uid: u32,
    inode: u64,
}

impl TcpSocket {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        Some(Self {
            local: address(fields.get(1)?)?,
            remote: address(fields.get(2)?)?,
            uid: fields.get(7)?.parse().ok()?,
            inode: fields.get(9)?.parse().ok()?,
        })
    }
}

/// Reads an address: words of four bytes as hexadecimal numbers of this machine, a colon, the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (digits, port) = text.split_once(':')?;
    if !digits.is_ascii() {
        return None;
    }
    let words = (0..digits.len()).step_by(8).map(|at| {
        let word = u32::from_str_radix(digits.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    });
    let bytes: Vec<u8> = words.collect::<Option<Vec<_>>>()?.concat();
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_of_both_tables_are_read() {
        let line = "   3: 0100007F:1C03 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  \
                    1000        0 4242 1 0000000000000000 20 4 30 10 -1";
        let read = TcpSocket {
            local: "127.0.0.1:7171".parse().unwrap(),
            remote: "127.0.0.1:54000".parse().unwrap(),
            uid: 1000,
            inode: 4242,
        };
        assert_eq!(TcpSocket::read(line), Some(read));
        let six = address("00000000000000000000000001000000:1C03").unwrap();
        assert_eq!(six, "[::1]:7171".parse().unwrap());
        let mapped = address("0000000000000000FFFF00000100007F:1C03").unwrap();
        assert!(is_same(mapped, "127.0.0.1:7171".parse().unwrap()));
        for broken in ["", "sl", "0100007F", "0100007:1C03", "0100007F0100007F:1C03", "é00007F:1"]
        {
            assert_eq!(address(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_owner_of_a_connection_is_found_until_it_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, remote) = listener.accept().unwrap();
        let local = server.local_addr().unwrap();
        let own = RunningProcess::find(std::process::id().into()).unwrap();
        let SocketOwners::Processes(found) = tcp_owners(local, remote) else { panic!("no owner") };
        assert_eq!(found, [own]);
        drop(client);
        assert!(matches!(tcp_owners(local, remote), SocketOwners::Unknown));
    }
}
