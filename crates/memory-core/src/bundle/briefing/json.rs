//! The briefing as a JSON document.

use accord_contract::Value;

use super::item::{Shown, ShownPackage};
use super::plan::Plan;
use super::section::Kind;
use crate::text::{ObjectText, list};

/// Every section, in its order.
const KINDS: [Kind; 8] = [
    Kind::Asked,
    Kind::Handoff,
    Kind::Standing,
    Kind::Reviews,
    Kind::Questions,
    Kind::Facts,
    Kind::Sessions,
    Kind::Work,
];

/// From this budget on, the packages of the type auto_deposit are counted. In a smaller one they
/// would leave no room for what counts.
const WITH_AUTOMATIC: u32 = 400;
/// The most damaged rows that are named.
const DAMAGED: usize = 5;

pub(super) fn write(plan: &Plan<'_>) -> String {
    let frame = plan.frame;
    let project = ObjectText::new()
        .value("project_id", frame.project.project_id.as_str())
        .value("name", frame.name.as_str())
        .value("description", frame.description.as_str());
    let mut text = ObjectText::new()
        .raw("project", &project.finish())
        .value("generated_at", frame.now.to_string())
        .value("window_days", frame.query.window_days)
        .value("max_tokens", frame.query.max_tokens)
        .optional("focus", frame.query.focus.as_ref().map(|focus| focus.text.as_str()));
    for kind in KINDS {
        let part = plan.parts.iter().find(|part| part.section.kind == kind);
        let items = part.map(|part| list(part.items(frame).map(|shown| item(&shown))));
        if kind == Kind::Asked && part.is_none_or(|part| part.shown == 0) {
            continue;
        }
        text = text.raw(kind.member(), items.as_deref().unwrap_or("[]"));
    }
    let idle = Some(frame.idle_sessions).filter(|count| *count > 0);
    text = text.optional("idle_sessions", idle.map(Value::from));
    if let Some(automatic) = frame.automatic.filter(|_| frame.query.max_tokens >= WITH_AUTOMATIC) {
        let folded = ObjectText::new()
            .value("count", automatic.total)
            .value("newest_package_id", automatic.newest.as_str())
            .value("newest_at", automatic.newest_at.as_str());
        text = text.raw("automatic_deposits", &folded.finish());
    }
    let missing = plan.parts.iter().filter(|part| part.left_out() > 0);
    let missing =
        missing.map(|part| left_out(part.section.kind, part.left_out(), &part.named(frame)));
    text = text.raw("left_out", &list(missing));
    if !frame.damaged.is_empty() {
        let named: Vec<&str> = frame.damaged.iter().take(DAMAGED).map(String::as_str).collect();
        let damaged =
            ObjectText::new().value("count", frame.damaged.len()).value("ids", named).finish();
        text = text.raw("damaged", &damaged);
    }
    text.finish()
}

pub(super) fn left_out(kind: Kind, count: u64, ids: &[String]) -> String {
    let entry = ObjectText::new().value("section", kind.member()).value("count", count);
    entry.value("ids", ids.iter().map(String::as_str).collect::<Vec<_>>()).finish()
}

pub(super) fn item(shown: &Shown<'_>) -> String {
    match shown {
        Shown::Package(shown) => package(shown),
        Shown::Question { text, package_id } => ObjectText::new()
            .value("question", text.as_str())
            .value("package_id", package_id.as_str())
            .finish(),
        Shown::Fact { fact_id, subject, predicate, value, similar } => ObjectText::new()
            .value("fact_id", *fact_id)
            .value("subject", subject.as_str())
            .value("predicate", predicate.as_str())
            .value("value", value.as_str())
            .optional("similar", Some(*similar).filter(|count| *count > 0).map(Value::from))
            .finish(),
        Shown::Session(session) => ObjectText::new()
            .value("session_id", session.session_id.as_str())
            .value("actor", format!("{}:{}", session.actor_type, session.actor_id))
            .optional("callsign", session.callsign.as_deref())
            .value("started_at", session.started_at.as_str())
            .finish(),
    }
}

fn package(shown: &ShownPackage<'_>) -> String {
    let fields = shown.source.fields;
    let superseded = shown.source.superseded_by.as_ref().map(|id| id.as_str());
    let text = ObjectText::new()
        .value("package_id", fields.package_id.as_str())
        .value("title", shown.title.as_str())
        .value("status", fields.status.as_str())
        .value("significance", fields.significance().number())
        .value("created_at", fields.created_at.as_str())
        .value("created_by", shown.source.author())
        .optional("superseded_by", superseded)
        .optional("similar", Some(shown.similar).filter(|count| *count > 0).map(Value::from));
    let text = texts(text, shown);
    let parents: Vec<_> = shown.parents.iter().map(parent).collect();
    match parents.is_empty() {
        true => text.finish(),
        false => text.raw("extends", &list(parents.iter().map(String::as_str))).finish(),
    }
}

/// A package that another one extends or corrects.
fn parent(shown: &ShownPackage<'_>) -> String {
    let fields = shown.source.fields;
    let text = ObjectText::new()
        .value("package_id", fields.package_id.as_str())
        .value("title", shown.title.as_str())
        .value("created_at", fields.created_at.as_str())
        .value("created_by", shown.source.author());
    texts(text, shown).finish()
}

fn texts(text: ObjectText, shown: &ShownPackage<'_>) -> ObjectText {
    let decisions: Vec<&str> = shown.decisions.iter().map(String::as_str).collect();
    let more = Some(shown.more_decisions).filter(|more| *more > 0);
    text.optional("reviewed_by", shown.note.as_ref().map(|(by, _)| by.as_str()))
        .optional("review_note", shown.note.as_ref().map(|(_, note)| note.as_str()))
        .value("decisions", decisions)
        .optional("more_decisions", more.map(Value::from))
        .value("handoff_note", shown.handoff.as_deref().unwrap_or_default())
        .optional("about", shown.body.as_deref())
}
