//! The memory of sockets that are subscribed and quiet.

use crate::Gates;
use crate::action::runtime;
use crate::client::Client;
use crate::server::{Server, Store};

const SOCKETS: usize = 5_000;
const MIB: f64 = 1024.0 * 1024.0;

pub(crate) fn run(gates: &mut Gates) {
    println!("idle: {SOCKETS} subscribed sockets, each of a session of its own");
    accord_process::raise_open_file_limit();
    let limit = accord_process::open_file_limit();
    if limit.is_some_and(|limit| limit < SOCKETS as u64 + 100) {
        println!("  skipped: this process may open only {limit:?} files");
        return;
    }
    let server = Server::start(Store::Durable);
    let before = server.memory() as f64 / MIB;
    runtime().block_on(async {
        let mut clients = Vec::with_capacity(SOCKETS);
        for number in 0..SOCKETS {
            let mut client = Client::open(server.address).await;
            client.subscribe(&format!("idle-{number}"), None).await;
            clients.push(client);
        }
        let after = server.memory() as f64 / MIB;
        println!("  memory before                                     {before:>9.1} MiB");
        println!("  memory with the sockets                           {after:>9.1} MiB");
        let each = (after - before) * 1024.0 / SOCKETS as f64;
        println!("  a socket                                          {each:>9.1} KiB");
        gates.at_most("megabytes", after * MIB / 1e6, 250.0);
    });
}
