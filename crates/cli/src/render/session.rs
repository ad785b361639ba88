//! Sessions.

use accord_memory_core::Session;

use super::counted;
use super::page::Page;
use super::table::table;
use super::text::line;
use super::time::Times;

pub(crate) fn sessions(page: &mut Page, sessions: &[Session]) {
    let times = sessions.iter().flat_map(|each| [Some(&each.started_at), each.ended_at.as_ref()]);
    let times = Times::of_times(times);
    let rows: Vec<Vec<String>> = sessions.iter().map(|each| row(each, times)).collect();
    let headings = ["SESSION", "CALLSIGN", "ACTOR", "STARTED", "ENDED", "PACKAGES"];
    table(page, &headings, &rows);
}

pub(crate) fn session(page: &mut Page, session: &Session) {
    page.heading(&callsign(session));
    let times = Times::default();
    let ended = times.at(session.ended_at.as_ref());
    let pieces = [
        line(session.session_id.as_str()),
        who(session),
        format!("since {}", times.at(Some(&session.started_at))),
        if ended.is_empty() { ended } else { format!("ended {ended}") },
        counted(session.packages_deposited.len() as u64, "package"),
    ];
    page.pieces(&pieces);
}

fn row(session: &Session, times: Times) -> Vec<String> {
    vec![
        line(session.session_id.as_str()),
        callsign(session),
        who(session),
        times.at(Some(&session.started_at)),
        times.at(session.ended_at.as_ref()),
        session.packages_deposited.len().to_string(),
    ]
}

fn callsign(session: &Session) -> String {
    session.callsign.as_deref().map(line).unwrap_or_default()
}

fn who(session: &Session) -> String {
    line(&format!("{}:{}", session.actor_type, session.actor_id))
}
