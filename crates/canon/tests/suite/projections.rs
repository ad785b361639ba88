//! Documents of which only a part is canonicalised.

use accord_canon::{Canonicalizer, Part, Profile, Refusal};

fn part(key: &str) -> Part {
    match key {
        "kept" => Part::Canonical,
        "raw" => Part::Raw,
        _ => Part::Ignored,
    }
}

#[test]
fn parts_are_distinguished() {
    let mut canonicalizer = Canonicalizer::new(Profile::Alx);
    let input = br#"{"x":[null,"\ud800",1e999],"raw": [ 2 , null ] ,"\u006bept":{"b":1,"a":2}}"#;
    let projection = canonicalizer
        .project(input, part)
        .expect("what is ignored may hold anything")
        .expect("an object");
    assert_eq!(projection.canonical("kept"), Some(&br#"{"a":2,"b":1}"#[..]));
    let (raw, offset) = projection.raw("raw").expect("it is there");
    assert_eq!(raw, b"[ 2 , null ]");
    assert_eq!(&input[offset..offset + raw.len()], raw);
    assert_eq!(projection.canonical("raw"), None);
    assert_eq!(projection.canonical("x"), None);
    assert_eq!(projection.raw("kept"), None);
}

#[test]
fn refusals_know_their_place() {
    let mut canonicalizer = Canonicalizer::new(Profile::Alx);
    for (input, refusal, pointer) in [
        (r#"{"x":1,"kept":1,"x":2}"#, Refusal::DuplicateKey, "/x"),
        (r#"{"x":"\ud800","kept":{"a":null}}"#, Refusal::NullForbidden, "/kept/a"),
        (r#"{"\ud800":1}"#, Refusal::LoneSurrogate, ""),
        (r#"{"x":[1,],"kept":1}"#, Refusal::InvalidJson, "/x/1"),
        (r#"{"kept":1} x"#, Refusal::InvalidJson, ""),
    ] {
        let error = canonicalizer.project(input.as_bytes(), part).map(|_| ()).expect_err(input);
        assert_eq!((error.refusal(), error.pointer()), (refusal, pointer), "{input}");
    }
}

#[test]
fn only_an_object_has_members() {
    let mut canonicalizer = Canonicalizer::new(Profile::Alx);
    for input in ["[]", "1", "null", "\"{}\""] {
        let projection = canonicalizer.project(input.as_bytes(), part);
        assert!(projection.expect("it is JSON").is_none(), "{input}");
    }
    assert!(canonicalizer.project(b"{}", part).expect("JSON").is_some());
}
