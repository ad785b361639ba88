//! Wrong canonical forms.

use accord_canon::{Profile, canonicalize};
use serde_json::Value;

use super::tools::{Honest, after, argument, instead_of, is_ok, refuse, with_arg};
use crate::alx::canonical::answer;
use crate::{Answered, Call, Reply};

fn canonical(bytes: &[u8]) -> Answered {
    Ok(Reply::ok(answer(bytes)))
}

fn document(call: &Call) -> &[u8] {
    argument(call, "json")
}

pub(super) fn keys_by_code_point(call: &Call, honest: Honest<'_>) -> Answered {
    let reply = honest(call)?;
    // This profile sorts by UTF-8 bytes, which is the order of code points.
    match canonicalize(Profile::Agentic, document(call)) {
        Ok(bytes) if call.operation == "canonicalize" && is_ok(&reply) => canonical(&bytes),
        _ => Ok(reply),
    }
}

pub(super) fn null_dropped(call: &Call, honest: Honest<'_>) -> Answered {
    instead_of(call, honest, "CANON_NULL_FORBIDDEN", || {
        // This profile drops null members.
        match canonicalize(Profile::Agentic, document(call)) {
            Ok(bytes) => canonical(&bytes),
            Err(_) => refuse("CANON_INVALID_JSON", ""),
        }
    })
}

pub(super) fn numbers_as_rust_prints(call: &Call, honest: Honest<'_>) -> Answered {
    let reply = honest(call)?;
    let accepted = is_ok(&reply) && call.operation == "canonicalize";
    match serde_json::from_slice(document(call)) {
        // Not objects: their keys would stay unsorted, which breaks another clause.
        Ok(value @ (Value::Number(_) | Value::Array(_))) if accepted => {
            canonical(value.to_string().as_bytes())
        }
        _ => Ok(reply),
    }
}

pub(super) fn non_ascii_escaped(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["canonicalize"], |outcome| {
        let text = outcome["canonical"].as_str().unwrap_or_default();
        let mut escaped = String::new();
        for unit in text.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => escaped.push(char::from(byte)),
                _ => escaped += &format!("\\u{unit:04x}"),
            }
        }
        outcome["canonical"] = escaped.into();
    })
}

pub(super) fn last_duplicate_wins(call: &Call, honest: Honest<'_>) -> Answered {
    instead_of(call, honest, "CANON_DUPLICATE_KEY", || {
        // `serde_json` keeps the last of two equal keys.
        match serde_json::from_slice::<Value>(document(call)) {
            Ok(value) => honest(&with_arg(call, "json", value.to_string())),
            Err(_) => refuse("CANON_INVALID_JSON", ""),
        }
    })
}

pub(super) fn surrogates_replaced(call: &Call, honest: Honest<'_>) -> Answered {
    instead_of(call, honest, "CANON_LONE_SURROGATE", || canonical("\"\u{fffd}\"".as_bytes()))
}

pub(super) fn integers_rounded(call: &Call, honest: Honest<'_>) -> Answered {
    let rounded = || honest(&with_arg(call, "numbers", "round"));
    instead_of(call, honest, "CANON_INEXACT_INTEGER", rounded)
}

pub(super) fn half_the_depth(call: &Call, honest: Honest<'_>) -> Answered {
    let mut deepest = 0_usize;
    let mut depth = 0_usize;
    for byte in document(call) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if call.operation == "canonicalize" && deepest > 128 {
        return refuse("CANON_TOO_DEEP", "");
    }
    honest(call)
}

pub(super) fn place_not_named(call: &Call, honest: Honest<'_>) -> Answered {
    let mut reply = honest(call)?;
    if let Reply::Outcome(outcome) = &mut reply
        && outcome["result"] == "error"
    {
        outcome["pointer"] = "".into();
    }
    Ok(reply)
}

pub(super) fn sha256_for_keccak256(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["canonicalize"], |outcome| {
        let digits = outcome["sha256"].as_str().unwrap_or_default();
        outcome["keccak256"] = format!("0x{digits}").into();
    })
}
