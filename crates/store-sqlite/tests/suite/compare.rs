//! The engine and the model give the same answers.

use accord_store::Engine as _;
use accord_store::testing::{COMMON, compare, compare_groups, many_writers};
use accord_store_sqlite::{Options, SqliteStore};

fn options() -> Options {
    let mut options = Options::default();
    options.common = COMMON;
    options
}

/// For a long run, say how many.
fn seeds() -> u64 {
    std::env::var("ACCORD_SEEDS").map_or(6, |text| text.parse().unwrap())
}

#[test]
fn random_units_of_work() {
    for seed in 0..seeds() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), &options()).unwrap();
        compare(&store, seed, 120);
        store.check().unwrap();
    }
}

#[test]
fn random_units_that_share_a_commit() {
    for seed in 0..seeds() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), &options()).unwrap();
        compare_groups(&store, seed, 25);
        let done = store.statistics();
        assert!(done.jobs > 2 * done.commits, "{done:?}");
        store.check().unwrap();
    }
}

#[test]
fn many_writers_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), &Options::default()).unwrap();
    many_writers(&store, 32, 20, 7);
    let done = store.statistics();
    assert!(done.commits < done.jobs, "{done:?}");
    store.check().unwrap();
}
