//! Forms from JSON Schemas.

use serde_json::json;

use crate::support::form;

fn has(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in\n{html}");
    }
}

#[test]
fn each_type_has_its_input() {
    let html = form(json!({
        "type": "object",
        "required": ["name", "ok"],
        "properties": {
            "name": {"type": "string", "maxLength": 40},
            "note": {"type": "string"},
            "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
            "rate": {"type": "number"},
            "ok": {"type": "boolean"},
            "size": {"enum": ["S", "M"], "default": "M"},
            "due": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "mail": {"type": "string", "format": "email"},
            "site": {"type": "string", "format": "uri"},
        },
    }));
    has(
        &html,
        &[
            "data-shape=\"object\"",
            "data-field=\"name\" data-name=\"name\" data-kind=\"text\" data-required>",
            "type=\"text\" aria-describedby=\"action-0-0-hint action-0-0-error\" \
             aria-required=\"true\"",
            "<textarea id=\"action-0-1\"",
            "data-kind=\"integer\"",
            "step=\"1\"",
            "min=\"1\" max=\"5\" value=\"2\"",
            "step=\"any\"",
            "<option value=\"&#34;M&#34;\" selected>M</option>",
            "type=\"date\"",
            "data-kind=\"date-time\"",
            "type=\"datetime-local\"",
            "type=\"email\"",
            "type=\"url\"",
            "A whole number, at least 1, at most 5",
            "At most 40 characters",
            "<span class=\"optional\">optional</span>",
        ],
    );
}

#[test]
fn the_name_of_an_action_stands_beside_a_label_that_hides_it() {
    let shown = |name: &str, label: &str| {
        let view = crate::support::view(json!({"actionSpec": {name: {"label": label}}}));
        view.actions().into_string().contains(&format!("{label} <code>{name}</code></button>"))
    };
    assert!(shown("approve", "Reject"));
    assert!(!shown("approve", "Approve the release"));
    assert!(!shown("send_back", "Send back"));
}

#[test]
fn every_input_has_a_label_and_a_place_for_its_error() {
    let html = form(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "object", "properties": {"c": {"type": "number"}}},
            "d": {"type": "array", "items": {"type": "string"}},
        },
    }));
    for id in html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id} is not unique");
    }
    for name in ["for=\"", "aria-describedby=\"", "aria-labelledby=\""] {
        for ids in html.split(name).skip(1).map(|rest| rest.split('"').next().unwrap()) {
            for id in ids.split(' ') {
                assert!(html.contains(&format!(" id=\"{id}\"")), "{name}{id} leads nowhere");
            }
        }
    }
    let inputs = html.matches("data-input").count();
    assert_eq!(html.matches("<label ").count(), inputs, "{html}");
}

#[test]
fn lists_groups_and_choices() {
    let html = form(json!({
        "type": "object",
        "required": ["tags", "address"],
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3,
                "default": ["a"]},
            "address": {"type": "object", "required": ["street"],
                "properties": {"street": {"type": "string", "maxLength": 60}}},
            "days": {"type": "array", "uniqueItems": true, "items": {"enum": ["mo", "tu"]},
                "default": ["tu"]},
            "plan": {"oneOf": [{"const": 1, "title": "Small"}, {"const": 2, "title": "Large"}]},
            "kind": {"const": "order"},
            "maybe": {"type": ["string", "null"], "maxLength": 9},
        },
    }));
    has(
        &html,
        &[
            "data-kind=\"list\" data-required data-values=\"[&#34;a&#34;]\" data-least=\"1\" \
         data-most=\"3\"",
            "<template><li>",
            "data-field=\"address.street\" data-name=\"street\"",
            "<input data-input type=\"checkbox\" value=\"&#34;tu&#34;\"",
            "<option value=\"2\">Large</option>",
            "data-kind=\"fixed\" data-value=\"&#34;order&#34;\"",
            "data-name=\"maybe\" data-kind=\"text\" data-nullable",
        ],
    );
}

#[test]
fn what_has_no_input_is_entered_as_json() {
    for schema in [
        json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
        json!({"type": ["string", "number"]}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "string"}}}}}),
        json!({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "object", "additionalProperties": {"type": "string"}}}}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "array"}),
        json!(true),
    ] {
        let html = form(schema.clone());
        assert!(html.contains("data-kind=\"json\""), "{schema}: {html}");
        assert!(html.contains("data-shape=\"value\""), "{schema}: {html}");
    }
}

#[test]
fn an_action_without_data_is_a_button() {
    let html = crate::support::view(json!({"actionSpec": {
        "stop": {"label": "Stop", "confirm": true},
        "go": {"label": "Go", "schema": {"type": "object"}},
    }}));
    let html = html.actions().into_string();
    has(
        &html,
        &[
            "data-action=\"stop\" data-shape=\"void\" data-confirm",
            "data-action=\"go\" data-shape=\"object\" aria-labelledby",
            "<button type=\"submit\" class=\"secondary\" id=\"action-0-title\">Stop</button>",
        ],
    );
    assert!(!html.contains("data-field"), "{html}");
}

#[test]
fn buttons_stand_together() {
    let data = json!({"type": "string"});
    let html = crate::support::view(json!({"actionSpec": {
        "one": {"label": "One"}, "two": {"label": "Two"}, "text": {"label": "Text", "schema": data},
        "three": {"label": "Three"},
    }}));
    let html = html.actions().into_string();
    let order = [
        "class=\"card choices\"",
        "\"one\"",
        "\"two\"",
        "</div>",
        "\"text\"",
        "class=\"card choices\"",
        "\"three\"",
    ];
    let mut rest = html.as_str();
    for part in order {
        let found = rest.find(part).unwrap_or_else(|| panic!("no {part} in {rest}"));
        rest = &rest[found + part.len()..];
    }
    assert_eq!(html.matches("<h3").count(), 1, "only a form has a heading: {html}");
}

#[test]
fn a_list_of_objects_has_a_group_for_each_entry() {
    let person = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"},
        "home": {"type": "object", "properties": {"city": {"type": "string"}}}}});
    let list = json!({"type": "array", "items": person, "default": [{"name": "Ada"}]});
    let html = form(json!({"type": "object", "properties": {"people": list}}));
    has(
        &html,
        &[
            "data-field=\"people\" data-name=\"people\" data-kind=\"list\" \
             data-values=\"[{&#34;name&#34;:&#34;Ada&#34;}]\"",
            "<template><li><fieldset class=\"field\" data-field=\"[]\"",
            "<legend>Entry</legend>",
            "data-field=\"[].name\" data-name=\"name\" data-kind=\"text\" data-required",
            "data-field=\"[].home.city\"",
        ],
    );
    assert!(!html.contains("data-kind=\"json\""), "{html}");
}

#[test]
fn an_object_without_members_is_left_out() {
    let empty = json!({"type": "object"});
    let html = form(json!({"type": "object", "required": ["must"], "properties": {
        "may": empty, "must": empty, "text": {"type": "string"}}}));
    assert!(!html.contains("data-field=\"may\""), "{html}");
    has(&html, &["data-field=\"must\"", "data-field=\"text\""]);
}

#[test]
fn large_and_deep_schemas_end_in_json() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    assert!(form(deep).matches("data-kind=\"json\"").count() == 1);
    let many: serde_json::Map<_, _> =
        (0..1_000).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
    let html = form(json!({"type": "object", "properties": many}));
    assert!(html.matches("<input").count() + html.matches("rows=\"2\"").count() <= 200);
    assert!(html.contains("data-field=\"f999\""), "nothing is left out");
}

/// As libraries write a value that need not be there.
#[test]
fn a_value_or_null_has_the_input_of_the_value() {
    let date = json!({"type": "string", "format": "date"});
    for keyword in ["anyOf", "oneOf"] {
        let due = json!({keyword: [date, {"type": "null"}], "default": null, "title": "Due"});
        let html = form(json!({"type": "object", "properties": {"due": due}, "required": ["due"]}));
        for part in ["type=\"date\"", "data-nullable", "data-kind=\"text\"", ">Due<"] {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert!(!html.contains("<textarea"), "{html}");
    }
    // A choice between two kinds of values is entered as JSON.
    let either = json!({"anyOf": [date, {"type": "number"}, {"type": "null"}]});
    let html = form(json!({"type": "object", "properties": {"due": either}}));
    assert!(html.contains("data-kind=\"json\""), "{html}");
}

#[test]
fn a_text_is_one_line_unless_its_name_or_its_limits_say_otherwise() {
    let text = json!({"type": "string"});
    let html = form(json!({"type": "object", "properties": {
        "branch": text, "owner_name": text, "review_comment": text,
        "story": {"type": "string", "maxLength": 2000},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"},
        "odd": {"type": "string", "pattern": "^(a|b)+$"},
    }}));
    assert_eq!(html.matches("<textarea").count(), 2, "{html}");
    // A pattern has a sentence, and stands beside it.
    has(
        &html,
        &[
            "2 capital letters, then “-”, then 4 digits",
            "In a form that the agent has set",
            "<summary>Exact form</summary><code>^[A-Z]{2}-\\d{4}$</code>",
        ],
    );
    assert!(!html.contains("form ^"), "{html}");
}
