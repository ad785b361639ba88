//! Contracts, their schemas, and data under a contract.

use accord_contract::{Failure, Value};
use accord_live_core::contract::{CompiledContract, DataContract, contract_hash, variant_key};
use accord_live_core::reserved::Channel;
use accord_live_core::schema::Schema;
use accord_live_core::subset::{Finding, Policy, check_tools, failures};
use serde_json::json;

use super::parts::{checked, contract, places};
use crate::{BadCall, Call, Outcome};

pub(super) fn contract_hash_of(call: &Call) -> Outcome {
    let key = contract_hash(call.object("contract")?).map_err(BadCall::from_error)?;
    Ok(json!({"key": key}))
}

pub(super) fn variant_key_of(call: &Call) -> Outcome {
    let key = variant_key(call.args.get("variance"));
    Ok(json!({"key": key.map_err(BadCall::from_error)?}))
}

pub(super) fn contract_check(call: &Call) -> Outcome {
    match CompiledContract::read(call.value("contract")?) {
        Ok(_) => checked(&[]),
        Err(refusal) => Ok(json!({
            "accepted": false,
            "code": refusal.code.as_str(),
            "violations": places(&refusal.violations),
        })),
    }
}

/// Whether a value matches a schema. A schema that is refused accepts nothing.
pub(super) fn schema_check(call: &Call) -> Outcome {
    match Schema::compile(call.value("schema")?) {
        Ok(schema) => checked(&schema.check(call.value("value")?, "")),
        Err(violations) => checked(&violations),
    }
}

pub(super) fn schema_subset(call: &Call) -> Outcome {
    let found = failures(call.value("superset")?, call.value("subset")?);
    let listed =
        found.iter().map(|each| json!({"path": each.path, "reason": each.reason.as_str()}));
    let listed: Vec<Value> = listed.collect();
    Ok(json!({"accepted": found.is_empty(), "failures": listed}))
}

/// Whether the actions of a contract fit the tools of a server.
pub(super) fn schema_compat(call: &Call) -> Outcome {
    let contract = DataContract::read(call.value("contract")?)
        .map_err(|_| BadCall::kind("contract", "a contract"))?;
    let tools = call.object("tools")?;
    let decided = policy(call)?.decide("ggui_render", check_tools(&contract, |t| tools.get(t)));
    match decided {
        Ok(findings) => Ok(json!({"accepted": true, "findings": listed(&findings)})),
        Err(failure) => Ok(json!({
            "accepted": false,
            "code": failure.code.as_str(),
            "message": failure.message,
            "findings": detail(&failure, "findings"),
        })),
    }
}

pub(super) fn policy(call: &Call) -> Result<Policy, BadCall> {
    match call.optional_text("policy")? {
        None => Ok(Policy::Reject),
        Some(name) => Policy::parse(name).ok_or_else(|| BadCall::kind("policy", "a policy")),
    }
}

/// Findings, without their messages.
pub(super) fn listed(findings: &[Finding]) -> Value {
    findings.iter().map(Finding::to_json).collect()
}

pub(super) fn detail(failure: &Failure, name: &str) -> Value {
    let details = failure.details.as_deref();
    details.and_then(|details| details.get(name)).cloned().unwrap_or(Value::Null)
}

pub(super) fn reserved_payload(call: &Call) -> Outcome {
    let accepted = match Channel::parse(call.text("channel")?) {
        Some(channel) => channel.check(call.value("payload")?).is_empty(),
        None => false,
    };
    Ok(json!({"accepted": accepted}))
}

pub(super) fn action(call: &Call) -> Outcome {
    let contract = contract(call)?;
    match contract.check_action(call.value("payload")?) {
        Ok(action) => Ok(json!({"accepted": true, "tool": action.tool})),
        Err(violations) => checked(&violations),
    }
}

pub(super) fn stream_payload(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let complete = call.flag("complete", false)?;
    match contract.check_stream(call.text("channel")?, call.value("payload")?, complete) {
        Ok(emission) => Ok(json!({
            "accepted": true,
            "mode": emission.mode.as_str(),
            "replay": emission.replay.as_str(),
        })),
        Err(violations) => checked(&violations),
    }
}

pub(super) fn context_value(call: &Call) -> Outcome {
    let contract = contract(call)?;
    checked(&contract.check_context(call.text("slot")?, call.value("value")?))
}
