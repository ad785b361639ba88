//! Sections of Markdown documents, and whether they have content.

use crate::rule;

/// Whether a section has lines other than blank and placeholder lines.
///
/// The section begins at the first line that starts with the header and ends before the next
/// second-level header.
pub(crate) fn has_content(text: &str, header: &str, is_placeholder: impl Fn(&str) -> bool) -> bool {
    let mut lines = text.lines().map(str::trim);
    // A prefix is enough in the protocol: `## Verification Summary` also satisfies
    // `## Verification`.
    if !lines.by_ref().any(|line| line.starts_with(header)) {
        return false;
    }
    lines
        .take_while(|line| !line.starts_with("## "))
        .any(|line| !line.is_empty() && rule!(!is_placeholder(line); PlaceholderCounts => true))
}

/// The rest of the first line that starts with a label and a colon, ignoring letter case and
/// surrounding white space.
pub(super) fn labelled<'a>(text: &'a str, prefix: &str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(prefix)?;
        let trimmed = rest.trim_start();
        // The protocol requires white space after the prefix: `##Verdict` is no header.
        if !prefix.is_empty() && trimmed.len() == rest.len() {
            return None;
        }
        let rest = if prefix.is_empty() { rest } else { trimmed };
        // `get` also refuses an index inside a character, where slicing would panic.
        let head = rest.get(..label.len())?;
        if !head.eq_ignore_ascii_case(label) {
            return None;
        }
        let value = rest[label.len()..].trim_start().strip_prefix(':')?.trim();
        (!value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_in_any_case() {
        assert_eq!(labelled("x\napproved : yes \n", "", "Approved"), Some("yes"));
        assert_eq!(labelled("##  VERDICT: Ship it\n", "##", "Verdict"), Some("Ship it"));
        assert_eq!(labelled("##Verdict: YES\n", "##", "Verdict"), None);
        assert_eq!(labelled("Not Approved: YES\n", "", "Approved"), None);
        assert_eq!(labelled("Approved:\n", "", "Approved"), None);
    }

    #[test]
    fn a_section_ends_at_the_next() {
        let text = "## A\n\n(x)\n### B\n## C\nreal\n";
        assert!(has_content(text, "## A", |line| line == "(x)"));
        assert!(!has_content("## A\n(x)\n## C\nreal", "## A", |line| line == "(x)"));
        assert!(!has_content(text, "## D", |_| false));
    }
}
