//! The order of strings, compared in their canonical spelling.

use std::cmp::Ordering;

/// How two keys compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyOrder {
    /// By UTF-16 code unit, as ECMAScript and RFC 8785 sort.
    Utf16,
    /// By UTF-8 byte, which is the order of code points.
    Utf8,
}

/// Compares two strings in their canonical spelling, quotes left off.
pub fn compare_strings(order: KeyOrder, left: &[u8], right: &[u8]) -> Ordering {
    let escaped = left.contains(&b'\\') || right.contains(&b'\\');
    compare(order, escaped, left, right)
}

/// As [`compare_strings`], for a caller that knows whether either is `escaped`.
#[inline]
pub(crate) fn compare(order: KeyOrder, escaped: bool, left: &[u8], right: &[u8]) -> Ordering {
    match (order, escaped) {
        (KeyOrder::Utf8, false) => left.cmp(right),
        (KeyOrder::Utf16, false) => compare_bytes(left.iter().copied(), right.iter().copied()),
        // An escape begins with a backslash, but its character can sort before that.
        (KeyOrder::Utf8, true) => Unescaped(left).cmp(Unescaped(right)),
        (KeyOrder::Utf16, true) => compare_bytes(Unescaped(left), Unescaped(right)),
    }
}

/// Compares UTF-8 bytes in the order of UTF-16 code units. Only one thing differs: characters past
/// U+FFFF (first byte F0 or above) are surrogate pairs, before U+E000 to U+FFFF (EE or EF).
#[inline]
fn compare_bytes(left: impl Iterator<Item = u8>, right: impl Iterator<Item = u8>) -> Ordering {
    let mut right = right;
    for left in left {
        let Some(right) = right.next() else { return Ordering::Greater };
        if left != right {
            return rank(left).cmp(&rank(right));
        }
    }
    match right.next() {
        Some(_) => Ordering::Less,
        None => Ordering::Equal,
    }
}

const fn rank(byte: u8) -> u8 {
    match byte {
        // EE and EF move behind F4, the highest first byte of UTF-8.
        0xee | 0xef => byte + 0x10,
        _ => byte,
    }
}

/// Decodes a canonical spelling into its bytes.
struct Unescaped<'a>(&'a [u8]);

impl Iterator for Unescaped<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (byte, used) = match *self.0 {
            [] => return None,
            // Only control characters below U+0020 are written with `\u`.
            [b'\\', b'u', _, _, high, low, ..] => (nibble(high) << 4 | nibble(low), 6),
            [b'\\', kind, ..] => (unescape(kind), 2),
            [byte, ..] => (byte, 1),
        };
        self.0 = &self.0[used..];
        Some(byte)
    }
}

const fn unescape(kind: u8) -> u8 {
    match kind {
        b'b' => 0x8,
        b't' => b'\t',
        b'n' => b'\n',
        b'f' => 0xc,
        b'r' => b'\r',
        quote_or_backslash => quote_or_backslash,
    }
}

const fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit - b'a' + 10,
    }
}
