//! Comparing what an envelope states with what it holds.

use accord_contract::Code;
use accord_knowledge_core::{Check, Verification, verify};
use serde_json::Value;

use crate::samples::{practice, text};

fn check(envelope: &Value, expected: Option<&str>) -> Verification {
    verify(&text(envelope), expected, Default::default()).expect("it has an identity")
}

#[test]
fn stated_hashes_are_compared_with_computed_ones() {
    let mut envelope = practice("why");
    let bare = check(&envelope, None);
    assert_eq!(bare.kb_hash_check, Check::Absent);
    assert_eq!(bare.artifact_check, Check::Match);

    envelope["kbHash"] = bare.kb_hash.prefixed().into();
    let stated = check(&envelope, None);
    assert_eq!(stated.kb_hash_check, Check::Match);
    assert!(stated.is_valid());

    envelope["payload"]["rationale"] = "because".into();
    let tampered = check(&envelope, None);
    assert_eq!(tampered.kb_hash_check, Check::Mismatch);
    assert_eq!(tampered.artifact_check, Check::Mismatch);
    assert!(!tampered.is_valid());
    assert_eq!(tampered.failures(), [Code::KbHashMismatch, Code::KbArtifactMismatch]);
}

#[test]
fn what_the_caller_expects_outranks_what_the_envelope_states() {
    let mut envelope = practice("why");
    let hash = check(&envelope, None).kb_hash.prefixed();
    envelope["kbHash"] = "0x00".into();
    assert!(check(&envelope, Some(&hash)).is_valid());
    assert!(!check(&envelope, None).is_valid());
}

#[test]
fn a_hash_of_the_wrong_type_states_nothing_right() {
    let mut envelope = practice("why");
    envelope["kbHash"] = Value::from(7);
    assert_eq!(check(&envelope, None).kb_hash_check, Check::Mismatch);
}

#[test]
fn an_envelope_that_states_nothing_has_nothing_to_verify() {
    let mut envelope = practice("why");
    envelope.as_object_mut().expect("an object").remove("artifactHash");
    assert!(check(&envelope, None).is_empty());
}
