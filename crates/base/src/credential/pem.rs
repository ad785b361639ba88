//! Private keys in PEM and in armour of OpenPGP.

use super::different;

/// A label is not longer, as in `ENCRYPTED PRIVATE KEY` and `PGP PRIVATE KEY BLOCK`.
const LONGEST_LABEL: usize = 40;
/// How much of the body is looked at, and how much of it there must be.
const LOOKED_AT: usize = 600;
const LEAST: usize = 60;
/// How many different characters a key has at least. A pattern of a few is a placeholder. Keys
/// of OpenSSH have long rows of `A`.
const LEAST_DIFFERENT: usize = 16;

/// Whether a text begins with a private key: its first line and enough of its body. Headers may
/// stand between them. The line ends may be written as `\n`, as in JSON and in environment files.
pub(super) fn is_private_key(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"-----BEGIN ") else { return false };
    let label = rest.iter().take(LONGEST_LABEL).take_while(|byte| **byte != b'-').count();
    let (label, rest) = rest.split_at(label);
    let is_private = label.ends_with(b"PRIVATE KEY") || label == b"PGP PRIVATE KEY BLOCK";
    let Some(rest) = rest.strip_prefix(b"-----").filter(|_| is_private) else { return false };
    let mut body = Vec::with_capacity(LOOKED_AT);
    let rest = &rest[..rest.len().min(LOOKED_AT)];
    for line in rest.split(|byte| *byte == b'\n').flat_map(split_escaped) {
        // A quoted block, a comment, or a text in a program.
        let is_around = |byte: &u8| byte.is_ascii_whitespace() || b">|#\"'".contains(byte);
        let from = line.iter().position(|byte| !is_around(byte)).unwrap_or(line.len());
        let line = line[from..].trim_ascii_end();
        if line.contains(&b':') {
            continue;
        }
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        let length = line.iter().take_while(|byte| is_base64(byte)).count();
        body.extend_from_slice(&line[..length]);
        // What ends a text in a program may follow.
        if line[length..].iter().any(|byte| !b"\"', +".contains(byte)) {
            break;
        }
    }
    body.len() >= LEAST && different(&body) >= LEAST_DIFFERENT
}

/// The parts of a line between `\n` and `\r`, as two characters each.
fn split_escaped(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b'\\').enumerate().map(|(index, part)| match part.split_first() {
        Some((b'n' | b'r', after)) if index > 0 => after,
        _ => part,
    })
}
