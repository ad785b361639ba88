//! Sessions.

use accord_contract::wire::Value;

use super::counted;
use super::page::{Page, list};
use super::table::table;
use super::text::member;
use super::time::{Times, moment};

/// Sessions, one per line.
pub(crate) fn sessions(page: &mut Page, sessions: &Value) {
    let times = Times::of(list(sessions), &["started_at", "ended_at"]);
    let rows: Vec<Vec<String>> = list(sessions).iter().map(|each| row(each, times)).collect();
    if !rows.is_empty() {
        let headings = ["SESSION", "CALLSIGN", "ACTOR", "STARTED", "ENDED", "PACKAGES"];
        table(page, &headings, &rows);
    }
}

/// One session.
pub(crate) fn session(page: &mut Page, session: &Value) {
    page.heading(&member(session, "callsign"));
    let ended = moment(&session["ended_at"]);
    let deposited = list(&session["packages_deposited"]).len() as u64;
    let pieces = [
        member(session, "session_id"),
        who(session),
        format!("since {}", moment(&session["started_at"])),
        if ended.is_empty() { ended } else { format!("ended {ended}") },
        counted(deposited, "package"),
    ];
    page.pieces(&pieces);
}

fn row(session: &Value, times: Times) -> Vec<String> {
    let deposited = list(&session["packages_deposited"]).len();
    vec![
        member(session, "session_id"),
        member(session, "callsign"),
        who(session),
        times.show(&session["started_at"]),
        times.show(&session["ended_at"]),
        deposited.to_string(),
    ]
}

fn who(session: &Value) -> String {
    let (kind, id) = (member(session, "actor_type"), member(session, "actor_id"));
    match (kind.is_empty(), id.is_empty()) {
        (false, false) => format!("{kind}:{id}"),
        _ => format!("{kind}{id}"),
    }
}
