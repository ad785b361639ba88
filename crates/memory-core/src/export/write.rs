//! Writes lines.

use accord_contract::{Value, Wire};

use super::rejected::{REJECTED, Rejected};
use crate::ContentHash;
use crate::lifecycle::Revision;
use crate::text::{ObjectText, compact};

/// The line of a project, of a session with the packages that were deposited in it, or of a fact.
pub fn document_line(kind: &str, document: &impl Wire) -> String {
    ObjectText::new().value("kind", kind).value("data", document.encode()).finish()
}

/// The line of a package, from its stored text, hash and log. Every token of the text is kept; only
/// white space between tokens is removed.
/// Clauses: AGENTIC-R-038, AGENTIC-A-40.
pub fn package_line(
    stored: &str,
    hash: &ContentHash,
    revisions: &[Revision],
    rejected: Option<&Rejected>,
) -> String {
    let log: Vec<Value> = revisions.iter().map(Revision::encode).collect();
    let line = ObjectText::new()
        .value("kind", "package")
        .value("content_hash", hash.to_string())
        .raw("data", &compact(stored))
        .value("x-revisions", log);
    match rejected {
        Some(rejected) => line.value(REJECTED, rejected.document()).finish(),
        None => line.finish(),
    }
}
