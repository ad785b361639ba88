//! The execution of a hook, and its verdict.

use accord_contract::{Object, Value, wire_enum};

use crate::members::{list, text};
use crate::patterns::is_name;
use crate::rule;

const MAX_ANNOTATIONS: usize = 16;
const MAX_ANNOTATION_CHARS: usize = 1000;

wire_enum! {
    pub enum Verdict("HookVerdict", closed) {
        Allow = "allow",
        /// Continue and log a warning.
        Warn = "warn",
        Block = "block",
    }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Execution {
    pub duration_ms: u64,
    /// The exit code of a program. For a POST, 0 is a success status and 1 any other. `None` when
    /// it did not exit, or did not start.
    pub exit_code: Option<i64>,
    pub timed_out: bool,
    pub failure: Option<String>,
    /// Its standard output, or the response body.
    pub output: Vec<u8>,
    /// The first part of its standard error.
    pub errors: String,
    /// The protected files that it changed, created or deleted. All were restored.
    pub tampered: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VerdictDocument {
    pub verdict: Verdict,
    pub message: Option<String>,
    pub annotations: Vec<Value>,
}

impl VerdictDocument {
    /// Reads a hook's output. The error says why it is invalid. Fails when the output is not one
    /// JSON object with a verdict and valid annotations.
    ///
    /// Clauses: AX-HK-OUTPUT.
    pub fn read(output: &[u8]) -> Result<Self, String> {
        if output.iter().all(u8::is_ascii_whitespace) {
            return Err("the hook said nothing".into());
        }
        // This parser refuses duplicate keys, so a verdict cannot have two readings.
        let document = accord_canon::read(output.trim_ascii()).map_err(|it| it.to_string())?;
        let document = document.as_object().ok_or("the hook's output is not a JSON object")?;
        let parse = |verdict: &str| {
            rule!(
                Verdict::parse(verdict);
                ShoutedVerdict => Verdict::parse(&verdict.to_lowercase())
            )
        };
        let verdict = text(document, "verdict").and_then(parse);
        let verdict = verdict.ok_or("the hook's verdict must be allow, warn or block")?;
        let message = text(document, "message").map(str::to_owned);
        Ok(Self { verdict, message, annotations: annotations(document)? })
    }
}

fn annotations(document: &Object) -> Result<Vec<Value>, String> {
    let items = list(document, "annotations");
    if items.len() > MAX_ANNOTATIONS {
        return Err(format!("a hook may give at most {MAX_ANNOTATIONS} annotations"));
    }
    let sound = |item: &Value| {
        let item = item.as_object();
        let key = item.and_then(|item| text(item, "key")).is_some_and(is_name);
        let value = item.and_then(|item| text(item, "value"));
        key && value.is_some_and(|value| value.chars().count() <= MAX_ANNOTATION_CHARS)
    };
    if !items.iter().all(sound) {
        return Err("an annotation needs a key of a-z, 0-9, _ and - and a short value".into());
    }
    Ok(items.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sound_verdict_is_one() {
        let said = VerdictDocument::read(br#" {"verdict":"warn","message":"m"} "#).unwrap();
        assert_eq!((said.verdict, said.message.as_deref()), (Verdict::Warn, Some("m")));
        for wrong in [
            &b""[..],
            b"\n",
            b"yes",
            b"[]",
            b"{\"verdict\":\"perhaps\"}",
            b"{\"verdict\":\"allow\"} {}",
            b"{\"verdict\":\"allow\",\"annotations\":[{\"key\":\"A B\",\"value\":\"\"}]}",
        ] {
            assert!(VerdictDocument::read(wrong).is_err());
        }
    }
}
