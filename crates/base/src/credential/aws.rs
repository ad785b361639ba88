//! Secret access keys of AWS. They have no prefix: 40 characters are one if they are named so, or
//! stand near the id of an access key. An id alone is no secret.

use super::is_placeholder;

const SECRET: usize = 40;
const ID: usize = 20;
/// How far from the id the secret may be.
const NEAR: usize = 200;

/// Whether a text begins with the name of a secret access key, and its value follows.
pub(super) fn is_named_secret(text: &[u8]) -> bool {
    let mut rest = text;
    for (index, word) in [&b"secret"[..], b"access", b"key"].into_iter().enumerate() {
        if index > 0 && matches!(rest.first(), Some(b'_' | b'-' | b' ')) {
            rest = &rest[1..];
        }
        match rest.split_at_checked(word.len()) {
            Some((start, after)) if start.eq_ignore_ascii_case(word) => rest = after,
            _ => return false,
        }
    }
    let is_between = |byte: &&u8| b" \t\r\n\"'=:>|`,\\".contains(byte);
    let between = rest.iter().take(12).take_while(is_between).count();
    between > 0 && is_secret(&rest[between..])
}

/// Whether there is the id of an access key, with a secret near it.
pub(super) fn is_pair(text: &[u8], at: usize) -> bool {
    let rest = &text[at..];
    if !(rest.starts_with(b"AKIA") || rest.starts_with(b"ASIA")) {
        return false;
    }
    let is_of_id = |byte: &&u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    if rest.iter().take(ID + 1).take_while(is_of_id).count() != ID || is_placeholder(&rest[4..ID]) {
        return false;
    }
    let (from, to) = (at.saturating_sub(NEAR), (at + ID + NEAR).min(text.len()));
    let is_start = |place: &usize| *place == 0 || !is_of_secret(text[*place - 1]);
    (from..at).chain(at + ID..to).filter(is_start).any(|place| is_secret(&text[place..]))
}

fn is_of_secret(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn is_secret(text: &[u8]) -> bool {
    let length = text.iter().take(SECRET + 1).take_while(|byte| is_of_secret(**byte)).count();
    if length != SECRET || text.get(SECRET) == Some(&b'=') {
        return false;
    }
    let body = &text[..SECRET];
    // Digests have letters of one case.
    body.iter().any(u8::is_ascii_lowercase)
        && body.iter().any(u8::is_ascii_uppercase)
        && body.iter().any(u8::is_ascii_digit)
        && !is_placeholder(body)
}
