//! Credentials in documents.

use accord_contract::Value;

use super::{Credential, find, rules};

/// The code of warnings.
pub const CODE: &str = "credential_found";
/// How many places of a document are named.
pub const MAX_PLACES: usize = 10;

/// A place in a document that has a credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CredentialPlace {
    /// The place as a JSON Pointer.
    pub pointer: String,
    pub found: Credential,
}

impl CredentialPlace {
    /// The place as people write it, such as `decisions_made[2]`.
    pub fn member(&self) -> String {
        let mut text = String::new();
        for part in self.pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            match part.bytes().all(|byte| byte.is_ascii_digit()) {
                true => text.push_str(&format!("[{part}]")),
                false if text.is_empty() => text.push_str(&part),
                false => text.push_str(&format!(".{part}")),
            }
        }
        if text.is_empty() { "the document".to_owned() } else { text }
    }

    /// A sentence without its end, such as `decisions_made[2] contains a token of GitHub`.
    pub fn in_words(&self) -> String {
        let Credential { kind, line } = self.found;
        let line = if line > 1 { format!(" in line {line}") } else { String::new() };
        format!("{} contains {}{line}", self.member(), kind.in_words())
    }
}

/// Warnings about the credentials of a document that is accepted with them: a code for programs, a
/// colon, and a sentence.
pub fn warnings(document: &Value) -> Vec<String> {
    let places = find_in(document);
    places.iter().map(|place| format!("{CODE}: {}; revoke it", place.in_words())).collect()
}

/// The places of a document that have a credential, at most [`MAX_PLACES`]. Of each text the first
/// is named. A name of a member is examined, too; its place is that of the object.
pub fn find_in(document: &Value) -> Vec<CredentialPlace> {
    let mut places = Vec::new();
    walk(document, &mut String::new(), &mut places);
    places
}

/// Whether the text of a JSON document may contain a credential. It is much cheaper than to parse
/// the document and to search it. False positives are possible, false negatives are not.
pub fn may_be_in(json: &str) -> bool {
    let bytes = json.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        // An escape may hide a letter or a slash.
        b'\\' => bytes[at + 1..].starts_with(b"u00") || bytes[at + 1..].starts_with(b"/"),
        b'-' => bytes[at..].starts_with(b"-----BEGIN "),
        b's' | b'S' if is_secret(&bytes[at..]) => true,
        b'A' if bytes[at..].starts_with(b"AKIA") || bytes[at..].starts_with(b"ASIA") => true,
        _ => rules::has_prefix(&bytes[at..]),
    })
}

fn is_secret(text: &[u8]) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"secret"))
}

fn walk(value: &Value, pointer: &mut String, places: &mut Vec<CredentialPlace>) {
    if places.len() == MAX_PLACES {
        return;
    }
    match value {
        Value::String(text) => note(text, pointer, places),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(pointer, &index.to_string(), |pointer| walk(item, pointer, places));
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let before = places.len();
                note(name, pointer, places);
                if places.len() > before {
                    // The place of the value would repeat the name.
                    continue;
                }
                let name = name.replace('~', "~0").replace('/', "~1");
                let known = places.len();
                below(pointer, &name, |pointer| walk(member, pointer, places));
                let is_named = (0..name.len()).any(|at| is_secret(&name.as_bytes()[at..]));
                if places.len() == known
                    && is_named
                    && let Value::String(text) = member
                {
                    // A secret may be known by its name alone.
                    let named = find(&format!("{name}: {text}"));
                    below(pointer, &name, |pointer| {
                        push(named.map(|found| Credential { line: 1, ..found }), pointer, places);
                    });
                }
            }
        }
        _ => {}
    }
}

fn note(text: &str, pointer: &str, places: &mut Vec<CredentialPlace>) {
    push(find(text), pointer, places);
}

fn push(found: Option<Credential>, pointer: &str, places: &mut Vec<CredentialPlace>) {
    if let Some(found) = found.filter(|_| places.len() < MAX_PLACES) {
        places.push(CredentialPlace { pointer: pointer.to_owned(), found });
    }
}

fn below(pointer: &mut String, name: &str, visit: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(name);
    visit(pointer);
    pointer.truncate(length);
}
