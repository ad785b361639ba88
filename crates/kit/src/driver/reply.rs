//! Reading what an adapter wrote.

use accord_contract::fixture::AdapterResult;
use accord_contract::wire::Wire as _;

use crate::case::Case;

/// Whether a result must say which case it answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Id {
    /// It may: the process was started for this case alone.
    Optional,
    /// It must: a line that is late would otherwise count for the next case.
    Required,
}

/// Reads exactly one result document that answers this case.
pub(super) fn read(case: &Case, text: &[u8], id: Id) -> Result<AdapterResult, String> {
    if text.trim_ascii().is_empty() {
        return Err("it wrote no result".to_owned());
    }
    let value = accord_canon::read(text).map_err(|error| {
        format!(
            "its output is not exactly one JSON document: {error}: {}",
            excerpt(text)
        )
    })?;
    let result = AdapterResult::from_document(value)
        .map_err(|error| format!("its output is not a result document: {error}"))?;
    match result.id.value() {
        None if id == Id::Required => Err(format!(
            "its result has no `id`; a result line must repeat the id of its case, {:?}",
            case.id
        )),
        Some(id) if *id != case.id => Err(format!(
            "it answers the case {id:?}, but was asked for {:?}",
            case.id
        )),
        _ => Ok(result),
    }
}

/// The last lines of a stderr, as text.
pub(super) fn last_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let from = lines.len().saturating_sub(LINES_KEPT);
    lines[from..].join("\n").trim().to_owned()
}

fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(EXCERPT)]);
    format!("{:?}", text.trim())
}

const LINES_KEPT: usize = 20;
const EXCERPT: usize = 200;
