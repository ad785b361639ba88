//! The inbox.

use accord_api::operations::inbox::InboxEnvelope;
use accord_base::inbox::{InboxItem, InboxMark};
use accord_contract::Time;

use super::page::{LINE, Page, Style};
use super::table::table;
use super::text::{clean, line, one_line};
use super::time::Times;

/// The most characters of what an agent wrote, in a list.
const WORDS: usize = 60;

/// Items, one per line, the most urgent first.
pub(crate) fn inbox(page: &mut Page, list: &InboxEnvelope) {
    let now = list.as_of.time();
    let row = |item: &InboxItem| {
        let urgency = format!("U{}", item.urgency);
        let style = match item.urgency {
            1 => Style::Bad,
            2 => Style::Waiting,
            _ => Style::Faint,
        };
        let words = item.words.as_ref().map(|words| one_line(words, WORDS));
        let words = words.map(|words| format!(": \"{words}\"")).unwrap_or_default();
        let behind = if item.behind > 0 { item.behind.to_string() } else { String::new() };
        let verbs = item.verbs.iter().map(|verb| line(&verb.name)).collect::<Vec<_>>();
        vec![
            page.styled(style, &urgency),
            line(&item.handle),
            line(item.project_id.as_str()),
            age(item.since.time(), now),
            item.deadline.as_ref().map(|at| left(at.time(), now)).unwrap_or_default(),
            behind,
            holder(item),
            verbs.join(", "),
            format!("{}{words}", line(&item.title)),
        ]
    };
    let rows: Vec<Vec<String>> = list.items.iter().map(row).collect();
    let headings = ["", "ITEM", "PROJECT", "AGE", "LEFT", "BEHIND", "HELD BY", "VERBS", "WHAT"];
    table(page, &headings, &rows);
}

/// One item: what Accord knows, what others wrote, what can be done.
pub(crate) fn inbox_item(page: &mut Page, item: &InboxItem) {
    page.heading(&format!("U{} {} {}", item.urgency, item.handle, item.title));
    let times = Times::of_times([Some(&item.since), item.deadline.as_ref()].into_iter());
    page.pieces(&[
        line(&item.kind),
        line(item.project_id.as_str()),
        line(&item.subject),
        format!("since {}", times.at(Some(&item.since))),
    ]);
    page.labelled("why", &item.reason);
    page.labelled_some("asked by", item.asked_by.as_deref());
    page.labelled_some("for", item.to.as_deref());
    page.labelled_some("deadline", item.deadline.as_ref().map(|at| times.at(Some(at))).as_deref());
    if item.behind > 0 {
        page.labelled("behind", &format!("{} wait for it", item.behind));
    }
    marks(page, item);
    page.labelled_some("version", item.version.as_deref());
    let facts = item.evidence.as_deref().unwrap_or_default();
    for (is_claim, heading) in [(false, "Accord knows"), (true, "Claims")] {
        let facts: Vec<_> = facts.iter().filter(|fact| fact.is_claim == is_claim).collect();
        if facts.is_empty() {
            continue;
        }
        page.gap();
        page.heading(heading);
        for fact in facts {
            let mut lines = fact.value.lines();
            let first = clean(lines.next().unwrap_or_default());
            page.paragraph(&format!("{}: {first}", one_line(&fact.name, LINE)));
            for more in lines {
                page.line(format!("    {}", clean(more)));
            }
        }
    }
    if item.verbs.is_empty() {
        return;
    }
    page.gap();
    page.heading("What you can do");
    for verb in &item.verbs {
        let note = if verb.needs_note { " --note TEXT" } else { "" };
        let undone = if verb.can_be_undone { "" } else { "; final" };
        let about = format!("{} (key scope: {}{undone})", line(&verb.about), verb.scope);
        page.line(format!("  accord inbox do {} {}{note}", item.handle, line(&verb.name)));
        page.line(format!("      {about}"));
        let command = shell_words::join(&verb.command).replace("'{note}'", "TEXT");
        page.line(format!("      $ {}", clean(&command.replace("{note}", "TEXT"))));
    }
}

/// The marks on an item, after one was set.
pub(crate) fn inbox_marks(page: &mut Page, item: &InboxItem) {
    page.heading(&format!("{} {}", item.handle, item.title));
    marks(page, item);
    if item.claim.is_none() && item.assigned.is_none() && item.snoozed.is_none() {
        page.paragraph("nobody has marked it");
    }
}

fn marks(page: &mut Page, item: &InboxItem) {
    let marks = [
        ("claimed by", &item.claim),
        ("assigned to", &item.assigned),
        ("put off by", &item.snoozed),
    ];
    for (label, mark) in marks {
        let Some(InboxMark { actor, at, until, .. }) = mark else { continue };
        let times = Times::of_times([Some(at), until.as_ref()].into_iter());
        let until = until.as_ref().map(|until| format!(", until {}", times.at(Some(until))));
        let text = format!("{}, {}{}", line(actor), times.at(Some(at)), until.unwrap_or_default());
        page.labelled(label, &text);
    }
}

/// Who looks at it or has it.
fn holder(item: &InboxItem) -> String {
    let mark = item.claim.as_ref().or(item.assigned.as_ref());
    let named = mark.map(|mark| &mark.actor).or(item.to.as_ref());
    named.map(|actor| line(actor)).unwrap_or_default()
}

fn age(since: Time, now: Time) -> String {
    span(now.unix_millis().saturating_sub(since.unix_millis()))
}

fn left(deadline: Time, now: Time) -> String {
    match deadline.unix_millis().saturating_sub(now.unix_millis()) {
        left if left <= 0 => "over".to_owned(),
        left => span(left),
    }
}

/// A span of time in its largest unit.
fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
