//! What each profile writes.

use accord_canon::{Canonicalizer, Numbers, Profile, canonicalize};

fn written(profile: Profile, input: &str) -> String {
    let bytes = canonicalize(profile, input.as_bytes()).expect("the document is canonical");
    String::from_utf8(bytes).expect("canonical bytes are UTF-8")
}

#[test]
fn members_are_sorted_at_every_level_and_space_is_dropped() {
    let input = " { \"b\" : [ 1 , { \"d\" : true , \"c\" : false } ] ,\n\t\"a\" : \"x\" }\r\n";
    for profile in Profile::ALL {
        assert_eq!(written(profile, input), r#"{"a":"x","b":[1,{"c":false,"d":true}]}"#);
    }
}

#[test]
fn utf16_order_puts_surrogate_pairs_before_the_private_use_area() {
    let input = r#"{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\u00f6":4,"1":5,"\r":6}"#;
    assert_eq!(
        written(Profile::Jcs, input),
        "{\"\\r\":6,\"1\":5,\"ö\":4,\"€\":3,\"😀\":2,\"\u{fb33}\":1}"
    );
    assert_eq!(
        written(Profile::Agentic, input),
        "{\"\\r\":6,\"1\":5,\"ö\":4,\"€\":3,\"\u{fb33}\":1,\"😀\":2}"
    );
}

#[test]
fn keys_sort_by_what_their_escapes_stand_for() {
    // By their spelling, the backslash would come after the letters.
    let input = r#"{"a":1,"\n":2,"\"":3,"\\":4,"\u0001":5,"Z":6,"\u001f":7,"\\a":8}"#;
    assert_eq!(
        written(Profile::Jcs, input),
        r#"{"\u0001":5,"\n":2,"\u001f":7,"\"":3,"Z":6,"\\":4,"\\a":8,"a":1}"#
    );
}

#[test]
fn a_prefix_comes_before_what_it_begins() {
    assert_eq!(written(Profile::Jcs, r#"{"ab":1,"":2,"a":3}"#), r#"{"":2,"a":3,"ab":1}"#);
}

#[test]
fn null_is_kept_refused_or_dropped_by_profile() {
    let input = r#"{"b":null,"a":[null,{"c":null}],"d":1}"#;
    assert_eq!(written(Profile::Jcs, input), r#"{"a":[null,{"c":null}],"b":null,"d":1}"#);
    assert_eq!(written(Profile::Agentic, input), r#"{"a":[null,{}],"d":1}"#);
    assert!(canonicalize(Profile::Alx, input.as_bytes()).is_err());
}

#[test]
fn strings_have_one_spelling() {
    let input = r#""\u0000\b\t\n\u000b\f\r\u001f\u007f\"\\\/\u2028\u00e9\ud83d\ude00A""#;
    assert_eq!(
        written(Profile::Jcs, input),
        "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\\\"\\\\/\u{2028}é😀A\""
    );
}

#[test]
fn long_strings_are_searched_across_the_eight_byte_steps() {
    // Each position of the escape within a step, before and after it.
    for before in 0..20 {
        let input = format!("\"{}\\n{}\"", "é".repeat(before), "x".repeat(20 - before));
        assert_eq!(written(Profile::Jcs, &input), input);
    }
}

#[test]
fn numbers_print_as_ecmascript_prints_them() {
    let cases = [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("-1", "-1"),
        ("1e3", "1000"),
        ("1E+2", "100"),
        ("100000000000000000000", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("1000000000000000000000", "1e+21"),
        ("10000000000000000000000", "1e+22"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740992", "9007199254740992"),
        ("18446744073709552000", "18446744073709552000"),
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("0.1", "0.1"),
        ("333333333.33333329", "333333333.3333333"),
        ("1e-400", "0"),
    ];
    for (input, expected) in cases {
        assert_eq!(written(Profile::Jcs, input), expected, "{input}");
    }
}

#[test]
fn rounding_is_there_for_those_who_ask() {
    let mut rounding = Canonicalizer::with_numbers(Profile::Alx, Numbers::Round);
    for (input, expected) in
        [("9007199254740993", "9007199254740992"), ("18446744073709551615", "18446744073709552000")]
    {
        assert_eq!(rounding.canonicalize(input.as_bytes()), Ok(expected.as_bytes()));
    }
}

#[test]
fn a_canonicalizer_remembers_nothing_of_the_document_before() {
    let mut canonicalizer = Canonicalizer::new(Profile::Alx);
    assert!(canonicalizer.canonicalize(br#"{"b":{"z":1,"y":null"#).is_err());
    assert_eq!(canonicalizer.canonicalize(br#"{"b":1,"a":2}"#), Ok(br#"{"a":2,"b":1}"#.as_slice()));
}

#[test]
fn values_made_by_code_are_canonicalised_like_text() {
    let value = serde_json::json!({"b": 1.0, "a": [true, "é"]});
    assert_eq!(
        Canonicalizer::new(Profile::Alx).canonicalize_value(&value),
        Ok(r#"{"a":[true,"é"],"b":1}"#.as_bytes())
    );
}
