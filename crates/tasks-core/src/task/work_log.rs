//! The work log in the body of a task: one section, one line per entry.

use accord_contract::Time;

use super::section::{one_line, split_items, with_item};
use crate::rule;

const HEADING: &str = "Work Log";

/// What an entry says. Empty parts are left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LogEntry<'a> {
    pub progress: Option<&'a str>,
    /// Notes for the next reader.
    pub notes: Option<&'a str>,
    pub blockers: &'a [String],
}

impl LogEntry<'_> {
    /// The line, if the entry says anything.
    /// Clauses: AOF-SU-WORK-LOG, AOF-SU-FORMAT.
    fn line(&self, at: Time) -> Option<String> {
        let said = |text: &&str| !text.trim().is_empty();
        let blockers: Vec<&str> =
            self.blockers.iter().map(String::as_str).filter(|text| said(text)).collect();
        let blockers = blockers.join(", ");
        let parts = [
            ("Progress", self.progress.filter(said)),
            ("Notes", self.notes.filter(said)),
            ("Blockers", Some(blockers.as_str()).filter(said)),
        ];
        let part = |(name, text): (_, Option<_>)| Some(format!("{name}: {}", one_line(text?)));
        let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
        let separator = rule!(" | "; CommasInTheLog => ", ");
        (!parts.is_empty()).then(|| format!("- {at} {}", parts.join(separator)))
    }
}

/// The body with an entry at the end of its work log. `None` if the entry says nothing.
pub fn with_entry(body: &str, entry: &LogEntry<'_>, at: Time) -> Option<String> {
    Some(with_item(body, HEADING, &entry.line(at)?))
}

/// The body without its work log, and the entries of the log, which may have further lines.
pub fn split_work_log(body: &str) -> (String, Vec<String>) {
    split_items(body, HEADING)
}
