//! The content security policy of pages.

/// Whether the policy of a page that is served under `authority` needs a nonce. A policy cannot
/// name an IPv6 address: browsers ignore such a source.
pub fn needs_nonce(authority: &str) -> bool {
    authority.starts_with('[')
}

/// The policy of a page that a host serves under `authority`, such as `127.0.0.1:7171`.
///
/// Scripts and styles come from the host's own assets and from nothing else: not from inline text,
/// and not from another path of the host, where `/code` has code of agents. A source without a
/// scheme has the scheme of the page. With a nonce they are those that the page itself names, and
/// what these import. Nothing is ever submitted by the browser itself, so that a key that was typed
/// in before the script ran goes nowhere.
pub fn page_policy(authority: &str, nonce: Option<&str>) -> String {
    // What a policy would read as its own syntax cannot come from a checked Host header; a policy
    // that allows nothing is the answer to the rest.
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-');
    let (assets, images) = match nonce {
        // An image runs nothing.
        Some(nonce) => (format!("'nonce-{nonce}'"), "'self'".to_owned()),
        None if authority.chars().all(is_plain) && !authority.is_empty() => {
            (format!("{authority}/assets/"), format!("{authority}/assets/"))
        }
        None => ("'none'".to_owned(), "'none'".to_owned()),
    };
    format!(
        "default-src 'none'; script-src {assets}; style-src {assets}; img-src {images}; \
         connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types accord"
    )
}

#[cfg(test)]
mod tests {
    use super::{needs_nonce, page_policy};

    #[test]
    fn scripts_come_from_the_assets_alone() {
        let policy = page_policy("127.0.0.1:7171", None);
        assert!(policy.contains("script-src 127.0.0.1:7171/assets/;"), "{policy}");
        for allowed in ["script-src 'self'", "unsafe", "data:", "blob:", "*"] {
            assert!(!policy.contains(allowed), "{policy}");
        }
        assert!(page_policy("a; script-src *", None).contains("script-src 'none';"));
        assert!(page_policy("", None).contains("script-src 'none';"));
    }

    #[test]
    fn an_ipv6_address_needs_a_nonce() {
        assert!(needs_nonce("[::1]:7171") && !needs_nonce("127.0.0.1:7171"));
        let policy = page_policy("[::1]:7171", Some("abc"));
        assert!(policy.contains("script-src 'nonce-abc'; style-src 'nonce-abc';"), "{policy}");
        assert!(!policy.contains('['), "{policy}");
        assert!(page_policy("[::1]:7171", None).contains("script-src 'none';"));
    }
}
