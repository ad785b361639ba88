//! The rule behind a domain tag never changes.
//!
//! Each tag has a file under `identity/` with its rule and vectors that another
//! implementation computed. A changed rule disagrees with its file; a changed
//! file disagrees with the digest below; a new rule needs a new tag, a file with
//! vectors of its own, and leaves the old tag's file and vectors in force.
#![expect(clippy::disallowed_methods, reason = "the rules lie in files beside the crate")]

use std::path::PathBuf;

use accord_canon::{Hash, sha256};
use accord_contract::alx::KB_DOMAIN_PREFIX;
use accord_knowledge_core::{HashOptions, IDENTITY_RULES, IdentityRule, KbHasher};
use serde_json::Value;

/// The files as they were when their tag was published.
const PUBLISHED: [(&str, &str); 1] =
    [("KB_V1", "e6c232d5c3ec845739350ccaa8b9ab859845a21250909ee8c2bd47a04d56f77b")];

#[test]
fn published_rules_are_as_they_were() {
    for (tag, digest) in PUBLISHED {
        let bytes = std::fs::read(file(tag)).expect("a published rule keeps its file");
        assert_eq!(
            sha256(&bytes).hex(),
            digest,
            "identity/{tag}.json was edited: publish a new tag instead"
        );
    }
}

#[test]
fn every_rule_has_a_published_file_and_every_file_its_rule() {
    let tags: Vec<&str> = IDENTITY_RULES.iter().map(|rule| rule.tag).collect();
    let published: Vec<&str> = PUBLISHED.iter().map(|(tag, _)| *tag).collect();
    assert_eq!(tags, published);
    assert!(tags.contains(&KB_DOMAIN_PREFIX));
    let files = std::fs::read_dir(file("").parent().expect("a folder")).expect("it is there");
    assert_eq!(files.count(), published.len());
}

#[test]
fn every_rule_is_what_its_file_says_and_gives_its_vectors() {
    for rule in IDENTITY_RULES {
        assert_eq!(disagreement(rule, &published(rule.tag)), None);
    }
}

/// The guard itself must notice each kind of change.
#[test]
fn a_changed_rule_disagrees_with_its_file() {
    let rule = IDENTITY_RULES[0];
    let file = published(rule.tag);
    const SCOPE: &[&str] = &["domain", "payload", "sources", "type"];
    for changed in [
        IdentityRule { hash: Hash::Sha256, ..rule },
        IdentityRule { profile: accord_canon::Profile::Jcs, ..rule },
        IdentityRule { scope: SCOPE, ..rule },
        IdentityRule { tag: "KB_V2", ..rule },
    ] {
        assert!(disagreement(changed, &file).is_some(), "{changed:?}");
    }
}

/// The first thing in which a rule differs from its published file.
fn disagreement(rule: IdentityRule, file: &Value) -> Option<String> {
    let hash = match rule.hash {
        Hash::Sha256 => "sha256",
        Hash::Keccak256 => "keccak256",
    };
    for (name, ours) in [
        ("tag", Value::from(rule.tag)),
        ("hash", Value::from(hash)),
        ("profile", Value::from(rule.profile.name())),
        ("scope", Value::from(rule.scope.to_vec())),
    ] {
        if file[name] != ours {
            return Some(format!("{name} is {}, not {ours}", file[name]));
        }
    }
    let vectors = file["vectors"].as_array().expect("a published rule has vectors");
    assert!(vectors.len() >= 9, "a rule is pinned by its vectors");
    let mut hasher = KbHasher::with_rule(rule, HashOptions::default());
    vectors.iter().find_map(|vector| {
        let envelope = vector["envelope"].as_str().expect("text");
        let identified = hasher.identify(envelope.as_bytes()).expect("a vector is valid");
        let same = vector["canonical"].as_str().map(str::as_bytes) == Some(identified.canonical)
            && vector["kbHash"] == identified.kb_hash.prefixed()
            && vector["cid"] == identified.cid();
        (!same).then(|| format!("the vector {} differs", vector["name"]))
    })
}

fn published(tag: &str) -> Value {
    let bytes = std::fs::read(file(tag)).expect("a rule has its file");
    serde_json::from_slice(&bytes).expect("the file is JSON")
}

fn file(tag: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("identity/{tag}.json"))
}
