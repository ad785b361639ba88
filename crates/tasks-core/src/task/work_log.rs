//! The work log in the body of a task: one section, one line per entry.

use crate::rule;
use accord_contract::Time;

const HEADING: &str = "## Work Log";

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
    let line = entry.line(at)?;
    let body = body.trim_end();
    let Some(section) = section(body) else {
        let gap = if body.is_empty() { "" } else { "\n\n" };
        return Some(format!("{body}{gap}{HEADING}\n\n{line}\n"));
    };
    let (before, after) = body.split_at(section);
    let after = after.trim_start_matches('\n');
    let rest = if after.is_empty() { String::new() } else { format!("\n{after}\n") };
    Some(format!("{}\n{line}\n{rest}", before.trim_end()))
}

/// The body without its work log, and the entries of the log, which may have further lines.
pub fn split_work_log(body: &str) -> (String, Vec<String>) {
    let (mut rest, mut entries) = (String::new(), Vec::<String>::new());
    let (mut is_inside, mut is_code) = (false, false);
    for line in body.lines() {
        let text = line.trim_end();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        is_code ^= is_fence;
        if !is_code && !is_fence && (text.starts_with("# ") || text.starts_with("## ")) {
            is_inside = text.eq_ignore_ascii_case(HEADING);
            if is_inside {
                continue;
            }
        }
        match entries.last_mut() {
            _ if !is_inside => {
                rest.push_str(line);
                rest.push('\n');
            }
            _ if text.is_empty() => {}
            Some(entry) if !text.starts_with("- ") => {
                entry.push('\n');
                entry.push_str(text);
            }
            _ => entries.push(text.to_owned()),
        }
    }
    (rest.trim().to_owned(), entries)
}

/// Where the first section of the work log ends, if there is one.
fn section(body: &str) -> Option<usize> {
    let mut is_inside = false;
    let mut is_code = false;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let text = line.trim_end();
        if text.starts_with("```") || text.starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            if is_inside && (text.starts_with("# ") || text.starts_with("## ")) {
                return Some(at);
            }
            is_inside = is_inside || text.eq_ignore_ascii_case(HEADING);
        }
        at += line.len();
    }
    is_inside.then_some(body.len())
}

/// A text on one line, so that it can add neither an entry nor a heading.
fn one_line(text: &str) -> String {
    let breaks = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.trim().replace("\r\n", "\n").replace(breaks, "\n").replace('\n', "\\n")
}
