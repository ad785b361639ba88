//! The bytes of a text file: what is around the text that is edited.

use accord_contract::{Code, Failure};

const MARK: char = '\u{feff}';

/// A text without its byte order mark.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Text {
    has_mark: bool,
    pub(crate) text: String,
}

impl Text {
    pub(crate) fn new(text: String) -> Self {
        Self { has_mark: false, text }
    }

    pub(crate) fn read(path: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            let column = 1 + good.iter().rev().take_while(|byte| **byte != b'\n').count();
            broken(path, line, column, "the bytes are not UTF-8")
        })?;
        Ok(match text.strip_prefix(MARK) {
            Some(text) => Self { has_mark: true, text: text.to_owned() },
            None => Self::new(text.to_owned()),
        })
    }

    pub(crate) fn with(&self, text: String) -> Self {
        Self { has_mark: self.has_mark, text }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        [mark, &self.text].concat().into_bytes()
    }

    /// The line ending of most lines.
    pub(crate) fn newline(&self) -> &'static str {
        let windows = self.text.matches("\r\n").count();
        if windows * 2 > self.text.matches('\n').count() { "\r\n" } else { "\n" }
    }
}

/// The refusal of a file that cannot be read as what it is.
pub(crate) fn broken(path: &str, line: usize, column: usize, why: &str) -> Failure {
    let message = format!("{path}, line {line}, column {column}: {why}");
    Failure::new(Code::WiringFileBroken, message)
}

/// Appends lines to a text, after an empty line. Returns the new text, and what was added.
pub(crate) fn append(text: &Text, lines: &str) -> (String, String) {
    let newline = text.newline();
    let before = match text.text.as_str() {
        "" => String::new(),
        old if !old.ends_with('\n') => newline.repeat(2),
        old if old.ends_with("\n\n") || old.ends_with("\r\n\r\n") => String::new(),
        _ => newline.to_owned(),
    };
    let added = format!("{before}{}", lines.replace('\n', newline));
    (format!("{}{added}", text.text), added)
}

/// A text without a part that is in it exactly once.
pub(crate) fn without(text: &str, part: &str) -> Option<String> {
    let mut found = text.match_indices(part);
    let (at, _) = found.next().filter(|_| !part.is_empty())?;
    let rest = &text[at + part.len()..];
    found.next().is_none().then(|| format!("{}{rest}", &text[..at]))
}
