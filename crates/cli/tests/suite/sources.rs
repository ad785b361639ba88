//! Rules for the source files of all crates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file below `tests/suite` that no `mod` line reaches would never run.
#[test]
fn every_file_of_a_suite_is_part_of_it() {
    let mut suites = 0;
    for entry in std::fs::read_dir(crates()).expect("the crates") {
        let folder = entry.expect("an entry").path().join("tests/suite");
        if !folder.is_dir() {
            continue;
        }
        suites += 1;
        let mut reached = BTreeSet::new();
        reach(&folder.join("main.rs"), &folder, &mut reached);
        let files: BTreeSet<PathBuf> = rust_files(&folder).into_iter().collect();
        let missed: Vec<_> = files.difference(&reached).collect();
        assert!(missed.is_empty(), "no `mod` line reaches {missed:?}");
    }
    assert!(suites >= 10, "only {suites} suites were found");
}

/// Adds a file and the modules that it declares. `folder` is where those lie.
fn reach(file: &Path, folder: &Path, reached: &mut BTreeSet<PathBuf>) {
    reached.insert(file.to_owned());
    let text = std::fs::read_to_string(file).expect("a source file");
    for line in text.lines() {
        let declared = line.trim_start_matches("pub(crate) ");
        let name = declared.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
        let Some(name) = name else { continue };
        let below = folder.join(name);
        // A module with a `path` attribute lies elsewhere.
        for candidate in [folder.join(format!("{name}.rs")), below.join("mod.rs")] {
            if candidate.is_file() {
                reach(&candidate, &below, reached);
            }
        }
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
