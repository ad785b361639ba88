//! Knowledge Blocks: identity, checks, lineage.

use accord_knowledge_core::{Draft, HashOptions, KbHasher, Registry, SourceMode, build_derived};
use serde_json::{Value, json};

use super::answer::Answer;
use super::canonical::numbers;
use crate::call::texts;
use crate::{BadCall, Call};

pub(super) fn hash(call: &Call) -> Result<Answer, BadCall> {
    let envelope = call.text("envelope")?.as_bytes();
    let mut hasher = KbHasher::new(options(call)?);
    let identity = hasher.identify(envelope).map(|identified| {
        json!({
            "kbHash": identified.kb_hash.prefixed(),
            "canonical": String::from_utf8_lossy(identified.canonical),
            "cid": identified.cid(),
        })
    });
    Ok(identity.into())
}

pub(super) fn verify(call: &Call) -> Result<Answer, BadCall> {
    let envelope = call.text("envelope")?.as_bytes();
    let verification =
        accord_knowledge_core::verify(envelope, None, options(call)?).map(|verification| {
            json!({
                "checks": {
                    "kbHash": verification.kb_hash_check.as_str(),
                    "artifactHash": verification.artifact_check.as_str(),
                },
                "valid": verification.is_valid(),
                "kbHash": verification.kb_hash.prefixed(),
            })
        });
    Ok(verification.into())
}

pub(super) fn validate(call: &Call) -> Result<Answer, BadCall> {
    let envelope = call.text("envelope")?.as_bytes();
    let validated = accord_knowledge_core::validate(envelope)
        .map(|validated| json!({ "type": validated.kind, "tier": validated.tier }));
    Ok(validated.into())
}

pub(super) fn register(call: &Call) -> Result<Answer, BadCall> {
    call.allow_setup(&["registered"])?;
    let mut registry = Registry::default();
    let before = match call.setup.get("registered") {
        None => Vec::new(),
        Some(Value::Array(list)) => texts(list, "setup.registered")?,
        Some(_) => return Err(BadCall::kind("setup.registered", "a list")),
    };
    for envelope in before {
        // An error of the case, not an answer: the situation that it describes cannot exist.
        registry.register(envelope.as_bytes()).map_err(|error| {
            BadCall::new(format!("setup.registered contains a block that is refused: {error}"))
        })?;
    }
    let registered = registry.register(call.text("envelope")?.as_bytes()).map(|registered| {
        json!({
            "kbHash": registered.kb_hash.prefixed(),
            "isNew": registered.is_new,
        })
    });
    Ok(registered.into())
}

pub(super) fn derive(call: &Call) -> Result<Answer, BadCall> {
    let draft = Draft {
        kind: call.text("type")?.to_owned(),
        domain: call.text("domain")?.to_owned(),
        payload: call.value("payload")?.clone(),
        sources: call.texts("sources")?,
        derivation: call.args.get("derivation").cloned(),
        tier: call.optional_text("tier")?.map(str::to_owned),
    };
    let derived = build_derived(draft).map(|derived| {
        json!({
            "envelope": derived.envelope,
            "kbHash": derived.kb_hash.prefixed(),
        })
    });
    Ok(derived.into())
}

fn options(call: &Call) -> Result<HashOptions, BadCall> {
    Ok(HashOptions {
        sources: match call.optional_text("sources")? {
            None | Some("reject") => SourceMode::Reject,
            Some("dedup") => SourceMode::Dedup,
            Some("as-is") => SourceMode::AsIs,
            Some(_) => return Err(BadCall::kind("sources", "reject, dedup or as-is")),
        },
        numbers: numbers(call)?,
    })
}
