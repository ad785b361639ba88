//! How large an idle server is, and how soon it is ready.

use crate::server::Server;
use crate::{Gates, target};

pub(crate) fn run(_: &mut Gates) {
    println!("\nsize: a server on an empty store");
    let folder = tempfile::tempdir().expect("a folder");
    drop(Server::start(folder.path()));
    let mut ready: Vec<f64> = (0..9)
        .map(|_| {
            let folder = tempfile::tempdir().expect("a folder");
            Server::start(folder.path()).ready.as_secs_f64() * 1000.0
        })
        .collect();
    ready.sort_by(f64::total_cmp);
    let server = Server::start(folder.path());
    target("ready", ready[ready.len() / 2], "ms", "under 150");
    target("memory when idle", server.megabytes(), "MB", "under 40");
}
