//! The comparison of two schemas.

use std::collections::BTreeSet;

use accord_contract::wire::{Pointer, same};
use accord_contract::{Object, Value, rule, wire_enum};

use crate::violation::{MOST_VIOLATIONS, field_path, listed, shorten, show};

wire_enum! {
    /// Why a schema accepts more than another.
    pub enum Reason("GguiSubsetFailure", closed) {
        /// It accepts another type.
        TypeMismatch = "type-mismatch",
        /// It has a property that the other refuses.
        ExtraProperty = "extra-property",
        /// It does not require what the other requires.
        MissingRequired = "missing-required",
        /// The items of one of them are not one schema.
        ItemsMismatch = "items-mismatch",
        /// It accepts undeclared members that the other refuses.
        AdditionalPropertiesWidens = "additional-properties-widens",
        /// One of them uses a keyword that cannot be compared.
        Unsupported = "unsupported",
    }
}

/// One place where a schema accepts more than another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// The place in the schemas: `properties.id`, `items`; empty for the schemas themselves.
    pub path: String,
    pub reason: Reason,
    pub message: String,
}

/// Every place where `subset` accepts more than `superset`.
///
/// Clauses: GGUI-SUBSET-EQUAL, GGUI-SUBSET-UNSUPPORTED, GGUI-SUBSET-TYPE, GGUI-SUBSET-OBJECT,
/// GGUI-SUBSET-REQUIRED, GGUI-SUBSET-ITEMS.
pub fn failures(superset: &Value, subset: &Value) -> Vec<Failure> {
    Budget::default().failures(superset, subset, MOST_VIOLATIONS)
}

/// The steps that are left for comparisons. One contract can name a large tool in many actions, so
/// that the comparisons of a contract share them.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 1_000_000 }
    }
}

impl Budget {
    /// The first failures, at most so many.
    ///
    /// Clauses: GGUI-SCHEMA-LIMITS.
    pub(super) fn failures(&mut self, wide: &Value, narrow: &Value, most: usize) -> Vec<Failure> {
        let mut comparison = Comparison { budget: self, most, failures: Vec::new() };
        comparison.schemas(wide, narrow, &Pointer::Root);
        comparison.failures
    }
}

const UNSUPPORTED: [&str; 6] = ["$ref", "allOf", "oneOf", "anyOf", "enum", "const"];

struct Comparison<'b> {
    budget: &'b mut Budget,
    most: usize,
    failures: Vec<Failure>,
}

/// What a schema says about undeclared members.
enum Additional<'a> {
    Allowed,
    Refused,
    Like(&'a Value),
}

impl Comparison<'_> {
    fn schemas(&mut self, superset: &Value, subset: &Value, at: &Pointer<'_>) {
        if self.is_done() {
            return;
        }
        let size = size(superset) + size(subset);
        self.budget.steps = self.budget.steps.saturating_sub(size);
        if self.budget.steps == 0 {
            let message = "the schemas are too large to be compared".to_owned();
            return self.fail(at, Reason::Unsupported, message);
        }
        // A schema is a subset of itself, whatever it uses. `true` accepts everything, and `false`
        // is a subset of everything.
        if same(superset, subset) || *superset == true || *subset == false {
            return;
        }
        let (Some(wide), Some(narrow)) = (superset.as_object(), subset.as_object()) else {
            let message = format!("{} cannot be compared with {}", show(subset), show(superset));
            return self.fail(at, Reason::TypeMismatch, message);
        };
        let used = |schema: &Object| {
            let found = UNSUPPORTED.into_iter().filter(|keyword| schema.contains_key(*keyword));
            found.collect::<Vec<_>>()
        };
        let (in_wide, in_narrow) = (used(wide), used(narrow));
        let has_some = !in_wide.is_empty() || !in_narrow.is_empty();
        if rule!(has_some; EnumsFit => false) {
            let keywords = listed(in_wide.into_iter().chain(in_narrow));
            let message = format!("schemas with {keywords} are compared only if they are equal");
            return self.fail(at, Reason::Unsupported, message);
        }
        if let Some(allowed) = types(wide) {
            let untyped = rule!(vec!["any type"]; UntypedFits => Vec::new());
            let used = types(narrow).unwrap_or(untyped);
            // Every integer is a number.
            let fits = |name: &&str| {
                allowed.contains(name) || (*name == "integer" && allowed.contains(&"number"))
            };
            if !used.iter().all(fits) {
                let message = format!("accepts {}, not only {}", listed(used), listed(allowed));
                return self.fail(at, Reason::TypeMismatch, message);
            }
        }
        let can_be = |name: &str| types(narrow).is_none_or(|types| types.contains(&name));
        if can_be("object") {
            self.objects(wide, narrow, at);
        }
        if can_be("array") {
            self.items(wide, narrow, at);
        }
    }

    fn objects(&mut self, wide: &Object, narrow: &Object, at: &Pointer<'_>) {
        let place = at.member("properties");
        let known = wide.get("properties").and_then(Value::as_object);
        let properties = narrow.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let at = place.member(name);
            match (known.and_then(|known| known.get(name)), additional(wide)) {
                (Some(other), _) | (None, Additional::Like(other)) => {
                    self.schemas(other, schema, &at);
                }
                (None, Additional::Allowed) => {}
                (None, Additional::Refused) => {
                    let message = format!("has the property '{}', which is refused", shorten(name));
                    if rule!(true; ExtrasFit => false) {
                        self.fail(&at, Reason::ExtraProperty, message);
                    }
                }
            }
        }
        let place = at.member("additionalProperties");
        match (additional(wide), additional(narrow)) {
            (Additional::Allowed, _) | (_, Additional::Refused) => {}
            (Additional::Like(other), Additional::Like(schema)) => {
                self.schemas(other, schema, &place);
            }
            (Additional::Refused, _) | (_, Additional::Allowed) => {
                let message = "accepts undeclared members that are refused".to_owned();
                self.fail(at, Reason::AdditionalPropertiesWidens, message);
            }
        }
        let place = at.member("required");
        let has: BTreeSet<_> = required(narrow).collect();
        let most = rule!(self.most; RequiredIgnored => 0);
        for name in required(wide).filter(|name| !has.contains(name)).take(most) {
            let message = format!("does not require '{}'", shorten(name));
            self.fail(&place.member(name), Reason::MissingRequired, message);
        }
    }

    fn items(&mut self, wide: &Object, narrow: &Object, at: &Pointer<'_>) {
        let (Some(other), Some(schema)) = (wide.get("items"), narrow.get("items")) else { return };
        let place = at.member("items");
        if (other.is_array() || schema.is_array()) && !same(other, schema) {
            let message = "items that are a list of schemas are compared only if they are equal";
            return self.fail(&place, Reason::ItemsMismatch, message.to_owned());
        }
        if rule!(true; ItemsFit => false) {
            self.schemas(other, schema, &place);
        }
    }

    fn is_done(&self) -> bool {
        self.failures.len() >= self.most
    }

    fn fail(&mut self, at: &Pointer<'_>, reason: Reason, message: String) {
        if !self.is_done() {
            self.failures.push(Failure { path: field_path("", at), reason, message });
        }
    }
}

/// The types of a schema; none if it accepts every type.
fn types(schema: &Object) -> Option<Vec<&str>> {
    let mut types = match schema.get("type")? {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null");
    }
    Some(types)
}

fn additional(schema: &Object) -> Additional<'_> {
    match schema.get("additionalProperties") {
        None | Some(Value::Bool(true)) => Additional::Allowed,
        Some(Value::Bool(false)) => Additional::Refused,
        Some(schema) => Additional::Like(schema),
    }
}

fn required(schema: &Object) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// The work that a schema is, without the schemas inside of it: its keywords and their items.
fn size(schema: &Value) -> usize {
    let items = |value: &Value| match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let members = schema.as_object().into_iter().flat_map(|members| members.values());
    members.map(|value| 1 + items(value)).sum::<usize>() + 1
}
