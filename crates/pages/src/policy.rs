//! The content security policy of pages.

/// The policy of a page that a host serves under `authority`, such as `127.0.0.1:7171`.
///
/// Scripts and styles come from the host's own assets and from nothing else: not from inline text,
/// and not from another path of the host, where `/code` has code of agents. A source without a
/// scheme has the scheme of the page. Nothing is ever submitted by the browser itself, so that a
/// key that was typed in before the script ran goes nowhere.
pub fn page_policy(authority: &str) -> String {
    // What a policy would read as its own syntax cannot come from a checked Host header; a policy
    // that allows nothing is the answer to the rest.
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-' | '[' | ']')
    };
    let assets = match authority.chars().all(is_plain) && !authority.is_empty() {
        true => format!("{authority}/assets/"),
        false => "'none'".to_owned(),
    };
    format!(
        "default-src 'none'; script-src {assets}; style-src {assets}; img-src {assets}; \
         connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types accord"
    )
}

#[cfg(test)]
mod tests {
    use super::page_policy;

    #[test]
    fn scripts_come_from_the_assets_alone() {
        let policy = page_policy("127.0.0.1:7171");
        assert!(policy.contains("script-src 127.0.0.1:7171/assets/;"), "{policy}");
        for allowed in ["script-src 'self'", "unsafe", "data:", "blob:", "*"] {
            assert!(!policy.contains(allowed), "{policy}");
        }
        assert!(page_policy("a; script-src *").contains("script-src 'none';"));
        assert!(page_policy("").contains("script-src 'none';"));
    }
}
