//! The rules that hold between the parts of a contract.

use std::collections::BTreeMap;

use accord_contract::{Code, Value, rule};

use super::{DataContract, context, names, shape};
use crate::schema::{Quota, Schema};
use crate::violation::{MOST_VIOLATIONS, Violation, listed};
use crate::{props::EnforcedProps, subset};

/// Clauses: GGUI-CONTRACT-STRUCTURE.
pub fn check(contract: &DataContract) -> Vec<Violation> {
    examine(contract).0
}

#[derive(Debug)]
pub(super) struct Validators {
    pub(super) props: EnforcedProps,
    /// An action without a schema has no validator.
    pub(super) actions: BTreeMap<String, Option<Schema>>,
    pub(super) streams: BTreeMap<String, Schema>,
    pub(super) context: BTreeMap<String, Schema>,
    /// About how many bytes they need.
    pub(super) bytes: usize,
}

/// Every violation, and the validators. They are complete if there are no violations.
pub(super) fn examine(contract: &DataContract) -> (Vec<Violation>, Option<Validators>) {
    let mut compiler = Compiler { quota: Quota::default(), violations: Vec::new() };
    let mut actions = BTreeMap::new();
    let mut streams = BTreeMap::new();
    let mut context = BTreeMap::new();
    let props = compiler.props(contract);
    for (name, entry) in contract.streams.iter().flat_map(|spec| spec.iter()) {
        if let Some(schema) = compiler.schema(&entry.schema, &format!("streamSpec.{name}")) {
            streams.insert(name.to_owned(), schema);
        }
    }
    for (name, entry) in contract.actions.iter().flat_map(|spec| spec.iter()) {
        let schema = entry.schema.as_ref();
        let schema = schema.map(|schema| compiler.schema(schema, &format!("actionSpec.{name}")));
        // A schema that is refused has reported why.
        actions.insert(name.to_owned(), schema.flatten());
    }
    for (name, entry) in contract.context.iter().flat_map(|spec| spec.iter()) {
        let field = format!("contextSpec.{name}");
        let schema = compiler.schema(&entry.schema, &field);
        let is_prop = contract.props.as_ref().is_some_and(|p| p.properties.get(name).is_some());
        compiler.violations.extend(context::check(name, entry, schema.as_ref(), is_prop));
        if let Some(schema) = schema {
            context.insert(name.to_owned(), schema);
        }
    }
    let bytes = compiler.quota.used_bytes();
    let mut violations = compiler.violations;
    violations.extend(references(contract));
    violations.extend(names::check(contract));
    violations.extend(subset::check_contract(contract));
    violations.truncate(MOST_VIOLATIONS);
    let validators = props.map(|props| Validators { props, actions, streams, context, bytes });
    (violations, validators)
}

struct Compiler {
    quota: Quota,
    violations: Vec<Violation>,
}

impl Compiler {
    fn schema(&mut self, schema: &Value, field: &str) -> Option<Schema> {
        self.violations.extend(shape::check(schema, field));
        let compiled = Schema::compile_at(schema, &format!("{field}.schema"), &mut self.quota);
        compiled.map_err(|violations| self.violations.extend(violations)).ok()
    }

    /// Clauses: GGUI-CONTRACT-PROPS-NOT-EMPTY.
    fn props(&mut self, contract: &DataContract) -> Option<EnforcedProps> {
        if let Some(spec) = &contract.props {
            if rule!(spec.properties.is_empty(); EmptyPropsSpec => false) {
                let message = "a propsSpec declares at least one prop; leave it out instead";
                let violation = Violation::new("propsSpec", message);
                self.violations.push(violation.expecting("at least one prop", "none"));
            }
            for (name, entry) in spec.properties.iter() {
                self.violations.extend(shape::check(&entry.schema, &format!("propsSpec.{name}")));
            }
        }
        let props = EnforcedProps::build(contract.props.as_ref(), &mut self.quota);
        props.map_err(|violations| self.violations.extend(violations)).ok()
    }
}

/// Tools that actions and channels name must be declared.
///
/// Clauses: GGUI-CONTRACT-REF-NEXT-STEP, GGUI-CONTRACT-REF-STREAM-SOURCE.
fn references(contract: &DataContract) -> Vec<Violation> {
    let steps = contract.actions.iter().flat_map(|spec| spec.iter()).filter_map(|(name, entry)| {
        let field = format!("actionSpec.{name}.nextStep");
        let step = rule!(entry.next_step.as_deref(); StepsUnresolved => None)?;
        Some((field, step, Code::GguiCtrRefNextStep))
    });
    let sources =
        contract.streams.iter().flat_map(|spec| spec.iter()).filter_map(|(name, entry)| {
            let field = format!("streamSpec.{name}.source.tool");
            let source = rule!(entry.source.as_ref(); SourcesUnresolved => None)?;
            Some((field, source.tool.as_str(), Code::GguiCtrRefStreamSource))
        });
    let unknown = steps.chain(sources).filter(|(_, tool, _)| contract.tool(tool).is_none());
    let violations = unknown.take(MOST_VIOLATIONS).map(|(field, tool, code)| {
        let declared = listed(contract.tools.iter().flat_map(|tools| tools.names()));
        let message = format!("agentCapabilities.tools does not declare '{tool}'");
        Violation::new(field, message).expecting(declared, tool).of_code(code)
    });
    violations.collect()
}
