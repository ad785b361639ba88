//! What schemas accept, and what they report.

use accord_contract::Code;
use accord_live_core::schema::{Schema, close};
use accord_live_core::violation::Violation;
use serde_json::{Value, json};

fn compiled(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|found| panic!("{schema}: {found:?}"))
}

fn refused(schema: &Value) -> Vec<Violation> {
    Schema::compile(schema).expect_err(&schema.to_string())
}

/// The fields and keywords of the violations of a value.
fn found(schema: &Value, value: &Value) -> Vec<(String, String)> {
    let violations = compiled(schema).check(value, "");
    assert_eq!(violations.is_empty(), compiled(schema).accepts(value), "{schema} {value}");
    let keyword = |violation: Violation| (violation.field, violation.keyword.expect("a keyword"));
    violations.into_iter().map(keyword).collect()
}

fn one(schema: Value, value: Value, field: &str, keyword: &str) {
    assert_eq!(
        found(&schema, &value),
        [(field.to_owned(), keyword.to_owned())],
        "{schema} {value}"
    );
}

#[test]
fn every_keyword_is_enforced_and_named() {
    one(json!({"type": "string"}), json!(1), "", "type");
    one(json!({"type": ["string", "null"]}), json!(true), "", "type");
    one(json!({"type": "integer"}), json!(1.5), "", "type");
    one(json!({"type": "string", "enum": ["a", "b"]}), json!("c"), "", "enum");
    one(json!({"type": "number", "const": 1}), json!(2), "", "const");
    one(json!({"type": "number", "minimum": 1}), json!(0.5), "", "minimum");
    one(json!({"type": "number", "maximum": 1}), json!(1.5), "", "maximum");
    one(json!({"type": "number", "exclusiveMinimum": 1}), json!(1), "", "exclusiveMinimum");
    one(json!({"type": "number", "exclusiveMaximum": 1}), json!(1.0), "", "exclusiveMaximum");
    one(json!({"type": "number", "multipleOf": 0.1}), json!(0.35), "", "multipleOf");
    one(json!({"type": "string", "minLength": 2}), json!("é"), "", "minLength");
    one(json!({"type": "string", "maxLength": 1}), json!("éé"), "", "maxLength");
    one(json!({"type": "string", "pattern": "^a+$"}), json!("b"), "", "pattern");
    one(json!({"type": "string", "format": "date"}), json!("2026-02-30"), "", "format");
    one(json!({"type": "integer", "format": "int32"}), json!(3_000_000_000_u64), "", "format");
    one(json!({"type": "array", "items": {"type": "string"}}), json!(["a", 1]), "[1]", "type");
    one(json!({"type": "array", "items": true, "minItems": 1}), json!([]), "", "minItems");
    one(json!({"type": "array", "items": true, "maxItems": 1}), json!([1, 2]), "", "maxItems");
    one(json!({"type": "array", "uniqueItems": true}), json!([1, 2, 1.0]), "", "uniqueItems");
    one(json!({"type": "object", "minProperties": 1}), json!({}), "", "minProperties");
    let open = json!({"type": "object", "additionalProperties": true, "maxProperties": 1});
    one(open, json!({"a": 1, "b": 2}), "", "maxProperties");
    let patterns = json!({"type": "object", "patternProperties": {"^n": {"type": "number"}}});
    one(patterns.clone(), json!({"n1": "x"}), "n1", "type");
    one(patterns, json!({"m": 1}), "m", "additionalProperties");
    one(
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}),
        json!({}),
        "id",
        "required",
    );
    one(json!({"type": "string", "allOf": [{"minLength": 2}]}), json!("a"), "", "minLength");
    one(json!({"type": "string", "not": {"const": "a"}}), json!("a"), "", "not");
    one(
        json!({"type": "object", "properties": {"a": false}}),
        json!({"a": 1}),
        "a",
        "false schema",
    );
}

#[test]
fn every_violation_of_a_value_is_reported_at_its_place() {
    let schema = json!({
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string"},
            "todos": {"type": "array", "items": {
                "type": "object",
                "properties": {"done": {"type": "boolean"}, "id": {"type": "integer"}},
            }},
        },
    });
    let value = json!({"todos": [{"done": 1, "id": "x", "extra": null}], "more": 1});
    let places = [
        ("title", "required"),
        ("todos[0].done", "type"),
        ("todos[0].id", "type"),
        ("todos[0].extra", "additionalProperties"),
        ("more", "additionalProperties"),
    ];
    let places: Vec<_> = places.iter().map(|(f, k)| ((*f).to_owned(), (*k).to_owned())).collect();
    assert_eq!(found(&schema, &value), places);
    let violations = compiled(&schema).check(&json!({}), "submit.data");
    assert_eq!(violations[0].field, "submit.data.title");
    assert_eq!(violations[0].received.as_deref(), Some("undefined"));
    let violations = compiled(&schema).check(&json!(7), "submit.data");
    assert_eq!(violations[0].field, "submit.data");
}

#[test]
fn no_value_is_converted_and_whole_numbers_are_integers() {
    let accepts = |schema: Value, value: Value| compiled(&schema).accepts(&value);
    assert!(!accepts(json!({"type": "number"}), json!("5")));
    assert!(!accepts(json!({"type": "boolean"}), json!(1)));
    assert!(!accepts(json!({"type": "string"}), json!(null)));
    assert!(accepts(json!({"type": "integer"}), json!(5.0)));
    assert!(accepts(json!({"type": "number"}), json!(5)));
    assert!(accepts(json!({"type": "integer"}), json!(18_446_744_073_709_551_615_u64)));
    assert!(accepts(json!({"type": "number", "multipleOf": 0.1}), json!(0.3)));
    // A default is not filled in.
    let schema = json!({"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string", "default": "x"}}});
    assert!(!accepts(schema, json!({})));
}

#[test]
fn nullable_adds_null_to_the_types() {
    let schema = compiled(&json!({"type": "string", "nullable": true}));
    assert!(schema.accepts(&json!(null)) && schema.accepts(&json!("a")));
    assert!(!compiled(&json!({"type": "string", "nullable": false})).accepts(&json!(null)));
    // An enum does not have null unless it lists it.
    let listed = json!({"type": "string", "nullable": true, "enum": ["a"]});
    assert!(!compiled(&listed).accepts(&json!(null)));
}

#[test]
fn branches_say_what_each_of_them_misses() {
    let any = json!({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 5}]});
    let keywords: Vec<_> = found(&any, &json!(1)).into_iter().map(|(_, k)| k).collect();
    assert_eq!(keywords, ["type", "minimum", "anyOf"]);
    assert!(compiled(&any).accepts(&json!("a")) && compiled(&any).accepts(&json!(5)));
    let one_of = json!({"oneOf": [{"type": "number"}, {"type": "integer"}]});
    one(one_of.clone(), json!(1), "", "oneOf");
    assert!(compiled(&one_of).accepts(&json!(1.5)));
}

#[test]
fn objects_are_closed_unless_they_say_otherwise() {
    let accepts = |schema: &Value, value: Value| compiled(schema).accepts(&value);
    let free = json!({"type": "object"});
    assert!(accepts(&free, json!({})) && !accepts(&free, json!({"a": 1})));
    let open = json!({"type": "object", "additionalProperties": true});
    assert!(accepts(&open, json!({"a": 1})));
    let untyped = json!({"properties": {"a": {"type": "object"}}});
    assert!(accepts(&untyped, json!({"a": {}})));
    assert!(!accepts(&untyped, json!({"b": 1})) && !accepts(&untyped, json!({"a": {"b": 1}})));
    let nested = json!({
        "type": ["array", "null"],
        "items": {"oneOf": [{"type": ["object", "null"]}, {"type": "string"}]},
    });
    assert!(accepts(&nested, json!([{}, null, "a"])) && !accepts(&nested, json!([{"a": 1}])));
    let map = json!({"type": "object", "additionalProperties": {"type": "object"}});
    assert!(accepts(&map, json!({"a": {}})) && !accepts(&map, json!({"a": {"b": 1}})));
}

#[test]
fn closing_changes_schemas_and_not_values() {
    let schema = json!({"type": "object", "properties": {"type": {
        "type": "string", "enum": ["object"], "default": {"type": "object"},
    }}});
    assert_eq!(
        close(&schema),
        json!({"type": "object", "additionalProperties": false, "properties": {"type": {
            "type": "string", "enum": ["object"], "default": {"type": "object"},
        }}})
    );
    assert_eq!(close(&json!(true)), json!(true));
}

#[test]
fn a_schema_with_an_error_is_refused_at_its_place() {
    for (schema, field) in [
        (json!({"type": "text"}), "type"),
        (json!({"type": []}), "type"),
        (json!({"type": ["string", "string"]}), "type"),
        (json!({"type": "string", "enum": []}), "enum"),
        (json!({"type": "string", "format": "telephone"}), "format"),
        (json!({"type": "string", "pattern": "("}), "pattern"),
        (json!({"type": "string", "pattern": "(?=a)"}), "pattern"),
        (json!({"type": "string", "pattern": "(a)\\1"}), "pattern"),
        (json!({"type": "string", "minLength": -1}), "minLength"),
        (json!({"type": "number", "minimum": "1"}), "minimum"),
        (json!({"type": "number", "multipleOf": 0}), "multipleOf"),
        (json!({"type": "array", "uniqueItems": 1}), "uniqueItems"),
        (json!({"type": "array", "items": [{"type": "string"}]}), "items"),
        (json!({"type": "object", "required": "id"}), "required"),
        (json!({"type": "object", "properties": []}), "properties"),
        (json!({"type": "object", "properties": {"a": {"requird": []}}}), "properties.a.requird"),
        (json!({"anyOf": []}), "anyOf"),
        (json!({"oneOf": [{"type": "string"}, 7]}), "oneOf[1]"),
        (json!({"$ref": "#/definitions/a"}), "$ref"),
        (json!({"type": "object", "if": true}), "if"),
        (json!("string"), ""),
    ] {
        let violations = refused(&schema);
        assert_eq!(violations[0].field, field, "{schema}");
        assert_eq!(violations[0].known_code(), Some(Code::GguiCtrSchemaMetaInvalid), "{schema}");
        assert_eq!(violations[0].keyword, None, "{schema}");
    }
    // Every error of a schema is reported.
    assert_eq!(refused(&json!({"type": 1, "format": 2, "enum": 3})).len(), 3);
}

#[test]
fn notes_say_nothing_about_values() {
    compiled(&json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "$id": "a", "$comment": "b",
        "title": "c", "description": "d", "type": "string", "default": 1, "example": 2,
        "examples": [3], "aliases": [], "readOnly": true, "x-control": "slider",
    }));
}

#[test]
fn patterns_are_those_of_ecmascript() {
    let matches = |pattern: &str, text: &str| {
        compiled(&json!({"type": "string", "pattern": pattern})).accepts(&json!(text))
    };
    assert!(matches(r"^\d{3}-\w+$", "123-ab_c"));
    // Digits and letters are those of ASCII, as in ECMAScript.
    assert!(!matches(r"^\d$", "٣") && !matches(r"^\w$", "é"));
    assert!(matches(r"b", "abc"), "a pattern is not anchored");
    assert!(matches(r"^\u0061$", "a") && matches(r"^[\w.+-]+@x\/y$", "a.b@x/y"));
    assert!(matches(r"^\p{L}+$", "né"));
}

#[test]
fn formats_assert() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("date", &["2024-02-29", "2026-11-16"], &["2026-02-29", "2026-1-1", "26-01-01", "x"]),
        (
            "time",
            &["10:20:30Z", "10:20:30.5+01:00", "23:59:60Z"],
            &["10:20:30", "24:00:00Z", "10:00:60Z"],
        ),
        (
            "date-time",
            &["2026-08-20T10:00:00Z", "2026-08-20t10:00:00-05:30"],
            &["2026-08-20", "2026-08-20T10:00:00"],
        ),
        ("iso-time", &["10:20:30"], &["10:20"]),
        ("iso-date-time", &["2026-08-20T10:00:00"], &["2026-08-20T"]),
        (
            "duration",
            &["P1D", "PT1H30M", "P1Y2M3DT4H5M6S", "P2W"],
            &["P", "PT", "1D", "P1DT", "P1H", "P1D2Y"],
        ),
        (
            "email",
            &["a.b+c@example.org"],
            &["a@", "@b.c", "a b@c.d", "a@localhost", "a..b@c.d", "a@b.c."],
        ),
        ("hostname", &["example.org", "a-b.c"], &["-a.b", "a..b", "a_b", ""]),
        ("ipv4", &["127.0.0.1"], &["127.0.0.256", "127.1", "01.2.3.4"]),
        ("ipv6", &["::1", "2001:db8::1"], &["1::2::3", "12345::", "127.0.0.1"]),
        (
            "uri",
            &["https://example.org/a?b#c", "urn:isbn:1", "mailto:a@b"],
            &["/a", "not a uri", "http://[::1", "a:%zz"],
        ),
        ("uri-reference", &["/a/b?c", "#d", "../x", ""], &["a b", "1:x", "\\x"]),
        ("uri-template", &["/a/{b}", "{?x,y*}"], &["/a/{b", "}", "{}"]),
        (
            "url",
            &["https://example.com/a", "http://localhost:8080"],
            &["not a url", "mailto:a@b", "https://", "https://a b"],
        ),
        (
            "uuid",
            &["123e4567-e89b-12d3-a456-426614174000"],
            &["123e4567e89b12d3a456426614174000", "x"],
        ),
        ("regex", &["^a+$"], &["("]),
        ("json-pointer", &["", "/a/~0b~1"], &["a", "/~2", "/~"]),
        ("relative-json-pointer", &["0", "1/a", "2#"], &["01", "/a", "-1"]),
        ("byte", &["aGk=", ""], &["aGk", "%"]),
        ("password", &["x"], &[]),
    ];
    for (format, good, bad) in cases {
        let schema = compiled(&json!({"type": "string", "format": format}));
        for text in *good {
            assert!(schema.accepts(&json!(text)), "{format}: {text}");
        }
        for text in *bad {
            assert!(!schema.accepts(&json!(text)), "{format}: {text}");
        }
    }
    assert!(Schema::compile(&json!({"type": "string", "format": "telephone"})).is_err());
    let int64 = compiled(&json!({"type": "number", "format": "int64"}));
    assert!(int64.accepts(&json!(i64::MIN)) && !int64.accepts(&json!(0.5)));
}
