//! The documents for people about an accepted turn: its section of `TALK.md` and its review.

use std::fmt::Write as _;

use accord_contract::{Object, Value};

use super::Write;
use crate::{HOME, RuntimeType, Turn, TurnResult, WriteAuthority, doc};

pub(super) fn section(result: &TurnResult, turn: &Turn, phase: &str) -> Write {
    let mut section = format!(
        "\n---\n\n## Turn {} | {} ({phase})\n\n- **Status:** {}\n- **Summary:** {}\n",
        turn.id().short(),
        turn.role(),
        result.status(),
        line(result.summary()),
    );
    let decisions: Vec<&Object> = result.decisions().collect();
    if !decisions.is_empty() {
        section.push_str("- **Decisions:**\n");
        for decision in decisions {
            let id = doc::Decision::ID.get(decision).unwrap_or("?");
            let statement = doc::Decision::STATEMENT.get(decision).unwrap_or_default();
            let _ = writeln!(section, "  - {id}: {}", line(statement));
        }
    }
    if !result.objections().is_empty() {
        section.push_str("- **Objections:**\n");
        for (id, severity, statement) in objections(result) {
            let _ = writeln!(section, "  - {id} ({severity}): {}", line(statement));
        }
    }
    let next = result.proposed_next_role().unwrap_or("human");
    let _ = writeln!(section, "- **Proposed next:** {next}");
    Write::Section { path: "TALK.md".into(), text: section }
}

/// The review of a role with a remote runtime, as a file.
pub(super) fn review(
    result: &TurnResult,
    turn: &Turn,
    authority: WriteAuthority,
    runtime: Option<RuntimeType>,
) -> Option<Write> {
    let from_afar = runtime.is_some_and(RuntimeType::only_proposes);
    if authority != WriteAuthority::ReviewOnly || !from_afar {
        return None;
    }
    let mut review =
        format!("# Review of {} by {}\n\n{}\n", turn.id(), turn.role(), result.summary());
    for (id, severity, statement) in objections(result) {
        let _ = write!(review, "\n## {id} ({severity})\n\n{statement}\n");
    }
    Some(Write::Replace {
        path: format!("{HOME}/reviews/{}-{}-review.md", turn.id(), turn.role()),
        text: review,
    })
}

/// The id, severity and statement of each objection.
fn objections(result: &TurnResult) -> impl Iterator<Item = (&str, &str, &str)> {
    let objections = result.objections().iter().filter_map(Value::as_object);
    objections.map(|objection| {
        let id = doc::Objection::ID.get(objection).unwrap_or("?");
        let severity = doc::Objection::SEVERITY.get(objection).unwrap_or("?");
        (id, severity, doc::Objection::STATEMENT.get(objection).unwrap_or_default())
    })
}

/// Joins a text to one line, so that it cannot start a new section.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
