//! Canonical form and the hashes over it.

use accord_canon::{
    CanonError, Canonicalizer, Hash, Numbers, Profile, hash_tagged, keccak256, sha256,
};
use data_encoding::HEXLOWER_PERMISSIVE;
use serde_json::{Value, json};

use super::answer::Answer;
use crate::{BadCall, Call};

pub(super) fn canonicalize(call: &Call) -> Result<Answer, BadCall> {
    let document = call.text("json")?.as_bytes();
    let numbers = numbers(call)?;
    let canonical = || -> Result<Value, CanonError> {
        let mut canonicalizer = Canonicalizer::with_numbers(Profile::Alx, numbers);
        let canonical = canonicalizer.canonicalize(document)?;
        Ok(json!({
            "canonical": String::from_utf8_lossy(canonical),
            "keccak256": keccak256(canonical).prefixed(),
            "sha256": sha256(canonical).hex(),
        }))
    };
    Ok(canonical().into())
}

pub(super) fn domain_hash(call: &Call) -> Result<Answer, BadCall> {
    let (tag, document) = (call.text("tag")?, call.text("json")?.as_bytes());
    let hash = accord_canon::canonicalize(Profile::Alx, document).map(
        |canonical| json!({ "hash": hash_tagged(Hash::Keccak256, tag, &canonical).prefixed() }),
    );
    Ok(hash.into())
}

pub(super) fn artifact_hash(call: &Call) -> Result<Answer, BadCall> {
    let digest = match (call.optional_text("payload")?, call.optional_text("bytesHex")?) {
        (Some(payload), None) => {
            accord_knowledge_core::artifact_hash(payload.as_bytes(), Numbers::Exact)
        }
        (None, Some(digits)) => {
            let bytes = HEXLOWER_PERMISSIVE
                .decode(digits.as_bytes())
                .map_err(|_| BadCall::kind("bytesHex", "hexadecimal digits"))?;
            Ok(keccak256(&bytes))
        }
        _ => return Err(BadCall::new("either payload or bytesHex must be given")),
    };
    Ok(digest.map(|digest| json!({ "artifactHash": digest.prefixed() })).into())
}

/// How the case treats integers that a double cannot represent.
pub(super) fn numbers(call: &Call) -> Result<Numbers, BadCall> {
    match call.optional_text("numbers")? {
        None | Some("exact") => Ok(Numbers::Exact),
        Some("round") => Ok(Numbers::Round),
        Some(_) => Err(BadCall::kind("numbers", "exact or round")),
    }
}
