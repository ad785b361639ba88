//! A contract that holds, with the validators of its data.

use accord_contract::{Code, Value, rule};

use super::check::{Validators, examine};
use super::{ContractRefusal, DataContract, Mode, Replay};
use crate::violation::{Violation, listed, shorten, type_name};
use crate::{json::text_len, limits::CONTRACT_BYTES, props::EnforcedProps, reserved};

/// About how many bytes a document needs in memory, for each of its text.
const BYTES_OF_A_CHARACTER: usize = 4;

/// A contract without violations. Checking data compiles nothing and needs no lock.
#[derive(Debug)]
pub struct CompiledContract {
    contract: DataContract,
    validators: Validators,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Action<'a> {
    /// Its name, where the payload is an action.
    pub name: Option<&'a str>,
    /// The tool that the action asks for: that of the payload, else the next step of the contract.
    pub tool: Option<&'a str>,
}

/// How a channel handles a payload that the contract allows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Emission {
    /// What the payload does to those before it.
    pub mode: Mode,
    pub replay: Replay,
}

impl CompiledContract {
    pub fn read(document: &Value) -> Result<Self, ContractRefusal> {
        let length = text_len(document);
        if length > CONTRACT_BYTES {
            let message = format!("a contract has at most {CONTRACT_BYTES} bytes as JSON");
            let violation = Violation::new("contract", message);
            let violation = violation.of_code(Code::GguiCtrSchemaTooLarge);
            return Err(ContractRefusal::new(vec![violation]));
        }
        let contract = DataContract::read(document).map_err(ContractRefusal::new)?;
        let mut compiled = Self::new(contract)?;
        compiled.validators.bytes += length * BYTES_OF_A_CHARACTER;
        Ok(compiled)
    }

    pub fn new(contract: DataContract) -> Result<Self, ContractRefusal> {
        match examine(&contract) {
            (violations, Some(validators)) if violations.is_empty() => {
                Ok(Self { contract, validators })
            }
            (violations, _) => Err(ContractRefusal::new(violations)),
        }
    }

    /// About how many bytes of memory it needs.
    pub fn memory(&self) -> usize {
        self.validators.bytes
    }

    pub fn contract(&self) -> &DataContract {
        &self.contract
    }

    pub fn props(&self) -> &EnforcedProps {
        &self.validators.props
    }

    /// Checks the payload of a `data:submit`. Without an actionSpec, every action is allowed.
    ///
    /// Clauses: GGUI-ACTION-DECLARED, GGUI-ACTION-SCHEMA, GGUI-ACTION-VOID, GGUI-ACTION-NEXT-STEP.
    pub fn check_action<'a>(&'a self, payload: &'a Value) -> Result<Action<'a>, Vec<Violation>> {
        let text = |member: &str| payload.get(member).and_then(Value::as_str);
        let Some(spec) = &self.contract.actions else {
            return Ok(Action { name: text("action"), tool: text("tool") });
        };
        let Value::Object(members) = payload else {
            let message = "an action is an object with the member action";
            let violation = Violation::new("value", message);
            return Err(vec![violation.expecting("object", type_name(payload))]);
        };
        let name = text("action").filter(|name| !name.is_empty()).ok_or_else(|| {
            let received = members.get("action").map_or("undefined", type_name);
            let violation = Violation::new("action", "'action' must be the name of an action");
            vec![violation.expecting("string", received)]
        })?;
        let Some(validator) = self.validators.actions.get(name) else {
            return rule!(
                Err(vec![undeclared("action", "action", name, spec.names())]);
                UndeclaredActionTaken => Ok(Action { name: Some(name), tool: text("tool") })
            );
        };
        if let Some(schema) = rule!(validator; DataUnchecked => &None) {
            let field = format!("{name}.data");
            let violations = match members.get("data") {
                Some(data) => schema.check(data, &field),
                None => {
                    let violation = Violation::new(field, "the data of the action is missing");
                    vec![violation.expecting("present", "undefined").of_keyword("type")]
                }
            };
            if !violations.is_empty() {
                return Err(violations);
            }
        }
        let next_step = || spec.get(name).and_then(|entry| entry.next_step.as_deref());
        let tool = rule!(text("tool").or_else(next_step); NextStepIgnored => text("tool"));
        Ok(Action { name: Some(name), tool })
    }

    /// Checks a payload for a channel. Reserved channels are the server's: their payloads have
    /// shapes of their own, and the contract has no say.
    ///
    /// Clauses: GGUI-STREAM-DECLARED, GGUI-STREAM-SCHEMA, GGUI-STREAM-COMPLETE,
    /// GGUI-RESERVED-BYPASS.
    pub fn check_stream(
        &self,
        channel: &str,
        payload: &Value,
        complete: bool,
    ) -> Result<Emission, Vec<Violation>> {
        if let Some(reserved) = reserved::Channel::parse(channel) {
            let violations = reserved.check(payload);
            let emission = Emission { mode: Mode::Append, replay: Replay::All };
            return if violations.is_empty() { Ok(emission) } else { Err(violations) };
        }
        let entry = self.contract.streams.as_ref().and_then(|spec| spec.get(channel));
        let schema = self.validators.streams.get(channel);
        let Some((entry, schema)) = entry.zip(schema) else {
            let known = self.contract.streams.iter().flat_map(|spec| spec.names());
            return Err(vec![undeclared("channel", "channel", channel, known)]);
        };
        let violations = schema.check(payload, &format!("{channel}.payload"));
        let mut violations = rule!(violations; PayloadUnchecked => Vec::new());
        if rule!(complete && !entry.complete; AnyChannelEnds => false) {
            let message = format!("the channel '{channel}' does not declare complete");
            let violation = Violation::new("complete", message);
            violations.push(violation.expecting("false", "true"));
        }
        let emission = Emission { mode: entry.mode, replay: entry.replay };
        if violations.is_empty() { Ok(emission) } else { Err(violations) }
    }

    /// Clauses: GGUI-CONTEXT-DECLARED, GGUI-CONTEXT-SCHEMA.
    pub fn check_context(&self, slot: &str, value: &Value) -> Vec<Violation> {
        match self.validators.context.get(slot) {
            Some(schema) => {
                let violations = schema.check(value, &format!("{slot}.value"));
                rule!(violations; SlotsUnchecked => Vec::new())
            }
            None => {
                let known = self.contract.context.iter().flat_map(|spec| spec.names());
                vec![undeclared("contextSpec", "context slot", slot, known)]
            }
        }
    }

    /// Checks props against the enforced schema.
    ///
    /// Clauses: GGUI-PROPS-ENFORCED.
    pub fn check_props(&self, props: &Value) -> Vec<Violation> {
        self.validators.props.check(props)
    }
}

fn undeclared<'n>(
    field: &str,
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Violation {
    let name = shorten(name);
    let known = listed(known);
    let message = format!("the contract has no {kind} '{name}'; it has {known}");
    Violation::new(field, message).expecting(known, name)
}
