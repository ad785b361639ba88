//! Opening a store, and what a process holds that has used it and is idle.

use std::process::Command;
use std::time::{Duration, Instant};

use accord_store::{PackageQuery, ProjectRow, SearchQuery, StoreError, StoreExt as _};
use accord_store_sqlite::{DATABASE, Options, SqliteStore};

use crate::Gates;
use crate::format_1::write_format_1;
use crate::packages::{deposit, project, write};
use crate::stores::Stores;

/// Tells a process that it is one that [`run`] has started; the folder comes behind it.
pub(crate) const CHILD: &str = "--open";

/// When the store is idle. It is 10 seconds by default. It must be longer than the time that the
/// allocator keeps freed memory, which is a second.
const REST: Duration = Duration::from_millis(1500);

pub(crate) fn run(gates: &mut Gates, stores: &Stores, packages: usize) {
    println!("\nopen: {packages} packages, in a process of its own");
    let program = std::env::current_exe().expect("this program");
    let output =
        Command::new(program).arg(CHILD).arg(stores.folder(packages)).output().expect("a process");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}");
    let figures: Vec<f64> =
        said.split_whitespace().map(|figure| figure.parse().expect("a figure")).collect();
    let [opened, used] = figures[..] else {
        panic!("two figures, not {said:?}");
    };
    gates.at_most("milliseconds until it is open", opened, 200.0);
    gates.at_most("megabytes that the idle process holds", used, 30.0);
    open_format_1(stores, packages);
}

/// Opens a store of format 1, which is migrated. The floor is a pass over the texts of its
/// packages.
fn open_format_1(stores: &Stores, packages: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    write_format_1(&stores.folder(packages), folder.path());
    let connection = rusqlite::Connection::open(folder.path().join(DATABASE)).expect("a store");
    let began = Instant::now();
    let bytes = "SELECT sum(length(CAST(text AS BLOB))) FROM package NOT INDEXED";
    let bytes: i64 = connection.query_row(bytes, (), |row| row.get(0)).expect("a size");
    let floor = began.elapsed();
    drop(connection);
    let began = Instant::now();
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    let opened = began.elapsed();
    drop(store);
    let (opened, floor) = (opened.as_secs_f64() * 1000.0, floor.as_secs_f64() * 1000.0);
    println!(
        "  format 1, {} MB of packages: migrated in {opened:.0} ms; a pass over their texts takes \
         {floor:.0} ms (floor)",
        bytes >> 20
    );
}

/// Opens a store, uses it in many threads, and says how long it took to open and how many megabytes
/// the process holds when it is idle again.
pub(crate) fn child(folder: &str) {
    let mut options = Options::default();
    options.rest = REST;
    let began = Instant::now();
    let store = SqliteStore::open(folder.as_ref(), &options).expect("a store");
    let opened = began.elapsed();
    let other = other();
    let added: Result<(), StoreError> =
        store.write(move |unit| match unit.project(&other.project_id)? {
            Some(_) => Ok(()),
            None => unit.insert_project(&other),
        });
    added.expect("a project");
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || use_it(store, thread));
        }
    });
    // Long enough to rest twice.
    std::thread::sleep(REST * 3);
    println!("{} {}", opened.as_secs_f64() * 1000.0, megabytes());
}

/// A project beside the one that is read, which stays as large as it is.
fn other() -> ProjectRow {
    ProjectRow { project_id: "proj_other".parse().expect("an id"), ..project() }
}

fn use_it(store: &SqliteStore, thread: usize) {
    let project = project().project_id;
    for round in 0..20 {
        let mut written = deposit(thread * 1_000 + round, 100_000);
        let id = format!("{}-{round}-{thread}", std::process::id());
        written.row.package_id = id.parse().expect("an id");
        written.row.project_id = other().project_id;
        store.write(move |unit| write(unit, &written)).expect("a deposit");
        store
            .read(|unit| {
                let latest = PackageQuery { limit: 200, ..PackageQuery::default() };
                unit.packages(&project, &latest)?;
                let words =
                    SearchQuery { text: "zebra walrus", limit: 10, ..SearchQuery::default() };
                unit.search(&project, &words)
            })
            .expect("a search");
    }
}

/// How much memory the process holds; what Linux alone says.
fn megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process' status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next());
    kilobytes.and_then(|number| number.parse::<f64>().ok()).expect("a number") / 1024.0
}
