//! Tags and vectors over more than one change.

use accord_contract::Value;
use accord_contract::compat::{Class, Rule};
use serde_json::json;

use super::{expected, named, report, rule_of};

fn contract(version: &str, tag: &str, hash: &str, vectors: Value) -> Value {
    json!({"protocolVersion": version, "messages": {}, "identity": {
        "domainTag": tag, "hash": hash, "scope": ["item"], "vectors": vectors}})
}

#[test]
fn vectors_of_earlier_tags_stay_what_they_are() {
    let old = contract("2.0", "KB_V2", "sha256", json!({"KB_V1/x": "0x1", "KB_V2/x": "0x2"}));
    let new = contract(
        "3.0",
        "KB_V3",
        "blake3",
        json!({"KB_V1/x": "0x1", "KB_V2/x": "0x2", "KB_V3/x": "0x3"}),
    );
    let found = report(&old, &new);
    assert_eq!((found.overall, found.honest), (Class::Major, Some(true)));
    assert_eq!(
        named(&old, &new),
        expected(&[
            ("/identity/domainTag", Rule::DomainTagChanged),
            ("/identity/hash", Rule::IdentityRuleChanged),
        ])
    );

    let mut without_first = new.clone();
    without_first["identity"]["vectors"] = json!({"KB_V2/x": "0x2", "KB_V3/x": "0x3"});
    assert!(
        named(&old, &without_first)
            .contains(&("/identity/vectors/KB_V1/x".into(), Rule::VectorRemoved))
    );
    // A tag that begins like another one is another one.
    let mut alike = new;
    alike["identity"]["vectors"] = json!({"KB_V1/x": "0x1", "KB_V2/x": "0x2", "KB_V3.1/x": "0x3"});
    assert_eq!(report(&old, &alike).overall, Class::Violation);
}

#[test]
fn a_vector_without_a_tag_is_the_one_with_its_snapshots_tag() {
    let bare = contract("1.0", "KB_V1", "keccak256", json!({"x": "0x1"}));
    let tagged = contract("1.0", "KB_V1", "keccak256", json!({"KB_V1/x": "0x1"}));
    assert_eq!(named(&bare, &tagged), []);
    assert_eq!(named(&tagged, &bare), []);
    let other = contract("1.0", "KB_V1", "keccak256", json!({"KB_V2/x": "0x1"}));
    assert_eq!(named(&bare, &other), expected(&[("/identity/vectors/x", Rule::VectorRemoved)]));
}

#[test]
fn a_tag_that_was_used_before_keeps_its_hashes() {
    let second = json!({"KB_V1/x": "0x1", "KB_V2/x": "0x2"});
    let old = contract("2.0", "KB_V2", "sha256", second.clone());
    // Back to what it was: a major version may do that.
    let back = contract("3.0", "KB_V1", "keccak256", second);
    assert_eq!(report(&old, &back).honest, Some(true));

    for hash in ["sha256", "blake3"] {
        let reused = json!({"KB_V1/x": "0x9", "KB_V2/x": "0x2"});
        let found = report(&old, &contract("3.0", "KB_V1", hash, reused));
        assert_eq!((found.overall, found.honest), (Class::Violation, Some(false)));
        let kept = (found.changes.iter()).find(|change| change.class == Class::Violation);
        let kept = kept.unwrap();
        assert_eq!(kept.path, "/identity/domainTag");
        assert_eq!(rule_of(kept), Rule::IdentityTagKept);
    }

    // Nor does leaving out the vectors that would show it make it another tag.
    let gone = json!({"KB_V1/y": "0x7", "KB_V2/x": "0x2"});
    let new = contract("3.0", "KB_V1", "keccak256", gone);
    assert_eq!(
        named(&old, &new),
        expected(&[
            ("/identity/domainTag", Rule::DomainTagChanged),
            ("/identity/hash", Rule::IdentityRuleChanged),
            ("/identity/hash", Rule::IdentityVectorsMissing),
            ("/identity/vectors/KB_V1/x", Rule::VectorRemoved),
        ])
    );
}

#[test]
fn another_tag_alone_needs_vectors_too() {
    let vectors = json!({"KB_V1/x": "0x1"});
    let old = contract("1.0", "KB_V1", "keccak256", vectors.clone());
    let new = contract("2.0", "KB_V2", "keccak256", vectors);
    let found = report(&old, &new);
    assert_eq!((found.overall, found.honest), (Class::Violation, Some(false)));
    assert!(
        named(&old, &new).contains(&("/identity/domainTag".into(), Rule::IdentityVectorsMissing))
    );
}
