//! A server that is killed in the middle of everything loses nothing that it acknowledged.
//!
//! Thirty-two clients deposit packages and assert facts while the server is ended by `kill -9` at
//! some moment. Started again, it has every package that it acknowledged, and nothing is half
//! written: hashes, revisions, chains of facts and event numbers all hold. `ACCORD_KILL_ROUNDS=200`
//! makes it long.
//!
//! A round asks for everything that it wrote and for some of what earlier rounds did, so that the
//! hundredth takes no longer than the first. In the first rounds, every [`WHOLE`] rounds and at the
//! end, everything is looked at; what is lost or half written stays so until then.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::accord::accord;
use crate::connection::Connection;
use crate::server::Server;
use crate::wait::wait_until;

const WRITERS: usize = 32;

/// In so many rounds at the beginning, everything is looked at that there is.
const FIRST: u64 = 10;

/// Later, after so many rounds.
const WHOLE: u64 = 25;

/// About so many packages of earlier rounds are asked for in the others.
const SAMPLE: usize = 200;

#[test]
fn a_killed_server_loses_no_acknowledged_write_and_leaves_no_half_write() {
    let rounds = std::env::var("ACCORD_KILL_ROUNDS");
    let rounds: u64 = rounds.map_or(3, |rounds| rounds.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut kept: Vec<(String, String)> = Vec::new();
    for round in 0..rounds {
        let mut server = Server::start(folder.path(), &[]);
        let acknowledged = written_until_killed(&mut server, round);
        assert!(!acknowledged.is_empty(), "round {round}: nothing was written");
        let new = kept.len();
        kept.extend(acknowledged);
        drop(server);
        let whole = round < FIRST || round % WHOLE == 0 || round + 1 == rounds;
        if whole {
            verify(folder.path(), round);
        }
        let server = Server::start(folder.path(), &[]);
        let (earlier, latest) = kept.split_at(new);
        let step = if whole { 1 } else { earlier.len() / SAMPLE + 1 };
        // Others in every round, until all have had their turn.
        let earlier = earlier.iter().skip(round as usize % step).step_by(step);
        all_there(address(&server), latest.iter().chain(earlier), round);
    }
    println!("{} packages were acknowledged in {rounds} rounds", kept.len());
}

/// What the server acknowledged before it was killed: ids and hashes.
fn written_until_killed(server: &mut Server, round: u64) -> Vec<(String, String)> {
    let address = address(server);
    let (count, over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (count, over) = (&count, &over);
                scope.spawn(move || write(address, round, writer, count, over))
            })
            .collect();
        // Sometimes early, sometimes late, at least after the first answers.
        let enough = 8 + (round * 37) % 190;
        wait_until(format_args!("{enough} acknowledged packages"), || {
            count.load(Ordering::Relaxed) >= enough
        });
        server.kill();
        over.store(true, Ordering::Relaxed);
        let written = writers.into_iter();
        written.flat_map(|writer| writer.join().expect("a writer")).collect()
    })
}

/// Writes until the server is gone.
fn write(
    address: SocketAddr,
    round: u64,
    writer: usize,
    count: &AtomicU64,
    over: &AtomicBool,
) -> Vec<(String, String)> {
    let mut acknowledged = Vec::new();
    let Ok(mut connection) = Connection::open(address) else {
        return acknowledged;
    };
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let id = format!("pkg-{round}-{writer}-{number}");
        let package = json!({
            "package_id": id, "project_id": "crash", "relay_version": "0.1",
            "title": format!("Package {id}"),
            "status": "complete", "package_type": "standard", "review_type": "none",
            "created_at": "2026-11-15T08:00:00Z", "created_by": {"id": "writer", "type": "script"},
            "open_questions": [format!("Is {id} there?")],
        });
        let deposited = connection.post("/v1/projects/crash/packages", &package.to_string());
        let Ok((201, body)) = deposited else { break };
        let body: Value = serde_json::from_slice(&body).expect("a document");
        let hash = body["content_hash"].as_str().expect("a hash").to_owned();
        acknowledged.push((id.clone(), hash));
        count.fetch_add(1, Ordering::Relaxed);
        let fact =
            json!({"subject": format!("s{}", writer % 4), "predicate": "newest", "value": id});
        if connection.post("/v1/projects/crash/facts", &fact.to_string()).is_err() {
            break;
        }
    }
    acknowledged
}

fn all_there<'k>(
    address: SocketAddr,
    kept: impl Iterator<Item = &'k (String, String)>,
    round: u64,
) {
    let mut connection = Connection::open(address).expect("a server");
    for (id, hash) in kept {
        let (status, body) = connection.get(&format!("/v1/packages/{id}")).expect("an answer");
        assert_eq!(status, 200, "round {round}: {id} was acknowledged and is lost");
        let body: Value = serde_json::from_slice(&body).expect("a document");
        assert_eq!(body["content_hash"], hash.as_str(), "round {round}: {id}");
    }
}

/// Looks through the folder that the killed server left.
fn verify(data: &Path, round: u64) {
    let data = data.to_str().expect("text");
    let ran = accord(&["context", "verify", "--data", data], "");
    assert_eq!(ran.code, 0, "round {round}: {}{}", ran.stdout, ran.stderr);
}

fn address(server: &Server) -> SocketAddr {
    server.address.parse().expect("an address")
}
