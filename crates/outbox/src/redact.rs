//! Takes credentials out of what is sent.

use accord_base::credential::{Credential, CredentialKind, find};
use accord_contract::{Object, Value};

/// More credentials than that in one text: nothing of it is sent.
const MOST: usize = 100;
/// How far from its id the secret of an access key may be, in bytes.
const NEAR: usize = 300;

/// A text in which each line with a credential says what was there.
pub(crate) fn redact_text(text: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..MOST {
        let joined = lines.join("\n");
        let Some(Credential { kind, line }) = find(&joined) else { return joined };
        let first = line.saturating_sub(1).min(lines.len() - 1);
        let (from, to) = match kind {
            CredentialKind::PrivateKey => {
                let end = lines[first..].iter().position(|line| line.contains("-----END"));
                (first, end.map_or(lines.len(), |end| first + end + 1))
            }
            CredentialKind::Aws => around(&lines, first),
            _ => (first, first + 1),
        };
        lines.splice(from..to, [format!("[removed: {}]", kind.in_words())]);
    }
    "[removed: many credentials]".to_owned()
}

/// The lines near a line.
fn around(lines: &[String], at: usize) -> (usize, usize) {
    let reach = |lines: &mut dyn Iterator<Item = &String>| {
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
