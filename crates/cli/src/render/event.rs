//! Events of projects, a line each.

use accord_contract::Value;
use accord_memory_core::operations::ProjectEvent;

use super::page::LINE;
use super::text::{clean, line, one_line};

/// The members that say what an event is about, the most telling first. Events of all protocols are
/// shown, also of kinds that this version does not know.
const ABOUT: [&str; 9] =
    ["title", "question", "subject", "outcome", "summary", "reason", "role", "kind", "name"];
/// The members with an id.
const IDS: [&str; 8] =
    ["package_id", "task_id", "run_id", "session_id", "decision_id", "fact_id", "item", "edge"];

/// An event: when, where, what, about what.
pub(crate) fn project_event(event: &ProjectEvent) -> String {
    let time = event.at.as_ref().map_or("--:--:--", |at| at.as_str());
    let time = time.get(11..19).unwrap_or(time);
    let project = event.project_id.as_ref().map_or("", |id| id.as_str());
    let data = event.data.as_ref();
    let said = |names: &[&str]| data.and_then(|data| names.iter().find_map(|it| find(data, it)));
    let parts = [
        time.to_owned(),
        line(project),
        line(&event.kind),
        said(&IDS).map(|id| line(&id)).unwrap_or_default(),
        said(&ABOUT).map(|about| one_line(&about, LINE)).unwrap_or_default(),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    clean(&parts.join("  "))
}

/// The text of a member, also of one level below: a fact and a session stand in a member.
fn find(data: &Value, name: &str) -> Option<String> {
    let own = data.get(name).and_then(Value::as_str);
    let below = || data.as_object()?.values().find_map(|it| it.get(name)?.as_str());
    own.or_else(below).filter(|text| !text.is_empty()).map(str::to_owned)
}
