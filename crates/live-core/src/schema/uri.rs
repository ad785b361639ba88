//! Formats of addresses: host names, URIs (RFC 3986) and templates of them (RFC 6570).

use std::net::{Ipv4Addr, Ipv6Addr};

/// Labels of letters, digits and inner hyphens, as RFC 1123 has them.
pub(super) fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

pub(super) fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && is_after_scheme(rest))
}

/// A URI, or a reference that is relative to one.
pub(super) fn is_reference(text: &str) -> bool {
    if is_uri(text) {
        return true;
    }
    // The first segment of a relative path has no colon: it would be read as a scheme.
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    !first.contains(':') && is_after_scheme(text)
}

/// A URL of the web or of FTP, with a host.
pub(super) fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let known = ["http", "https", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let host = authority(rest).rsplit('@').next().unwrap_or_default();
    known && !host.is_empty() && !host.starts_with(':') && is_after_scheme(&format!("//{rest}"))
}

/// Literals and expressions in braces, which do not nest.
pub(super) fn is_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        if !is_literal(&rest[..at]) || rest[at..].starts_with('}') {
            return false;
        }
        let Some(end) = rest[at..].find('}') else { return false };
        let expression = &rest[at + 1..at + end];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.,:*%+#/;?&=,!@|".contains(c);
        if expression.is_empty() || !expression.chars().all(is_part) {
            return false;
        }
        rest = &rest[at + end + 1..];
    }
    is_literal(rest)
}

fn is_literal(text: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !" \"'<>\\^`|".contains(c);
    text.chars().all(is_plain) && has_whole_escapes(text)
}

fn is_scheme(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(letter)
}

/// What follows the scheme: an authority or none, a path, a query, a fragment.
fn is_after_scheme(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, path) = match text.strip_prefix("//") {
        Some(rest) => {
            let authority = authority(rest);
            (authority, &rest[authority.len()..])
        }
        None => ("", text),
    };
    is_authority(text) && has_uri_letters(path) && has_uri_letters(fragment)
}

/// The part before the path, the query and the fragment.
fn authority(text: &str) -> &str {
    text.split(['/', '?', '#']).next().unwrap_or_default()
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let has_port = |rest: &str| {
        rest.strip_prefix(':').map_or(rest.is_empty(), |port| {
            port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest
            .split_once(']')
            .is_some_and(|(address, rest)| address.parse::<Ipv6Addr>().is_ok() && has_port(rest)),
        None => {
            let (name, port) = host.find(':').map_or((host, ""), |at| host.split_at(at));
            let is_address = name.parse::<Ipv4Addr>().is_ok();
            (is_address || has_uri_letters(name)) && has_port(port)
        }
    };
    has_uri_letters(user) && is_host
}

/// Whether a part has only the characters that a URI allows outside of brackets.
fn has_uri_letters(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&b);
    text.bytes().all(letter) && has_whole_escapes(text)
}

/// Whether two hexadecimal digits follow every percent sign.
fn has_whole_escapes(text: &str) -> bool {
    let mut parts = text.split('%').skip(1);
    parts.all(|part| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}
