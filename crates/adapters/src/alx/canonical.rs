//! Canonical form and the hashes over it.

use accord_canon::{Canonicalizer, Hash, Numbers, Profile, hash_tagged, keccak256, sha256};
use accord_knowledge_core::artifact_hash as hash_of_artifact;
use data_encoding::HEXLOWER_PERMISSIVE;
use serde_json::{Value, json};

use crate::{BadCall, Call, Outcome};

pub(super) fn canonicalize(call: &Call) -> Outcome {
    let document = call.text("json")?.as_bytes();
    let mut canonicalizer = Canonicalizer::with_numbers(Profile::Alx, numbers(call)?);
    Ok(answer(canonicalizer.canonicalize(document)?))
}

/// The members of the answer to `canonicalize` for these canonical bytes.
pub(super) fn answer(bytes: &[u8]) -> Value {
    json!({
        "canonical": String::from_utf8_lossy(bytes),
        "keccak256": keccak256(bytes).prefixed(),
        "sha256": sha256(bytes).hex(),
    })
}

pub(super) fn domain_hash(call: &Call) -> Outcome {
    let (tag, document) = (call.text("tag")?, call.text("json")?.as_bytes());
    let canonical = accord_canon::canonicalize(Profile::Alx, document)?;
    Ok(json!({ "hash": hash_tagged(Hash::Keccak256, tag, &canonical).prefixed() }))
}

pub(super) fn artifact_hash(call: &Call) -> Outcome {
    let digest = match (call.optional_text("payload")?, call.optional_text("bytesHex")?) {
        (Some(payload), None) => hash_of_artifact(payload.as_bytes(), Numbers::Exact)?,
        (None, Some(digits)) => {
            let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
            keccak256(&bytes.map_err(|_| BadCall::kind("bytesHex", "hexadecimal digits"))?)
        }
        _ => return Err(BadCall::new("either payload or bytesHex must be given").into()),
    };
    Ok(json!({ "artifactHash": digest.prefixed() }))
}

/// How the case treats integers that a double cannot represent.
pub(super) fn numbers(call: &Call) -> Result<Numbers, BadCall> {
    match call.optional_text("numbers")? {
        None | Some("exact") => Ok(Numbers::Exact),
        Some("round") => Ok(Numbers::Round),
        Some(_) => Err(BadCall::kind("numbers", "exact or round")),
    }
}
