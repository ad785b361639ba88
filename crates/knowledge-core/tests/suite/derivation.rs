//! Making envelopes of derived blocks.

use accord_contract::Code;
use accord_knowledge_core::{Draft, Registry, build_derived, validate, verify};
use serde_json::{Value, json};

fn draft(sources: &[String]) -> Draft {
    Draft {
        kind: "practice".to_owned(),
        domain: "software.testing".to_owned(),
        payload: json!({"type": "practice", "rationale": "r", "contexts": [], "failureModes": []}),
        sources: sources.to_vec(),
        derivation: None,
        tier: None,
    }
}

#[test]
fn a_draft_becomes_an_envelope_that_passes_every_check() {
    let (a, b) = ("0a".repeat(32), format!("0x{}", "0b".repeat(32)));
    let mut with_derivation = draft(&[b.clone(), a.clone()]);
    with_derivation.derivation = Some(json!({
        "type": "compose",
        "inputs": [{"kbId": a, "selectors": []}],
        "recipe": {},
    }));
    let derived = build_derived(with_derivation).expect("an envelope");
    assert_eq!(derived.envelope["sources"], json!([format!("0x{a}"), b]));
    assert_eq!(derived.envelope["tier"], "open");
    assert_eq!(derived.envelope["derivation"]["inputs"][0]["kbId"], Value::from(format!("0x{a}")));
    let text = derived.envelope.to_string();
    assert_eq!(validate(text.as_bytes()).expect("valid").kb_hash, derived.kb_hash);
    let expected = derived.kb_hash.prefixed();
    let verification = verify(text.as_bytes(), Some(&expected), Default::default());
    assert!(verification.expect("it has an identity").is_valid());
}

#[test]
fn sources_are_sorted_by_utf16_code_unit() {
    let names = ["\u{fb33}", "\u{1f600}"].map(str::to_owned);
    let derived = build_derived(draft(&names)).expect("an envelope");
    assert_eq!(derived.envelope["sources"], json!(["0x\u{1f600}", "0x\u{fb33}"]));
}

#[test]
fn a_draft_without_sources_can_be_registered() {
    let derived = build_derived(draft(&[])).expect("an envelope");
    let registered = Registry::default().register(derived.envelope.to_string().as_bytes());
    assert_eq!(registered.expect("registered").kb_hash, derived.kb_hash);
}

#[test]
fn drafts_that_give_no_envelope_are_refused() {
    let twice = draft(&["0a".to_owned(), "0x0a".to_owned()]);
    assert_eq!(build_derived(twice).expect_err("refused").code(), Code::KbDuplicateSource);
    let names = ["c", "b", "c", "a"].map(str::to_owned);
    let error = build_derived(draft(&names)).expect_err("refused");
    assert_eq!(error.pointer(), "/sources/2", "in the order given");
    let mut stranger = draft(&["0a".to_owned()]);
    stranger.derivation = Some(json!({"inputs": [{"kbId": "0b"}]}));
    let error = build_derived(stranger).expect_err("refused");
    assert_eq!(
        (error.code(), error.pointer()),
        (Code::InvalidEnvelope, "/derivation/inputs/0/kbId")
    );
    let mut null = draft(&[]);
    null.payload["rationale"] = Value::Null;
    let error = build_derived(null).expect_err("refused");
    assert_eq!(error.pointer(), "/payload/rationale");
}
