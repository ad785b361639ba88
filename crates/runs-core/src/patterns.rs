//! The syntax of names and ids in governed documents.

/// `[a-z0-9_-]+`: roles, hooks, repositories, workstreams.
pub fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    !text.is_empty() && text.bytes().all(is_of_name)
}

/// `[a-z][a-z0-9_-]*`: phases and policies.
pub(crate) fn is_phase(text: &str) -> bool {
    is_name(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// `DEC-` and digits.
pub(crate) fn is_decision_id(text: &str) -> bool {
    text.strip_prefix("DEC-").is_some_and(is_digits)
}

/// `OBJ-` and digits.
pub(crate) fn is_objection_id(text: &str) -> bool {
    text.strip_prefix("OBJ-").is_some_and(is_digits)
}

/// `del-` and three digits.
pub(crate) fn is_delegation_id(text: &str) -> bool {
    let digits = text.strip_prefix("del-");
    digits.is_some_and(|digits| digits.len() == 3 && is_digits(digits))
}

/// A placeholder of a template: `<like this>` and nothing else.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let inner = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('>'))
}

/// The number of a decision id. A number above 64 bits becomes the maximum.
pub(crate) fn decision_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("DEC-").filter(|digits| is_digits(digits))?;
    // The number is only compared, so an id with many digits must not become invalid.
    Some(digits.parse().unwrap_or(u64::MAX))
}

/// Normalizes a verdict in a document: trimmed, single spaces, upper case.
pub fn token(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").to_uppercase()
}

/// Lowercase words joined by `-`, for ids that people read.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_distinguished() {
        assert!(is_name("2_dev-x") && !is_name("Dev") && !is_name(""));
        assert!(is_phase("qa") && !is_phase("2qa"));
        assert!(is_decision_id("DEC-1") && !is_decision_id("DEC-") && !is_decision_id("DEC-1a"));
        assert!(is_delegation_id("del-001") && !is_delegation_id("del-1"));
        assert!(is_placeholder("<fill me>") && !is_placeholder("a < b > c"));
        assert_eq!(decision_number("DEC-007"), Some(7));
        assert_eq!(decision_number("DEC-99999999999999999999999"), Some(u64::MAX));
        assert_eq!(token("  ship   it "), "SHIP IT");
        assert_eq!(slug("Waiting for: the DB!"), "waiting-for-the-db");
    }
}
