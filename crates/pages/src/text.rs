//! Text of agents, with every character visible.
//!
//! A text can lie by what is not seen: a bidi control turns a line around, a zero-width character
//! makes two names differ that look the same, an escape sequence hides what comes after it. Such a
//! character is shown as its code point. `assets/text.js` does the same for what arrives over the
//! channel; a test compares the two lists.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

/// A text that an agent wrote. It is written into HTML as text, never as markup.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AgentText(String);

/// Characters that are always shown as their code point, as first and last of a range.
pub(crate) const HIDDEN: &[(u32, u32)] = &[
    (0x0000, 0x0008),   // controls, without tab and line feed
    (0x000b, 0x001f),   // controls
    (0x007f, 0x009f),   // delete, and the controls of Latin-1
    (0x00ad, 0x00ad),   // soft hyphen
    (0x034f, 0x034f),   // combining grapheme joiner
    (0x061c, 0x061c),   // Arabic letter mark
    (0x115f, 0x1160),   // Hangul fillers
    (0x17b4, 0x17b5),   // Khmer inherent vowels
    (0x180b, 0x180f),   // Mongolian selectors and vowel separator
    (0x200b, 0x200b),   // zero-width space
    (0x200e, 0x200f),   // direction marks
    (0x2028, 0x202e),   // line and paragraph separator, bidi controls
    (0x2060, 0x206f),   // word joiner, invisible operators, bidi isolates
    (0x3164, 0x3164),   // Hangul filler
    (0xfeff, 0xfeff),   // byte order mark
    (0xffa0, 0xffa0),   // half-width Hangul filler
    (0xfff0, 0xfffb),   // unassigned, and interlinear annotation
    (0x1d173, 0x1d17a), // musical controls
    (0xe0000, 0xe0fff), // tags and supplementary variation selectors
];

/// Characters that join letters or choose the form of an emoji. They are shown as their code point
/// next to ASCII, where they have no use.
pub(crate) const JOINING: &[(u32, u32)] = &[
    (0x200c, 0x200d), // zero-width non-joiner and joiner
    (0xfe00, 0xfe0f), // variation selectors
];

impl AgentText {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// The text for places that take no markup, such as an option of a list.
    pub fn plain(&self) -> String {
        let mut plain = String::with_capacity(self.0.len());
        each(&self.0, &mut |piece| match piece {
            Piece::Shown(letter) => plain.push(letter),
            Piece::Hidden(letter) => plain.push_str(&format!("[{}]", code_point(letter))),
        });
        plain
    }
}

impl From<&str> for AgentText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for AgentText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&visible(&self.0))
    }
}

impl HtmlSafe for AgentText {}

/// A text as HTML, with every character visible.
pub(crate) fn visible(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    each(text, &mut |piece| match piece {
        Piece::Shown(letter) => escape_into(letter, &mut html),
        Piece::Hidden(letter) => {
            let _ = write!(html, "<span class=\"codepoint\">{}</span>", code_point(letter));
        }
    });
    html
}

/// A text for the value of an attribute in double quotes, exactly as it is.
pub(crate) fn attribute(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    text.chars().for_each(|letter| escape_into(letter, &mut html));
    html
}

/// The code points of a text that cannot be seen, each once, in their order.
pub(crate) fn hidden_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each(text, &mut |piece| {
        if let Piece::Hidden(letter) = piece {
            let code = code_point(letter);
            if !found.contains(&code) {
                found.push(code);
            }
        }
    });
    found
}

enum Piece {
    Shown(char),
    Hidden(char),
}

fn each(text: &str, take: &mut impl FnMut(Piece)) {
    let mut before: Option<char> = None;
    for letter in text.chars() {
        // An emoji selector may end a text, so only what comes before it counts.
        let is_useless = || before.is_none_or(|before| before.is_ascii());
        let is_hidden = is_in(HIDDEN, letter) || is_in(JOINING, letter) && is_useless();
        take(if is_hidden { Piece::Hidden(letter) } else { Piece::Shown(letter) });
        before = Some(letter);
    }
}

fn is_in(ranges: &[(u32, u32)], letter: char) -> bool {
    let code = u32::from(letter);
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

fn code_point(letter: char) -> String {
    format!("U+{:04X}", u32::from(letter))
}

fn escape_into(letter: char, html: &mut String) {
    match letter {
        '&' => html.push_str("&amp;"),
        '<' => html.push_str("&lt;"),
        '>' => html.push_str("&gt;"),
        '"' => html.push_str("&quot;"),
        '\'' => html.push_str("&#39;"),
        letter => html.push(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_as_its_code_point() {
        let shown = |text: &str| AgentText::new(text).plain();
        assert_eq!(shown("pay\u{202e}100"), "pay[U+202E]100");
        assert_eq!(shown("a\u{200b}b\u{0}c\u{1b}[31m"), "a[U+200B]b[U+0000]c[U+001B][31m");
        assert_eq!(shown("\u{feff}x\u{e0041}"), "[U+FEFF]x[U+E0041]");
        assert_eq!(shown("a\tb\nc"), "a\tb\nc");
        assert_eq!(shown("l\u{200d}a"), "l[U+200D]a");
        // An emoji of two persons, and one with a selector: both are whole.
        assert_eq!(shown("👩\u{200d}👧 ❤\u{fe0f}"), "👩\u{200d}👧 ❤\u{fe0f}");
        assert_eq!(shown("می\u{200c}خواهم"), "می\u{200c}خواهم");
    }

    #[test]
    fn what_cannot_be_seen_is_named() {
        assert_eq!(hidden_in("a\u{202e}b\u{200b}c\u{202e}"), ["U+202E", "U+200B"]);
        assert!(hidden_in("plain ❤\u{fe0f}").is_empty());
    }

    #[test]
    fn markup_is_text() {
        let text = AgentText::new("<b a=\"'&\u{202e}");
        let shown = "&lt;b a=&quot;&#39;&amp;<span class=\"codepoint\">U+202E</span>";
        assert_eq!(text.to_string(), shown);
        assert_eq!(attribute("\"'<>&\u{202e}"), "&quot;&#39;&lt;&gt;&amp;\u{202e}");
    }

    /// The module of the page has the same ranges, in the same order.
    #[test]
    fn the_module_of_the_page_has_the_same_list() {
        let module = include_str!("../assets/text.js");
        for (name, ranges) in [("HIDDEN", HIDDEN), ("JOINING", JOINING)] {
            let start = module.find(&format!("const {name} = [")).expect(name);
            let list = &module[start..start + module[start..].find("];").expect("its end")];
            let codes: Vec<u32> = (list.split(|letter: char| !letter.is_ascii_alphanumeric()))
                .filter_map(|word| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok())
                .collect();
            let ours: Vec<u32> = ranges.iter().flat_map(|(first, last)| [*first, *last]).collect();
            assert_eq!(codes, ours, "{name}");
        }
    }
}
