//! Takes credentials out of what is sent.

use accord_base::credential::{Credential, CredentialKind, find};
use accord_contract::{Object, Value};

/// More credentials than that in one text: nothing of it is sent.
const MOST: usize = 100;
/// What stands in place of a text with more.
const MANY: &str = "[removed: many credentials]";
/// How far from its id the secret of an access key may be, in bytes.
pub(crate) const NEAR: usize = 300;

/// A text in which each line with a credential says what was there.
pub(crate) fn redact_text(text: &str) -> String {
    let lines = redacted_lines(text).unwrap_or_else(|| vec![(0, MANY.to_owned())]);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    lines.join("\n")
}

/// The same, of a text that follows another one: a credential can begin there. What was there is
/// not repeated.
pub(crate) fn redact_after(before: &str, text: &str) -> String {
    let whole = format!("{before}\n{text}");
    let first = before.split('\n').count();
    let Some(lines) = redacted_lines(&whole) else { return MANY.to_owned() };
    let own = lines.into_iter().filter(|(number, _)| *number >= first);
    own.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// The lines of a text without credentials, with the number of the line where each begins. `None`
/// if there are too many.
fn redacted_lines(text: &str) -> Option<Vec<(usize, String)>> {
    let mut lines: Vec<(usize, String)> = text.split('\n').map(str::to_owned).enumerate().collect();
    for _ in 0..MOST {
        let texts: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        let Some(Credential { kind, line }) = find(&texts.join("\n")) else { return Some(lines) };
        let first = line.saturating_sub(1).min(lines.len() - 1);
        let (from, to) = match kind {
            CredentialKind::PrivateKey => {
                let end = texts[first..].iter().position(|line| line.contains("-----END"));
                (first, end.map_or(lines.len(), |end| first + end + 1))
            }
            CredentialKind::Aws => around(&texts, first),
            _ => (first, first + 1),
        };
        let removed = (lines[from].0, format!("[removed: {}]", kind.in_words()));
        lines.splice(from..to, [removed]);
    }
    None
}

/// The lines near a line.
fn around(lines: &[&str], at: usize) -> (usize, usize) {
    let reach = |lines: &mut dyn Iterator<Item = &&str>| {
        let mut bytes = 0;
        let near = lines.take_while(|line| {
            let is_near = bytes <= NEAR;
            bytes += line.len() + 1;
            is_near
        });
        near.count()
    };
    let before = reach(&mut lines[..at].iter().rev());
    let after = reach(&mut lines[at + 1..].iter());
    (at - before, at + 1 + after)
}

/// A document without credentials, in texts and in names of members.
pub fn redact(value: Value) -> Value {
    match value {
        Value::String(text) => redact_text(&text).into(),
        Value::Array(items) => items.into_iter().map(redact).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, member)| {
                let member = match &member {
                    // A secret may be known by its name alone.
                    Value::String(text) => match find(&format!("{name}: {text}")) {
                        Some(found) if find(&name).is_none() && find(text).is_none() => {
                            format!("[removed: {}]", found.kind.in_words()).into()
                        }
                        _ => redact(member),
                    },
                    _ => redact(member),
                };
                (redact_text(&name), member)
            });
            Value::Object(members.collect::<Object>())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "ghp_9aK2mQx7Lp4Rt8Vw1Zc6Nb3Yd5Hf0Js2Gu7E";

    #[test]
    fn lines_with_credentials_are_replaced() {
        assert_eq!(redact_text("a\nb\n"), "a\nb\n");
        let text = redact_text(&format!("a\n+token = {TOKEN}\nb"));
        assert_eq!(text, "a\n[removed: a token of GitHub]\nb");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let key = format!("x\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\ny");
        assert_eq!(redact_text(&key), "x\n[removed: a private key]\ny");
    }

    #[test]
    fn a_credential_that_began_before_is_not_shown() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let before = format!("x\n-----BEGIN PRIVATE KEY-----\n{body}");
        let after = format!("{body}\n-----END PRIVATE KEY-----\ny");
        assert_eq!(redact_after(&before, &after), "y");
        assert_eq!(redact_after("a", "b\nc"), "b\nc");
        assert_eq!(redact_after("", &format!("t = {TOKEN}\nb")), "[removed: a token of GitHub]\nb");
    }

    #[test]
    fn the_secret_near_an_id_goes_with_it() {
        let secret = "q7Rk2Vb9Xm4Ld8Tz1Wc6Hn3Yp5Js0Gf2Ua7Ee9Ko";
        let text = format!("keep\n{}\nid = AKIAQ3EGR7LMN2PSTVWX\nkey = {secret}", "x".repeat(400));
        let text = redact_text(&text);
        assert!(!text.contains(secret) && text.starts_with("keep"), "{text}");
    }

    #[test]
    fn documents_are_searched_whole() {
        let secret = "q7Rk2Vb9Xm4Ld8Tz1Wc6Hn3Yp5Js0Gf2Ua7Ee9Ko";
        let document = json!({"a": [{"b": TOKEN}], "aws_secret_access_key": secret, "n": 1});
        let text = redact(document).to_string();
        assert!(!text.contains(TOKEN) && !text.contains(secret), "{text}");
        assert!(text.contains("\"n\":1"), "{text}");
    }
}
