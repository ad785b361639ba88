//! Every clause is named in the code, and every name in the code is a clause.
//!
//! The function, type or message that decides a rule of a protocol names its clause in a comment:
//! `/// Clauses: AX-SM-START.` Tables of seeded faults name clauses too, but decide nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The prefixes of clause names.
const PREFIXES: [&str; 5] = ["AGENTIC-", "ALX-", "AOF-", "AX-", "GGUI-"];

#[test]
fn every_required_clause_is_named_in_the_code() {
    let named = named();
    let missing: Vec<String> = clauses()
        .into_iter()
        .filter(|(_, strength)| strength == "must")
        .map(|(id, _)| id)
        .filter(|id| !named.contains_key(id))
        .collect();
    assert!(missing.is_empty(), "no comment names {missing:#?}");
}

#[test]
fn every_clause_that_the_code_names_exists() {
    let clauses = clauses();
    assert!(clauses.len() > 500, "{} clauses", clauses.len());
    let unknown: Vec<_> = named().into_iter().filter(|(id, _)| !clauses.contains_key(id)).collect();
    assert!(unknown.is_empty(), "no clauses.json has {unknown:#?}");
}

#[test]
fn names_are_found_in_comments_only() {
    let line = "    /// Clauses: AX-SM-START, ALX-C1. See SHA-256, AX-9 and max-AX-1.";
    let found: Vec<_> = names(line).collect();
    assert_eq!(found, ["AX-SM-START", "ALX-C1", "AX-9"]);
    assert_eq!(names("let clause = \"AX-SM-START\";").count(), 0);
}

/// The strength of every clause of the corpora.
fn clauses() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(workspace().join("corpus")).expect("the corpora") {
        let path = entry.expect("an entry").path().join("clauses.json");
        let text = std::fs::read_to_string(&path).expect("clauses");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        for clause in document["clauses"].as_array().expect("a list") {
            let member = |name: &str| clause[name].as_str().expect("a string").to_owned();
            found.insert(member("id"), member("strength"));
        }
    }
    found
}

/// The clauses that comments below `crates/*/src` name, with the files that name them.
fn named() -> BTreeMap<String, BTreeSet<PathBuf>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(workspace().join("crates")).expect("the crates") {
        collect(&entry.expect("an entry").path().join("src"), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, BTreeSet<PathBuf>>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.file_stem().is_some_and(|name| name == "faults") {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        // Other files, such as style sheets, name no clauses.
        if path.extension().is_none_or(|name| name != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for line in text.lines() {
            for name in names(line) {
                let files = found.entry(name.to_owned()).or_default();
                files.insert(path.clone());
            }
        }
    }
}

/// The clause names in a line that is a comment.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.trim_start().starts_with("//").then_some(line);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    comment
        .into_iter()
        .flat_map(move |line| line.split(move |letter| !is_part(letter)))
        .map(|word| word.trim_matches('-'))
        .filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
