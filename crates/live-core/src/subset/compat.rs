//! A contract against the schemas of the tools that it names.

use accord_contract::{Code, Failure, Value, rule, text::counted, wire_enum};
use serde_json::json;

use super::compare::{self, Budget};
use crate::contract::{ActionEntry, DataContract};
use crate::schema::close;
use crate::violation::{MOST_VIOLATIONS, Violation};

/// What an action sends, as a schema. It is closed, because nothing else is accepted from a page.
///
/// Clauses: GGUI-SUBSET-DIRECTIONS.
fn sent(entry: &ActionEntry) -> Value {
    match &entry.schema {
        Some(schema) => close(schema),
        None => rule!(
            json!({"type": "object", "properties": {}, "additionalProperties": false});
            VoidSendsAnything => false.into()
        ),
    }
}

/// A contract against the tools that it declares: what an action sends must fit the input of its
/// next step, and what a source returns must fit its channel.
///
/// Clauses: GGUI-SUBSET-DIRECTIONS, GGUI-CONTRACT-SCHEMA-INCOMPAT.
pub fn check_contract(contract: &DataContract) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut budget = Budget::default();
    for (name, entry) in contract.actions.iter().flat_map(|spec| spec.iter()) {
        let step = entry.next_step.as_deref();
        let Some((step, tool)) = step.and_then(|step| Some((step, contract.tool(step)?))) else {
            continue;
        };
        let found = budget.failures(&tool.input_schema, &sent(entry), 1);
        let what = format!("sends what the tool '{step}' refuses");
        violations.extend(incompatible(format!("actionSpec.{name}.schema"), &what, &found));
    }
    for (name, entry) in contract.streams.iter().flat_map(|spec| spec.iter()) {
        let source = entry.source.as_ref().map(|source| source.tool.as_str());
        let output = source.and_then(|tool| contract.tool(tool)?.output_schema.as_ref());
        let Some((source, output)) = source.zip(output) else { continue };
        let found = budget.failures(&entry.schema, output, 1);
        let what = format!("refuses what the tool '{source}' returns");
        violations.extend(incompatible(format!("streamSpec.{name}.schema"), &what, &found));
    }
    violations
}

fn incompatible(field: String, what: &str, found: &[compare::Failure]) -> Option<Violation> {
    let first = found.first()?;
    let message = format!("{what}: {} ({})", first.message, first.reason);
    let place = if first.path.is_empty() { "the whole schema" } else { first.path.as_str() };
    let violation = Violation::new(field, message).expecting("a schema that fits", place);
    Some(violation.of_code(Code::GguiCtrSchemaIncompat))
}

wire_enum! {
    /// What happens to a contract that does not fit the tools of the server.
    pub enum Policy("GguiSchemaCompatCheck", closed) {
        /// It is refused.
        Reject = "reject",
        /// It is accepted, and the findings are reported.
        Warn = "warn",
        /// It is not checked.
        Off = "off",
    }

    /// What a finding is.
    pub enum FindingKind("GguiSchemaCompatFinding", closed) {
        /// Neither the server nor the contract has the tool. It never refuses a contract.
        ToolNotFound = "tool-not-found",
        /// What the action sends does not fit the input of the tool.
        SchemaMismatch = "schema-mismatch",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub action: String,
    pub tool: String,
    pub failures: Vec<compare::Failure>,
}

/// The actions of a contract against the tools of this server. `input_schema` gives the input
/// schema of a tool that the server has.
///
/// Clauses: GGUI-SUBSET-REGISTRY.
pub fn check_tools<'t>(
    contract: &DataContract,
    input_schema: impl Fn(&str) -> Option<&'t Value>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut budget = Budget::default();
    for (action, entry) in contract.actions.iter().flat_map(|spec| spec.iter()) {
        let Some(tool) = entry.next_step.as_deref() else { continue };
        let found =
            input_schema(tool).map(|schema| budget.failures(schema, &sent(entry), MOST_VIOLATIONS));
        let (kind, is_found) = match &found {
            Some(failures) => (FindingKind::SchemaMismatch, !failures.is_empty()),
            None => {
                let is_missing = contract.tool(tool).is_none();
                (FindingKind::ToolNotFound, rule!(is_missing; MissingToolsUnnoticed => false))
            }
        };
        if is_found {
            let (action, tool) = (action.to_owned(), tool.to_owned());
            findings.push(Finding { kind, action, tool, failures: found.unwrap_or_default() });
        }
    }
    findings
}

impl Policy {
    /// Decides about findings. What does not refuse the contract is returned, to be reported.
    /// `context` says what was checked, for the message.
    ///
    /// Clauses: GGUI-SUBSET-POLICY.
    pub fn decide(self, context: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Failure> {
        let errors: Vec<_> =
            findings.iter().filter(|finding| finding.kind == FindingKind::SchemaMismatch).collect();
        match self {
            Self::Off => Ok(Vec::new()),
            Self::Reject if rule!(!errors.is_empty(); MismatchWarns => false) => {
                Err(refusal(context, &errors))
            }
            Self::Reject | Self::Warn => Ok(findings),
        }
    }
}

fn refusal(context: &str, errors: &[&Finding]) -> Failure {
    let code = Code::GguiSchemaMismatchError;
    let lines = errors.iter().flat_map(|finding| {
        let (action, tool) = (&finding.action, &finding.tool);
        finding.failures.iter().map(move |failure| {
            let compare::Failure { path, reason, message } = failure;
            let place = if path.is_empty() { "the schema" } else { path.as_str() };
            format!("actionSpec.{action} for '{tool}': {place} {message} ({reason})")
        })
    });
    let lines: Vec<_> = lines.take(10).collect();
    let count = counted(errors.len() as u64, "finding");
    let details: Vec<Value> = errors.iter().map(|finding| finding.to_json()).collect();
    Failure::new(code, format!("{context}: {code} — {count}: {}", lines.join("; ")))
        .with("error", code.as_str())
        .with("findings", Value::Array(details))
}

impl Finding {
    pub fn to_json(&self) -> Value {
        let failures = self.failures.iter().map(|failure| {
            let compare::Failure { path, reason, message } = failure;
            json!({"path": path, "reason": reason.as_str(), "message": message})
        });
        let (kind, failures) = (self.kind.as_str(), failures.collect::<Vec<_>>());
        json!({"kind": kind, "action": self.action, "tool": self.tool, "failures": failures})
    }
}
