//! Public samples of other implementations' output, where
//! `ACCORD_EXTERNAL_CORPUS` names the folder that holds them.
#![expect(clippy::disallowed_methods, reason = "the samples lie outside the project")]

use std::path::PathBuf;

use accord_canon::{Canonicalizer, Hash, Numbers, Profile, Refusal, hash_tagged, keccak256};
use serde_json::Value;

/// Samples that the reference accepts and Accord refuses, by design: they mean
/// different things to different readers.
const REFUSED_BY_DESIGN: [(&str, Refusal); 4] = [
    ("max-safe+1", Refusal::InexactInteger),
    ("lone-high-surrogate", Refusal::LoneSurrogate),
    ("lone-surrogate-key", Refusal::LoneSurrogate),
    ("dup-keys-last-wins", Refusal::DuplicateKey),
];

#[test]
fn canonical_forms_match_the_public_samples() {
    let Some(samples) = samples() else { return };
    let mut checked = 0;
    for sample in samples["canonicalize"].as_array().expect("a list") {
        let id = text(sample, "id");
        let input = text(sample, "inputJson").as_bytes();
        let ours = Canonicalizer::new(Profile::Alx).canonicalize(input).map(<[u8]>::to_vec);
        checked += 1;
        if let Some((_, refusal)) = REFUSED_BY_DESIGN.iter().find(|(name, _)| *name == id) {
            let error = ours.expect_err(id);
            assert_eq!(error.refusal(), *refusal, "{id}");
            if *refusal != Refusal::InexactInteger {
                continue;
            }
        } else if sample.get("error").is_some() {
            ours.expect_err(id);
            continue;
        }
        let mut rounding = Canonicalizer::with_numbers(Profile::Alx, Numbers::Round);
        let canonical = rounding.canonicalize(input).expect(id);
        assert_eq!(canonical, text(sample, "canonical").as_bytes(), "{id}");
        assert_eq!(keccak256(canonical).prefixed(), text(sample, "keccak256"), "{id}");
        assert_eq!(
            hash_tagged(Hash::Keccak256, "KB_V1", canonical).prefixed(),
            text(sample, "keccak256_KB_V1"),
            "{id}"
        );
    }
    assert!(checked > 0, "the samples hold no canonical forms");
}

#[test]
fn domain_tags_match_the_public_samples() {
    let Some(samples) = samples() else { return };
    for (name, sample) in samples["domainTags"].as_object().expect("an object") {
        assert_eq!(
            hash_tagged(Hash::Keccak256, text(sample, "tag"), b"{}").prefixed(),
            text(sample, "hashOfEmptyObject"),
            "{name}"
        );
    }
}

fn samples() -> Option<Value> {
    let Some(folder) = std::env::var_os("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("skipped: ACCORD_EXTERNAL_CORPUS names no folder of public samples");
        return None;
    };
    let path = PathBuf::from(folder).join("alx/probes.json");
    let bytes = std::fs::read(&path).expect("the samples can be read");
    Some(serde_json::from_slice(&bytes).expect("the samples are JSON"))
}

fn text<'a>(sample: &'a Value, member: &str) -> &'a str {
    sample[member].as_str().expect("the sample has this text")
}
