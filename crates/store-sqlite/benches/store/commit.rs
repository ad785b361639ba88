//! Writing: many threads whose jobs share commits, against one thread that commits in batches.

use std::time::{Duration, Instant};

use accord_store::Engine as _;
use accord_store::StoreExt as _;
use accord_store_sqlite::{Options, SqliteStore};

use crate::floor::{self, Rows};
use crate::packages::{Deposit, deposit, write};
use crate::{Gates, micros, p50};

const THREADS: usize = 32;
const PACKAGES: usize = 32 * 200;
const ROUNDS: usize = 3;
const SINGLES: usize = 400;
const DELAY: Duration = Duration::from_millis(5);

pub(crate) fn run(gates: &mut Gates) {
    println!("commit: {PACKAGES} packages of 1.4 kB, synchronous=FULL");
    let deposits: Vec<Deposit> = (0..PACKAGES).map(|number| deposit(number, PACKAGES)).collect();
    println!("  a package has {} bytes", deposits[0].row.state.text.len());
    let (mut floor, mut ours) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        floor = floor.max(batches(&deposits));
        ours = ours.max(threads(&deposits, Duration::ZERO));
    }
    println!("  one thread, batches of 32, straight into SQLite   {floor:>9.0} packages/s");
    println!("  {THREADS} threads through the store                     {ours:>9.0} packages/s");
    gates.at_least("rate against the floor", ours / floor, 0.8);

    let (mut single, mut alone) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        single = single.min(singles(&deposits[..SINGLES]));
        alone = alone.min(one_thread(&deposits[..SINGLES]));
    }
    println!("  one row set a commit, straight into SQLite, p50   {:>9.0} us", micros(single));
    println!("  one thread through the store, p50                 {:>9.0} us", micros(alone));
    gates.at_most("one thread against two such commits", micros(alone) / micros(single) / 2.0, 1.0);

    let one_by_one = 1.0 / (DELAY + single).as_secs_f64();
    let rounds = (0..ROUNDS).map(|_| threads(&deposits, DELAY));
    let together = rounds.fold(0.0, f64::max);
    println!("  with 5 ms more a commit, one commit a package     {one_by_one:>9.0} packages/s");
    println!(
        "  with 5 ms more a commit, {THREADS} threads              {together:>9.0} packages/s"
    );
    gates.at_least("slow disk, against one commit a package", together / one_by_one, 10.0);
}

/// Packages a second of one thread that commits 32 at a time.
fn batches(deposits: &[Deposit]) -> f64 {
    let folder = prepared();
    let connection = floor::open(folder.path());
    let rows: Vec<Rows> = deposits.iter().cloned().map(Rows::new).collect();
    let mut seq = 0;
    let began = Instant::now();
    for batch in rows.chunks(32) {
        floor::commit(&connection, batch, &mut seq);
    }
    deposits.len() as f64 / began.elapsed().as_secs_f64()
}

/// How long one package takes that is committed alone.
fn singles(deposits: &[Deposit]) -> Duration {
    let folder = prepared();
    let connection = floor::open(folder.path());
    let rows: Vec<Rows> = deposits.iter().cloned().map(Rows::new).collect();
    let mut seq = 0;
    p50(rows.len(), |number| {
        floor::commit(&connection, &rows[number..=number], &mut seq);
    })
}

/// Packages a second of many threads.
fn threads(deposits: &[Deposit], delay: Duration) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = Options::default();
    options.commit_delay = delay;
    let store = SqliteStore::open(folder.path(), &options).expect("a store");
    let began = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for deposit in deposits.iter().skip(thread).step_by(THREADS) {
                    let deposit = deposit.clone();
                    store.write(move |unit| write(unit, &deposit)).expect("a deposit");
                }
            });
        }
    });
    let rate = deposits.len() as f64 / began.elapsed().as_secs_f64();
    let done = store.statistics();
    println!("    {:.1} jobs a commit", done.jobs as f64 / done.commits as f64);
    rate
}

/// How long one thread waits for a package.
fn one_thread(deposits: &[Deposit]) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    p50(deposits.len(), |number| {
        let deposit = deposits[number].clone();
        store.write(move |unit| write(unit, &deposit)).expect("a deposit");
    })
}

/// A folder with an empty store that nobody has open.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    store.close().expect("it closes");
    drop(store);
    folder
}
