//! The payloads of `_ggui:preview`: messages of A2UI 0.9, with the components of one catalog.
//!
//! Unknown members are allowed, as in A2UI; unknown messages and components are not.

use accord_contract::{Object, Value, rule};

use crate::violation::{Violation, listed, show, type_name};

const VERSION: &str = "v0.9";

pub const CATALOG: &str = "ggui.preview.v1";

/// The messages: their names, and whether they carry components.
const MESSAGES: [&str; 3] = ["createSurface", "updateComponents", "deleteSurface"];

pub const COMPONENTS: [&str; 12] = [
    "Row",
    "Column",
    "Card",
    "List",
    "Divider",
    "Text",
    "Image",
    "Icon",
    "Button",
    "TextField",
    "CheckBox",
    "ChoicePicker",
];

#[derive(Clone, Copy)]
enum Rule {
    Text,
    /// A text that is not empty.
    Name,
    Flag,
    Names,
    Options,
    OneOf(&'static [&'static str]),
}

const ALIGN: Rule = Rule::OneOf(&["start", "center", "end", "stretch"]);
const JUSTIFY: Rule = Rule::OneOf(&["start", "center", "end", "between", "around", "evenly"]);
const ROW: &[Member] = &[
    ("children", Rule::Names, false),
    ("gap", Rule::Text, false),
    ("align", ALIGN, false),
    ("justify", JUSTIFY, false),
];

/// A name, its rule, and whether it is required.
type Member = (&'static str, Rule, bool);

/// The members of a component, beside `id` and `component`.
fn members_of(component: &str) -> &'static [Member] {
    match component {
        "Row" | "Column" => ROW,
        "Card" => &[("child", Rule::Name, false)],
        "List" => &[("children", Rule::Names, false)],
        "Divider" => &[("orientation", Rule::OneOf(&["horizontal", "vertical"]), false)],
        "Text" => &[("text", Rule::Text, true), ("variant", Rule::Text, false)],
        "Image" => &[("src", Rule::Name, true), ("alt", Rule::Text, false)],
        "Icon" => &[("name", Rule::Name, true)],
        "Button" => &[("label", Rule::Text, true)],
        "TextField" => &[
            ("label", Rule::Text, false),
            ("placeholder", Rule::Text, false),
            ("value", Rule::Text, false),
        ],
        "CheckBox" => &[("label", Rule::Text, false), ("checked", Rule::Flag, false)],
        "ChoicePicker" => &[
            ("label", Rule::Text, false),
            ("options", Rule::Options, false),
            ("value", Rule::Text, false),
        ],
        _ => &[],
    }
}

/// Clauses: GGUI-RESERVED-PREVIEW.
pub(super) fn check(payload: &Value) -> Vec<Violation> {
    let Value::Object(message) = payload else {
        let violation = Violation::new("payload", "a payload of _ggui:preview is an object");
        return vec![violation.expecting("object", type_name(payload))];
    };
    let mut check = Check { violations: Vec::new() };
    if message.get("version").and_then(Value::as_str) != Some(VERSION) {
        check.report("version", VERSION, message.get("version"));
    }
    let found: Vec<_> = MESSAGES.into_iter().filter(|name| message.contains_key(*name)).collect();
    match found.as_slice() {
        [name] => check.body(name, message.get(*name)),
        found => {
            let violation = Violation::new("payload", "a message of A2UI has one of its names");
            let expected = MESSAGES.join(" | ");
            check.violations.push(violation.expecting(expected, listed(found.iter().copied())));
        }
    }
    check.violations
}

struct Check {
    violations: Vec<Violation>,
}

impl Check {
    fn report(&mut self, field: &str, expected: &str, found: Option<&Value>) {
        if self.violations.len() < crate::violation::MOST_VIOLATIONS {
            let received = found.map_or_else(|| "undefined".to_owned(), show);
            let violation = Violation::new(field, format!("must be {expected}"));
            self.violations.push(violation.expecting(expected, received));
        }
    }

    fn body(&mut self, name: &str, body: Option<&Value>) {
        let Some(Value::Object(members)) = body else { return self.report(name, "object", body) };
        self.member(members, name, &("surfaceId", Rule::Name, true));
        match name {
            "createSurface" => {
                self.member(members, name, &("catalogId", Rule::OneOf(&[CATALOG]), true));
            }
            "updateComponents" => {
                let field = format!("{name}.components");
                match members.get("components") {
                    Some(Value::Array(components)) => {
                        for (index, component) in components.iter().enumerate() {
                            self.component(component, &format!("{field}[{index}]"));
                        }
                    }
                    other => self.report(&field, "array", other),
                }
            }
            _ => {}
        }
    }

    fn component(&mut self, component: &Value, field: &str) {
        let Value::Object(members) = component else {
            return self.report(field, "object", Some(component));
        };
        self.member(members, field, &("id", Rule::Name, true));
        let known = rule!(Rule::OneOf(&COMPONENTS); AnyComponent => Rule::Name);
        self.member(members, field, &("component", known, true));
        let name = members.get("component").and_then(Value::as_str).unwrap_or_default();
        for member in members_of(name) {
            self.member(members, field, member);
        }
    }

    fn member(&mut self, members: &Object, field: &str, (name, rule, required): &Member) {
        let place = format!("{field}.{name}");
        let Some(value) = members.get(*name) else {
            if *required {
                self.report(&place, &expected(*rule), None);
            }
            return;
        };
        let is_text = |value: &Value| value.as_str().is_some();
        let is_name = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let is_option = |option: &Value| {
            ["label", "value"].iter().all(|name| option.get(name).is_some_and(is_text))
        };
        let holds = match rule {
            Rule::Text => is_text(value),
            Rule::Name => is_name(value),
            Rule::Flag => value.is_boolean(),
            Rule::Names => value.as_array().is_some_and(|names| names.iter().all(is_name)),
            Rule::Options => value.as_array().is_some_and(|all| all.iter().all(is_option)),
            Rule::OneOf(names) => value.as_str().is_some_and(|text| names.contains(&text)),
        };
        if !holds {
            self.report(&place, &expected(*rule), Some(value));
        }
    }
}

fn expected(rule: Rule) -> String {
    match rule {
        Rule::Text => "string".into(),
        Rule::Name => "a string that is not empty".into(),
        Rule::Flag => "boolean".into(),
        Rule::Names => "a list of ids".into(),
        Rule::Options => "a list of options with label and value".into(),
        Rule::OneOf(names) => names.join(" | "),
    }
}
