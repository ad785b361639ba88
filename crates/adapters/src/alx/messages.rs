//! Versions, envelopes, aliases and retries.

use accord_canon::read;
use accord_contract::alx::{
    ALX_PROTOCOL_VERSION, DOMAIN_TAGS, ErrorBody, ErrorEnvelope, KB_DOMAIN_PREFIX, MessageName,
    decide, relation,
};
use accord_contract::codes::Exchange;
use accord_contract::wire::AliasState;
use accord_contract::{Extensible, Field, Wire as _};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Refused};
use crate::call::texts;
use crate::{BadCall, Call};

pub(super) fn version() -> Answer {
    let tags: Map<String, Value> = DOMAIN_TAGS
        .entries()
        .into_iter()
        .map(|(name, tag)| (name.to_owned(), tag.into()))
        .collect();
    Answer::ok(json!({
        "protocolVersion": ALX_PROTOCOL_VERSION,
        "kbDomainPrefix": KB_DOMAIN_PREFIX,
        "domainTags": tags,
    }))
}

pub(super) fn version_relation(call: &Call) -> Result<Answer, BadCall> {
    let relation = relation(call.text("ours")?, call.text("theirs")?);
    Ok(Answer::ok(json!({ "relation": relation.as_str() })))
}

pub(super) fn decode(call: &Call) -> Result<Answer, BadCall> {
    let message = message(call)?;
    let text = call.text("json")?.as_bytes();
    let decode = || -> Result<Value, Refused> {
        let decoded = message.decode(read(text)?)?;
        let capabilities: Vec<&str> =
            decoded.capabilities.iter().map(|capability| capability.as_str()).collect();
        let mut members = json!({ "view": decoded.view, "capabilities": capabilities });
        if let Some(known) = decoded.code_known {
            members["codeKnown"] = known.into();
        }
        Ok(members)
    };
    Ok(decode().into())
}

pub(super) fn round_trip(call: &Call) -> Result<Answer, BadCall> {
    let message = message(call)?;
    let text = call.text("json")?.as_bytes();
    let written = || -> Result<Value, Refused> {
        let decoded = message.decode(read(text)?)?;
        Ok(json!({ "json": decoded.document }))
    };
    Ok(written().into())
}

pub(super) fn encode_error(call: &Call) -> Result<Answer, BadCall> {
    let (kind, code) = (call.text("type")?, call.text("code")?);
    let mut error = ErrorBody::new(
        Extensible::from_text(kind),
        Extensible::from_text(code),
        call.text("message")?.to_owned(),
    );
    if let Some(suggestion) = call.optional_text("suggestion")? {
        error.suggestion = Field::Value(suggestion.to_owned());
    }
    let capabilities = match call.args.get("capabilities") {
        None => Vec::new(),
        Some(Value::Array(list)) => texts(list, "capabilities")?,
        Some(_) => return Err(BadCall::kind("capabilities", "a list")),
    };
    let exchange = Exchange {
        correlation_id: call.text("correlationId")?.to_owned(),
        capabilities: capabilities.into_iter().map(Extensible::from_text).collect(),
    };
    let envelope = ErrorEnvelope::new(error, exchange).encode();
    Ok(Answer::ok(json!({ "json": envelope })))
}

pub(super) fn encode_success(call: &Call) -> Result<Answer, BadCall> {
    let Value::Object(fields) = call.value("fields")? else {
        return Err(BadCall::kind("fields", "an object"));
    };
    let written =
        message(call)?.success(fields.clone()).map(|document| json!({ "json": document }));
    Ok(written.into())
}

pub(super) fn check_aliases(call: &Call) -> Result<Answer, BadCall> {
    let message = message(call)?;
    let checks = read(call.text("json")?.as_bytes()).map(|document| {
        let checks = message.check_aliases(&document);
        let honest = checks.iter().all(|check| check.state != AliasState::Wrong);
        let aliases: Vec<Value> = checks
            .iter()
            .map(|check| {
                json!({
                    "alias": check.alias,
                    "mirrors": check.mirrors,
                    "state": check.state.as_str(),
                })
            })
            .collect();
        json!({ "aliases": aliases, "honest": honest })
    });
    Ok(checks.into())
}

pub(super) fn retry(call: &Call) -> Result<Answer, BadCall> {
    let idempotent = call.value("idempotent")?.as_bool();
    let idempotent = idempotent.ok_or_else(|| BadCall::kind("idempotent", "true or false"))?;
    let attempt = call.value("attempt")?.as_u64();
    let attempt = attempt.ok_or_else(|| BadCall::kind("attempt", "a whole number from 1"))?;
    let decision = decide(
        &Extensible::from_text(call.text("type")?),
        &Extensible::from_text(call.text("code")?),
        idempotent,
        attempt,
    );
    Ok(Answer::ok(json!({
        "class": decision.class.as_str(),
        "action": decision.action.as_str(),
    })))
}

fn message(call: &Call) -> Result<MessageName, BadCall> {
    MessageName::parse(call.text("message")?)
        .ok_or_else(|| BadCall::kind("message", "the name of a message of ALX 1.1"))
}
