//! Compiling: from a JSON Schema to a tree of rules.
//!
//! Clauses: GGUI-SCHEMA-SUBSET, GGUI-SCHEMA-LIMITS.

use accord_contract::wire::{Number, Pointer, count_of};
use accord_contract::{Code, Object, Value};

use super::formats::format;
use super::node::{Lists, Node, Numbers, Objects, Texts, Types};
use super::pattern::{Pattern, PatternError};
use crate::violation::{MOST_VIOLATIONS, Violation, Violations, field_path, shorten, show};

/// How much the schemas of one contract may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quota {
    /// Schemas, those inside other schemas included, and values of `enum`.
    nodes: u32,
    /// Patterns. A large one counts as several.
    patterns: u32,
}

/// Bytes of a compiled schema without its parts, and of the smallest pattern with its cache.
const NODE_BYTES: usize = 512;
const PATTERN_BYTES: usize = 24 << 10;

impl Default for Quota {
    fn default() -> Self {
        Self { nodes: 10_000, patterns: 200 }
    }
}

impl Quota {
    /// About how many bytes the schemas that were compiled from it need.
    pub(crate) fn used_bytes(&self) -> usize {
        let whole = Self::default();
        let nodes = (whole.nodes - self.nodes) as usize;
        let patterns = (whole.patterns - self.patterns) as usize;
        nodes * NODE_BYTES + patterns * PATTERN_BYTES
    }
}

const MOST_DEPTH: usize = 48;

/// Keywords that say nothing about values.
const NOTES: [&str; 17] = [
    "$comment",
    "$id",
    "$schema",
    "aliases",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "deprecated",
    "description",
    "example",
    "examples",
    "nullable",
    "readOnly",
    "title",
    "writeOnly",
    "$defs",
];

pub(super) fn compile(schema: &Value, field: &str, quota: &mut Quota) -> Result<Node, Violations> {
    let mut compiler = Compiler { field, quota, violations: Vec::new(), is_full: false };
    let node = compiler.node(schema, &Pointer::Root, 0);
    if compiler.violations.is_empty() { Ok(node) } else { Err(compiler.violations) }
}

struct Compiler<'a> {
    field: &'a str,
    quota: &'a mut Quota,
    violations: Vec<Violation>,
    /// The quota is used up; it is reported once.
    is_full: bool,
}

impl Compiler<'_> {
    fn node(&mut self, schema: &Value, at: &Pointer<'_>, depth: usize) -> Node {
        let mut node = Node::default();
        if !self.spend(1, at) {
            return node;
        }
        if depth > MOST_DEPTH {
            self.too_large(at, format!("schemas are nested deeper than {MOST_DEPTH} levels"));
            return node;
        }
        match schema {
            Value::Bool(accepts) => node.is_never = !accepts,
            Value::Object(members) => {
                for (keyword, value) in members {
                    self.keyword(&mut node, keyword, value, &at.member(keyword), depth);
                }
                if members.get("nullable") == Some(&Value::Bool(true)) {
                    let null = Types::named("null").unwrap_or(Types::NONE);
                    node.types = node.types.map(|types| types.and(null));
                }
            }
            other => self.wrong(at, "an object or a boolean", other),
        }
        node
    }

    fn keyword(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &Value,
        at: &Pointer<'_>,
        depth: usize,
    ) {
        match keyword {
            "type" => node.types = self.types(value, at),
            "enum" => node.values = self.values(value, at),
            "const" => node.constant = Some(value.clone()),
            "minimum" => numbers(node).minimum = self.number(value, at),
            "maximum" => numbers(node).maximum = self.number(value, at),
            "exclusiveMinimum" => numbers(node).above = self.number(value, at),
            "exclusiveMaximum" => numbers(node).below = self.number(value, at),
            "multipleOf" => numbers(node).multiple_of = self.positive(value, at),
            "minLength" => texts(node).least = self.count(value, at),
            "maxLength" => texts(node).most = self.count(value, at),
            "pattern" => texts(node).pattern = self.pattern_value(value, at),
            "format" => self.format(node, value, at),
            "items" => lists(node).items = Some(self.node(value, at, depth + 1)),
            "minItems" => lists(node).least = self.count(value, at),
            "maxItems" => lists(node).most = self.count(value, at),
            "uniqueItems" => lists(node).is_unique = self.flag(value, at),
            "properties" => {
                if let Some(members) = self.members(value, at) {
                    for (name, schema) in members {
                        let property = self.node(schema, &at.member(name), depth + 1);
                        objects(node).properties.insert(name.clone(), property);
                    }
                    // An empty list of properties is a rule as well.
                    objects(node);
                }
            }
            "patternProperties" => {
                for (pattern, schema) in self.members(value, at).into_iter().flatten() {
                    let place = at.member(pattern);
                    let schema = self.node(schema, &place, depth + 1);
                    if let Some(pattern) = self.pattern(pattern, &place) {
                        objects(node).patterns.push((pattern, schema));
                    }
                }
            }
            "required" => objects(node).required = self.names(value, at),
            "additionalProperties" => {
                objects(node).additional = Some(self.node(value, at, depth + 1));
            }
            "minProperties" => objects(node).least = self.count(value, at),
            "maxProperties" => objects(node).most = self.count(value, at),
            "allOf" => node.all = self.branches(value, at, depth),
            "anyOf" => node.any = self.branches(value, at, depth),
            "oneOf" => node.one = self.branches(value, at, depth),
            "not" => node.not = Some(Box::new(self.node(value, at, depth + 1))),
            note if NOTES.contains(&note) || note.starts_with("x-") => {}
            other => {
                let message = format!("the keyword '{}' is not supported", shorten(other));
                self.invalid(at, message, "a supported keyword", other);
            }
        }
    }

    fn types(&mut self, value: &Value, at: &Pointer<'_>) -> Option<Types> {
        let names = match value {
            Value::Array(names) if !names.is_empty() => names.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut types = Types::NONE;
        for name in names {
            match name.as_str().and_then(Types::named) {
                Some(named) if !types.has_all(named) => types = types.and(named),
                _ => {
                    self.wrong(at, "a type of JSON, or a list of different ones", name);
                    return None;
                }
            }
        }
        Some(types)
    }

    /// What was read of a value, which is reported if it is nothing.
    fn must<T>(&mut self, at: &Pointer<'_>, be: &str, value: &Value, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.wrong(at, be, value);
        }
        read
    }

    fn values(&mut self, value: &Value, at: &Pointer<'_>) -> Option<Vec<Value>> {
        let values = value.as_array().filter(|values| !values.is_empty());
        let values = self.must(at, "a list with at least one value", value, values)?;
        self.spend(u32::try_from(values.len()).unwrap_or(u32::MAX), at);
        Some(values.clone())
    }

    fn format(&mut self, node: &mut Node, value: &Value, at: &Pointer<'_>) {
        match value.as_str().and_then(format) {
            Some(known) if known.number.is_some() => numbers(node).format = Some(known),
            Some(known) => texts(node).format = Some(known),
            None => self.wrong(at, "a known format", value),
        }
    }

    fn branches(&mut self, value: &Value, at: &Pointer<'_>, depth: usize) -> Vec<Node> {
        let branches = value.as_array().filter(|branches| !branches.is_empty());
        let branches = self.must(at, "a list with at least one schema", value, branches);
        let branches = branches.into_iter().flatten().enumerate();
        branches.map(|(index, branch)| self.node(branch, &at.index(index), depth + 1)).collect()
    }

    fn names(&mut self, value: &Value, at: &Pointer<'_>) -> Vec<String> {
        let names = value.as_array().map(|names| names.iter().map(Value::as_str));
        let names = names.and_then(|names| names.collect::<Option<Vec<_>>>());
        let names = self.must(at, "a list of names", value, names).unwrap_or_default();
        self.spend(u32::try_from(names.len()).unwrap_or(u32::MAX), at);
        names.into_iter().map(str::to_owned).collect()
    }

    fn members<'v>(&mut self, value: &'v Value, at: &Pointer<'_>) -> Option<&'v Object> {
        self.must(at, "an object of schemas", value, value.as_object())
    }

    fn number(&mut self, value: &Value, at: &Pointer<'_>) -> Option<Number> {
        self.must(at, "a number", value, value.as_number()).cloned()
    }

    fn positive(&mut self, value: &Value, at: &Pointer<'_>) -> Option<f64> {
        let number = value.as_f64().filter(|number| *number > 0.0);
        self.must(at, "a number above zero", value, number)
    }

    fn count(&mut self, value: &Value, at: &Pointer<'_>) -> Option<u64> {
        self.must(at, "a whole number from zero", value, count_of(value))
    }

    fn flag(&mut self, value: &Value, at: &Pointer<'_>) -> bool {
        self.must(at, "a boolean", value, value.as_bool()).unwrap_or(false)
    }

    fn pattern_value(&mut self, value: &Value, at: &Pointer<'_>) -> Option<Pattern> {
        let text = self.must(at, "a regular expression", value, value.as_str())?;
        self.pattern(text, at)
    }

    fn pattern(&mut self, text: &str, at: &Pointer<'_>) -> Option<Pattern> {
        if self.quota.patterns == 0 {
            self.full(at, "the contract has too many patterns");
            return None;
        }
        match Pattern::compile(text) {
            Ok(pattern) => {
                self.quota.patterns = self.quota.patterns.saturating_sub(pattern.weight());
                return Some(pattern);
            }
            Err(PatternError::TooLarge) => {
                self.too_large(at, "the pattern is too long, or repeats too much".into());
            }
            Err(PatternError::Invalid) => {
                let message = "the pattern is not a regular expression that runs in linear time; \
                               look-around and back-references are not supported";
                self.invalid(at, message.into(), "a regular expression", text);
            }
        }
        None
    }

    /// Takes from the quota; `false` if it is used up.
    fn spend(&mut self, nodes: u32, at: &Pointer<'_>) -> bool {
        let left = self.quota.nodes.checked_sub(nodes);
        match left {
            Some(left) => self.quota.nodes = left,
            None => self.full(at, "the schemas of the contract have too many parts"),
        }
        left.is_some()
    }

    fn full(&mut self, at: &Pointer<'_>, message: &str) {
        if !self.is_full {
            self.is_full = true;
            self.too_large(at, message.to_owned());
        }
    }

    fn too_large(&mut self, at: &Pointer<'_>, message: String) {
        let violation = Violation::new(field_path(self.field, at), message);
        self.report(violation.of_code(Code::GguiCtrSchemaTooLarge));
    }

    fn wrong(&mut self, at: &Pointer<'_>, expected: &str, found: &Value) {
        self.invalid(at, format!("must be {expected}"), expected, &show(found));
    }

    fn invalid(&mut self, at: &Pointer<'_>, message: String, expected: &str, received: &str) {
        let violation = Violation::new(field_path(self.field, at), message);
        let violation = violation.expecting(expected, shorten(received));
        self.report(violation.of_code(Code::GguiCtrSchemaMetaInvalid));
    }

    fn report(&mut self, violation: Violation) {
        if self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(violation);
        }
    }
}

fn numbers(node: &mut Node) -> &mut Numbers {
    node.numbers.get_or_insert_default()
}

fn texts(node: &mut Node) -> &mut Texts {
    node.texts.get_or_insert_default()
}

fn lists(node: &mut Node) -> &mut Lists {
    node.lists.get_or_insert_default()
}

fn objects(node: &mut Node) -> &mut Objects {
    node.objects.get_or_insert_default()
}
