//! The registry: its order of checks, and that a refusal changes nothing.

use accord_contract::Code;
use accord_knowledge_core::Registry;
use serde_json::{Value, json};

use crate::samples::{practice, text};

fn refused(registry: &mut Registry, envelope: &Value) -> (Code, String) {
    let before = registry.len();
    let error = registry.register(&text(envelope)).expect_err("refused");
    assert_eq!(registry.len(), before);
    (error.code(), error.pointer().to_owned())
}

#[test]
fn the_same_content_is_registered_once() {
    let mut registry = Registry::default();
    let first = registry.register(&text(&practice("a"))).expect("registered");
    let again = registry.register(&text(&practice("a"))).expect("registered");
    assert!(first.is_new && !again.is_new);
    assert_eq!(first.kb_hash, again.kb_hash);
    assert_eq!(registry.len(), 1);
}

#[test]
fn a_block_comes_after_its_sources() {
    let mut registry = Registry::default();
    let parent = practice("parent");
    let id = Registry::default().register(&text(&parent)).expect("registered").kb_hash.prefixed();
    let mut child = practice("child");
    child["sources"] = json!([id]);
    assert_eq!(refused(&mut registry, &child), (Code::UnregisteredSource, "/sources/0".to_owned()));
    registry.register(&text(&parent)).expect("registered");
    assert!(registry.register(&text(&child)).expect("registered").is_new);
    // Two children of one parent are two blocks.
    child["domain"] = "software.other".into();
    assert!(registry.register(&text(&child)).expect("registered").is_new);
}

/// Each envelope breaks one rule more than the one before, earlier in the
/// order; the earliest decides.
#[test]
fn the_first_broken_rule_decides() {
    let mut registry = Registry::default();
    let mut envelope = practice("why");
    envelope["sources"] = json!(["0xa", "0xb"]);
    assert_eq!(refused(&mut registry, &envelope).0, Code::UnregisteredSource);
    envelope["derivation"] = json!({"inputs": [{"kbId": "0xc"}]});
    assert_eq!(
        refused(&mut registry, &envelope),
        (Code::InvalidEnvelope, "/derivation/inputs/0/kbId".to_owned())
    );
    envelope["payload"] = json!({});
    assert_eq!(
        refused(&mut registry, &envelope),
        (Code::SchemaInvalid, "/payload/rationale".to_owned())
    );
    envelope["sources"] = json!(["0xb", "0xa"]);
    assert_eq!(refused(&mut registry, &envelope).0, Code::SourcesNotSorted);
    envelope["sources"] = json!(["0xb", "0xa", "b"]);
    assert_eq!(refused(&mut registry, &envelope), (Code::InvalidEnvelope, "/sources/2".to_owned()));
    envelope["payload"] = Value::Null;
    assert_eq!(refused(&mut registry, &envelope), (Code::InvalidEnvelope, "/payload".to_owned()));
    envelope["sources"] = Value::Null;
    assert_eq!(refused(&mut registry, &envelope), (Code::InvalidEnvelope, "/sources".to_owned()));
    assert_eq!(refused(&mut registry, &json!([envelope])), (Code::InvalidEnvelope, String::new()));
}

#[test]
fn sources_are_ordered_by_utf16_code_unit() {
    let mut registry = Registry::default();
    let mut envelope = practice("why");
    envelope["sources"] = json!(["0x\u{1f600}", "0x\u{fb33}"]);
    assert_eq!(refused(&mut registry, &envelope).0, Code::UnregisteredSource);
    envelope["sources"] = json!(["0x\u{fb33}", "0x\u{1f600}"]);
    assert_eq!(
        refused(&mut registry, &envelope),
        (Code::SourcesNotSorted, "/sources/1".to_owned())
    );
}

#[test]
fn an_input_names_its_source_with_or_without_the_prefix() {
    let mut registry = Registry::default();
    let mut envelope = practice("why");
    for (source, input) in [("a1", "0xa1"), ("0xa1", "a1")] {
        envelope["sources"] = json!([source]);
        envelope["derivation"] = json!({"inputs": [{"kbId": input}]});
        assert_eq!(refused(&mut registry, &envelope).0, Code::UnregisteredSource);
    }
}

/// Hashing does not look at them, so no other check may.
#[test]
fn members_outside_the_scope_are_only_checked_to_be_json() {
    let block = practice("why").to_string();
    let odd = format!(
        "{},\"curator\":\"\\ud800\",\"note\":[1e400,{{\"a\":1,\"a\":2}}]}}",
        &block[..block.len() - 1]
    );
    let registered = Registry::default().register(odd.as_bytes()).expect("registered");
    let validated = accord_knowledge_core::validate(odd.as_bytes()).expect("valid");
    assert_eq!(registered.kb_hash, validated.kb_hash);
    let verified = accord_knowledge_core::verify(odd.as_bytes(), None, Default::default());
    assert_eq!(verified.expect("it has an identity").kb_hash, registered.kb_hash);
}

/// Ten thousand sources are checked in about the time that hashing them takes.
#[test]
fn many_sources_are_no_trouble() {
    let mut envelope = practice("why");
    let sources: Vec<String> = (0..20_000).map(|index| format!("0x{index:064x}")).collect();
    let inputs: Vec<_> = sources.iter().map(|id| json!({ "kbId": id })).collect();
    envelope["sources"] = json!(sources);
    envelope["derivation"] = json!({ "inputs": inputs });
    let mut registry = Registry::default();
    assert_eq!(refused(&mut registry, &envelope).0, Code::UnregisteredSource);
}

/// The reference registry looks at neither, so a block that it took must not
/// be lost here.
#[test]
fn tier_and_artifact_hash_are_left_to_the_strict_check() {
    let mut envelope = practice("why");
    envelope["tier"] = "gold".into();
    envelope["artifactHash"] = "0xdead".into();
    assert!(Registry::default().register(&text(&envelope)).is_ok());
}
