//! Fuzz target for journals. Short and seeded here; for a long run:
//! `cargo bolero test -p accord-trees fuzz::journals`.

use std::sync::Arc;

use accord_contract::testing::mutate;
use accord_trees::testing::SimDisk;
use accord_trees::{Disk as _, journal};
use serde_json::json;

use crate::counter::{count, lock};

const JOURNAL: &str = "own/journal/2.json";

/// A journal is replayed in full or refused. A refused journal stays as it is and changes no file
/// of the protocol; a replayed one is removed, and the next commit succeeds.
fn survives(bytes: &[u8]) {
    let disk = Arc::new(SimDisk::new());
    count(&lock(&disk).unwrap()).unwrap();
    let before = data(&disk);
    assert!(disk.create(JOURNAL, bytes).unwrap());
    let parsed = journal::read(disk.as_ref(), JOURNAL);
    let text = String::from_utf8_lossy(bytes);
    match lock(&disk) {
        Ok(tree) => {
            assert!(parsed.is_ok(), "{text}");
            assert!(!disk.files().contains_key(JOURNAL), "{text}");
            count(&tree).unwrap();
        }
        Err(error) => {
            assert_eq!(disk.files()[JOURNAL], bytes, "{text}: {error}");
            assert_eq!(data(&disk), before, "{text}: {error}");
        }
    }
}

/// The files of the protocol, without lock and journals.
fn data(disk: &SimDisk) -> Vec<(String, Vec<u8>)> {
    let mut files = disk.files();
    files.retain(|path, _| path.starts_with("data/"));
    files.into_iter().collect()
}

#[test]
fn journals() {
    let valid = json!({"to": 2, "lengths": {"data/log.jsonl": 40, "data/notes.md": 6}});
    bolero::check!().with_iterations(500).for_each(|input: &[u8]| {
        survives(input);
        survives(mutate(&valid, input).to_string().as_bytes());
    });
}
