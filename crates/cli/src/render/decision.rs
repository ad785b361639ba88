//! Decisions of people.

use accord_base::KnownBy;
use accord_base::decision::DecisionRecord;

use super::page::Page;
use super::text::{line, one_line};
use super::time::Times;

/// The longest title of a heading.
const TITLE: usize = 60;

/// The longest question. `--json` has it whole.
const SHOWN: usize = 400;

/// Decisions, each with who decided and how the person is known.
pub(crate) fn decisions(page: &mut Page, decisions: &[DecisionRecord]) {
    let times = decisions.iter().flat_map(|it| [Some(&it.decided_at), it.asked_at.as_ref()]);
    let times = Times::of_times(times);
    for (place, decision) in decisions.iter().enumerate() {
        if place > 0 {
            page.gap();
        }
        show(page, decision, times);
    }
}

fn show(page: &mut Page, decision: &DecisionRecord, times: Times) {
    let title = decision.title.as_deref().map(|title| format!(": {}", one_line(title, TITLE)));
    let action = decision.action.as_deref().map(|action| format!(" {}", line(action)));
    page.heading(&format!(
        "{} {}{}{}",
        line(&decision.outcome),
        line(&decision.subject),
        action.unwrap_or_default(),
        title.unwrap_or_default()
    ));
    let asked = times.at(decision.asked_at.as_ref());
    let pieces = [
        line(&decision.actor),
        known(decision),
        format!("through {}", decision.door),
        times.at(Some(&decision.decided_at)),
        if asked.is_empty() { asked } else { format!("asked {asked}") },
        line(&decision.kind),
    ];
    page.pieces(&pieces);
    page.labelled_some("chosen", decision.label.as_deref());
    let shown = decision.shown.as_deref().filter(|shown| decision.title.as_deref() != Some(*shown));
    page.labelled_some_whole("shown", shown.map(|shown| one_line(shown, SHOWN)).as_deref());
    page.labelled_some_whole("note", decision.note.as_deref());
    page.labelled_some("evidence", decision.evidence.as_deref());
    page.labelled_some("sandbox", decision.sandbox.as_deref());
    page.labelled_some("from", decision.taken_over_from.as_deref());
}

/// How the person is known, in words.
fn known(decision: &DecisionRecord) -> String {
    let key = decision.key_id.as_deref().map(line);
    let user = decision.os_user.as_deref().map(line);
    let beside = |words: &str, name: Option<String>| match name {
        Some(name) => format!("{words} {name}"),
        None => words.to_owned(),
    };
    match decision.known_by {
        KnownBy::Login => beside("by a login", key.map(|key| format!("of the key {key}"))),
        KnownBy::Key => beside("by the key", key),
        KnownBy::Terminal => beside("at a terminal", user.map(|user| format!("of {user}"))),
        KnownBy::Nothing => {
            let named = key.map(|key| format!("of the key {key}"));
            beside("only named", named.or(user.map(|user| format!("by a process of {user}"))))
        }
    }
}
