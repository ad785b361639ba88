//! What a handshake is made from.

use accord_contract::{Code, Failure, Object, Value};

use super::HandshakeRequest;
use crate::contract::{CompiledContract, contract_hash, variant_key};
use crate::handshake::{BlueprintKey, NewHandshake};
use crate::subset::{Finding, check_tools};
use crate::violation::refuse;

/// A handshake whose contract is valid. The service looks for a UI of its key, and then makes the
/// record with [`begin`](crate::handshake::begin).
#[derive(Debug)]
pub struct Prepared {
    pub asked: NewHandshake,
    pub contract: CompiledContract,
    /// Where the contract does not fit the tools of the server.
    pub findings: Vec<Finding>,
}

/// Checks the draft of a handshake. `input_schema` gives the input schema of a tool of the server.
/// Fails with every violation when the contract is not valid.
///
/// Clauses: GGUI-HANDSHAKE-CONTRACT.
pub fn prepare_handshake<'t>(
    request: HandshakeRequest,
    input_schema: impl Fn(&str) -> Option<&'t Value>,
) -> Result<Prepared, Failure> {
    let draft = request.blueprint_draft;
    let variance = draft.variance.unwrap_or_default();
    let contract = compile(&draft.contract, None)?;
    let asked = NewHandshake {
        intent: request.intent,
        key: key(&draft.contract, &variance)?,
        contract: draft.contract,
        variance,
        force_create: request.force_create.unwrap_or(false),
    };
    let findings = check_tools(contract.contract(), input_schema);
    Ok(Prepared { asked, contract, findings })
}

/// The contract of a document. A refusal has the code of its kind, or the given one.
pub(super) fn compile(document: &Object, code: Option<Code>) -> Result<CompiledContract, Failure> {
    let contract = CompiledContract::read(&Value::Object(document.clone()));
    contract.map_err(|refusal| refuse(code.unwrap_or(refusal.code), &refusal.violations))
}

pub(super) fn key(contract: &Object, variance: &Object) -> Result<BlueprintKey, Failure> {
    Ok(BlueprintKey {
        contract_hash: contract_hash(contract)?,
        variant_key: variant_key(Some(&Value::Object(variance.clone())))?,
    })
}
