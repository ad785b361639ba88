//! Removing secrets from the text of a failure, before a browser sees it, and from what a page
//! reports, before it is logged.

use accord_contract::rule;

const REDACTED: &str = "[redacted]";

/// Parts of the names of secret parameters and variables, in lower case.
const SECRET_NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "api_key",
    "api-key",
    "auth",
    "credential",
    "signature",
    "private",
    "access_key",
    "cookie",
];

/// Removes credentials after `Bearer` and `Basic`, the rest of a line after `Authorization:`, the
/// values of secret parameters and variables (`name=value`) and of secret members of JSON
/// (`"name":"value"`), and the given secrets.
///
/// Clauses: GGUI-CHANNEL-REDACTION.
pub fn redact(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, REDACTED);
    }
    let lines: Vec<String> = text.split('\n').map(redact_line).collect();
    lines.join("\n")
}

fn redact_line(line: &str) -> String {
    let mut redacted = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(is_separator).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        redacted.push_str(word);
        let lower = word.to_ascii_lowercase();
        let separator = after.chars().next();
        if lower == "authorization" && matches!(separator, Some(':' | '=' | '"' | '\'')) {
            redacted.push_str(&after[..1]);
            redacted.push(' ');
            redacted.push_str(REDACTED);
            return redacted;
        }
        let hides_next = match separator {
            Some(' ' | '\t') => rule!(matches!(&*lower, "bearer" | "basic"); SecretsShown => false),
            Some('=') => is_secret_name(&lower),
            Some('"') => after.starts_with(MEMBER) && is_secret_name(&lower),
            _ => false,
        };
        let blank = match separator {
            Some('"') => MEMBER.len(),
            _ => after.len() - after.trim_start_matches([' ', '\t']).len(),
        };
        let skipped = if hides_next { blank.max(1) } else { 0 };
        if hides_next {
            redacted.push_str(&after[..skipped]);
            let value = after[skipped..].trim_start_matches(['"', '\'']);
            let end = if separator == Some('"') { value.find('"') } else { value.find(ends_value) };
            let end = end.unwrap_or(value.len());
            redacted.push_str(REDACTED);
            rest = &value[end..];
            continue;
        }
        match separator {
            Some(separator) => {
                redacted.push(separator);
                rest = &after[separator.len_utf8()..];
            }
            None => break,
        }
    }
    redacted
}

/// What is between the name of a member of JSON and its text.
const MEMBER: &str = "\":\"";

/// Whether a name, in lower case, is that of a secret.
pub(super) fn is_secret_name(lower: &str) -> bool {
    SECRET_NAMES.iter().any(|name| lower.contains(name)) || lower == "key"
}

fn is_separator(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter == '_' || letter == '-')
}

fn ends_value(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '&' | '"' | '\'' | ',' | ';' | ')' | ']' | '}' | '#')
}
