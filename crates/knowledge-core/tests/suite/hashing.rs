//! What counts towards an identity, and what is refused one.

use accord_canon::{Numbers, Refusal};
use accord_contract::Code;
use accord_contract::alx::HASH_SCOPE;
use accord_knowledge_core::{HashOptions, KB_V1, KbError, KbHasher, SourceMode};
use serde_json::{Value, json};

use crate::samples::{practice, text};

fn hash(envelope: &Value) -> String {
    hash_with(envelope, HashOptions::default()).expect("it has an identity")
}

fn hash_with(envelope: &Value, options: HashOptions) -> Result<String, KbError> {
    let mut hasher = KbHasher::new(options);
    Ok(hasher.identify(&text(envelope))?.kb_hash.prefixed())
}

fn with(envelope: &Value, member: &str, value: Value) -> Value {
    let mut changed = envelope.clone();
    changed[member] = value;
    changed
}

#[test]
fn every_member_of_the_scope_counts_and_no_other() {
    let base = practice("why");
    for (member, value) in [
        ("type", json!("feature")),
        ("domain", json!("software.other")),
        ("sources", json!(["0xaa"])),
        ("artifactHash", json!("0x01")),
        ("tier", json!("verified")),
        ("payload", json!({"type": "practice"})),
        ("derivation", json!({})),
    ] {
        assert_ne!(hash(&with(&base, member, value)), hash(&base), "{member}");
    }
    for member in ["kbHash", "metadata", "curator", "createdAt", "signature", "x-team"] {
        for value in [Value::Null, json!({"deep": [null, 1]})] {
            assert_eq!(hash(&with(&base, member, value)), hash(&base), "{member}");
        }
    }
}

#[test]
fn absent_members_are_not_filled_in() {
    let mut bare = practice("why");
    let members = bare.as_object_mut().expect("an object");
    members.remove("tier");
    members.remove("artifactHash");
    assert_ne!(hash(&bare), hash(&practice("why")));
    assert_ne!(hash(&bare), hash(&with(&bare, "tier", json!("open"))));
}

#[test]
fn sources_are_a_set_in_any_order() {
    let base = practice("why");
    let sorted = hash(&with(&base, "sources", json!(["0xa", "0xb", "0xc"])));
    for order in [json!(["0xc", "0xb", "0xa"]), json!(["0xb", "0xa", "0xc"])] {
        assert_eq!(hash(&with(&base, "sources", order)), sorted);
    }
    // By UTF-16, the astral character comes first, whichever way it is given.
    assert_eq!(
        hash(&with(&base, "sources", json!(["\u{fb33}", "\u{1f600}"]))),
        hash(&with(&base, "sources", json!(["\u{1f600}", "\u{fb33}"])))
    );
}

#[test]
fn the_older_name_of_sources_counts_only_where_the_newer_says_nothing() {
    let base = practice("why");
    let parents = json!(["0xa"]);
    let from_sources = hash(&with(&base, "sources", parents.clone()));
    let null_sources = with(&with(&base, "sources", Value::Null), "parents", parents.clone());
    assert_eq!(hash(&null_sources), from_sources);
    let both = with(&with(&base, "sources", json!([])), "parents", parents);
    assert_eq!(hash(&both), hash(&base));
}

#[test]
fn a_source_named_twice_needs_a_word_from_the_caller() {
    let twice = with(&practice("why"), "sources", json!(["0xb", "0xa", "0xb"]));
    let mode = |sources| HashOptions { sources, ..HashOptions::default() };
    let refused = hash_with(&twice, mode(SourceMode::Reject)).expect_err("refused");
    assert_eq!(refused.code(), Code::KbDuplicateSource);
    assert_eq!(refused.pointer(), "/sources/2");
    let thrice = with(&twice, "sources", json!(["0xb", "0xa", "0xb", "0xb"]));
    let refused = hash_with(&thrice, mode(SourceMode::Reject)).expect_err("refused");
    assert_eq!(refused.pointer(), "/sources/2", "the first that repeats");
    let once = hash(&with(&twice, "sources", json!(["0xa", "0xb"])));
    assert_eq!(hash_with(&twice, mode(SourceMode::Dedup)), Ok(once.clone()));
    let as_is = hash_with(&twice, mode(SourceMode::AsIs)).expect("hashed");
    assert_ne!(as_is, once);
}

#[test]
fn a_list_of_anything_but_strings_is_no_list_of_sources() {
    let base = practice("why");
    for (sources, pointer) in [
        (json!("0xa"), "/sources"),
        (json!({}), "/sources"),
        (json!(["0xa", 1]), "/sources/1"),
        (json!([["0xa"]]), "/sources/0"),
    ] {
        let error = hash_with(&with(&base, "sources", sources), HashOptions::default())
            .expect_err("refused");
        assert_eq!((error.code(), error.pointer()), (Code::InvalidEnvelope, pointer));
    }
}

#[test]
fn refusals_of_the_canonical_form_name_the_place_in_the_envelope() {
    let mut hasher = KbHasher::new(HashOptions::default());
    for (envelope, refusal, pointer) in [
        (r#"{"payload":{"a":[null]}}"#, Refusal::NullForbidden, "/payload/a/0"),
        (r#"{"tier":null}"#, Refusal::NullForbidden, "/tier"),
        (r#"{"sources":["a",null]}"#, Refusal::NullForbidden, "/sources/1"),
        (r#"{"type":1,"type":2}"#, Refusal::DuplicateKey, "/type"),
        (r#"{"x":1,"x":2}"#, Refusal::DuplicateKey, "/x"),
        (r#"{"payload":9007199254740993}"#, Refusal::InexactInteger, "/payload"),
    ] {
        match hasher.identify(envelope.as_bytes()) {
            Err(KbError::Canon(error)) => {
                assert_eq!((error.refusal(), error.pointer()), (refusal, pointer));
            }
            other => panic!("{envelope}: {other:?}"),
        }
    }
}

#[test]
fn integers_are_rounded_only_on_request() {
    let envelope = br#"{"payload":{"n":9007199254740993}}"#;
    let mut rounding =
        KbHasher::new(HashOptions { numbers: Numbers::Round, ..HashOptions::default() });
    let identified = rounding.identify(envelope).expect("rounded");
    assert_eq!(identified.canonical, br#"{"payload":{"n":9007199254740992},"sources":[]}"#);
    let error = rounding.identify(br#"{"sources":[9007199254740993]}"#);
    assert_eq!(error.expect_err("refused").code(), Code::InvalidEnvelope);
}

#[test]
fn the_scope_is_that_of_the_published_contract() {
    let mut published = HASH_SCOPE.to_vec();
    published.sort_unstable();
    assert_eq!(published, KB_V1.scope);
}

#[test]
fn only_an_object_is_an_envelope() {
    let mut hasher = KbHasher::new(HashOptions::default());
    for document in ["[]", "1", "\"x\"", "null"] {
        let error = hasher.identify(document.as_bytes()).expect_err(document);
        assert_eq!((error.code(), error.pointer()), (Code::InvalidEnvelope, ""));
    }
}
