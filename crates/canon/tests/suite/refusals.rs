//! What is refused, with which reason, and where.

use accord_canon::{Canonicalizer, MAX_DEPTH, Numbers, Profile, Refusal, canonicalize, read};

fn refused(profile: Profile, input: &str) -> (Refusal, String) {
    let error = canonicalize(profile, input.as_bytes()).expect_err(input);
    (error.refusal(), error.pointer().to_owned())
}

#[track_caller]
fn assert_refused(input: &str, refusal: Refusal, pointer: &str) {
    assert_eq!(refused(Profile::Alx, input), (refusal, pointer.to_owned()), "{input}");
}

#[test]
fn a_duplicate_key_is_named_where_it_repeats() {
    assert_refused(r#"{"a":1,"a":2}"#, Refusal::DuplicateKey, "/a");
    assert_refused(r#"{"a":1,"b":2,"a":1}"#, Refusal::DuplicateKey, "/a");
    assert_refused(r#"{"x":[{},{"k/~":1,"\u006b/~":2}]}"#, Refusal::DuplicateKey, "/x/1/k~1~0");
    assert_refused(r#"{"\n":1,"\u000a":2}"#, Refusal::DuplicateKey, "/\n");
}

#[test]
fn the_later_of_two_equal_keys_is_the_one_too_many() {
    let input = r#"{"b":1,"a":2,"b":3}"#;
    let error = canonicalize(Profile::Jcs, input.as_bytes()).expect_err("b stands there twice");
    assert_eq!(error.offset(), 13);
}

#[test]
fn a_dropped_null_still_takes_its_key() {
    for input in [r#"{"a":null,"a":1}"#, r#"{"a":1,"a":null}"#] {
        assert_eq!(refused(Profile::Agentic, input), (Refusal::DuplicateKey, "/a".to_owned()));
    }
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    assert_refused(r#"["\ud800"]"#, Refusal::LoneSurrogate, "/0");
    assert_refused(r#""\udc00""#, Refusal::LoneSurrogate, "");
    assert_refused(r#"{"a":"\ud83dx"}"#, Refusal::LoneSurrogate, "/a");
    assert_refused(r#"{"a":"\ud83d\u0041"}"#, Refusal::LoneSurrogate, "/a");
    assert_refused(r#"{"o":{"\ud800":1}}"#, Refusal::LoneSurrogate, "/o");
}

#[test]
fn null_is_refused_where_it_stands() {
    assert_refused("null", Refusal::NullForbidden, "");
    assert_refused(r#"{"b":[1,{"c":null}]}"#, Refusal::NullForbidden, "/b/1/c");
}

#[test]
fn numbers_past_a_double_are_refused() {
    assert_refused("[1,1e400]", Refusal::NonFinite, "/1");
    assert_refused("-1e309", Refusal::NonFinite, "");
    let long = format!("{{\"n\":{}}}", "9".repeat(400));
    assert_refused(&long, Refusal::NonFinite, "/n");
    let error = Canonicalizer::with_numbers(Profile::Alx, Numbers::Round)
        .canonicalize(b"1e400")
        .map(<[u8]>::to_vec)
        .expect_err("rounding makes nothing finite");
    assert_eq!(error.refusal(), Refusal::NonFinite);
}

#[test]
fn integers_that_a_double_changes_are_refused() {
    for input in [
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
    ] {
        assert_refused(input, Refusal::InexactInteger, "");
    }
    // With a fraction or an exponent the writer asked for a double.
    for input in ["9007199254740993.0", "9007199254740993e0"] {
        assert_eq!(canonicalize(Profile::Alx, input.as_bytes()), Ok(b"9007199254740992".to_vec()));
    }
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(canonicalize(Profile::Alx, nested(MAX_DEPTH).as_bytes()).is_ok());
    let (refusal, pointer) = refused(Profile::Alx, &nested(MAX_DEPTH + 1));
    assert_eq!(refusal, Refusal::TooDeep);
    assert_eq!(pointer, "/0".repeat(MAX_DEPTH));
    let objects = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let (refusal, pointer) = refused(Profile::Alx, &objects);
    assert_eq!((refusal, pointer), (Refusal::TooDeep, "/a".repeat(MAX_DEPTH)));
}

#[test]
fn text_that_is_not_json_is_refused() {
    for input in [
        "",
        " ",
        "{",
        "[",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "1e+",
        "tru",
        "nul",
        "NaN",
        "Infinity",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "'a'",
        "1 2",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "\u{feff}1",
        "// c\n1",
        "{\"a\":1}}",
        "\"\\",
        "{\"a\":}",
        "[,1]",
        "{1:2}",
    ] {
        let error = canonicalize(Profile::Jcs, input.as_bytes()).expect_err(input);
        assert_eq!(error.refusal(), Refusal::InvalidJson, "{input:?}");
        assert!(error.offset() <= input.len(), "{input:?}");
    }
}

#[test]
fn a_syntax_error_names_the_member_that_was_being_read() {
    let error = canonicalize(Profile::Jcs, br#"{"a":{"b":[1,x]}}"#).expect_err("x is no value");
    assert_eq!((error.pointer(), error.offset()), ("/a/b/1", 13));
    assert!(error.to_string().contains("/a/b/1"), "{error}");
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    for (input, offset) in [(&b"\"\xff\""[..], 1), (b"\xed\xa0\x80", 0), (b"[1,\"\xc3\"]", 4)] {
        let error = canonicalize(Profile::Jcs, input).expect_err("not UTF-8");
        assert_eq!((error.refusal(), error.offset()), (Refusal::InvalidUtf8, offset));
    }
}

#[test]
fn strict_reading_refuses_what_hashing_would_but_keeps_large_integers() {
    assert_eq!(
        read(b"[18446744073709551615]").expect("nothing is hashed"),
        serde_json::json!([18_446_744_073_709_551_615_u64])
    );
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(read(deep.as_bytes()).is_ok(), "deeper than most readers go");
    for input in [r#"{"a":1,"a":1}"#, r#""\ud800""#, "1e999", "{"] {
        assert!(read(input.as_bytes()).is_err(), "{input}");
    }
}
