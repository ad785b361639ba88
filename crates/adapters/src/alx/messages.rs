//! Versions, envelopes, aliases and retries.

use accord_canon::read;
use accord_contract::alx::{self, ErrorBody, ErrorEnvelope, MessageName, decide, relation};
use accord_contract::codes::Exchange;
use accord_contract::wire::AliasState;
use accord_contract::{Extensible, Field, Object, Value, Wire as _};
use serde_json::json;

use crate::call::optional_texts;
use crate::{BadCall, Call, Outcome};

pub(super) fn version(_: &Call) -> Outcome {
    let tags = alx::DOMAIN_TAGS.entries();
    let tags: Object = tags.into_iter().map(|(name, tag)| (name.into(), tag.into())).collect();
    Ok(json!({
        "protocolVersion": alx::ALX_PROTOCOL_VERSION,
        "kbDomainPrefix": alx::KB_DOMAIN_PREFIX,
        "domainTags": tags,
    }))
}

pub(super) fn version_relation(call: &Call) -> Outcome {
    let relation = relation(call.text("ours")?, call.text("theirs")?);
    Ok(json!({ "relation": relation.as_str() }))
}

pub(super) fn decode(call: &Call) -> Outcome {
    let message = message(call)?;
    let decoded = message.decode(read(call.text("json")?.as_bytes())?)?;
    let capabilities: Vec<&str> = decoded.capabilities.iter().map(|each| each.as_str()).collect();
    let mut members = json!({ "view": decoded.view, "capabilities": capabilities });
    if let Some(known) = decoded.code_known {
        members["codeKnown"] = known.into();
    }
    Ok(members)
}

pub(super) fn round_trip(call: &Call) -> Outcome {
    let message = message(call)?;
    let decoded = message.decode(read(call.text("json")?.as_bytes())?)?;
    Ok(json!({ "json": decoded.document }))
}

pub(super) fn encode_error(call: &Call) -> Outcome {
    let mut error = ErrorBody::new(
        Extensible::from_text(call.text("type")?),
        Extensible::from_text(call.text("code")?),
        call.text("message")?.to_owned(),
    );
    if let Some(suggestion) = call.optional_text("suggestion")? {
        error.suggestion = Field::Value(suggestion.to_owned());
    }
    let capabilities = optional_texts(call.args.get("capabilities"), "capabilities")?;
    let exchange = Exchange {
        correlation_id: call.text("correlationId")?.to_owned(),
        capabilities: capabilities.into_iter().map(Extensible::from_text).collect(),
    };
    Ok(json!({ "json": ErrorEnvelope::new(error, exchange).encode() }))
}

pub(super) fn encode_success(call: &Call) -> Outcome {
    let fields = call.object("fields")?.clone();
    Ok(json!({ "json": message(call)?.success(fields)? }))
}

pub(super) fn check_aliases(call: &Call) -> Outcome {
    let message = message(call)?;
    let checks = message.check_aliases(&read(call.text("json")?.as_bytes())?);
    let honest = checks.iter().all(|check| check.state != AliasState::Wrong);
    let aliases: Vec<Value> = checks.iter().map(|check| check.encode()).collect();
    Ok(json!({ "aliases": aliases, "honest": honest }))
}

pub(super) fn retry(call: &Call) -> Outcome {
    let idempotent = call.value("idempotent")?.as_bool();
    let idempotent = idempotent.ok_or_else(|| BadCall::kind("idempotent", "true or false"))?;
    let attempt = call.value("attempt")?.as_u64();
    let attempt = attempt.ok_or_else(|| BadCall::kind("attempt", "a whole number from 1"))?;
    let kind = Extensible::from_text(call.text("type")?);
    let code = Extensible::from_text(call.text("code")?);
    let decision = decide(&kind, &code, idempotent, attempt);
    Ok(json!({ "class": decision.class.as_str(), "action": decision.action.as_str() }))
}

fn message(call: &Call) -> Result<MessageName, BadCall> {
    MessageName::parse(call.text("message")?)
        .ok_or_else(|| BadCall::kind("message", "the name of a message of ALX 1.1"))
}
