//! Variables of the environment that workers do not get.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

static PATTERNS: OnceLock<Vec<String>> = OnceLock::new();

/// Sets the variables that workers of this process do not get: names, or the beginnings of names
/// before a `*`. A process that starts workers calls it once.
pub fn hide_from_workers(patterns: Vec<String>) {
    // A second call would name the same variables.
    let _ = PATTERNS.set(patterns);
}

/// The variables of this process that workers do not get.
pub(crate) fn hidden_variables() -> impl Iterator<Item = OsString> {
    let patterns = PATTERNS.get().map_or(&[][..], Vec::as_slice);
    let names = env::vars_os().map(|(name, _)| name);
    names.filter(move |name| patterns.iter().any(|pattern| matches(pattern, name.as_bytes())))
}

fn matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning.as_bytes()),
        None => name == pattern.as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_is_a_name_or_a_beginning() {
        assert!(matches("AWS_*", b"AWS_SECRET") && matches("AWS_*", b"AWS_"));
        assert!(matches("KEY", b"KEY"));
        for other in ["AWS", "XAWS_A", "aws_a"] {
            assert!(!matches("AWS_*", other.as_bytes()), "{other}");
        }
        assert!(!matches("KEY", b"KEY2") && !matches("KEY", b"A_KEY"));
    }
}
