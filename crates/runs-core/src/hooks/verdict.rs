//! What came of running a hook, and what it said.

use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

use crate::members::{list, text};
use crate::patterns::is_name;
use crate::rule;

const MAX_ANNOTATIONS: usize = 16;
const MAX_ANNOTATION_CHARS: usize = 1000;

wire_enum! {
    /// What a hook says.
    pub enum Verdict("HookVerdict", closed) {
        /// Go on.
        Allow = "allow",
        /// Go on, and write this down.
        Warn = "warn",
        /// Stop.
        Block = "block",
    }
}

/// The execution of a hook.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Execution {
    /// How long it took.
    pub duration_ms: u64,
    /// How it ended: of a program its exit code; of a POST 0 for an answer that says yes and
    /// 1 for one that says no. `None` when it never ended by itself, or never began.
    pub exit_code: Option<i64>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// Why it could not be run, or be reached.
    pub failure: Option<String>,
    /// What it wrote to its standard output, or answered.
    pub output: Vec<u8>,
    /// The first part of what it wrote to its standard error.
    pub errors: String,
    /// The protected files that it changed, made or deleted; all were restored.
    pub tampered: Vec<String>,
}

/// What a hook's output says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VerdictDocument {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for people.
    pub message: Option<String>,
    /// What it wants written down.
    pub annotations: Vec<Value>,
}

impl VerdictDocument {
    /// Reads a hook's output; `Err` says why it is invalid.
    ///
    /// Clauses: AX-HK-OUTPUT.
    ///
    /// # Errors
    /// When the output is not one JSON object with a verdict and sound annotations.
    pub fn read(output: &[u8]) -> Result<Self, String> {
        if output.iter().all(u8::is_ascii_whitespace) {
            return Err("the hook said nothing".into());
        }
        let document =
            accord_canon::read(output.trim_ascii()).map_err(|error| error.to_string())?;
        let document = document
            .as_object()
            .ok_or("the hook's output is not a JSON object")?;
        let verdict = text(document, "verdict")
            .and_then(|verdict| {
                rule!(
                    Verdict::parse(verdict);
                    ShoutedVerdict => Verdict::parse(&verdict.to_lowercase())
                )
            })
            .ok_or("the hook's verdict must be allow, warn or block")?;
        Ok(Self {
            verdict,
            message: text(document, "message").map(str::to_owned),
            annotations: annotations(document)?,
        })
    }
}

fn annotations(document: &Object) -> Result<Vec<Value>, String> {
    let items = list(document, "annotations");
    if items.len() > MAX_ANNOTATIONS {
        return Err(format!(
            "a hook may give at most {MAX_ANNOTATIONS} annotations"
        ));
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
        assert_eq!(
            (said.verdict, said.message.as_deref()),
            (Verdict::Warn, Some("m"))
        );
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
