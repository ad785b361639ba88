//! The evaluators of workflow documents. Their messages are part of the protocol.

use super::sections::{has_content, labelled};
use crate::config::Semantics;
use crate::patterns::token;
use crate::rule;

/// Why a document does not satisfy its gate; `None` when it does.
pub fn evaluate(
    semantics: Semantics,
    path: &str,
    text: &str,
    required_sections: &[String],
) -> Option<String> {
    match semantics {
        Semantics::PmSignoff => pm_signoff(path, text),
        Semantics::ShipVerdict => ship_verdict(path, text),
        Semantics::SystemSpec => system_spec(path, text),
        Semantics::ImplementationNotes => notes(path, text, &IMPLEMENTATION_NOTES),
        Semantics::ReleaseNotes => notes(path, text, &RELEASE_NOTES),
        Semantics::AcceptanceMatrix => acceptance_matrix(text),
        Semantics::SectionCheck => section_check(path, text, required_sections),
    }
}

pub(super) fn requirement(semantics: Semantics, required_sections: &[String]) -> String {
    let sections = |sections: &[&str]| format!("has something to say under {}", quoted(sections));
    match semantics {
        Semantics::PmSignoff => "has the line `Approved: YES` once it is approved".to_owned(),
        Semantics::ShipVerdict => "has the line `## Verdict: YES` once it may ship".to_owned(),
        Semantics::SystemSpec => sections(&SYSTEM_SPEC),
        Semantics::ImplementationNotes => sections(&IMPLEMENTATION_NOTES.sections),
        Semantics::ReleaseNotes => sections(&RELEASE_NOTES.sections),
        Semantics::AcceptanceMatrix => {
            "has a table whose first column is `Req #`, a row for each requirement, and `PASS` in \
             the last column of every row"
                .to_owned()
        }
        Semantics::SectionCheck => {
            let required: Vec<&str> = required_sections.iter().map(String::as_str).collect();
            sections(&required)
        }
    }
}

fn quoted(sections: &[&str]) -> String {
    let quoted: Vec<String> = sections.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Clauses: AX-GATE-SIGNOFF.
fn pm_signoff(path: &str, text: &str) -> Option<String> {
    // Only the first such line counts, so a later approval cannot hide an earlier refusal.
    let Some(value) = labelled(text, "", "Approved") else {
        return Some(format!("PM signoff must declare `Approved: YES` in {path}."));
    };
    let approved = token(value) == "YES";
    let counts = rule!(approved; AnySignoffCounts => approved || text.contains("Approved: YES"));
    (!counts).then(|| {
        format!(
            "PM signoff is not approved. Found \"Approved: {value}\" in {path}; \
             set it to \"Approved: YES\"."
        )
    })
}

/// Clauses: AX-GATE-VERDICT.
fn ship_verdict(path: &str, text: &str) -> Option<String> {
    let verdict = labelled(text, "##", "Verdict");
    let Some(value) = rule!(
        verdict;
        VerdictAtAnyLevel => verdict.or_else(|| labelled(text, "###", "Verdict"))
    ) else {
        return Some(format!("Ship verdict must declare `## Verdict: YES` in {path}."));
    };
    let affirmative = ["YES", "SHIP", "SHIP IT"].contains(&token(value).as_str());
    let ships = rule!(
        affirmative;
        VerdictByItsBeginning => affirmative || token(value).starts_with("YES")
    );
    (!ships).then(|| {
        format!(
            "Ship verdict is not affirmative. Found \"## Verdict: {value}\" in {path}; \
             use \"## Verdict: YES\"."
        )
    })
}

const SYSTEM_SPEC: [&str; 3] = ["## Purpose", "## Interface", "## Acceptance Tests"];

/// Clauses: AX-GATE-SPEC.
fn system_spec(path: &str, text: &str) -> Option<String> {
    // The protocol looks for the text anywhere in the document here, and for lines in the notes.
    let mut missing = SYSTEM_SPEC.to_vec();
    missing.retain(|section| !text.contains(section));
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Some(format!("{path} must define {missing} before planning can exit."));
    }
    placeholders(path, text, &SYSTEM_SPEC, |line| {
        (line.starts_with('(') && line.ends_with(')'))
            || line.starts_with("- [ ] Name the executable checks")
    })
}

/// The finding for sections that have no content.
fn placeholders(
    path: &str,
    text: &str,
    sections: &[&str],
    is_placeholder: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut empty = sections.to_vec();
    empty.retain(|section| !has_content(text, section, &is_placeholder));
    (!empty.is_empty()).then(|| {
        let empty = empty.join(" and ");
        format!("{empty} in {path} still contains only placeholder text.")
    })
}

/// A document with two sections that must have content.
struct Notes {
    sections: [&'static str; 2],
    placeholder: &'static str,
    advice: &'static str,
}

/// Clauses: AX-GATE-NOTES.
const IMPLEMENTATION_NOTES: Notes = Notes {
    sections: ["## Changes", "## Verification"],
    placeholder: "(Dev fills this during implementation)",
    advice: "Dev must replace placeholder content with real implementation notes.",
};

/// Clauses: AX-GATE-RELEASE.
const RELEASE_NOTES: Notes = Notes {
    sections: ["## User Impact", "## Verification Summary"],
    placeholder: "(QA fills this during the QA phase)",
    advice: "QA must replace placeholder content with real release notes.",
};

fn notes(path: &str, text: &str, notes: &Notes) -> Option<String> {
    let starts = |section: &&str| text.lines().any(|line| line.trim().starts_with(section));
    let mut missing = notes.sections.to_vec();
    missing.retain(|section| !starts(section));
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        return Some(format!("{path} must define {missing}. {}", notes.advice));
    }
    let placeholder = |line: &str| line.eq_ignore_ascii_case(notes.placeholder);
    let finding = placeholders(path, text, &notes.sections, placeholder);
    finding.map(|finding| format!("{finding} {}", notes.advice))
}

/// Clauses: AX-GATE-MATRIX.
fn acceptance_matrix(text: &str) -> Option<String> {
    let none = "Acceptance matrix has no real requirement verdict rows. Replace the scaffold \
                placeholder with QA-owned requirement results before requesting ship approval.";
    let mut requirements = Vec::new();
    for cells in matrix_rows(text) {
        let first = cells.first().map_or("", |cell| cell.as_str());
        // This is the row of the template, which is no requirement.
        if first.is_empty() || first == "(QA fills this from ROADMAP.md)" {
            continue;
        }
        // The verdict is in the last column; tables may have columns in between.
        let verdict = cells.last().map(|cell| token(cell)).unwrap_or_default();
        let passed = ["PASS", "PASSED", "OK", "YES"].contains(&verdict.as_str());
        requirements.push((first.to_owned(), passed));
    }
    if requirements.is_empty() {
        return Some(none.to_owned());
    }
    let counted = rule!(
        requirements.as_slice();
        LastRowOnly => &requirements[requirements.len() - 1..]
    );
    let failing = counted.iter().filter(|(_, passed)| rule!(!passed; FailedRowsUnread => false));
    let failing: Vec<&str> = failing.map(|(name, _)| name.as_str()).collect();
    (!failing.is_empty()).then(|| {
        let failing = failing.join(", ");
        format!("Acceptance matrix has requirements that did not pass: {failing}.")
    })
}

/// The rows of the requirement table, without its header and separators.
fn matrix_rows(text: &str) -> Vec<Vec<String>> {
    let is_header = |line: &str| {
        let Some(cell) = line.strip_prefix('|').and_then(|rest| rest.split('|').next()) else {
            return false;
        };
        let closed = line[1..].contains('|');
        let words: String = cell.split_whitespace().collect::<String>().to_ascii_uppercase();
        closed && words == "REQ#"
    };
    text.lines()
        .skip_while(|line| !is_header(line))
        .skip(1)
        .map(str::trim)
        // The table ends at the first other line, so later tables are not read.
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let inner = line.trim_matches('|');
            inner.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
        })
        .filter(|cells| !cells.iter().all(|cell| is_separator(cell)))
        .collect()
}

fn is_separator(cell: &str) -> bool {
    let dashes = cell.trim_matches(':');
    dashes.len() >= 3 && dashes.bytes().all(|byte| byte == b'-')
}

fn section_check(path: &str, text: &str, sections: &[String]) -> Option<String> {
    let known = ["(Content here.)", "(Operator fills this in.)"];
    let placeholder = |line: &str| known.iter().any(|known| line.eq_ignore_ascii_case(known));
    let sections: Vec<&str> = sections.iter().map(String::as_str).collect();
    let mut missing = sections.clone();
    missing.retain(|section| !text.contains(section));
    if !missing.is_empty() {
        return Some(format!("{path} must define {}.", missing.join(", ")));
    }
    placeholders(path, text, &sections, placeholder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(semantics: Semantics, text: &str) -> Option<String> {
        evaluate(semantics, "f.md", text, &[])
    }

    #[test]
    fn signatures_and_verdicts() {
        assert_eq!(judge(Semantics::PmSignoff, "Approved: yes\n"), None);
        assert!(judge(Semantics::PmSignoff, "Approved: NO\nApproved: YES\n").is_some());
        assert_eq!(judge(Semantics::ShipVerdict, "## verdict:  ship  it"), None);
        assert!(judge(Semantics::ShipVerdict, "## Verdict: YES, later").is_some());
    }

    #[test]
    fn the_matrix_needs_rows_that_pass() {
        let table = |row: &str| format!("| Req # | Status |\n|---|:---:|\n{row}\n");
        assert_eq!(judge(Semantics::AcceptanceMatrix, &table("| 1 | pass |")), None);
        assert!(judge(Semantics::AcceptanceMatrix, &table("| 1 | fail |")).is_some());
        assert!(judge(Semantics::AcceptanceMatrix, &table("| | pass |")).is_some());
        assert!(judge(Semantics::AcceptanceMatrix, "no table").is_some());
        let after = format!("{}\n| 2 | fail |\n", table("| 1 | OK |"));
        assert_eq!(judge(Semantics::AcceptanceMatrix, &after), None);
    }

    #[test]
    fn placeholders_are_no_content() {
        let spec = "## Purpose\n(why)\n## Interface\nx\n## Acceptance Tests\nx\n";
        assert!(judge(Semantics::SystemSpec, spec).unwrap().starts_with("## Purpose in f.md"));
        let notes = "## Changes\nreal\n## Verification Summary\nreal\n";
        assert_eq!(judge(Semantics::ImplementationNotes, notes), None);
    }
}
