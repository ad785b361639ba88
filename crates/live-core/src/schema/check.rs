//! Checking a value against a compiled schema.
//!
//! Clauses: GGUI-SCHEMA-ALL-ERRORS, GGUI-SCHEMA-NO-COERCION, GGUI-SCHEMA-LIMITS,
//! GGUI-VIOLATION-KEYWORD.

use std::cmp::Ordering;

use accord_contract::wire::{Number, Pointer, compare_numbers, same};
use accord_contract::{Code, Object, Value, rule};

use super::formats::Format;
use super::node::{Lists, Node, Numbers, Objects, Texts};
use crate::violation::{MOST_VIOLATIONS, Violation, field_path, listed, shorten, show, type_name};

/// The steps of one check. A step is one schema at one place, or some bytes of a text.
const MOST_STEPS: u64 = 1_000_000;

/// The most bytes of a text that is matched against a pattern.
const MOST_PATTERN_TEXT: usize = 65_536;

pub(super) fn check(node: &Node, value: &Value, field: &str) -> Vec<Violation> {
    let mut steps = MOST_STEPS;
    let mut walk = Walk::new(field, &mut steps, false);
    walk.node(node, value, &Pointer::Root);
    let mut violations = walk.violations;
    if rule!(false; FirstErrorOnly => true) {
        violations.truncate(1);
    }
    if steps == 0 {
        let message = "checking the value takes too many steps";
        let violation = Violation::new(field, message).of_code(Code::GguiCtrValueTooComplex);
        violations.truncate(MOST_VIOLATIONS - 1);
        violations.push(violation);
    }
    violations
}

pub(super) fn accepts(node: &Node, value: &Value) -> bool {
    let mut steps = MOST_STEPS;
    let mut walk = Walk::new("", &mut steps, true);
    walk.node(node, value, &Pointer::Root);
    let has_failed = walk.has_failed;
    !has_failed && steps > 0
}

struct Walk<'a> {
    field: &'a str,
    /// Shared by the walks through the branches of a schema.
    steps: &'a mut u64,
    /// Only whether something is wrong is asked for, so that no messages are made.
    is_probe: bool,
    has_failed: bool,
    violations: Vec<Violation>,
}

impl<'a> Walk<'a> {
    fn new(field: &'a str, steps: &'a mut u64, is_probe: bool) -> Self {
        Self { field, steps, is_probe, has_failed: false, violations: Vec::new() }
    }

    fn node(&mut self, node: &Node, value: &Value, at: &Pointer<'_>) {
        if !self.spend(1) {
            return;
        }
        if node.is_never {
            return self.fail(at, "false schema", || ("no value is allowed here".into(), None));
        }
        if let Some(types) = node.types.filter(|types| !types.accept(value)) {
            return self.fail(at, "type", || {
                (format!("must be {types}"), Some((types.to_string(), type_name(value).into())))
            });
        }
        if let Some(values) = &node.values {
            self.spend(values.len() as u64);
            if !values.iter().any(|allowed| same(allowed, value)) {
                self.fail(at, "enum", || one_of(values, value));
            }
        }
        if let Some(constant) = node.constant.as_ref().filter(|constant| !same(constant, value)) {
            self.fail(at, "const", || one_of(std::slice::from_ref(constant), value));
        }
        if let (Value::Number(number), Some(rules)) = (value, &node.numbers) {
            self.number(rules, number, at);
        }
        if let (Value::String(text), Some(rules)) = (value, &node.texts) {
            self.text(rules, text, at);
        }
        if let (Value::Array(items), Some(rules)) = (value, &node.lists) {
            self.list(rules, items, at);
        }
        if let (Value::Object(members), Some(rules)) = (value, &node.objects) {
            self.object(rules, members, at);
        }
        self.branches(node, value, at);
    }

    fn number(&mut self, rules: &Numbers, number: &Number, at: &Pointer<'_>) {
        type Bound<'r> = (&'static str, &'r Option<Number>, &'static str, fn(Ordering) -> bool);
        let bounds: [Bound<'_>; 4] = [
            ("minimum", &rules.minimum, "at least", Ordering::is_ge),
            ("maximum", &rules.maximum, "at most", Ordering::is_le),
            ("exclusiveMinimum", &rules.above, "more than", Ordering::is_gt),
            ("exclusiveMaximum", &rules.below, "less than", Ordering::is_lt),
        ];
        for (keyword, bound, words, holds) in bounds {
            if let Some(bound) = bound.as_ref().filter(|b| !holds(compare_numbers(number, b))) {
                self.fail(at, keyword, || expected(format!("{words} {bound}"), number.to_string()));
            }
        }
        if let Some(step) = rules.multiple_of.filter(|step| !is_multiple(number, *step)) {
            let why = || expected(format!("a multiple of {step}"), number.to_string());
            self.fail(at, "multipleOf", why);
        }
        if let Some(Format { name, number: Some(is_one), .. }) = rules.format
            && !is_one(number)
        {
            self.fail(at, "format", || expected(format!("of format {name}"), number.to_string()));
        }
    }

    fn text(&mut self, rules: &Texts, text: &str, at: &Pointer<'_>) {
        self.spend(text.len() as u64 / 64);
        let shown = || show(&Value::from(shorten(text).into_owned()));
        if rules.least.is_some() || rules.most.is_some() {
            let length = text.chars().count() as u64;
            let limits = [("minLength", rules.least), ("maxLength", rules.most)];
            self.count(length, limits, "characters", at);
        }
        if let Some(pattern) = &rules.pattern {
            let is_short = text.len() <= MOST_PATTERN_TEXT;
            if !is_short || !self.spend(pattern.cost(text)) || !pattern.matches(text) {
                self.fail(at, "pattern", || {
                    let pattern = shorten(pattern.text());
                    expected(format!("a text that matches {pattern}"), shown())
                });
            }
        }
        if let Some(Format { name, text: is_one, .. }) = rules.format
            && rule!(!is_one(text); FormatsAnnotate => false)
        {
            self.fail(at, "format", || expected(format!("of format {name}"), shown()));
        }
    }

    /// Checks how many characters, items or members there are.
    fn count(&mut self, count: u64, limits: [(&str, Option<u64>); 2], of: &str, at: &Pointer<'_>) {
        let [(at_least, least), (at_most, most)] = limits;
        let why = |words: &str, limit| expected(format!("{words} {limit} {of}"), count.to_string());
        if let Some(least) = least.filter(|least| count < *least) {
            self.fail(at, at_least, || why("at least", least));
        }
        if let Some(most) = most.filter(|most| count > *most) {
            self.fail(at, at_most, || why("at most", most));
        }
    }

    fn list(&mut self, rules: &Lists, items: &[Value], at: &Pointer<'_>) {
        let limits = [("minItems", rules.least), ("maxItems", rules.most)];
        self.count(items.len() as u64, limits, "items", at);
        if rules.is_unique && !self.are_unique(items) {
            let why = || expected("different items".into(), "equal items".into());
            self.fail(at, "uniqueItems", why);
        }
        if let Some(schema) = &rules.items {
            for (index, item) in items.iter().enumerate() {
                if self.is_done() {
                    return;
                }
                self.node(schema, item, &at.index(index));
            }
        }
    }

    fn are_unique(&mut self, items: &[Value]) -> bool {
        let mut earlier = items.iter().enumerate();
        earlier.all(|(index, item)| {
            self.spend(index as u64) && !items[..index].iter().any(|other| same(other, item))
        })
    }

    fn object(&mut self, rules: &Objects, members: &Object, at: &Pointer<'_>) {
        for name in rules.required.iter().filter(|name| !members.contains_key(*name)) {
            self.fail(&at.member(name), "required", || {
                let message = format!("'{}' is required and is missing", shorten(name));
                (message, Some(("present".into(), "undefined".into())))
            });
        }
        let limits = [("minProperties", rules.least), ("maxProperties", rules.most)];
        self.count(members.len() as u64, limits, "members", at);
        for (name, value) in members {
            if self.is_done() {
                return;
            }
            self.member(rules, name, value, &at.member(name));
        }
    }

    fn member(&mut self, rules: &Objects, name: &str, value: &Value, at: &Pointer<'_>) {
        let declared = rules.properties.get(name);
        if let Some(schema) = declared {
            self.node(schema, value, at);
        }
        let mut is_declared = declared.is_some();
        for (pattern, schema) in &rules.patterns {
            let is_short = name.len() <= MOST_PATTERN_TEXT;
            if is_short && self.spend(pattern.cost(name)) && pattern.matches(name) {
                is_declared = true;
                self.node(schema, value, at);
            }
        }
        match &rules.additional {
            Some(schema) if !is_declared && schema.is_never => {
                self.spend(1);
                self.fail(at, "additionalProperties", || {
                    let names = listed(rules.properties.keys().map(String::as_str));
                    let message = format!("'{}' is not declared; declared: {names}", shorten(name));
                    (message, Some(("a declared member".into(), type_name(value).into())))
                });
            }
            Some(schema) if !is_declared => self.node(schema, value, at),
            _ => {}
        }
    }

    fn branches(&mut self, node: &Node, value: &Value, at: &Pointer<'_>) {
        for schema in &node.all {
            self.node(schema, value, at);
        }
        if !node.any.is_empty() && !node.any.iter().any(|schema| self.probe(schema, value)) {
            self.explain(&node.any, value, at);
            self.fail(at, "anyOf", || {
                expected(format!("one of {} shapes", node.any.len()), type_name(value).into())
            });
        }
        if !node.one.is_empty() {
            let matching = node.one.iter().filter(|schema| self.probe(schema, value)).count();
            if matching != 1 {
                if matching == 0 {
                    self.explain(&node.one, value, at);
                }
                self.fail(at, "oneOf", || {
                    let count = node.one.len();
                    let found = format!("{matching} that match");
                    expected(format!("exactly one of {count} shapes"), found)
                });
            }
        }
        if let Some(schema) = &node.not
            && self.probe(schema, value)
        {
            self.fail(at, "not", || expected("another shape".into(), "the excluded one".into()));
        }
    }

    fn probe(&mut self, schema: &Node, value: &Value) -> bool {
        let mut walk = Walk::new("", self.steps, true);
        walk.node(schema, value, &Pointer::Root);
        !walk.has_failed
    }

    fn explain(&mut self, branches: &[Node], value: &Value, at: &Pointer<'_>) {
        if !self.is_probe {
            for branch in branches {
                self.node(branch, value, at);
            }
        }
    }

    fn is_done(&self) -> bool {
        let is_decided =
            if self.is_probe { self.has_failed } else { self.violations.len() >= MOST_VIOLATIONS };
        *self.steps == 0 || is_decided
    }

    /// Takes steps; `false` if nothing more is to be checked.
    fn spend(&mut self, steps: u64) -> bool {
        *self.steps = self.steps.saturating_sub(steps);
        !self.is_done()
    }

    fn fail(&mut self, at: &Pointer<'_>, keyword: &str, why: impl FnOnce() -> Why) {
        self.has_failed = true;
        if self.is_probe || self.violations.len() >= MOST_VIOLATIONS {
            return;
        }
        let (message, expected) = why();
        let mut violation = Violation::new(field_path(self.field, at), message);
        if let Some((expected, received)) = expected {
            violation = violation.expecting(expected, received);
        }
        self.violations.push(violation.of_keyword(keyword));
    }
}

/// A message, and what was expected and received.
type Why = (String, Option<(String, String)>);

fn expected(expected: String, received: String) -> Why {
    (format!("must be {expected}"), Some((expected, received)))
}

fn one_of(values: &[Value], received: &Value) -> Why {
    let values: Vec<_> = values.iter().take(20).map(show).collect();
    let values = values.join(" | ");
    (format!("must be one of {values}"), Some((values, show(received))))
}

/// Whether a number is a multiple. Decimal fractions have no exact binary form, so that 0.3 counts
/// as a multiple of 0.1.
fn is_multiple(number: &Number, step: f64) -> bool {
    let quotient = number.as_f64().unwrap_or(f64::NAN) / step;
    let distance = (quotient - quotient.round()).abs();
    distance <= quotient.abs().max(1.0) * 1e-9
}
