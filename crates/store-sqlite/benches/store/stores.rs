//! Stores of a size, filled once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use accord_store::Engine as _;
use accord_store::{StoreError, StoreExt as _};
use accord_store_sqlite::{Options, SqliteStore};

use crate::packages::{deposit, fact, write};

/// How many packages are written in one unit while a store is filled.
const UNIT: usize = 500;

/// How many facts hold in every store.
pub(crate) const FACTS: usize = 50;

/// The folders of stores that were filled.
pub(crate) struct Stores {
    keep: Option<PathBuf>,
    filled: RefCell<BTreeMap<usize, tempfile::TempDir>>,
}

impl Stores {
    /// Stores that go when the run ends, or that are left in a folder.
    pub(crate) fn new(keep: Option<String>) -> Self {
        Self { keep: keep.map(PathBuf::from), filled: RefCell::default() }
    }

    /// The folder of a store of so many packages.
    pub(crate) fn folder(&self, packages: usize) -> PathBuf {
        if let Some(keep) = &self.keep {
            let folder = keep.join(packages.to_string());
            if !folder.exists() {
                // A run that is broken off leaves nothing that looks whole.
                let partial = keep.join(format!("{packages}.partial"));
                drop(fs::remove_dir_all(&partial));
                fill(&partial, packages);
                fs::rename(&partial, &folder).expect("the store in its place");
            }
            return folder;
        }
        let mut filled = self.filled.borrow_mut();
        let folder = filled.entry(packages).or_insert_with(|| {
            let folder = tempfile::tempdir().expect("a folder");
            fill(folder.path(), packages);
            folder
        });
        folder.path().to_owned()
    }

    /// A store of so many packages.
    pub(crate) fn open(&self, packages: usize) -> SqliteStore {
        SqliteStore::open(&self.folder(packages), &Options::default()).expect("a store")
    }
}

/// Fills a store in large units, as an import does.
fn fill(folder: &Path, packages: usize) {
    let began = Instant::now();
    let store = SqliteStore::open(folder, &Options::default()).expect("a store");
    for first in (0..packages).step_by(UNIT) {
        let unit: Vec<_> =
            (first..packages.min(first + UNIT)).map(|number| deposit(number, packages)).collect();
        let written: Result<(), StoreError> = store.write(move |open| {
            for deposit in &unit {
                write(open, deposit)?;
            }
            Ok(())
        });
        written.expect("the packages");
    }
    let facts: Result<(), StoreError> = store.write(|unit| {
        for number in 0..FACTS {
            unit.insert_fact(&fact(number))?;
        }
        Ok(())
    });
    facts.expect("the facts");
    store.close().expect("the store closes");
    drop(store);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "  (a store of {packages} packages, filled in {seconds:.1} s: {:.0} a second)",
        packages as f64 / seconds
    );
}
