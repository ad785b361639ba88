//! Lines about levels, and about what a run leaves on a server.

use std::collections::BTreeMap;

use crate::exit::plural;
use crate::levels::{ClaimVerdict, Conformance, LevelStanding, Standing};
use crate::report::RunReport;

/// The lines, if the report has any of these. `removal` says how to remove what is left.
pub(super) fn lines(report: &RunReport, removal: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(conformance) = &report.summary.conformance {
        lines.push(format!("{:<12} {}", "conformance", headline(conformance)));
        let open = conformance.levels.iter().filter(|level| level.standing != Standing::Reached);
        lines.extend(open.map(|level| format!("{:<12} {}", "", LevelStanding::in_words(level))));
    }
    let mut left_behind: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for left in report.left_behind.iter().flatten() {
        let ids = left_behind.entry((&left.kind, &left.state)).or_default();
        ids.push(&left.id);
    }
    let is_anything_left = !left_behind.is_empty();
    for ((kind, state), ids) in left_behind {
        let count = plural(ids.len(), kind);
        let ids = match ids.split_at_checked(IDS_SHOWN) {
            Some((shown, more @ [_, ..])) => {
                format!("{} and {} more", shown.join(", "), more.len())
            }
            _ => ids.join(", "),
        };
        lines.push(format!("{:<12} {count} ({state}): {ids}", "left behind"));
    }
    if let Some(removal) = removal.filter(|_| is_anything_left) {
        lines.push(format!("{:<12} {removal}", ""));
    }
    lines
}

fn headline(conformance: &Conformance) -> String {
    let reached = match &conformance.reached {
        Some(level) => format!("{level} is reached"),
        None => "no level is reached".to_owned(),
    };
    let claim = match (&conformance.claimed, conformance.claim) {
        (Some(level), Some(ClaimVerdict::Proved)) => format!("the server claims {level}: true"),
        (Some(level), Some(ClaimVerdict::Unproven)) => {
            format!("the server claims {level}: not disproved")
        }
        (Some(level), Some(ClaimVerdict::Disproved)) => {
            format!("the server claims {level}: NOT TRUE")
        }
        _ => "the server claims none".to_owned(),
    };
    format!("{reached}; {claim}")
}

/// The report has the complete list.
const IDS_SHOWN: usize = 3;
