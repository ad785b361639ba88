//! Deposits over HTTP, against the same rows by one thread straight into SQLite.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_store::Engine as _;
use accord_store_sqlite::{Options, SqliteStore};

use crate::PACKAGES;
use crate::connection::Connection;
use crate::floor::{self, Rows};
use crate::packages::{Deposit, deposit};
use crate::server::Server;
use crate::{Gates, micros, p50};

const CLIENTS: usize = 32;
const COUNT: usize = CLIENTS * 200;
const ROUNDS: usize = 3;
const ALONE: usize = 600;

pub(crate) fn run(gates: &mut Gates) {
    let deposits: Vec<Deposit> = (0..COUNT).map(|number| deposit(number, COUNT)).collect();
    let bytes = deposits[0].row.state.text.len();
    println!("deposit: {COUNT} packages of {bytes} bytes over HTTP, synchronous=FULL");
    let (mut floor, mut ours) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        floor = floor.max(batches(&deposits));
        let folder = folder();
        let server = Server::start(folder.path());
        ours = ours.max(together(server.address, &deposits));
    }
    println!("  one thread, batches of 32, straight into SQLite   {floor:>9.0} packages/s");
    println!("  {CLIENTS} clients over HTTP                            {ours:>9.0} packages/s");
    gates.at_least("rate against the floor", ours / floor, 0.5);

    let single = singles(&deposits[..ALONE]);
    let folder = folder();
    let server = Server::start(folder.path());
    let nothing = refused(server.address, &deposits[..ALONE]);
    let alone = alone(server.address, &deposits[..ALONE]);
    println!("  one package a commit, straight into SQLite, p50   {:>9.0} us", micros(single));
    println!("  a POST that stores nothing, p50                   {:>9.0} us", micros(nothing));
    println!("  one client's deposit, p50                         {:>9.0} us", micros(alone));
    gates.at_most(
        "one client against a POST and two commits",
        micros(alone) / (micros(nothing) + 2.0 * micros(single)),
        1.0,
    );
}

/// Packages a second of clients that deposit at the same time.
pub(crate) fn together(address: SocketAddr, deposits: &[Deposit]) -> f64 {
    let began = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut connection = Connection::open(address).expect("a server");
                for deposit in deposits.iter().skip(client).step_by(CLIENTS) {
                    let (status, _) =
                        connection.post(PACKAGES, &deposit.row.state.text).expect("an answer");
                    assert_eq!(status, 201);
                }
            });
        }
    });
    deposits.len() as f64 / began.elapsed().as_secs_f64()
}

/// How long one package takes that is committed alone, straight into SQLite.
pub(crate) fn singles(deposits: &[Deposit]) -> Duration {
    let folder = prepared();
    let connection = floor::open(folder.path());
    let rows: Vec<Rows> = deposits.iter().cloned().map(Rows::new).collect();
    let mut seq = 0;
    p50(rows.len(), |number| {
        floor::commit(&connection, &rows[number..=number], &mut seq);
    })
}

fn batches(deposits: &[Deposit]) -> f64 {
    let folder = prepared();
    let connection = floor::open(folder.path());
    let rows: Vec<Rows> = deposits.iter().cloned().map(Rows::new).collect();
    let mut seq = 0;
    let began = Instant::now();
    for batch in rows.chunks(CLIENTS) {
        floor::commit(&connection, batch, &mut seq);
    }
    deposits.len() as f64 / began.elapsed().as_secs_f64()
}

/// The same documents, each refused for its version: all of HTTP, and nothing stored.
fn refused(address: SocketAddr, deposits: &[Deposit]) -> Duration {
    let wrong: Vec<String> = (deposits.iter())
        .map(|deposit| {
            (deposit.row.state.text).replace(r#""relay_version":"0.1""#, r#""relay_version":"9.9""#)
        })
        .collect();
    let mut connection = Connection::open(address).expect("a server");
    p50(wrong.len(), |number| {
        assert_eq!(connection.post(PACKAGES, &wrong[number]).expect("an answer").0, 400);
    })
}

fn alone(address: SocketAddr, deposits: &[Deposit]) -> Duration {
    let mut connection = Connection::open(address).expect("a server");
    p50(deposits.len(), |number| {
        let (status, _) =
            connection.post(PACKAGES, &deposits[number].row.state.text).expect("an answer");
        assert_eq!(status, 201);
    })
}

/// A folder with an empty store that nobody has open.
fn prepared() -> tempfile::TempDir {
    let folder = folder();
    open(folder.path()).close().expect("it closes");
    folder
}

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, &Options::default()).expect("a store")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}
