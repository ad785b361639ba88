//! A fuzz target a profile. Short and seeded here; for a long run:
//! `cargo bolero test -p accord-canon fuzz::jcs`.

use accord_canon::{Canonicalizer, Profile};

/// Whatever comes in: no panic, and what is accepted gives itself again.
fn survives(profile: Profile, input: &[u8]) {
    let mut canonicalizer = Canonicalizer::new(profile);
    match canonicalizer.canonicalize(input).map(<[u8]>::to_vec) {
        Ok(once) => assert_eq!(canonicalizer.canonicalize(&once), Ok(once.as_slice())),
        Err(error) => assert!(error.offset() <= input.len()),
    }
}

/// Turns arbitrary bytes into text that is nearly JSON, so that the fuzzer
/// spends its time behind the first syntax check.
fn nearly_json(bytes: &[u8]) -> Vec<u8> {
    const PIECES: [&str; 32] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\"",
        "\"\u{fb33}\"",
        "1",
        "-0",
        "1e3",
        "9007199254740993",
        "1e400",
        "0.1",
        "null",
        "true",
        "false",
        " ",
        "\n",
        "\"\"",
        "{\"a\":",
        "[1,",
        "}]",
        "\"k\":1,",
        "\"k\":null",
        "{}",
        "[]",
        "\"\\u0061\":2",
    ];
    bytes.iter().flat_map(|byte| PIECES[usize::from(*byte) % PIECES.len()].bytes()).collect()
}

fn fuzz(profile: Profile) {
    bolero::check!().with_iterations(3_000).for_each(|input: &[u8]| {
        survives(profile, input);
        survives(profile, &nearly_json(input));
    });
}

#[test]
fn jcs() {
    fuzz(Profile::Jcs);
}

#[test]
fn alx() {
    fuzz(Profile::Alx);
}

#[test]
fn agentic() {
    fuzz(Profile::Agentic);
}
