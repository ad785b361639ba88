//! Texts for files, messages and URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use crate::wire::Object;

/// At most `longest` characters of a text, and its length: a hostile value must not fill a log.
pub fn excerpt(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}

/// A number with its noun.
pub fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A text as a segment of a path, or a name or value of a query, percent-encoded as RFC 3986 says.
pub fn percent_encoded(text: &str) -> PercentEncode<'_> {
    const RESERVED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, RESERVED)
}

/// The text of a percent-encoded one. `None` if it has an escape without two digits, or no UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' { u8::try_from(digit()? * 16 + digit()?).ok()? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

/// A document in the form of files: indented by two spaces, with a line end.
pub fn pretty(document: &Object) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("an object of JSON values can be written") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{percent_decoded, percent_encoded};

    #[test]
    fn no_text_becomes_syntax_of_a_url() {
        assert_eq!(percent_encoded("a/b ?%é\n").to_string(), "a%2Fb%20%3F%25%C3%A9%0A");
        assert_eq!(percent_encoded("pkg_1-2.3~").to_string(), "pkg_1-2.3~");
    }

    #[test]
    fn what_is_decoded_was_encoded() {
        for text in ["", "a/b ?%é\n", "日"] {
            assert_eq!(percent_decoded(&percent_encoded(text).to_string()).as_deref(), Some(text));
        }
        for wrong in ["%", "%4", "%zz", "%e9"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }
}
