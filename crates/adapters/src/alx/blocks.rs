//! Knowledge Blocks: identity, checks, lineage.

use accord_knowledge_core::{Draft, HashOptions, KbHasher, Registry, SourceMode, build_derived};
use serde_json::json;

use super::canonical::numbers;
use crate::call::optional_texts;
use crate::{BadCall, Call, Outcome};

pub(super) fn hash(call: &Call) -> Outcome {
    let mut hasher = KbHasher::new(options(call)?);
    let identified = hasher.identify(call.text("envelope")?.as_bytes())?;
    Ok(json!({
        "kbHash": identified.kb_hash.prefixed(),
        "canonical": String::from_utf8_lossy(identified.canonical),
        "cid": identified.cid(),
    }))
}

pub(super) fn verify(call: &Call) -> Outcome {
    let envelope = call.text("envelope")?.as_bytes();
    let verification = accord_knowledge_core::verify(envelope, None, options(call)?)?;
    Ok(json!({
        "checks": {
            "kbHash": verification.kb_hash_check.as_str(),
            "artifactHash": verification.artifact_check.as_str(),
        },
        "valid": verification.is_valid(),
        "kbHash": verification.kb_hash.prefixed(),
    }))
}

pub(super) fn validate(call: &Call) -> Outcome {
    let validated = accord_knowledge_core::validate(call.text("envelope")?.as_bytes())?;
    Ok(json!({ "type": validated.kind, "tier": validated.tier }))
}

pub(super) fn register(call: &Call) -> Outcome {
    call.allow_setup(&["registered"])?;
    let mut registry = Registry::default();
    for envelope in optional_texts(call.setup.get("registered"), "setup.registered")? {
        // An error of the case, not an answer: the situation that it describes cannot exist.
        registry.register(envelope.as_bytes()).map_err(|error| {
            BadCall::new(format!("setup.registered contains a block that is refused: {error}"))
        })?;
    }
    let registered = registry.register(call.text("envelope")?.as_bytes())?;
    Ok(json!({ "kbHash": registered.kb_hash.prefixed(), "isNew": registered.is_new }))
}

pub(super) fn derive(call: &Call) -> Outcome {
    let derived = build_derived(Draft {
        kind: call.text("type")?.to_owned(),
        domain: call.text("domain")?.to_owned(),
        payload: call.value("payload")?.clone(),
        sources: call.texts("sources")?,
        derivation: call.args.get("derivation").cloned(),
        tier: call.optional_text("tier")?.map(str::to_owned),
    })?;
    Ok(json!({ "envelope": derived.envelope, "kbHash": derived.kb_hash.prefixed() }))
}

fn options(call: &Call) -> Result<HashOptions, BadCall> {
    let sources = match call.optional_text("sources")? {
        None | Some("reject") => SourceMode::Reject,
        Some("dedup") => SourceMode::Dedup,
        Some("as-is") => SourceMode::AsIs,
        Some(_) => return Err(BadCall::kind("sources", "reject, dedup or as-is")),
    };
    Ok(HashOptions { sources, numbers: numbers(call)? })
}
