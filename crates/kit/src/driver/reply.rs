//! Parses an adapter's output.

use accord_contract::fixture::CaseAnswer;
use accord_contract::{Value, Wire as _};

use crate::case::Case;

/// The mode of the protocol, which decides how strictly a result is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    /// One case per exchange: `status` and `actual` decide, and all other members but a text
    /// `message` are ignored.
    Alone,
    /// Many cases in one process: a late line would otherwise count for the next case.
    InTurn,
}

/// Reads exactly one result document for this case.
pub(super) fn read(case: &Case, text: &[u8], asked: Asked) -> Result<CaseAnswer, String> {
    if text.trim_ascii().is_empty() {
        return Err("it wrote no result".to_owned());
    }
    let mut value: Value = accord_canon::read(text).map_err(|error| {
        format!("its output is not exactly one JSON document: {error}: {}", quote_beginning(text))
    })?;
    // Such adapters exist already, and may use other members for purposes of their own.
    if asked == Asked::Alone {
        forget_what_is_free(&mut value);
    }
    let result = CaseAnswer::from_document(value)
        .map_err(|error| format!("its output is not a result document: {error}"))?;
    if result.status.is_none() && result.actual.value().is_none() {
        return Err(
            "its output is not a result document: it has neither `status` nor `actual`".to_owned()
        );
    }
    match result.id.value() {
        None if asked == Asked::InTurn => Err(format!(
            "its result has no `id`; a result line must repeat the id of its case, {:?}",
            case.id
        )),
        Some(id) if *id != case.id => {
            Err(format!("it answers the case {id:?}, but was asked for {:?}", case.id))
        }
        _ => Ok(result),
    }
}

/// Removes the members that the kit does not use.
fn forget_what_is_free(result: &mut Value) {
    let Some(members) = result.as_object_mut() else { return };
    members.remove("id");
    if members.get("message").is_some_and(|words| !words.is_string()) {
        members.remove("message");
    }
}

pub(super) fn last_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let from = lines.len().saturating_sub(LINES_KEPT);
    lines[from..].join("\n").trim().to_owned()
}

fn quote_beginning(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(EXCERPT)]);
    format!("{:?}", text.trim())
}

const LINES_KEPT: usize = 20;
const EXCERPT: usize = 200;
