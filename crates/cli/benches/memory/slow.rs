//! Deposits on a disk that takes 5 ms longer to make anything last.

use std::sync::Arc;
use std::time::Duration;

use accord_host::http::Host;
use accord_host::serve::Server;
use accord_host::settings::Settings;
use accord_store_sqlite::{Options, SqliteStore};

use crate::Gates;
use crate::deposit::{singles, together};
use crate::packages::{Deposit, deposit};

const COUNT: usize = 32 * 40;
const DELAY: Duration = Duration::from_millis(5);

pub(crate) fn run(gates: &mut Gates) {
    println!("\nslow disk: 5 ms more a commit");
    let deposits: Vec<Deposit> = (0..COUNT).map(|number| deposit(number, COUNT)).collect();
    let one_by_one = 1.0 / (DELAY + singles(&deposits[..200])).as_secs_f64();
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = Options::default();
    options.commit_delay = DELAY;
    let engine = SqliteStore::open(folder.path(), &options).expect("a store");
    let mut settings = Settings::default();
    settings.listen = "127.0.0.1:0".parse().expect("an address");
    let host = Host::over(Arc::new(engine), folder.path(), settings).expect("a host");
    let engine = Arc::clone(host.engine());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(Server::bind(host)).expect("a server");
    let address = server.address();
    runtime.spawn(server.run(std::future::pending()));
    let rate = together(address, &deposits);
    println!("  one commit a package                              {one_by_one:>9.0} packages/s");
    let done = engine.statistics();
    let shared = done.jobs as f64 / done.commits as f64;
    println!("  32 clients over HTTP                              {rate:>9.0} packages/s");
    println!("  their packages that share a commit                {shared:>9.0}");
    gates.at_least("against one commit a package", rate / one_by_one, 10.0);
    runtime.shutdown_background();
}
