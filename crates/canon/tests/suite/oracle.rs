//! Properties, and agreement with an independent implementation of RFC 8785.

use accord_canon::{Canonicalizer, Profile, Refusal, canonicalize};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Any JSON value whose integers a double holds.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=(1 << 53)).prop_map(Value::from),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Strings that visit the places where orders and escapes differ.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range('a', 'e'),
        1 => prop::char::range('\0', '\u{7f}'),
        1 => prop::char::range('\u{e000}', '\u{ffff}'),
        1 => prop::char::range('\u{10000}', '\u{1f64f}'),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..12).prop_map(|characters| characters.into_iter().collect())
}

/// The same value with the members of every object turned round.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(reversed).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .rev()
                .map(|(key, member)| (key.clone(), reversed(member)))
                .collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    }
}

/// The same value in another spelling: spaced, and every character escaped.
fn respelled(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => respell_string(text, out),
        Value::Array(elements) => {
            out.push_str("[ ");
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push_str(" ,\t");
                }
                respelled(element, out);
            }
            out.push_str("\n]");
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push_str("\r\n,");
                }
                respell_string(key, out);
                out.push_str(" : ");
                respelled(member, out);
            }
            out.push_str(" }");
        }
        other => out.push_str(&other.to_string()),
    }
}

fn respell_string(text: &str, out: &mut String) {
    out.push('"');
    for unit in text.encode_utf16() {
        out.push_str(&format!("\\u{unit:04X}"));
    }
    out.push('"');
}

proptest! {
    #[test]
    fn jcs_agrees_with_the_oracle(value in value()) {
        let oracle = serde_json_canonicalizer::to_vec(&value).expect("the oracle takes any value");
        let text = serde_json::to_vec(&value).expect("a value is JSON");
        prop_assert_eq!(canonicalize(Profile::Jcs, &text), Ok(oracle));
    }

    #[test]
    fn canonical_output_gives_itself(value in value()) {
        for profile in Profile::ALL {
            let mut canonicalizer = Canonicalizer::new(profile);
            let Ok(once) = canonicalizer.canonicalize_value(&value).map(<[u8]>::to_vec) else {
                prop_assert!(profile == Profile::Alx, "only null can be refused here");
                continue;
            };
            prop_assert_eq!(canonicalizer.canonicalize(&once), Ok(once.as_slice()));
        }
    }

    #[test]
    fn neither_member_order_nor_spelling_matters(value in value()) {
        let mut spelling = String::new();
        respelled(&reversed(&value), &mut spelling);
        for profile in Profile::ALL {
            let plain = Canonicalizer::new(profile)
                .canonicalize_value(&value)
                .map(<[u8]>::to_vec)
                .map_err(|error| error.refusal());
            let respelled = canonicalize(profile, spelling.as_bytes())
                .map_err(|error| error.refusal());
            prop_assert_eq!(plain, respelled);
        }
    }

    #[test]
    fn an_integer_keeps_its_value_or_is_refused(digits in "[1-9][0-9]{0,29}") {
        match canonicalize(Profile::Jcs, digits.as_bytes()) {
            Ok(written) => {
                let again = canonicalize(Profile::Jcs, &written);
                prop_assert_eq!(again.as_ref(), Ok(&written));
                let written = String::from_utf8(written).expect("ASCII");
                prop_assert_eq!(plain_digits(&written), digits);
            }
            Err(error) => {
                prop_assert_eq!(error.refusal(), Refusal::InexactInteger);
                prop_assert!(digits.len() > 15);
            }
        }
    }
}

/// Writes `1.25e+22` out as the integer it stands for.
fn plain_digits(written: &str) -> String {
    let Some((mantissa, exponent)) = written.split_once("e+") else {
        return written.to_owned();
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: usize = exponent.parse().expect("a short exponent");
    format!("{whole}{fraction}{}", "0".repeat(exponent - fraction.len()))
}
