//! The parts of a word: `parseHttpHeader` is `parse`, `Http` and `Header`; `v2` is `v` and `2`.

/// The most parts of a word. A word that would have more is no name that a person gave.
const MAX_PARTS: usize = 6;

/// How often letters and digits alternate, at most, in a word that has parts. Hashes do more often.
const MAX_CHANGES: usize = 2;

/// The shortest hash, in characters.
const MIN_HASH: usize = 7;

/// The lengths of the beginnings by which a hash is found.
pub(super) const PREFIXES: [usize; 2] = [4, 7];

/// Adds the parts of a word: it is cut where small letters become capitals, before the last of
/// several capitals that a small letter follows, and between letters and digits. A word without
/// such a place, or with too many, is one part.
pub(super) fn split<'t>(word: &'t str, parts: &mut Vec<&'t str>) {
    let bytes = word.as_bytes();
    let is_plain = bytes.iter().skip(1).all(u8::is_ascii_lowercase) && word.is_ascii();
    if is_plain && bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        parts.push(word);
        return;
    }
    let before = parts.len();
    let (mut start, mut changes) = (0, 0);
    let mut last = None;
    for (place, character) in word.char_indices() {
        let Some(kind) = Kind::of(character) else { continue };
        let is_cut = match (last, kind) {
            (None, _) => false,
            (Some(Kind::Small), Kind::Capital) => true,
            (Some(Kind::Capital), Kind::Capital) => {
                // Before the last capital of `HTTPServer`, but not of `URLs`.
                let behind = &word[place + character.len_utf8()..];
                let mut small = behind.chars().take_while(|c| Kind::of(*c) == Some(Kind::Small));
                let (first, second) = (small.next(), small.next());
                first.is_some() && (first, second) != (Some('s'), None)
            }
            (Some(known), kind) => {
                let is_change = (known == Kind::Digit) != (kind == Kind::Digit);
                changes += usize::from(is_change);
                is_change
            }
        };
        if is_cut {
            parts.push(&word[start..place]);
            start = place;
        }
        last = Some(kind);
    }
    parts.push(&word[start..]);
    let is_alternating = changes > MAX_CHANGES || (changes > 1 && begins_hash(word));
    if parts.len() - before > MAX_PARTS || is_alternating {
        parts.truncate(before);
        parts.push(word);
    }
}

/// Whether a word is a hash or the beginning of one: hexadecimal, with a letter and a digit.
pub(super) fn is_hash(word: &str) -> bool {
    word.len() >= MIN_HASH && is_hexadecimal(word)
}

/// Whether a word of a query may be the beginning of a hash.
pub(super) fn begins_hash(word: &str) -> bool {
    word.len() >= PREFIXES[0] && is_hexadecimal(word)
}

fn is_hexadecimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    /// A small letter, or a letter of a script without capitals.
    Small,
    Capital,
    Digit,
}

impl Kind {
    /// The kind of a character; `None` for an accent, which belongs to its letter.
    fn of(character: char) -> Option<Self> {
        if super::fold::is_mark(character) {
            None
        } else if character.is_numeric() {
            Some(Self::Digit)
        } else if character.is_uppercase() {
            Some(Self::Capital)
        } else {
            Some(Self::Small)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts() {
        for (word, expected) in [
            ("word", &["word"][..]),
            ("Word", &["Word"]),
            ("WORD", &["WORD"]),
            ("parseHttpHeader", &["parse", "Http", "Header"]),
            ("HTTPServer", &["HTTP", "Server"]),
            ("parseJSON", &["parse", "JSON"]),
            ("URLs", &["URLs"]),
            ("listURLs", &["list", "URLs"]),
            ("v2", &["v", "2"]),
            ("sha256", &["sha", "256"]),
            ("E0382", &["E", "0382"]),
            ("ed25519", &["ed", "25519"]),
            ("10ms", &["10", "ms"]),
            ("straßeÄnderung", &["straße", "Änderung"]),
            ("a1b2c3d", &["a1b2c3d"]),
            ("e29b", &["e29b"]),
            ("aGVsbG8gd29ybGQ9x", &["aGVsbG8gd29ybGQ9x"]),
            ("日本", &["日本"]),
        ] {
            let mut parts = Vec::new();
            split(word, &mut parts);
            assert_eq!(parts, expected, "{word}");
        }
    }

    #[test]
    fn hashes_are_hexadecimal() {
        assert!(is_hash("1a2b3c4") && begins_hash("1a2b") && is_hash("1A2B3C4D"));
        for word in ["deadbeef", "1234567", "1a2b3c", "parser1", ""] {
            assert!(!is_hash(word), "{word}");
        }
    }
}
