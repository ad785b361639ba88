//! `accord kb explain`: from the envelope to its hash, step by step.

use std::fmt::Write as _;

use accord_contract::{Object, Wire as _};
use accord_knowledge_core::{Identified, KB_V1};

use super::answers::KbExplainAnswer;
use super::question::Answer;

/// How much of a member is shown in the table.
const CELL: usize = 44;

/// Shows each hashed member as it was given beside the form that is hashed,
/// then the canonical bytes, then what goes into the digest.
pub(super) fn explain(document: &[u8], line: Option<u64>, identified: &Identified<'_>) -> Answer {
    let given: Object = serde_json::from_slice(document).unwrap_or_default();
    let canonical = String::from_utf8_lossy(identified.canonical).into_owned();
    let normalized: Object = serde_json::from_str(&canonical).unwrap_or_default();
    let kb_hash = identified.kb_hash.prefixed();
    let cid = identified.cid();
    let ignored: Vec<&str> =
        given.keys().map(String::as_str).filter(|key| !KB_V1.scope.contains(key)).collect();

    let mut text = String::new();
    let mut row = |name: &str, given: &str, hashed: &str| {
        let _ = writeln!(text, "{name:<14}{:<width$}  {}", clip(given), clip(hashed), width = CELL);
    };
    row("member", "as given", "normalised, as hashed");
    for name in KB_V1.scope {
        row(name, &shown(&given, name), &shown(&normalized, name));
    }
    for name in &ignored {
        row(name, &shown(&given, name), "(not hashed)");
    }
    let _ = writeln!(text, "\ncanonical ({} bytes)\n{canonical}", canonical.len());
    let hashed = String::from_utf8_lossy(identified.hashed);
    let _ = writeln!(
        text,
        "\nhashed ({} bytes: the tag {}, then the canonical form)\n{hashed}",
        hashed.len(),
        KB_V1.tag,
    );
    let _ = writeln!(text, "\nkbHash  {kb_hash}\ncid     {cid}");
    let answer = KbExplainAnswer {
        line,
        ignored: ignored.into_iter().map(str::to_owned).collect(),
        hashed: hashed.into_owned(),
        tag: KB_V1.tag.to_owned(),
        normalized,
        canonical,
        kb_hash,
        cid,
    };
    Answer { yes: true, text, json: Box::new(answer.encode()) }
}

fn shown(members: &Object, name: &str) -> String {
    members.get(name).map_or_else(|| "(absent)".to_owned(), ToString::to_string)
}

/// Cuts a cell to its width, by characters.
fn clip(text: &str) -> String {
    if text.chars().count() <= CELL {
        return text.to_owned();
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}
