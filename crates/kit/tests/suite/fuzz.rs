//! Fuzz target for filter expressions. Short and seeded here; for a long run:
//! `cargo bolero test -p accord-kit fuzz::filters`.

use accord_contract::testing::assemble;
use accord_kit::Filter;
use accord_kit::corpus::Protocol;

use crate::support::{case, demo};

const PIECES: [&str; 24] = [
    "(",
    ")",
    "&",
    "|",
    "!",
    " ",
    "and",
    "or",
    "not",
    "id(",
    "clause(",
    "op(",
    "level(",
    "area(",
    "strength(",
    "*",
    "?",
    "demo",
    "plain",
    "é",
    "DEMO-1",
    "must",
    "/",
    "\n",
];

/// No text makes the parser panic; an error points into the text; an accepted filter keeps its
/// text, and can be checked and matched.
fn survives(text: &str, protocol: &Protocol) {
    match text.parse::<Filter>() {
        Ok(filter) => {
            assert_eq!(filter.to_string(), text);
            let _ = filter.check(protocol);
            let _ = filter.matches(&protocol.cases()[0]);
        }
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column), "{text:?}: {error}");
        }
    }
}

#[test]
fn filters() {
    let protocol = demo(&[case("identity/plain")]);
    bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
        survives(&String::from_utf8_lossy(input), &protocol);
        survives(&assemble(&PIECES, input), &protocol);
    });
}

/// Long chains are not nested: reading and dropping them needs no deep stack.
#[test]
fn a_long_chain_is_read_and_matched() {
    let protocol = demo(&[case("identity/plain")]);
    for operator in ["&", "|"] {
        survives(&vec!["a"; 10_000].join(operator), &protocol);
    }
}
