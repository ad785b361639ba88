//! The promises of `message!` and `wire_enum!`, held against one message that
//! uses every feature.

use accord_contract::wire::{
    AliasState, DecodeErrorKind, False, Number, Ratio, check_aliases, count_of, integer_of,
    json_schema, snapshot_fields,
};
use accord_contract::{Extensible, Field, Object, Value, Wire, message, wire_enum};
use serde_json::json;

message! {
    /// Uses every feature
    /// of the declaration.
    pub struct Sample("Sample", open) {
        /// Constant.
        required ok: False = "ok", "success-flag";
        /// Plain text.
        required name: String = "name", "text";
        /// A share of the whole.
        optional share: Ratio = "share", "unit:ratio,range:0..1";
        /// Three states.
        nullable note: String = "note", "text";
        /// There, perhaps empty.
        required_or_null verdict: bool = "verdict", "truth";
        /// Anything but null.
        optional anything: Value = "anything", "opaque";
        /// How it stands.
        optional mood: Extensible<Mood> = "mood", "mood";
        /// Which colour.
        optional colour: Colour = "colour", "colour";
        /// Parts, which may have parts.
        optional parts: Vec<Part> = "parts", "parts";
        /// The part that matters.
        optional main: Part = "main", "part";
        /// Free members.
        optional free: Object = "free", "opaque";
    }
    aliases { "title" => "name", "first" => "main.count" }

    /// A part of a sample.
    pub struct Part("Part", closed) {
        /// How many.
        required count: u64 = "count", "count";
        /// Parts of the part.
        optional parts: Vec<Part> = "parts", "parts";
    }
}

wire_enum! {
    /// Grows in later versions.
    pub enum Mood("Mood", closed) {
        /// Good.
        Good = "good",
    }

    /// Closed.
    pub enum Colour("Colour", closed) {
        /// Red.
        Red = "red",
        /// Blue.
        Blue = "blue",
    }
}

fn full() -> Value {
    json!({
        "ok": false, "name": "n", "share": 0.5, "note": null, "verdict": true,
        "anything": [1], "mood": "good", "colour": "red",
        "parts": [{"count": 3, "parts": [{"count": 0}]}], "main": {"count": 3},
        "free": {"a": null},
        "title": "n", "first": 3,
        "x-late": {"deep": [null, 1e-7, 18446744073709551615u64]}
    })
}

#[test]
fn a_document_survives_reading_and_writing() {
    let sample = Sample::from_document(full()).unwrap();
    assert_eq!(sample.encode(), full());
    assert_eq!(Sample::from_document(sample.encode()).unwrap(), sample);
    let members: Vec<_> = sample.extra.keys().collect();
    assert_eq!(members, ["x-late"]);
}

#[test]
fn a_view_has_the_canonical_members_alone() {
    let mut canonical = full();
    for gone in ["title", "first", "x-late"] {
        canonical.as_object_mut().unwrap().shift_remove(gone);
    }
    assert_eq!(Sample::from_document(full()).unwrap().view(), canonical);
}

#[test]
fn absent_null_and_value_stay_apart() {
    let minimal = json!({"ok": false, "name": "n", "verdict": null});
    let sample = Sample::from_document(minimal.clone()).unwrap();
    assert_eq!((sample.note.clone(), sample.verdict), (Field::Absent, None));
    assert_eq!(sample.view(), minimal);

    let mut with_null = minimal.clone();
    with_null["note"] = Value::Null;
    let sample = Sample::from_document(with_null.clone()).unwrap();
    assert_eq!(sample.note, Field::Null);
    assert_eq!(sample.view(), with_null);
}

#[test]
fn an_alias_is_written_and_never_read() {
    let truth = Sample::from_document(full()).unwrap();
    for wrong in [json!("other"), json!(7), json!(null), json!({"a": [1]})] {
        let mut document = full();
        document["title"] = wrong;
        document.as_object_mut().unwrap().shift_remove("first");
        let sample = Sample::from_document(document).unwrap();
        assert_eq!(sample, truth);
        assert_eq!(sample.encode()["title"], "n");
        assert_eq!(sample.encode()["first"], 3);
    }
    // The alias alone is not the member.
    let error = Sample::from_document(json!({"ok": false, "title": "n", "verdict": null}));
    assert_eq!(error.unwrap_err().pointer, "/name");
}

#[test]
fn what_came_in_unknown_never_overrules_what_the_contract_names() {
    let mut sample = Sample::from_document(full()).unwrap();
    for name in ["name", "title", "ok"] {
        sample.extra.insert(name.into(), json!("usurper"));
    }
    assert_eq!(sample.encode(), full());
}

#[test]
fn alias_checks_tell_match_wrong_and_absent() {
    let states = |document: &Value| {
        let checks = check_aliases::<Sample>(document);
        checks.into_iter().map(|check| check.state).collect::<Vec<_>>()
    };
    use AliasState::{Absent, Match, Wrong};
    assert_eq!(states(&full()), [Match, Match]);
    assert_eq!(states(&json!({"name": "n", "title": "m"})), [Wrong, Absent]);
    assert_eq!(states(&json!({"title": "m"})), [Wrong, Absent]);
    assert_eq!(states(&json!({"main": {"count": 1}, "first": 1.0})), [Absent, Match]);
    // Nothing is rounded to make an alias true.
    assert_eq!(
        states(
            &json!({"main": {"count": 9_007_199_254_740_993_u64}, "first": 9_007_199_254_740_992.0})
        ),
        [Absent, Wrong]
    );
}

/// What the module promises about numbers, and what it does not.
#[test]
fn numbers_come_through_as_what_they_are_and_not_as_they_were_spelled() {
    let written = |spelled: &str| {
        let text =
            format!(r#"{{"ok": false, "name": "n", "verdict": null, "anything": {spelled}}}"#);
        let sample = Sample::from_document(serde_json::from_str(&text).unwrap()).unwrap();
        sample.encode()["anything"].to_string()
    };
    for kept in
        ["18446744073709551615", "-9223372036854775808", "0.1", "9007199254740993", "5e-324"]
    {
        assert_eq!(written(kept), kept);
    }
    assert_eq!(written("1.10"), "1.1");
    assert_eq!(written("1e2"), "100.0");
    assert_eq!(written("18446744073709551617"), "1.8446744073709552e+19");
    let ratio = Ratio::from_document(serde_json::from_str("0.50").unwrap()).unwrap();
    assert_eq!(ratio.number().to_string(), "0.5");
}

#[test]
fn errors_name_the_place_and_the_kind() {
    use DecodeErrorKind::{Missing, Type, Unknown, Value as Wrong};
    let cases = [
        ("/ok", json!(true), Wrong, "/ok: expected false, found true"),
        ("/ok", json!("no"), Type, "/ok: expected a boolean, found a string"),
        ("/name", json!(1), Type, "/name: expected a string, found a number"),
        ("/share", json!(85), Wrong, "/share: expected a number from 0 to 1, found 85"),
        ("/share", json!(null), Type, "/share: expected a number from 0 to 1, found null"),
        (
            "/colour",
            json!("mauve"),
            Wrong,
            "/colour: expected one of \"red\", \"blue\", found \"mauve\"",
        ),
        (
            "/parts/0/count",
            json!(1.5),
            Wrong,
            "/parts/0/count: expected a whole number of at least 0, found 1.5",
        ),
        (
            "/parts/0/parts/0/count",
            json!(-1),
            Wrong,
            "/parts/0/parts/0/count: expected a whole number of at least 0, found -1",
        ),
        ("/free", json!([]), Type, "/free: expected an object, found a list"),
        ("/anything", json!(null), Type, "/anything: expected a value, found null"),
    ];
    for (place, value, kind, text) in cases {
        let mut document = full();
        *document.pointer_mut(place).unwrap() = value;
        let error = Sample::from_document(document).unwrap_err();
        assert_eq!((error.pointer.as_str(), error.kind), (place, kind), "{text}");
        assert_eq!(error.to_string(), text);
    }

    let mut document = full();
    document["parts"][0]["a/b"] = json!([]);
    let error = Sample::from_document(document).unwrap_err();
    assert_eq!((error.pointer.as_str(), error.kind), ("/parts/0/a~1b", Unknown));

    let error = Sample::from_document(json!({"ok": false, "name": "n"})).unwrap_err();
    assert_eq!((error.pointer.as_str(), error.kind), ("/verdict", Missing));
    assert_eq!(error.to_string(), "/verdict: expected a boolean, found nothing");

    let error = Sample::from_document(json!([])).unwrap_err();
    assert_eq!(error.to_string(), "the document: expected an object, found a list");

    let long = json!({"ok": false, "name": "n", "verdict": null, "colour": "é".repeat(100_000)});
    assert!(Sample::from_document(long).unwrap_err().to_string().len() < 300);
}

#[test]
fn an_extensible_enum_keeps_a_name_that_it_does_not_know() {
    let mut document = full();
    document["mood"] = json!("wistful");
    let sample = Sample::from_document(document.clone()).unwrap();
    assert_eq!(sample.mood, Some(Extensible::Unknown("wistful".into())));
    assert_eq!(sample.encode(), document);
    assert_eq!(Mood::parse("wistful"), None);
}

#[test]
fn integers_may_be_written_with_a_fraction_of_zero() {
    assert_eq!(u64::from_document(json!(3.0)).unwrap(), 3);
    assert_eq!(i64::from_document(json!(-3.0)).unwrap(), -3);
    assert_eq!(count_of(&json!(3.0)), Some(3));
    assert_eq!(integer_of(&json!(-3.0)), Some(-3));
    for none in [json!(2.5), json!(-1), json!("3"), json!(null), json!(true)] {
        assert_eq!(count_of(&none), None, "{none}");
    }
    assert_eq!(u64::from_document(json!(u64::MAX)).unwrap(), u64::MAX);
    assert!(u64::from_document(json!(1e300)).is_err());
    assert!(i64::from_document(json!(u64::MAX)).is_err());
    let number = Number::from_document(json!(12345678901234567890u64)).unwrap();
    assert_eq!(number.to_string(), "12345678901234567890");
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let schema = json_schema::<Sample>();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(3.0),
        json!(-1),
        json!(0.5),
        json!(85),
        json!("red"),
        json!("good"),
        json!("x"),
        json!([]),
        json!({}),
        json!([{"count": 1}]),
        json!([{"count": 1, "more": 1}]),
        json!([{"count": 1, "parts": [{}]}]),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for name in full().as_object().unwrap().keys() {
        let mut without = full();
        without.as_object_mut().unwrap().shift_remove(name);
        let with = values.iter().map(|value| {
            let mut document = full();
            document[name] = value.clone();
            document
        });
        for document in with.chain([without]) {
            let reads = Sample::from_document(document.clone()).is_ok();
            assert_eq!(reads, validator.is_valid(&document), "{name}: {document}");
            *(if reads { &mut accepted } else { &mut refused }) += 1;
        }
    }
    assert!(accepted > 50 && refused > 50, "{accepted} accepted, {refused} refused");
    assert_eq!(schema["$defs"]["Sample"]["description"], "Uses every feature of the declaration.");
    assert_eq!(schema["$defs"]["Sample"]["properties"]["note"]["description"], "Three states.");
}

#[test]
fn the_snapshot_entry_names_every_place() {
    let entries = snapshot_fields::<Sample>();
    let places: Vec<_> = entries.keys().map(String::as_str).collect();
    assert_eq!(
        places,
        [
            "",
            "ok",
            "name",
            "share",
            "note",
            "verdict",
            "anything",
            "mood",
            "colour",
            "parts",
            "parts.*",
            "parts.*.count",
            "parts.*.parts",
            "parts.*.parts.*",
            "main",
            "main.count",
            "main.parts",
            "main.parts.*",
            "free",
            "title",
            "first"
        ]
    );
    assert_eq!(
        entries["note"],
        json!({"kind": "canonical", "presence": "optional", "type": "string", "nullable": true,
            "semantics": "text"})
    );
    assert_eq!(
        entries["title"],
        json!({"kind": "alias", "presence": "optional", "type": "string", "nullable": false,
            "semantics": "text", "mirrors": "name"})
    );
    assert_eq!(entries["colour"]["enum"], json!(["red", "blue"]));
    assert_eq!(entries["colour"]["openEnum"], json!(false));
    assert_eq!(entries["mood"]["openEnum"], json!(true));
    assert_eq!(entries["verdict"]["presence"], "required");
    assert_eq!(entries["verdict"]["nullable"], true);
    assert_eq!(entries["ok"]["enum"], json!([false]));
    assert_eq!(entries["parts.*"]["unknownMembers"], "refused");
    assert_eq!(entries[""]["unknownMembers"], "kept");
}
