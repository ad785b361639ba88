//! Files in the repository that are made from the code. `ACCORD_BLESS=1` writes
//! them; otherwise a difference is a failure.

#![expect(
    clippy::disallowed_methods,
    reason = "golden files are read and written where the tests run"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The contract as ALX 1.1 has it. It changes only together with the version.
pub(crate) const ALX_1_1: &str = "contracts/alx/1.1.json";

/// Reads a file of the repository, where it is there.
pub(crate) fn read(path: &str) -> Option<String> {
    fs::read_to_string(repository(path)).ok()
}

/// Holds a folder against the files that belong in it: each as given, and no others.
pub(crate) fn check_folder(folder: &str, expected: &BTreeMap<String, String>) {
    let place = repository(folder);
    let mut wrong = Vec::new();
    if blessing() {
        fs::create_dir_all(&place).unwrap();
    }
    for (name, text) in expected {
        let file = place.join(name);
        if fs::read_to_string(&file).ok().as_ref() != Some(text) {
            if blessing() {
                fs::write(&file, text).unwrap();
            } else {
                wrong.push(format!("{folder}/{name} differs"));
            }
        }
    }
    for entry in fs::read_dir(&place).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !expected.contains_key(&name) {
            if blessing() {
                fs::remove_file(place.join(&name)).unwrap();
            } else {
                wrong.push(format!("{folder}/{name} is stale"));
            }
        }
    }
    assert!(wrong.is_empty(), "run the tests with ACCORD_BLESS=1: {wrong:#?}");
}

fn blessing() -> bool {
    std::env::var_os("ACCORD_BLESS").is_some_and(|value| value == "1")
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
